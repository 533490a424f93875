"""A number added to all scores changes nothing where all outputs have the same mass."""

import functools

import numpy as np
import pytest
from osp_matroids.graphs.space import GraphicMatroid

import osp_core as osp
from osp_core.geometry.offsets import without_offset
from osp_core.testing import space_examples
from osp_core.testing.sample import psi_gradient

OFFSETS = (2.0**10, 2.0**26, -(2.0**26), 2.0**40)
PSIS = (osp.SquaredNorm(0.7), osp.NegativeEntropy(0.3), osp.BinaryEntropy(1.0), osp.GibbsEntropy(0.3))


def examples_of_equal_mass():
    """Those of every registered space, on its first back end."""
    found = []
    for name in [record.name for record in osp.list_spaces() if record.available]:
        examples = space_examples(name)
        found += [example for example in examples if example.backend == examples[0].backend]
    return [pytest.param(one, id=str(one)) for one in found if one.make().constant_mass]


def with_every_psi(space):
    """The space with its own Ψ, and with all others that it has predictions for."""
    return [space, *filter(None, (with_psi(space, psi) for psi in PSIS))]


def with_psi(space, psi):
    try:
        twin = space.with_psi(psi)
        twin.predict(np.zeros(space.dim))
    except osp.OspError:
        return None
    return twin


def oracle_gap(space, theta, point):
    """max ⟨θ − ∇Ψ(y), v − y⟩ over outputs v, by one oracle call; 0 where ∇Ψ is infinite or unknown."""
    try:
        with np.errstate(all="ignore"):
            ascent = theta - psi_gradient(space, point)
    except osp.UnsupportedError:
        return 0.0
    return float(ascent @ (space.lmo(-ascent) - point)) if np.isfinite(ascent).all() else 0.0


def assert_same(space, theta, shifted, y):
    """Same point, same loss, one by one and in batches, and a gap that an oracle call confirms."""
    loss = functools.partial(space.psi.loss, space)
    expected = space.predict(theta)
    value = float(loss(theta, y, expected))
    found, batch = space.predict(shifted), space.predict_many(np.array([shifted, shifted]))
    blur = np.sqrt(expected.gap / space.lam2) if expected.gap > 1e-12 else 0.0
    for point in (found.point, *batch.point):
        assert np.abs(point - expected.point).max() <= 1e-9 + blur
    for again in (float(loss(shifted, y, found)), *loss(np.array([shifted] * 2), np.array([y] * 2), batch)):
        assert abs(again - value) <= 1e-9 * (1.0 + value) + found.gap
    assert oracle_gap(space, theta, found.point) <= found.gap + 1e-8 * space.psi.scale


@pytest.mark.parametrize("example", examples_of_equal_mass())
def test_a_common_offset_changes_neither_prediction_nor_loss_nor_certificate(example, rng):
    for space in with_every_psi(example.make()):
        for offset in OFFSETS:
            shifted = 2.0 * rng.standard_normal(space.dim) + offset
            assert_same(space, shifted - offset, shifted, space.lmo(rng.standard_normal(space.dim)))


@pytest.mark.parametrize("psi", [osp.SquaredNorm(0.7), osp.NegativeEntropy(0.3), osp.GibbsEntropy(1.0), None])
def test_every_factor_of_a_product_has_an_offset_of_its_own(psi, rng):
    factors = [osp.make_space("simplex", d=3), osp.make_space("k_subsets", d=4, k=2)]
    factors += [osp.make_space("partition_matroid", blocks=[2], capacities=1, bases=False)]
    space = osp.make_space("product", spaces=factors, psi=psi)
    offset = np.zeros(space.dim)
    offset[:3], offset[3:7] = 2.0**26, -(2.0**26)
    shifted = rng.standard_normal(space.dim) + offset
    assert_same(space, shifted - offset, shifted, space.lmo(rng.standard_normal(space.dim)))


@pytest.mark.parametrize("psi", [osp.SquaredNorm(0.7), osp.NegativeEntropy(0.3)])
@pytest.mark.parametrize("axis", [0, 1])
def test_every_row_or_column_of_a_ranking_has_an_offset_of_its_own(axis, psi, rng):
    space = osp.make_space("birkhoff", n=4, psi=psi)
    offset = np.moveaxis(np.full((4, 4), 2.0**26) * [[1], [-1], [3], [0]], 0, axis).ravel()
    shifted = rng.standard_normal(16) + offset
    assert_same(space, shifted - offset, shifted, space.lmo(rng.standard_normal(16)))


@pytest.mark.parametrize("psi", [osp.SquaredNorm(0.7), osp.NegativeEntropy(0.3), osp.GibbsEntropy(1.0)])
def test_every_component_of_a_matroid_has_an_offset_of_its_own(psi, rng):
    space = GraphicMatroid(edges=[(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (4, 5), (5, 3)], psi=psi)
    offset = 2.0**26 * np.array([1, 1, 1, 0, -1, -1, -1])
    shifted = rng.standard_normal(7) + offset
    assert_same(space, shifted - offset, shifted, space.lmo(rng.standard_normal(7)))


def test_the_entropic_projection_on_a_matroid_is_feasible_whatever_the_offset(rng):
    """Asked directly, too: a point off by 1e-8 has a gap of 1 where scores are at 2²⁶."""
    space = GraphicMatroid(5)
    theta = rng.integers(-8, 9, size=space.dim) / 4.0
    for offset in OFFSETS:
        found = space.kl_project(theta + offset)
        assert found.point == pytest.approx(space.kl_project(theta).point, abs=1e-14)
        assert found.gap <= 1e-14


def test_offsets_are_taken_out_without_rounding(rng):
    for _ in range(200):
        offset = float(rng.choice([-1, 1]) * 2.0 ** rng.integers(2, 60))
        scores = rng.standard_normal(5) + offset
        centred = without_offset(scores)
        if centred is not scores and centred.max() == 0.0:
            assert [float(c) for c in centred] == [float(s) - float(scores.max()) for s in scores]
            assert np.array_equal(centred + scores.max(), scores)


def test_scores_without_a_large_offset_stay_as_they_are():
    for scores in ([1.0, -1.0], [0.0, 5.0], [-1.0, -3.0], [1e8, 1e-8]):
        assert np.array_equal(without_offset(np.array(scores)), scores)
    space = osp.make_space("simplex", d=2)
    theta = np.array([1000.0, 1001.0])
    assert space.centred(theta) is theta
