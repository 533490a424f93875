"""Handwritten digits, learned online without tuning."""

import numpy as np

import osp_core as osp


def test_digits_are_learned_below_six_percent_error_without_tuning():
    stream = osp.make_stream("digits", rounds=20_000)
    predictor = osp.OnlinePredictor(
        stream.space, stream.n_features, feature_bound=stream.feature_bound, seed=0
    )
    wrong = []

    def judge(_number, record):
        wrong.append(not np.array_equal(record.law.nearest, record.y))

    trace = osp.run(predictor, stream, callback=judge)
    assert np.mean(wrong) < 0.06  # the deterministic `predict`
    assert np.mean(wrong) < trace.target_loss.mean() < 0.12  # what was played, at random


def test_the_deterministic_prediction_is_the_nearest_output_of_the_law():
    stream = osp.make_stream("digits", rounds=300)
    predictor = osp.OnlinePredictor(stream.space, stream.n_features, feature_bound=stream.feature_bound)
    for x, y in stream:
        assert predictor.predict(x) == stream.space.to_label(predictor.law(x).nearest)
        predictor.step(x, y)


def test_every_input_has_the_documented_norm_and_every_pass_its_own_order():
    stream = osp.make_stream("digits", rounds=2 * 1797)
    X, Y = stream.arrays()
    assert np.allclose(np.linalg.norm(X, axis=1), 1.0)
    assert sorted(Y[:1797]) == sorted(Y[1797:])
    assert Y[:1797] != Y[1797:]
