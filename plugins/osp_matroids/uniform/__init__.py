"""The uniform matroid: k of d elements."""
