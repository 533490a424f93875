"""The matroids plugin."""
