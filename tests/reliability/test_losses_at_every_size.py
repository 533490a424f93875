"""Losses lie between a feasible point and a dual bound in extended precision, at scores of every size."""

import numpy as np
import pytest

import osp_core as osp
from osp_core.testing import space_examples

PSIS = (osp.SquaredNorm(0.7), osp.NegativeEntropy(0.3), osp.BinaryEntropy(1.0), osp.GibbsEntropy(0.3))
NEGLIGIBLE = 27.0  # e^−27 ≈ 2e−12: entries below are zero for a dual bound


def cases():
    """Every example whose outputs can be listed, on the first back end; hulls of integer points take long."""
    found = []
    for name in [record.name for record in osp.list_spaces() if record.available]:
        examples = space_examples(name)
        found += [example for example in examples if example.backend == examples[0].backend]
    return [pytest.param(one, id=str(one)) for one in found if not hasattr(one.make(), "oracle_calls")]


def with_every_psi(space):
    """The space with those of PSIS that it has predictions for."""
    for psi in PSIS:
        try:
            twin = space.with_psi(psi)
            twin.predict(np.zeros(space.dim))
        except osp.OspError:
            continue
        yield twin


def scores(dim, rng):
    for size in (1e-8, 1.0, 30.0, 1e8):
        yield size * rng.standard_normal(dim)
        yield size * rng.integers(-1, 2, size=dim).astype(float)
        yield size * rng.integers(-1, 2, size=dim) + rng.standard_normal(dim)
        yield np.where(np.arange(dim) % 2 == 0, size, rng.standard_normal(dim))


def x_log_x(y):
    return np.where(y > 0, y * np.log(np.where(y > 0, y, 1.0)), 0.0)


def value(psi, y):
    if isinstance(psi, osp.SquaredNorm):
        return psi.scale * (y @ y) / 2.0
    both = x_log_x(y) + (x_log_x(1.0 - y) if isinstance(psi, osp.BinaryEntropy) else 0.0)
    return psi.scale * both.sum()


def slope_and_conjugate(psi, y):
    """t near ∇Ψ(y), finite everywhere, and max ⟨t, u⟩ − Ψ(u) over all u that Ψ is defined for."""
    if isinstance(psi, osp.SquaredNorm):
        return psi.scale * y, psi.scale * (y @ y) / 2.0
    tiny = np.exp(np.longdouble(-2.0 * NEGLIGIBLE))
    slope = np.log(np.maximum(y, tiny))
    if isinstance(psi, osp.NegativeEntropy):
        slope = np.maximum(slope, -NEGLIGIBLE)
        return psi.scale * (slope + 1.0), psi.scale * np.exp(slope).sum()
    slope = np.clip(slope - np.log(np.maximum(1.0 - y, tiny)), -NEGLIGIBLE, NEGLIGIBLE)
    return psi.scale * slope, psi.scale * np.logaddexp(0.0, slope).sum()


def bracket(space, theta, y, prediction):
    """A number S(θ; y) is not below, by a point of the hull, and one that it is not above, by duality.

    For any t: max ⟨θ, u⟩ − Ψ(u) ≤ max ⟨t, u⟩ − Ψ(u) + max ⟨θ − t, v⟩, the last over outputs v.
    """
    psi = space.psi
    outputs, theta, y = (array.astype(np.longdouble) for array in (space.vertices(), theta, y))
    if isinstance(psi, osp.GibbsEntropy):
        exponents = (outputs - y) @ theta / psi.scale
        exact = psi.scale * (exponents.max() + np.log(np.exp(exponents - exponents.max()).sum()))
        return exact, exact
    combination = space.decompose(prediction.point)
    weights = combination.weights.astype(np.longdouble)
    inside = weights / weights.sum() @ combination.vertices.astype(np.longdouble)
    low = theta @ (inside - y) + value(psi, y) - value(psi, inside)
    slope, conjugate = slope_and_conjugate(psi, prediction.point.astype(np.longdouble))
    high = conjugate + ((outputs - y) @ (theta - slope)).max() - slope @ y + value(psi, y)
    return low, high


@pytest.mark.parametrize("example", cases())
def test_losses_are_what_duality_allows_at_every_size(example, rng):
    for space in with_every_psi(example.make()):
        for theta in scores(space.dim, rng):
            prediction = space.predict(theta)
            for y in (space.lmo(-theta), space.lmo(rng.standard_normal(space.dim))):
                loss = float(space.psi.loss(space, theta, y, prediction))
                low, high = bracket(space, theta, y, prediction)
                size = space.psi.scale + 1e-5 * np.abs(theta).max()
                rounding = 1e-10 * space.dim * (1.0 + space.max_mass) * size
                assert 0.0 <= loss < np.inf
                assert low - 1e-6 * abs(low) - rounding <= loss
                # Entries near 1 are known to 1e-16, so their log odds, and with them the bound, to 1e-5.
                assert loss <= high * (1.0 + 1e-6) + 1e-5 * space.psi.scale + rounding
                assert high <= loss * (1.0 + 1e-6) + 1e-5 * space.psi.scale + prediction.gap + rounding
