"""Random rounding of fractional plans by cancelling cycles."""
