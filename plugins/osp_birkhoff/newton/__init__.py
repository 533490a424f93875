"""Newton's method on the dual of transport problems."""
