"""Runs and predictions to report on."""

import numpy as np
import pytest

import osp_core as osp
from osp_core.report import gather


@pytest.fixture
def evidence():
    """A function that plays a short stream on a space and gathers what a report needs."""

    def make(name="simplex", *, rounds=60, seed=0, learner=None, params=None, **options):
        space = osp.make_space(name, **(params or {"d": 4}))
        stream = osp.make_stream("linear_teacher", space=space, rounds=rounds, n_features=3, seed=seed)
        predictor = osp.OnlinePredictor(space, 3, learner=learner, seed=seed)
        trace = osp.run(predictor, stream)
        return gather(predictor, trace, lambda: iter(stream), seed=seed, seconds=0.5, **options)

    return make


@pytest.fixture
def example():
    """A function that draws a prediction of a space."""
    from osp_core.report import Example

    def make(space, seed=0, *, right=False):
        rng = np.random.default_rng(seed)
        played, truth = space.lmo(rng.standard_normal(space.dim)), space.lmo(rng.standard_normal(space.dim))
        y_hat = space.predict(rng.standard_normal(space.dim)).point
        return Example(y_hat, played, played if right else truth, "title", "caption")

    return make
