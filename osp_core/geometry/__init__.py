"""Points of conv(Y): combinations of outputs, predictions with their certificate, and the directions of Y."""
