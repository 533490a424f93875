"""Streams with a teacher: reproducible, bounded, and as separable as they say."""

import numpy as np
import pytest

import osp_core as osp
from osp_core.guarantees import margin

SPACES = [
    osp.make_space("simplex", d=4),
    osp.make_space("hypercube", d=5),
    osp.vertices([[1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 0, 1]]),
]


@pytest.mark.parametrize("name", ["linear_teacher", "drifting_teacher", "separable"])
@pytest.mark.parametrize("space", SPACES, ids=repr)
def test_a_stream_repeats_itself_and_keeps_its_promises(name, space):
    stream = osp.make_stream(name, space=space, rounds=30, n_features=3, seed=4)
    first, again = list(stream), list(stream)
    assert len(first) == len(stream) == 30
    for (x, y), (x2, y2) in zip(first, again, strict=True):
        assert np.array_equal(x, x2)
        assert np.array_equal(y, y2)
        assert np.linalg.norm(x) <= stream.feature_bound * (1 + 1e-12)
        assert x.shape == (stream.n_features,)
        assert space.is_vertex(y)
    other = osp.make_stream(name, space=space, rounds=30, n_features=3, seed=5)
    assert not np.array_equal(other.arrays()[0], stream.arrays()[0])
    assert str(4) in stream.description


def test_a_drifting_teacher_changes_its_mind():
    space = SPACES[0]
    stream = osp.make_stream("drifting_teacher", space=space, rounds=400, n_features=2, segments=2, noise=0.0)
    X, Y = stream.arrays()
    gap = osp.surrogate_gap(space)
    halves = [osp.best_comparator(space, X[part], Y[part], gap) for part in (slice(200), slice(200, 400))]
    whole = osp.best_comparator(space, X, Y, gap)
    assert sum(half.surrogate_loss for half in halves) < 0.8 * whole.surrogate_loss


@pytest.mark.parametrize(
    "space",
    [
        osp.make_space("hypercube", d=3),
        osp.make_space("simplex", d=3, psi=osp.SquaredNorm(1.0), norm=2),
        osp.make_space("hypercube", d=2, psi=osp.SquaredNorm(3.0)),
    ],
    ids=repr,
)
def test_the_comparator_of_a_separable_stream_has_no_loss(space):
    stream = osp.make_stream("separable", space=space, rounds=100, n_features=4, least_margin=0.05)
    loss = osp.FenchelYoungLoss(space)
    assert max(loss.value(stream.comparator @ x, y) for x, y in stream) <= 1e-12


def test_separable_inputs_have_the_margin_and_an_impossible_one_is_refused():
    space = SPACES[1]
    stream = osp.make_stream("separable", space=space, rounds=50, n_features=4, least_margin=0.03)
    teacher = stream.comparator / np.linalg.norm(stream.comparator)
    assert min(margin(space, teacher @ x) for x, _ in stream) >= 0.03 - 1e-12
    with pytest.raises(osp.InvalidInputError, match="smaller least_margin"):
        next(iter(osp.make_stream("separable", space=space, rounds=5, least_margin=10.0)))


def test_an_entropic_loss_never_reaches_zero_so_there_is_no_comparator():
    assert osp.make_stream("separable", space=SPACES[0], rounds=5).comparator is None


@pytest.mark.parametrize("bad", [{"rounds": 0}, {"n_features": 0}, {"noise": -1.0}, {"segments": 0}])
def test_bad_parameters_are_refused(bad):
    with pytest.raises(osp.InvalidInputError):
        osp.make_stream("drifting_teacher", **{"space": SPACES[0], "rounds": 5, **bad})
