"""Yeast and image segments."""

import numpy as np
import pytest

import osp_core as osp


def test_yeast_is_refused_with_the_papers_constants_and_certified_blockwise():
    stream = osp.make_stream("yeast")
    space, plain = stream.space, osp.FenchelYoungLoss(stream.space, 1.0)
    assert (space.dim, stream.n_features, len(stream)) == (14, 104, 2417)
    # 4γ/(λν) = 4/√14 > 1 in the paper: a > 0 needs more than 16 labels.
    with pytest.raises(osp.GuaranteeError, match=r"scale=2\.13809"):
        osp.surrogate_gap(space, loss=plain, constants="paper").expected_bound(1.0)
    # Decoding every label on its own, 4/14 < 1.
    blockwise = osp.surrogate_gap(space, loss=plain)
    assert blockwise.a == pytest.approx(1 - 4 / 14)
    assert isinstance(blockwise.decoder, osp.BlockwiseDecoder)


def test_yeast_is_learned_within_its_bound_both_ways():
    stream = osp.make_stream("yeast")
    X, Y = stream.arrays()
    losses = {}
    for name, options in {
        "blockwise, unscaled": {"loss": osp.FenchelYoungLoss(stream.space, 1.0)},
        "whole, scaled": {"decoder": osp.RandomizedDecoder(stream.space)},
    }.items():
        predictor = osp.OnlinePredictor(stream.space, stream.n_features, feature_bound=1.0, seed=0, **options)
        trace = osp.run(predictor, X, Y)
        comparator = osp.best_comparator(stream.space, X, Y, predictor.certificate, time_limit=20)
        assert (
            trace.regret(comparator)
            <= predictor.guarantee(norm_U=float(np.linalg.norm(comparator.weights))).value
        )
        losses[name] = trace.expected_loss.mean()
    assert losses["blockwise, unscaled"] < 0.30


def test_image_segments_are_learned():
    stream = osp.make_stream("image_segments", rounds=6000)
    predictor = osp.OnlinePredictor(
        stream.space, stream.n_features, learner=osp.ParameterFree(), feature_bound=stream.feature_bound
    )
    trace = osp.run(predictor, stream)
    assert trace.expected_loss[-1000:].mean() < 0.25
    assert stream.feature_bound == pytest.approx(1.0)
