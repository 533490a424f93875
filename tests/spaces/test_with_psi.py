"""A space with another Ψ, norm or accuracy than before has the numbers of a space made that way."""

import copy
import functools

import numpy as np
import pytest

import osp_core as osp
from osp_core.testing import check_space

SMALL, LARGE = osp.SquaredNorm(0.01), osp.SquaredNorm(50.0)
CONSTANTS = (
    "nu",
    "kappa",
    "lam",
    "lam2",
    "diameter",
    "diameter2",
    "max_mass",
    "max_square",
    "nearest_is_exact",
)


def switches():
    return osp.vertices([[0.0], [1.0]], psi=LARGE)


def products():
    """The wrappers, as (made with Ψ later, made with Ψ at once)."""
    corners = osp.vertices(np.eye(4), psi=LARGE)
    yield osp.product([switches(), corners]).with_psi(SMALL), osp.product([switches(), corners], psi=SMALL)
    nested = osp.product([osp.product([switches()]), corners])
    yield nested.with_psi(SMALL), osp.product([osp.product([switches()]), corners], psi=SMALL)
    yield osp.masked(corners, [1]).with_psi(SMALL), osp.masked(corners, [1], psi=SMALL)
    pair = osp.product([osp.masked(corners, [1]), switches()])
    yield pair.with_psi(SMALL), osp.product([osp.masked(corners, [1]), switches()], psi=SMALL)
    blocks = osp.make_space("partition_matroid", blocks=[3, 2], capacities=1, psi=LARGE)
    yield blocks.with_psi(SMALL), osp.make_space("partition_matroid", blocks=[3, 2], capacities=1, psi=SMALL)
    cube = osp.make_space("hypercube", d=3, psi=LARGE)
    yield cube.with_psi(SMALL), osp.make_space("hypercube", d=3, psi=SMALL)


@pytest.mark.parametrize("pair", list(products()), ids=lambda pair: repr(pair[0]))
def test_a_space_with_another_psi_has_the_numbers_of_one_made_with_it(pair):
    later, at_once = pair
    assert [getattr(later, name) for name in CONSTANTS] == [getattr(at_once, name) for name in CONSTANTS]
    gaps = [osp.surrogate_gap(space, osp.hamming) for space in pair]
    assert (gaps[0].a, gaps[0].b, gaps[0].loss.scale) == (gaps[1].a, gaps[1].b, gaps[1].loss.scale)
    theta = np.linspace(-0.02, 0.03, later.dim)
    assert np.array_equal(later.predict(theta).point, at_once.predict(theta).point)
    for mine, other in zip(later.blocks() or (), at_once.blocks() or (), strict=True):
        assert (mine.space.psi, mine.space.lam) == (other.space.psi, other.space.lam)


@pytest.mark.parametrize(("before", "after"), [(LARGE, SMALL), (SMALL, LARGE)], ids=["smaller", "larger"])
def test_the_bound_of_a_product_with_another_psi_holds_against_an_adversary(before, after):
    space = osp.product([osp.vertices([[0.0], [1.0]], psi=before)] * 3)
    assert space.lam > 0  # what was computed before must not be used
    assert space.blocks()
    predictor = osp.OnlinePredictor(space.with_psi(after), 1, target=osp.hamming, seed=0)
    zero = osp.FenchelYoungLoss(predictor.space, predictor.loss.scale)
    lost, comparator = 0.0, 0.0
    for _ in range(300):
        y = (predictor.law([1.0]).mean < 0.5).astype(float)  # the law is seen before y is chosen
        record = predictor.step([1.0], y)
        lost += record.expected_loss
        comparator += zero.value(np.zeros(3), y)
        assert (
            record.expected_loss
            <= (1 - predictor.certificate.a) * (record.surrogate_loss + record.gap) + 1e-9
        )
    assert lost > 1.0
    assert lost <= comparator + float(predictor.guarantee(norm_U=0.0)) + 1e-9


def test_nothing_of_the_original_changes_with_the_twin():
    space = osp.product([switches(), osp.vertices(np.eye(4), psi=LARGE)])
    before = [getattr(space, name) for name in CONSTANTS]
    twin = space.with_psi(SMALL)
    assert twin.lam != space.lam
    assert [getattr(space, name) for name in CONSTANTS] == before
    back = twin.with_psi(space.psi)
    assert [getattr(back, name) for name in CONSTANTS] == before


