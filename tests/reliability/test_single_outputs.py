"""Spaces with one output: nothing to choose, and nothing may break."""

import contextlib

import numpy as np
import pytest

import osp_core as osp


def make(name, **parameters):
    return osp.make_space(name, **parameters)


SPACES = {
    "one class": lambda: make("simplex", d=1),
    "one row": lambda: make("vertices", array=[[2.0, 3.0]]),
    "one row of zeros": lambda: make("vertices", array=[[0.0, 0.0]]),
    "one row twice": lambda: make("vertices", array=[[1.0, 0.0], [1.0, 0.0]]),
    "a negative row": lambda: make("vertices", array=[[-1.0]]),
    "equal weights": lambda: make("permutahedron", weights=[2.0, 2.0, 2.0]),
    "no weight": lambda: make("permutahedron", weights=[0.0, 0.0]),
    "one item": lambda: make("permutahedron", d=1),
    "all of three": lambda: make("k_subsets", d=3, k=3),
    "none of three": lambda: make("k_subsets", d=3, k=0),
    "whole blocks": lambda: make("partition_matroid", blocks=[2, 1], capacities=[2, 1]),
    "empty blocks": lambda: make("partition_matroid", blocks=[2], capacities=0, bases=False),
    "a tree": lambda: make("graphic_matroid", edges=[(0, 1), (1, 2)]),
    "a loop": lambda: make("graphic_matroid", edges=[(0, 0)]),
    "independent columns": lambda: make("linear_matroid", matrix=np.eye(3)),
    "zero columns": lambda: make("linear_matroid", matrix=np.zeros((2, 2))),
    "a family of one": lambda: make("laminar_matroid", family=[["a", "b"]], capacities=[2]),
    "distinct sets": lambda: make("transversal_matroid", sets=[["a"], ["b"]]),
    "free": lambda: make("matroid", ground=["a", "b"], independent=lambda chosen: True),
    "only the empty set": lambda: make("matroid", ground=["a"], independent=lambda chosen: not chosen),
    "one rank": lambda: make("birkhoff", n=1),
    "one pair": lambda: make("assignment", m=1, n=1),
    "a forced matching": lambda: make("matching", graph=[("a", "x"), ("a", "y"), ("b", "y")]),
    "a product": lambda: make("product", spaces=[make("simplex", d=1), make("vertices", array=[[2.0, 3.0]])]),
    "a product with one Ψ": lambda: make(
        "product", spaces=[make("simplex", d=1), make("k_subsets", d=2, k=2)], psi=osp.GibbsEntropy(1.0)
    ),
    "one class left": lambda: make("masked", space=make("simplex", d=3), forbidden=[0, 2]),
    "no label left": lambda: make("masked", space=make("hypercube", d=2), forbidden=[0, 1]),
    "one tree left": lambda: make("masked", space=make("graphic_matroid", graph=3), forbidden=[0]),
    "a function of 0 and 1": lambda: osp.space_from_lmo(lambda cost: np.ones(2), 2),
    "a function": lambda: osp.space_from_lmo(lambda cost: np.array([2.0, -1.0]), 2, zero_one=False, nu=1.0),
}
PSIS = (osp.SquaredNorm(1.0), osp.NegativeEntropy(1.0), osp.BinaryEntropy(1.0), osp.GibbsEntropy(1.0))
TARGET = osp.AffineLoss(lambda y: -y, lambda y: float(y @ y), gamma=4.0)

every_space = pytest.mark.parametrize("name", SPACES)


def with_every_psi(space):
    """The space with all Ψ that it has predictions for: its own at least."""
    found = [space]
    for psi in PSIS:
        with contextlib.suppress(osp.OspError):
            twin = space.with_psi(psi)
            twin.predict(np.zeros(space.dim))
            found.append(twin)
    return found


@every_space
def test_a_single_output_is_predicted_decomposed_sampled_and_nearest(name, rng):
    only = SPACES[name]()
    y = only.lmo(np.zeros(only.dim))
    for space in with_every_psi(only):
        for size in (0.0, 1.0, 1e8):
            theta = size * rng.standard_normal(space.dim)
            prediction = space.predict(theta)
            assert prediction.point == pytest.approx(y, abs=1e-12)
            assert float(space.psi.loss(space, theta, y, prediction)) <= 1e-12 * (1.0 + size)
            assert np.array_equal(space.nearest_vertex(prediction.point), y)
            assert np.array_equal(space.sample_vertex(prediction.point, rng), y)
            assert space.decompose(prediction.point).vertices.tolist() == [y.tolist()]
            law = osp.RandomizedDecoder(space).law(prediction)
            assert np.array_equal(law.sample(rng), y)


@every_space
def test_the_constants_of_a_single_output_are_safe(name):
    space = SPACES[name]()
    assert space.nu > 0
    assert 0.0 <= space.diameter < np.inf
    for p in (1.0, 1.5, 2.0, np.inf):
        assert space.nu_in(p) > 0
        assert space.diameter_in(p) >= 0.0
        assert space.gibbs_convexity(p) > 0
        assert space.psi.strong_convexity(space, p) > 0


@every_space
def test_rounds_over_a_single_output_cost_nothing(name):
    for space in with_every_psi(SPACES[name]()):
        predictor = osp.OnlinePredictor(space, 2, target=TARGET, seed=0)
        y = space.lmo(np.zeros(space.dim))
        for truth in (y, space.to_label(y)):
            record = predictor.step(np.array([0.6, 0.8]), truth)
            assert record.target_loss == pytest.approx(0.0, abs=1e-12)
            assert record.surrogate_loss == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize(("name", "parameters"), [("ordinal", {"d": 0}), ("hypercube", {"d": 0})])
def test_spaces_without_a_coordinate_are_refused(name, parameters):
    with pytest.raises(osp.InvalidInputError, match="d must be at least 1"):
        make(name, **parameters)
