"""The hypercube: closed forms, both samplers, labels and blockwise decoding."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

import osp_core as osp


@pytest.mark.parametrize("psi", [osp.SquaredNorm(0.7), osp.BinaryEntropy(1.3), osp.NegativeEntropy(0.8)])
def test_predictions_minimise_coordinate_by_coordinate(psi, rng):
    space = osp.make_space("hypercube", d=6, psi=psi)
    theta = 3 * rng.standard_normal(6)
    for score, y in zip(theta, space.predict(theta).point, strict=True):

        def cost(v, score=score):
            return float(psi.value(np.array([v]))) - score * v

        best = minimize_scalar(cost, bounds=(0, 1), method="bounded", options={"xatol": 1e-10})
        assert cost(y) <= best.fun + 1e-9


@given(d=st.integers(1, 40), seed=st.integers(0, 2**20))
def test_the_threshold_decomposition_has_at_most_d_plus_one_terms(d, seed):
    rng = np.random.default_rng(seed)
    point = rng.choice([0.0, 0.25, 1.0, rng.random()], size=d)
    space = osp.make_space("hypercube", d=d)
    combination = space.decompose(point)
    assert len(combination) <= d + 1
    np.testing.assert_allclose(combination.mean, point, atol=1e-14)


def test_labels_are_drawn_independently(rng):
    space = osp.make_space("hypercube", d=3)
    point = np.array([0.2, 0.5, 0.9])
    draws = space.sample_many(np.tile(point, (20_000, 1)), rng)
    tolerance = 4 * np.sqrt(0.25 / 20_000)
    assert np.abs(draws.mean(axis=0) - point).max() < tolerance
    assert np.abs(draws.T @ draws / 20_000 - np.outer(point, point))[~np.eye(3, dtype=bool)].max() < tolerance


def test_sigmoids_stay_finite_at_large_scores():
    space = osp.make_space("hypercube", d=3, psi=osp.BinaryEntropy())
    np.testing.assert_array_equal(space.predict([1e8, -1e8, 0.0]).point, [1.0, 0.0, 0.5])


def test_the_constants_of_the_multilabel_example():
    for d in (4, 16, 25):
        space = osp.make_space("hypercube", d=d)
        assert (space.nu, space.lam, space.kappa) == (1.0, 1.0, 1.0)
        assert osp.hamming.gamma(space) == pytest.approx(1 / np.sqrt(d))
        whole = osp.surrogate_gap(
            space, loss=osp.FenchelYoungLoss(space), decoder=osp.RandomizedDecoder(space), constants="paper"
        )
        assert whole.a == pytest.approx(1 - 4 / np.sqrt(d))  # positive if and only if d > 16
        blocks = osp.surrogate_gap(space, loss=osp.FenchelYoungLoss(space))
        assert blocks.a == pytest.approx(1 - 4 / d)


def test_a_gap_that_is_not_positive_is_refused_with_the_scale_that_helps():
    space = osp.make_space("hypercube", d=16)
    gap = osp.surrogate_gap(space, loss=osp.FenchelYoungLoss(space), constants="paper")
    with pytest.raises(osp.GuaranteeError, match="scale=2") as error:
        gap.expected_bound(1.0)
    assert "a = 0 is not positive" in str(error.value)
    helped = osp.surrogate_gap(space, loss=osp.FenchelYoungLoss(space, scale=2.0), constants="paper")
    assert helped.a == pytest.approx(0.5)


def test_every_size_is_certified_by_default():
    for d in (1, 2, 3, 5, 17):
        assert osp.surrogate_gap(osp.make_space("hypercube", d=d)).certified


def test_label_sets_go_both_ways():
    space = osp.make_space("hypercube", labels=["rain", "wind", "sun"])
    np.testing.assert_array_equal(space.from_label({"sun", "rain"}), [1, 0, 1])
    assert space.to_label(np.array([0.0, 1, 0])) == frozenset({"wind"})
    assert space.to_label(space.from_label([])) == frozenset()
    for label, message in [
        ({"fog"}, "'fog'"),
        (["sun", "sun"], "twice"),
        ("sun", "a set of labels"),
        (3, "a set"),
    ]:
        with pytest.raises(osp.NotAVertexError, match=message):
            space.from_label(label)
