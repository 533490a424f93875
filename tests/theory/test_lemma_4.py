"""[SBTO24, Lemma 4] on every space: never violated with valid constants, and violated when γ is too small."""

import inspect

import numpy as np
import pytest

import osp_core as osp
from osp_core.errors import MissingConstantError
from osp_core.experiments.ratios import (
    largest_ratio,
    random_scores,
    ratio_table,
    some_outputs,
    steepest_scores,
)
from osp_core.registry import load_factory

PAIRS = 100_000
K4 = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]
K33 = [(i, j) for i in range(3) for j in range(3, 6)]


def space_of(name):
    """An instance with enough outputs that 1e5 pairs need few predictions."""
    rng = np.random.default_rng(7)
    makers = {
        "simplex": lambda: osp.make_space("simplex", d=50),
        "hypercube": lambda: osp.make_space("hypercube", d=6),
        "ordinal": lambda: osp.make_space("ordinal", d=40),
        "birkhoff": lambda: osp.make_space("birkhoff", n=4),
        "assignment": lambda: osp.make_space("assignment", m=3, n=5),
        "matching": lambda: osp.make_space("matching", graph=[(i, j) for i in range(5) for j in range(5)]),
        "permutahedron": lambda: osp.make_space("permutahedron", d=5),
        "k_subsets": lambda: osp.make_space("k_subsets", d=8, k=3),
        "partition_matroid": lambda: osp.make_space(
            "partition_matroid", blocks=[[0, 1, 2, 3], [4, 5, 6]], capacities=[2, 1]
        ),
        "graphic_matroid": lambda: osp.make_space("graphic_matroid", edges=K33),
        "linear_matroid": lambda: osp.make_space("linear_matroid", matrix=rng.integers(-2, 3, (3, 9))),
        "transversal_matroid": lambda: osp.make_space(
            "transversal_matroid", sets=[range(6), range(2, 8), [0, 3, 5, 7]]
        ),
        "laminar_matroid": lambda: osp.make_space(
            "laminar_matroid", family=[range(4), range(4, 8), range(8)], capacities=[2, 2, 3]
        ),
        "matroid": lambda: osp.make_space(
            "matroid", ground=range(8), independent=lambda chosen: len(chosen) <= 3
        ),
        "product": lambda: osp.product([osp.make_space("simplex", d=4), osp.make_space("hypercube", d=4)]),
        "vertices": lambda: osp.vertices(np.unique(rng.integers(0, 2, (60, 7)), axis=0)),
    }
    return makers[name]() if name in makers else example(name)


def example(name):
    """The registered example with the most outputs."""
    usable = [space for space in load_factory("space", name).examples() if ratio_of(space) is not None]
    return max(usable, key=lambda space: len(some_outputs(space, 64, np.random.default_rng(0))))


def ratio_of(space):
    try:
        return space.decoding_ratio(space.target_loss())
    except MissingConstantError:
        return None


NAMES = [
    record.name
    for record in osp.list_spaces()
    if record.available and hasattr(load_factory("space", record.name), "examples")
]
# A polytope asks an external solver for every prediction: minutes for so many of them.
QUICK = [name for name in NAMES if name != "polytope"]


def check(space, pairs, rng):
    target, ratio, ys = space.target_loss(), ratio_of(space), some_outputs(space, 64, rng)
    count = -(-pairs // len(ys))
    for start in range(0, count, 2000):
        table = ratio_table(space, target, random_scores(space, min(2000, count - start), rng), ys)
        assert table.violations(ratio) == 0, (space, table.largest(), ratio)
        assert table.gradient_violations(space.gradient_ratio()) == 0, space
    return count * len(ys)


@pytest.mark.parametrize("name", QUICK)
def test_lemma_4_and_the_gradient_bound_are_not_violated(name, rng):
    assert check(space_of(name), PAIRS, rng) >= PAIRS


@pytest.mark.soak
@pytest.mark.parametrize("name", NAMES)
def test_lemma_4_is_not_violated_on_any_example(name, rng):
    for space in load_factory("space", name).examples():
        if ratio_of(space) is not None:
            check(space, PAIRS, rng)


@pytest.mark.parametrize("name", ["graphic_matroid", "matroid", "vertices"])
@pytest.mark.parametrize("gap", [1e-3, 0.05, 1.0])
def test_lemma_4_holds_with_inexact_predictions_and_their_gap(name, gap, rng):
    space = space_of(name).accurate_to(gap)
    target, ys = space.target_loss(), some_outputs(space, 64, rng)
    table = ratio_table(space, target, random_scores(space, 150, rng), ys)
    assert table.violations(ratio_of(space)) == 0
    if gap == 1.0:
        assert (table.gap > 1e-6).any()  # the predictions really were inexact


@pytest.mark.parametrize("name", ["ordinal", "hypercube", "graphic_matroid", "permutahedron", "k_subsets"])
def test_a_gamma_that_is_15_percent_too_small_is_caught(name, rng):
    space = osp.make_space("graphic_matroid", edges=K4) if name == "graphic_matroid" else space_of(name)
    target, ys = space.target_loss(), some_outputs(space, 64, rng)
    thetas = np.vstack([random_scores(space, 300, rng), steepest_scores(space, target, ys)])
    table = ratio_table(space, target, thetas, ys)
    assert table.violations(ratio_of(space)) == 0
    assert table.violations(0.85 * ratio_of(space)) > 0


@pytest.mark.parametrize("name", ["birkhoff", "simplex", "assignment", "matching"])
def test_the_measured_supremum_stays_below_the_constant_elsewhere(name, rng, record_property):
    space = space_of(name)
    measured = largest_ratio(space, space.target_loss(), rng, samples=100, climbs=10)
    record_property(f"measured/constant on {name}", measured / ratio_of(space))
    assert 0 < measured <= ratio_of(space) * (1 + 1e-9)


def test_the_printed_permutahedron_gamma_fails(rng):
    """The paper's γ is six times too small: at d = 2 the two permutations already refute it."""
    for d in (2, 3, 4, 5):
        space = osp.make_space("permutahedron", d=d)
        printed = np.sqrt((2 * d + 1) / (6 * d * (d + 1))) / (d - 1)
        uncentred = np.sqrt(6 * (2 * d + 1) / (d * (d + 1))) / (d - 1)
        target = space.target_loss()
        assert target.gamma(space) == pytest.approx(np.sqrt(3 / (d * (d * d - 1))))
        assert printed < target.gamma(space) < uncentred
        ys = space.vertices()
        steepness = max(
            target.loss(a, b) / np.linalg.norm(a - b) for a in ys for b in ys if not np.array_equal(a, b)
        )
        assert printed < steepness <= target.gamma(space) * (1 + 1e-12)
        table = ratio_table(space, target, steepest_scores(space, target, ys), ys)
        assert table.violations(4 * printed / (space.lam * space.nu)) > 0


def test_every_space_that_can_be_installed_plainly_is_tested():
    plain = {
        record.name
        for record in osp.list_spaces()
        if record.available and inspect.isclass(load_factory("space", record.name))
    }
    assert plain <= set(NAMES)
