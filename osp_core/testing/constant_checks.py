"""Checks of the constants: ν, the diameters, κ, λ, ranges, and the directions of the hull."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from osp_core.errors import Array, UnsupportedError
from osp_core.spaces import OutputSpace
from osp_core.testing.report import NotApplicable
from osp_core.testing.sample import RELATIVE, ROUNDING, Sample, constant, norm_name, psi_gradient, show


def check_nu(space: OutputSpace, rng: np.random.Generator) -> None:
    """ν > 0 is no larger than the distance of any two known outputs, [SBTO24, Assumption 1 (I)]."""
    outputs = Sample.of(space, rng).outputs
    nu = constant(lambda: space.nu, "ν")
    assert nu > 0, f"nu = {nu} is not positive."
    if len(outputs) < 2:
        raise NotApplicable("there is only one output, so no pair to compare")
    i, j, least = _extreme_pair(outputs, space.norm, np.argmin)
    assert nu <= least * (1 + RELATIVE), (
        f"nu = {nu:.10g} is too large: the outputs {show(outputs[i])} and {show(outputs[j])} are only "
        f"{least:.10g} apart in the {norm_name(space.norm)} norm."
    )


def check_diameter(space: OutputSpace, rng: np.random.Generator) -> None:
    """No two known outputs are further apart than `diameter` (in `norm`) and `diameter2` (in ℓ2)."""
    outputs = Sample.of(space, rng).outputs
    for name, p in (("diameter", space.norm), ("diameter2", 2.0)):
        value = constant(lambda name=name: getattr(space, name), name)  # type: ignore[misc]
        assert np.isfinite(value), f"{name} = {value} is not finite."
        i, j, most = _extreme_pair(outputs, p, np.argmax)
        assert value >= most * (1 - RELATIVE), (
            f"{name} = {value:.10g} is too small: the outputs {show(outputs[i])} and {show(outputs[j])} are "
            f"{most:.10g} apart in the {norm_name(p)} norm."
        )


def check_kappa(space: OutputSpace, rng: np.random.Generator) -> None:
    """‖v‖₂ ≤ κ‖v‖ for all v."""
    vectors = np.vstack(
        [np.eye(space.dim)[:1], np.ones((1, space.dim)), rng.standard_normal((50, space.dim))]
    )
    ratios = np.linalg.norm(vectors, axis=1) / np.linalg.norm(vectors, ord=space.norm, axis=1)
    worst = int(np.argmax(ratios))
    assert space.kappa >= ratios[worst] * (1 - RELATIVE), (
        f"kappa = {space.kappa:.10g} is too small: ‖v‖₂ = {ratios[worst]:.10g}·‖v‖ in the "
        f"{norm_name(space.norm)} norm for v = {show(vectors[worst])}."
    )


def check_lam(space: OutputSpace, rng: np.random.Generator) -> None:
    """Ψ is λ-strongly convex with respect to `norm`."""
    _check_strong_convexity(Sample.of(space, rng), constant(lambda: space.lam, "λ"), space.norm, "lam")


def check_lam2(space: OutputSpace, rng: np.random.Generator) -> None:
    """Ψ is λ₂-strongly convex with respect to ℓ2."""
    _check_strong_convexity(Sample.of(space, rng), constant(lambda: space.lam2, "λ₂"), 2.0, "lam2")


def check_ranges(space: OutputSpace, rng: np.random.Generator) -> None:
    """Entries, masses and squares of known outputs stay within what the space says of them."""
    outputs = Sample.of(space, rng).outputs
    sums, size = outputs.sum(axis=1), 1.0 + np.abs(outputs).sum(axis=1).max()
    if space.zero_one:
        assert np.isin(outputs, (0.0, 1.0)).all(), "zero_one is True, but an output has other entries."
    if space.constant_mass:
        assert np.ptp(sums) <= RELATIVE * size, (
            f"constant_mass is True, but masses go from {sums.min()} to {sums.max()}."
        )
    if space.equal_norm:
        norms = np.linalg.norm(outputs, axis=1)
        assert np.ptp(norms) <= RELATIVE * size, (
            f"equal_norm is True, but Euclidean norms go from {norms.min():.10g} to {norms.max():.10g}."
        )
    for name, values in (
        ("min_entry", outputs.min(axis=1)),
        ("min_mass", sums),
        ("max_entry", outputs.max(axis=1)),
        ("max_mass", np.abs(outputs).sum(axis=1)),
        ("max_square", np.square(outputs).sum(axis=1)),
    ):
        stated = constant(lambda name=name: getattr(space, name), name)  # type: ignore[misc]
        worst = int(np.argmin(values) if name.startswith("min") else np.argmax(values))
        excess = stated - values[worst] if name.startswith("min") else values[worst] - stated
        assert excess <= RELATIVE * size, (
            f"{name} = {stated:.10g} is violated by {show(outputs[worst])}, where it is {values[worst]:.10g}."
        )


def check_project_direction(space: OutputSpace, rng: np.random.Generator) -> None:
    """`project_direction` is the orthogonal projection on span(Y − Y), or on a larger space."""
    outputs = Sample.of(space, rng).outputs
    directions = outputs - outputs[0]
    for cost in (*rng.standard_normal((4, space.dim)), np.ones(space.dim)):
        projected = space.project_direction(cost)
        error = np.abs(directions @ (projected - cost))
        worst = int(np.argmax(error))
        assert error[worst] <= RELATIVE * (1.0 + np.abs(directions).sum(axis=1).max()) * np.linalg.norm(
            cost
        ), (
            f"project_direction({show(cost)}) = {show(projected)} changes the inner product with "
            f"{show(outputs[worst])} − {show(outputs[0])} by {error[worst]:.3g}: its span is too small."
        )
        again = space.project_direction(projected)
        assert np.allclose(again, projected, rtol=RELATIVE, atol=RELATIVE), (
            f"project_direction is no projection: applied again to {show(projected)} it gives {show(again)}."
        )


def _check_strong_convexity(sample: Sample, lam: float, p: float, name: str) -> None:
    """Three consequences of strong convexity: of S, of ∇Ψ where there is one, and of θ ↦ ŷ(θ)."""
    assert lam > 0, f"{name} = {lam} is not positive."
    if len(sample.outputs) < 2:
        raise NotApplicable("there is only one output, so Ψ has no direction to be convex in")
    _check_loss_growth(sample, lam, p, name)
    _check_gradient_growth(sample, lam, p, name)
    _check_score_growth(sample, lam, p, name)


def _check_loss_growth(sample: Sample, lam: float, p: float, name: str) -> None:
    for i, prediction in enumerate(sample.predictions):
        distances = np.linalg.norm(sample.labels - prediction.point, ord=p, axis=1)
        lack = _half(lam, distances) * (1 - RELATIVE) - sample.losses[i] - sample.loss_rounding[i]
        j = int(np.argmax(lack))
        assert lack[j] <= 0, (
            f"{name} = {lam:.10g} is too large: at θ = {show(sample.thetas[i])} and y = "
            f"{show(sample.labels[j])}, "
            f"S(θ; y) = {sample.losses[i, j]:.10g} is below (λ/2)‖ŷ − y‖² = {_half(lam, distances[j]):.10g} "
            "in the "
            f"{norm_name(p)} norm."
        )


def _check_gradient_growth(sample: Sample, lam: float, p: float, name: str) -> None:
    for low, high in sample.faces:
        try:
            with np.errstate(all="ignore"):
                slopes = [psi_gradient(sample.space, point) for point in (low, high)]
        except UnsupportedError:
            return
        moving = low != high
        if not all(np.isfinite(slope[moving]).all() for slope in slopes):
            continue  # the gradient of an entropy is infinite on the boundary
        growth = float((slopes[1][moving] - slopes[0][moving]) @ (high - low)[moving])
        needed = 2 * _half(lam, np.linalg.norm(high - low, ord=p))
        slack = ROUNDING * float(np.abs(slopes[0][moving]).max(initial=1.0) * np.abs(high - low).sum())
        assert growth >= needed * (1 - 1e-6) - slack, (
            f"{name} = {lam:.10g} is too large: between u = {show(low)} and v = {show(high)}, ⟨∇Ψ(u) − "
            "∇Ψ(v), u − v⟩ = "
            f"{growth:.10g} is below λ‖u − v‖² = {needed:.10g} in the {norm_name(p)} norm."
        )


def _check_score_growth(sample: Sample, lam: float, p: float, name: str) -> None:
    points = np.array([prediction.point for prediction in sample.predictions])
    gaps = np.array([prediction.gap for prediction in sample.predictions])
    for i, theta in enumerate(sample.thetas):
        difference, scores = points - points[i], sample.thetas - theta
        growth = (scores * difference).sum(axis=1)
        # A prediction of gap g is within √(g/λ) of the exact one.
        blur = np.sqrt(gaps / lam) + np.sqrt(gaps[i] / lam)
        dual = np.linalg.norm(scores, ord=_dual(p), axis=1)
        needed = 2 * _half(lam, np.maximum(np.linalg.norm(difference, ord=p, axis=1) - blur, 0.0))
        lack = needed * (1 - 1e-6) - growth - dual * blur - sample.loss_rounding[i] - sample.loss_rounding
        j = int(np.argmax(lack))
        assert lack[j] <= 0, (
            f"{name} = {lam:.10g} is too large: for θ = {show(theta)} and θ′ = {show(sample.thetas[j])}, "
            f"⟨θ − θ′, ŷ − ŷ′⟩ = {growth[j]:.10g} is below λ‖ŷ − ŷ′‖² = {needed[j]:.10g} in the "
            f"{norm_name(p)} norm."
        )


def _half(lam: float, distance: Array | np.floating[Any]) -> Array:
    """(λ/2)·distance², also where λ is infinite because nothing can move."""
    distance = np.asarray(distance)
    return np.where(distance > 0, 0.5 * np.where(distance > 0, lam, 0.0) * np.square(distance), 0.0)


def _dual(p: float) -> float:
    return np.inf if p == 1 else (1.0 if np.isinf(p) else p / (p - 1.0))


def _extreme_pair(outputs: Array, p: float, choose: Callable[[Array], np.intp]) -> tuple[int, int, float]:
    """The nearest or farthest pair of distinct rows, with their distance."""
    pairs = []
    for i in range(len(outputs) - 1):
        distances = np.linalg.norm(outputs[i + 1 :] - outputs[i], ord=p, axis=1)
        j = int(choose(distances))
        pairs.append((i, i + 1 + j, float(distances[j])))
    if not pairs:
        return 0, 0, 0.0
    return pairs[int(choose(np.array([distance for _, _, distance in pairs])))]
