"""Decoders: from a regularised prediction ŷ to a random output with known expected loss."""
