"""Adapters to the tools people already use: scikit-learn, river, PyTorch, data frames.

Each is a module of its own and needs the package it is named after; nothing here is imported by the core.
"""
