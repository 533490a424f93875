"""Ordinal regression sets."""

import pytest

import osp_core as osp


@pytest.mark.parametrize("name", ["balance_scale", "era", "esl", "lev", "swd"])
def test_ordinal_sets_are_learned_better_than_the_first_guess(name):
    stream = osp.make_stream("ordinal_set", name=name)
    predictor = osp.OnlinePredictor(
        stream.space, stream.n_features, learner=osp.ParameterFree(), feature_bound=stream.feature_bound
    )
    trace = osp.run(predictor, stream)
    assert stream.feature_bound == pytest.approx(1.0)
    assert trace.expected_loss[-200:].mean() < 0.8 * trace.expected_loss[:20].mean()


def test_an_unknown_set_lists_the_known_ones():
    with pytest.raises(osp.InvalidInputError, match="balance_scale, era"):
        osp.make_stream("ordinal_set", name="iris")