def test_a_stated_psi_cannot_be_changed_once_constants_are_known():
    space = osp.make_space("hypercube", d=3)
    space.psi = osp.SquaredNorm(2.0)  # nobody has asked for a constant yet
    assert space.lam == 2.0
    with pytest.raises(osp.InvalidInputError, match="with_psi"):
        space.psi = osp.SquaredNorm(3.0)
    with pytest.raises(osp.InvalidInputError, match="cannot change"):
        space.norm = 1.0
    assert (space.lam, space.norm) == (2.0, 2.0)


def test_a_strangers_cached_property_does_not_outlive_its_psi():
    class Coins(osp.ZeroOneSpace):
        dim, nu1 = 2, 1.0

        def lmo(self, cost):
            return (cost < 0).astype(float)

        @functools.cached_property
        def steepness(self):
            return self.psi.scale

        def decoding_ratio(self, target):
            return 4.0 * target.gamma(self) / (self.steepness * self.nu)

    space = Coins(psi=LARGE)
    assert space.decoding_ratio(osp.hamming) < 0.1
    assert space.with_psi(SMALL).decoding_ratio(osp.hamming) == Coins(psi=SMALL).decoding_ratio(osp.hamming)


def test_copies_and_pickles_keep_given_constants_and_derive_the_others():
    space = osp.space_from_lmo(lambda cost: (cost < 0).astype(float), 3, nu=0.5)
    assert (space.lam, space.nu) == (1.0, 0.5)
    twin = copy.deepcopy(space)
    assert (twin.lam, twin.nu) == (1.0, 0.5)
    assert twin.constants is not space.constants


@pytest.mark.parametrize("scale", [0.1, 1.0, 20.0])
@pytest.mark.parametrize("order", ["accuracy first", "psi first"])
def test_the_accuracy_is_kept_in_units_of_the_new_psi(scale, order):
    trees = osp.make_space("graphic_matroid", graph=[(i, j) for i in range(5) for j in range(i)])
    product = osp.product([trees, osp.masked(trees, [0])])
    psi = osp.SquaredNorm(scale)
    for space in (trees, osp.masked(trees, [0]), product):
        accuracy_first = space.accurate_to(1e-2).with_psi(psi)
        coarse = accuracy_first if order == "accuracy first" else space.with_psi(psi).accurate_to(1e-2)
        theta = scale * np.random.default_rng(0).standard_normal(space.dim)
        prediction = coarse.predict(theta)
        assert prediction.gap <= 1e-2
        exact = space.with_psi(psi).predict(theta)
        assert np.linalg.norm(prediction.point - exact.point) <= np.sqrt(1e-2 / coarse.lam2)
        assert coarse.accurate_to(None).predict(theta).gap <= 1e-9 * (1 + scale)


def test_a_context_has_the_accuracy_of_its_space_and_not_of_an_earlier_twin():
    trees = osp.make_space("graphic_matroid", graph=[(i, j) for i in range(6) for j in range(i)])
    space = osp.masked(trees, [])
    theta = np.random.default_rng(1).standard_normal(space.dim)
    coarse = space.accurate_to(0.5).at([0]).predict(theta)
    exact = space.at([0]).predict(theta)
    assert exact.gap < 1e-9 < coarse.gap
    assert space.at([0]) is space.at([0])


def test_a_product_of_factors_in_other_norms_finds_the_nearest_output():
    pairs = osp.vertices([[1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 0, 1], [0, 1, 0, 0]], norm=4.0)
    rng = np.random.default_rng(0)
    for norm in (1.0, 1.5, 2.0, 3.0):
        space = osp.product([pairs, osp.vertices(np.eye(3), norm=1.0)], norm=norm)
        vertices = space.vertices()
        assert space.nearest_is_exact
        for weights in rng.dirichlet(np.full(len(vertices), 0.3), size=50):
            point = weights @ vertices
            found = space.distance(space.nearest_vertex(point), point)
            assert found == pytest.approx(space.distance(vertices, point).min(), abs=1e-12)
    bottleneck = osp.product([pairs, osp.vertices(np.eye(3), norm=1.0)], norm=np.inf)
    assert not bottleneck.nearest_is_exact
    check_space(osp.product([pairs, osp.vertices(np.eye(3), norm=1.0)], norm=2.0))
