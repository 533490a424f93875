"""The birkhoff plugin."""
