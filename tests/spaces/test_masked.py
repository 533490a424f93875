"""Spaces with forbidden coordinates."""

import numpy as np
import pytest

import osp_core as osp
from osp_core.spaces.masked import Masked
from osp_core.testing import check_space


def examples():
    simplex = osp.make_space("simplex", d=4)
    sparse = osp.make_space("simplex", d=5, psi=osp.SquaredNorm(1.0), norm=2.0)
    cube = osp.make_space("hypercube", d=4)
    sigmoid = osp.make_space("hypercube", d=3, psi=osp.BinaryEntropy(1.0))
    return [
        osp.masked(simplex, [1]),
        osp.masked(sparse, [0, 4]),
        osp.masked(cube, [2]),
        osp.masked(sigmoid, [0]),
    ]


@pytest.mark.parametrize("space", [*Masked.examples(), *examples()], ids=repr)
def test_masked_spaces_conform(space):
    check_space(space)


def test_outputs_are_those_of_the_space_that_avoid_the_mask():
    cube = osp.make_space("hypercube", d=3)
    space = osp.make_space("masked", space=cube, forbidden=[1])
    assert {tuple(y) for y in space.vertices()} == {(0, 0, 0), (1, 0, 0), (0, 0, 1), (1, 0, 1)}
    assert not space.is_vertex(np.ones(3))
    assert space.is_vertex(np.array([1.0, 0, 1]))


@pytest.mark.parametrize("scale", [1e-8, 1.0, 1e8])
def test_the_oracle_never_uses_a_forbidden_coordinate_however_cheap_it_is(scale, rng):
    space = osp.masked(osp.make_space("k_subsets", d=7, k=3), [0, 5])
    for _ in range(30):
        cost = scale * rng.standard_normal(7)
        cost[[0, 5]] = -1e3 * scale
        vertex = space.lmo(cost)
        allowed = np.sort(np.delete(cost, [0, 5]))[:3]
        assert not vertex[[0, 5]].any()
        assert vertex @ cost == pytest.approx(allowed.sum())


def test_predictions_are_those_of_the_smaller_space(rng):
    for psi, norm in ((osp.NegativeEntropy(1.0), 1.0), (osp.SquaredNorm(1.0), 2.0)):
        large = osp.masked(osp.make_space("simplex", d=5, psi=psi, norm=norm), [1, 3])
        small = osp.make_space("simplex", d=3, psi=psi, norm=norm)
        for scale in (1e-8, 1.0, 1e3, 1e8):
            theta = scale * rng.standard_normal(5)
            point = large.predict(theta).point
            assert not point[[1, 3]].any()
            assert point[[0, 2, 4]] == pytest.approx(small.predict(theta[[0, 2, 4]]).point, abs=1e-12)


def test_masks_of_a_round_come_on_top_of_those_that_always_hold_and_are_kept():
    space = osp.masked(osp.make_space("simplex", d=4), [0])
    today = space.at([2])
    assert today.forbidden.tolist() == [0, 2]
    assert space.at(np.array([False, False, True, False])) is today
    assert space.at({2}) is today
    assert space.at(None) is space
    assert space.forbidden.tolist() == [0]


def test_masks_flow_through_the_protocol(rng):
    space = osp.masked(osp.make_space("simplex", classes=["red", "green", "blue"]))
    predictor = osp.OnlinePredictor(space, 2, seed=0)
    for _ in range(20):
        closed = int(rng.integers(3))
        open_classes = [name for i, name in enumerate(["red", "green", "blue"]) if i != closed]
        record = predictor.step(rng.standard_normal(2) / 5, open_classes[0], context=[closed])
        assert record.label in open_classes
        assert predictor.predict([0.1, 0.1], context=[closed]) in open_classes


def test_a_label_that_uses_a_forbidden_coordinate_is_refused():
    space = osp.masked(osp.make_space("simplex", classes=["red", "green"]), [0])
    assert space.from_label("green").tolist() == [0, 1]
    with pytest.raises(osp.NotAVertexError, match="coordinate 0, which is forbidden"):
        space.from_label("red")


def test_a_mask_that_leaves_nothing_is_refused_at_once():
    with pytest.raises(osp.InfeasibleMaskError, match="avoids the forbidden coordinates 0, 1"):
        osp.masked(osp.make_space("simplex", d=2), [0, 1])
    space = osp.masked(osp.make_space("k_subsets", d=4, k=3), [0])
    with pytest.raises(osp.InfeasibleMaskError):
        space.at([1])


@pytest.mark.parametrize(
    ("forbidden", "message"),
    [
        ([4], "coordinates 0 to 3"),
        ([-1], "coordinates 0 to 3"),
        ([0.5], "indices or a boolean mask"),
        ([True, False], "4 entries"),
        ("ab", "indices or a boolean mask"),
    ],
)
def test_bad_masks_are_refused(forbidden, message):
    with pytest.raises(osp.InvalidInputError, match=message):
        osp.masked(osp.make_space("simplex", d=4), forbidden)


def test_only_zero_one_spaces_can_be_masked():
    with pytest.raises(osp.InvalidInputError, match="0/1 outputs"):
        osp.masked(osp.vertices([[0.0, 2.0], [1.0, 0.0]]), [0])
    with pytest.raises(osp.InvalidInputError, match="factors"):
        osp.masked(osp.product([osp.make_space("simplex", d=2)] * 2), [0])


def test_products_of_masked_spaces_take_one_mask_per_factor():
    shelf = osp.masked(osp.make_space("simplex", d=3))
    both = osp.product([shelf, shelf])
    today = both.at([[0], [1, 2]])
    assert today.lmo(np.zeros(6)).tolist() == [0, 1, 0, 1, 0, 0]


def test_the_masked_space_may_have_contexts_of_its_own():
    class Sizes(osp.ZeroOneSpace):
        def __init__(self, dim):
            super().__init__()
            self.dim = dim

        def lmo(self, cost):
            return np.eye(self.dim)[np.argmin(cost)]

        def at(self, context):
            return self if context is None else Sizes(context)

    space = osp.masked(Sizes(3), [0]).at({"context": 5, "forbidden": [4]})
    assert space.dim == 5
    assert space.forbidden.tolist() == [0, 4]
