"""The polytope plugin: bring your own constraints."""
