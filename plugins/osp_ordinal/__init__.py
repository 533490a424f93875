"""The ordinal plugin."""
