"""Five thousand digits of MNIST."""

import numpy as np
import pytest

import osp_core as osp


def test_mnist_has_unit_inputs_and_is_learned():
    stream = osp.make_stream("mnist_5k", rounds=3000)
    predictor = osp.OnlinePredictor(
        stream.space, stream.n_features, feature_bound=stream.feature_bound, seed=0
    )
    wrong = []
    osp.run(
        predictor,
        stream,
        callback=lambda _, record: wrong.append(not np.array_equal(record.law.nearest, record.y)),
    )
    assert stream.feature_bound == pytest.approx(1.0)
    assert np.mean(wrong[-1000:]) < 0.2
