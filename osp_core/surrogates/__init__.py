"""Surrogates: the losses a learner descends, the decoders that play, and the gap between them."""
