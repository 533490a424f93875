"""Files: archives, series of them, and how a predictor is written and made again."""
