"""The derivative of ŷ(θ), by closed forms and by implicit differentiation, against differences of ŷ."""

import numpy as np
import pytest

import osp_core as osp
from osp_core.geometry.predictions import Predictions
from osp_core.spaces.jacobian import implicit_product
from osp_core.testing.registered import space_examples

STEP = 1e-4
EXAMPLES = [
    example for record in osp.list_spaces() if record.available for example in space_examples(record.name)
]


def slope(space, theta, direction):
    """The derivative of ŷ along `direction` by central differences; None where the two sides differ."""
    before, here, after = (space.predict(theta + step * direction).point for step in (-STEP, 0.0, STEP))
    left, right = (here - before) / STEP, (after - here) / STEP
    smooth = np.abs(left - right).max() <= 1e-2 * (1e-2 + np.abs(left).max())
    return (left + right) / 2 if smooth else None


def products(space, thetas, directions):
    return space.jacobian_product(thetas, space.predict_many(thetas), directions)


@pytest.mark.parametrize("example", EXAMPLES, ids=str)
def test_the_jacobian_product_is_the_derivative_of_the_prediction(example):
    space, rng = example.make(), np.random.default_rng(7)
    thetas, directions = rng.standard_normal((2, 4, space.dim))
    found = products(space, thetas, directions)
    differences = [slope(space, theta, v) for theta, v in zip(thetas, directions, strict=True)]
    compared = [(one, true) for one, true in zip(found, differences, strict=True) if true is not None]
    assert len(compared) >= 2  # kinks are rare
    for one, true in compared:
        np.testing.assert_allclose(one, true, atol=2e-4)


@pytest.mark.parametrize("example", EXAMPLES, ids=str)
def test_the_jacobian_is_symmetric(example):
    space, rng = example.make(), np.random.default_rng(8)
    theta, u, v = rng.standard_normal((3, 1, space.dim))
    assert np.sum(u * products(space, theta, v)) == pytest.approx(
        np.sum(v * products(space, theta, u)), abs=1e-7
    )


CLOSED = [
    ("simplex", {"d": 6}, ["NegativeEntropy", "SquaredNorm", "GibbsEntropy"]),
    ("hypercube", {"d": 5}, ["SquaredNorm", "BinaryEntropy", "GibbsEntropy", "NegativeEntropy"]),
    ("permutahedron", {"weights": [3.0, 3.0, 1.0, 0.5, -1.0]}, ["SquaredNorm"]),
    ("birkhoff", {"n": 3}, ["NegativeEntropy"]),
    ("assignment", {"m": 3, "n": 3}, ["NegativeEntropy"]),
    ("matching", {"graph": [(0, 0), (0, 1), (1, 0), (1, 1), (1, 2), (2, 2)]}, ["NegativeEntropy"]),
]


@pytest.mark.parametrize(
    ("name", "params", "psi"), [(n, p, psi) for n, p, listed in CLOSED for psi in listed]
)
@pytest.mark.parametrize("scale", [0.3, 1.0])
def test_what_a_space_knows_better_agrees_with_implicit_differentiation(name, params, psi, scale, rng):
    space = osp.make_space(name, **params, psi=getattr(osp, psi)(scale))
    thetas, directions = rng.standard_normal((2, 5, space.dim))
    predictions = space.predict_many(thetas)
    general = implicit_product(space, thetas, predictions, directions)
    np.testing.assert_allclose(
        space.jacobian_product(thetas, predictions, directions), general, atol=1e-6 / scale
    )


def test_a_product_differentiates_its_factors(rng):
    factors = [osp.make_space("simplex", d=3), osp.make_space("k_subsets", d=4, k=2)]
    thetas, directions = rng.standard_normal((2, 5, 7))
    apart = [
        products(factor, thetas[:, at], directions[:, at])
        for factor, at in zip(factors, (slice(3), slice(3, 7)), strict=True)
    ]
    np.testing.assert_allclose(
        products(osp.product(factors), thetas, directions), np.hstack(apart), atol=1e-12
    )


def test_a_strangers_closed_form_is_used_inside_a_product():
    class Switch(osp.ZeroOneSpace):
        dim = 1
        nu1 = 1.0

        def lmo(self, cost):
            return (cost < 0).astype(float)

        def jacobian_product(self, thetas, predictions, directions):
            return 7.0 * directions

    space = osp.product([Switch(), osp.make_space("hypercube", d=1)])
    assert products(space, np.full((1, 2), 0.5), np.ones((1, 2))).tolist() == [[7.0, 1.0]]


def refused(space):
    nothing = np.zeros((0, space.dim))
    with pytest.raises(osp.UnsupportedError) as error:
        space.jacobian_product(nothing, Predictions.exact(nothing), nothing)
    return str(error.value)


def test_what_cannot_be_differentiated_is_refused_for_no_rows_as_well():
    large = osp.make_space("permutahedron", d=2049, psi=osp.NegativeEntropy())
    assert "2049 unknowns" in refused(large)
    assert "2049 unknowns" in refused(osp.product([osp.make_space("simplex", d=2), large]))
    assert "outputs cannot be listed" in refused(
        osp.make_space("k_subsets", d=50, k=25, psi=osp.GibbsEntropy())
    )


@pytest.mark.parametrize(
    ("name", "params"), [("simplex", {"d": 5000}), ("hypercube", {"d": 5000}), ("permutahedron", {"d": 5000})]
)
def test_closed_forms_have_no_largest_dimension(name, params):
    nothing = np.zeros((0, 5000))
    space = osp.make_space(name, **params)
    assert space.jacobian_product(nothing, Predictions.exact(nothing), nothing).shape == (0, 5000)
