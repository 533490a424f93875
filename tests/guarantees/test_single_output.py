"""Spaces with one output: nothing can be lost on them, and every certificate says so."""

import numpy as np
import pytest

import osp_core as osp

X = np.array([0.6, -0.4])
SPACES = {
    "simplex": lambda **psi: osp.make_space("simplex", d=1, **psi),
    "simplex in l2": lambda **psi: osp.make_space("simplex", d=1, norm=2, **psi),
    "one row": lambda **psi: osp.vertices([[1.0, 0.0, 1.0]], **psi),
    "one row of zeros": lambda **psi: osp.vertices([[0.0, 0.0]], **psi),
    "equal weights": lambda **psi: osp.make_space("permutahedron", weights=[2.0, 2.0, 2.0], **psi),
    "one item": lambda **psi: osp.make_space("permutahedron", d=1, **psi),
    "everything": lambda **psi: osp.make_space("k_subsets", d=3, k=3, **psi),
    "one pair": lambda **psi: osp.make_space("birkhoff", n=1, **psi),
    "one tree": lambda **psi: osp.make_space("graphic_matroid", edges=[(0, 1), (1, 2)], **psi),
    "full blocks": lambda **psi: osp.make_space(
        "partition_matroid", blocks=[[0, 1], [2]], capacities=[2, 1], **psi
    ),
    "all but one forbidden": lambda **psi: osp.masked(osp.make_space("simplex", d=3), [0, 2], **psi),
    "an oracle": lambda **psi: osp.space_from_lmo(lambda cost: np.array([1.0, 0.0]), 2, **psi),
    "a product": lambda **psi: osp.product(
        [osp.make_space("simplex", d=1), osp.make_space("birkhoff", n=1)], **psi
    ),
}
LEARNERS = {
    "ogd": osp.OGD,
    "ogd on a ball": lambda: osp.OGD(radius=1.0),
    "adaptive": lambda: osp.AdaptiveOGD(2.0),
    "parameter free": osp.ParameterFree,
    "polyak": lambda: osp.PolyakOGD(2.0),
}


@pytest.mark.parametrize("psi", [osp.SquaredNorm(1.0), osp.NegativeEntropy(2.0), osp.GibbsEntropy(1.0)])
@pytest.mark.parametrize("name", SPACES)
def test_a_single_output_has_the_gap_one_and_bounds_without_U(name, psi):
    space = SPACES[name](psi=psi)
    for constants in ("sharp", "paper"):
        gap = osp.surrogate_gap(space, constants=constants)
        assert gap.a == 1.0
        assert 0 < gap.b < np.inf
        assert 0 < gap.step_size < np.inf
        assert gap.coefficient == 0.0
        for bound in (
            gap.expected_bound(3.0),
            gap.expected_bound(3.0, step_size=100.0 / gap.b, delay=2),
            gap.online_to_batch_bound(3.0, 10),
            gap.high_probability_bound(3.0, 0.1, form="anytime"),
            gap.high_probability_bound(3.0, 0.1, form="anytime", step_size=2.0 / gap.b),
            gap.high_probability_bound(3.0, 0.1, form="corrected"),
            gap.adaptive_bound(3.0),
            gap.parameter_free_bound(3.0),
        ):
            assert bound == 0.0
        assert gap.nonstationary_bound(3.0, 1.0) >= 0
    assert osp.scale_for_gap(space) > 0


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("name", SPACES)
def test_every_learner_plays_the_single_output_at_no_loss(name, learner):
    space = SPACES[name]()
    y = space.lmo(np.zeros(space.dim))
    predictor = osp.OnlinePredictor(space, 2, learner=LEARNERS[learner](), verify=True, seed=0)
    for _ in range(3):
        record = predictor.step(X, y)
        np.testing.assert_array_equal(record.vertex, y)
        assert (record.target_loss, record.expected_loss, record.surrogate_loss) == (0.0, 0.0, 0.0)
    assert not predictor.learner.weights.any()
    assert 0 <= predictor.guarantee("expected", norm_U=0.5) < np.inf


def test_a_factor_with_one_output_does_not_change_the_gap_of_a_product():
    cube = osp.make_space("hypercube", d=6)
    with_one = osp.product([osp.vertices([[1.0]]), cube])
    alone = osp.surrogate_gap(cube, loss=osp.FenchelYoungLoss(cube))
    gap = osp.surrogate_gap(with_one, loss=osp.FenchelYoungLoss(with_one))
    assert gap.b == pytest.approx(alone.b)
    assert gap.ratio == pytest.approx(osp.surrogate_gap(cube, decoder=osp.RandomizedDecoder(cube)).ratio)
