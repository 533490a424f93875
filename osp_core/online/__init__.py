"""The protocol, round by round: predictor, loop, records, trace, streams and comparators."""
