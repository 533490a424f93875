"""Regularizers and their Fenchel–Young losses, against enumeration and finite differences."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

import osp_core as osp

SPACES = {
    "softmax": lambda: osp.make_space("simplex", d=4),
    "sparsemax": lambda: osp.make_space("simplex", d=4, psi=osp.SquaredNorm(0.7), norm=2),
    "gibbs simplex": lambda: osp.make_space("simplex", d=3, psi=osp.GibbsEntropy(2.0)),
    "cube": lambda: osp.make_space("hypercube", d=4, psi=osp.SquaredNorm(1.5)),
    "sigmoid": lambda: osp.make_space("hypercube", d=4, psi=osp.BinaryEntropy(0.6)),
    "entropic cube": lambda: osp.make_space("hypercube", d=3, psi=osp.NegativeEntropy(1.3)),
    "gibbs cube": lambda: osp.make_space("hypercube", d=3, psi=osp.GibbsEntropy(1.3)),
    "triangle": lambda: osp.vertices([[0.0, 0.0], [4.0, 0.0], [0.0, 1.0]]),
    "gibbs list": lambda: osp.vertices([[0.0, 0.0], [4.0, 0.0], [0.0, 1.0]], psi=osp.GibbsEntropy(0.5)),
}


@pytest.fixture(params=SPACES, ids=list(SPACES))
def space(request):
    return SPACES[request.param]()


def enumerated_optimum(space, theta):
    """max ⟨θ, y⟩ − Ψ(y) over the weights of all vertices: slow, and sure."""
    vertices = space.vertices()

    def objective(logits):
        weights = np.exp(logits - logits.max())
        weights /= weights.sum()
        if isinstance(space.psi, osp.GibbsEntropy):  # Ψ is attained by the weights themselves
            entropy = -(weights * np.log(weights)).sum()
            return -(theta @ (weights @ vertices)) - space.psi.scale * entropy
        return float(space.psi.value(weights @ vertices)) - theta @ (weights @ vertices)

    best = min(
        (
            minimize(objective, start, method="BFGS", options={"gtol": 1e-9})
            for start in np.eye(len(vertices))
        ),
        key=lambda result: result.fun,
    )
    return -best.fun


@pytest.mark.parametrize("scale", [0.3, 1.0, 3.0])
def test_the_prediction_attains_the_enumerated_optimum(space, scale, rng):
    theta = scale * rng.standard_normal(space.dim)
    y_hat = space.predict(theta).point
    if isinstance(space.psi, osp.GibbsEntropy):
        value = space.psi.scale * space.log_partition(theta / space.psi.scale)
    else:
        value = theta @ y_hat - float(space.psi.value(y_hat))
    assert value == pytest.approx(enumerated_optimum(space, theta), abs=1e-6)


@pytest.mark.parametrize("scale", [1e-2, 1.0, 10.0])
def test_the_gradient_of_the_loss_is_the_residual(space, scale, rng):
    loss = osp.FenchelYoungLoss(space, scale=0.8)
    theta = scale * rng.standard_normal(space.dim)
    y = space.vertices()[-1]
    _, gradient = loss.value_and_gradient(theta, y)
    for i, axis in enumerate(np.eye(space.dim)):
        step = 1e-5 * scale
        slope = (loss.value(theta + step * axis, y) - loss.value(theta - step * axis, y)) / (2 * step)
        assert slope == pytest.approx(gradient[i], abs=1e-5)


@given(exponent=st.floats(-8, 8), seed=st.integers(0, 2**20), name=st.sampled_from(sorted(SPACES)))
def test_losses_are_finite_nonnegative_and_strongly_convex_at_every_scale(exponent, seed, name):
    space = SPACES[name]()
    theta = 10.0**exponent * np.random.default_rng(seed).standard_normal(space.dim)
    loss = osp.FenchelYoungLoss(space)
    for y in space.vertices():
        value, gradient = loss.value_and_gradient(theta, y)
        assert np.isfinite(value)
        assert value >= space.lam / 2 * np.linalg.norm(gradient, space.norm) ** 2 * (1 - 1e-9) - 1e-12
        assert value >= space.lam2 / 2 * gradient @ gradient * (1 - 1e-9) - 1e-12


def test_a_common_offset_of_the_scores_does_not_disturb_the_logistic_loss():
    space = osp.make_space("simplex", d=5)
    theta, y = np.array([0.3, -0.1, 0.2, 0.5, 0.0]), np.eye(5)[1]
    exact = osp.FenchelYoungLoss(space).value(theta, y)
    assert osp.FenchelYoungLoss(space).value(theta + 1e8, y) == pytest.approx(exact, abs=1e-6)


def test_batches_agree_with_single_rounds(space, rng):
    thetas = rng.standard_normal((7, space.dim))
    truths = space.vertices()[rng.integers(len(space.vertices()), size=7)]
    loss = osp.FenchelYoungLoss(space, scale=1.7)
    values, gradients = loss.values_and_gradients(thetas, truths)
    for theta, y, value, gradient in zip(thetas, truths, values, gradients, strict=True):
        one_value, one_gradient = loss.value_and_gradient(theta, y)
        assert value == pytest.approx(one_value, abs=1e-12)
        np.testing.assert_allclose(gradient, one_gradient, atol=1e-12)


@pytest.mark.parametrize("kind", [osp.SquaredNorm, osp.NegativeEntropy, osp.BinaryEntropy, osp.GibbsEntropy])
@pytest.mark.parametrize("scale", [0.0, -1.0, np.nan, np.inf, "big"])
def test_a_scale_must_be_positive(kind, scale):
    with pytest.raises(osp.InvalidInputError, match=kind.__name__):
        kind(scale)


def test_entropies_refuse_outputs_outside_their_domain():
    below = osp.vertices([[-1.0, 0.0], [1.0, 0.0]], psi=osp.NegativeEntropy())
    with pytest.raises(osp.InvalidInputError, match="entries ≥ 0"):
        _ = below.lam
    above = osp.vertices([[0.0, 0.0], [2.0, 0.0]], psi=osp.BinaryEntropy())
    with pytest.raises(osp.InvalidInputError, match=r"\[0, 1\]"):
        _ = above.lam


def test_a_space_without_an_entropic_prediction_names_the_alternative():
    square = osp.space_from_lmo(lambda cost: (cost < 0).astype(float), 20, psi=osp.NegativeEntropy())
    with pytest.raises(osp.UnsupportedError, match="SquaredNorm"):
        square.predict(np.zeros(20))
    gibbs = osp.space_from_lmo(lambda cost: (cost < 0).astype(float), 20, psi=osp.GibbsEntropy())
    with pytest.raises(osp.UnsupportedError, match="marginals"):
        gibbs.predict(np.zeros(20))


@pytest.mark.parametrize("size", [1e4, 1e8])
def test_a_loss_between_points_of_nearly_equal_mass_is_exact_where_masses_differ(size):
    """ŷ − y sums to 9e-10 here, which counts: it is multiplied with large scores."""
    space = osp.make_space("partition_matroid", blocks=[[0, 1], [2]], capacities=[1, 1], bases=False)
    theta, y = np.array([size, size, 9e-10]), np.array([1.0, 0.0, 0.0])
    prediction = space.predict(theta)
    assert prediction.point.tolist() == [0.5, 0.5, 9e-10]
    psi = [sum(Fraction(entry) ** 2 for entry in point.tolist()) / 2 for point in (y, prediction.point)]
    steps = zip(theta.tolist(), prediction.point.tolist(), y.tolist(), strict=True)
    exact = sum(Fraction(score) * (Fraction(a) - Fraction(b)) for score, a, b in steps) + psi[0] - psi[1]
    loss = float(space.psi.loss(space, theta, y, prediction))
    assert loss == pytest.approx(float(exact), rel=1e-6)
    assert np.square(prediction.point - y).sum() <= space.gradient_ratio() * loss * (1 + 1e-6)
