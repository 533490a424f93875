"""The permutahedron plugin."""
