"""Checks of target losses: affine, non-negative on the hull, zero at the truth, γ."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from osp_core.errors import Array
from osp_core.spaces import OutputSpace
from osp_core.targets import AffineLoss, DecisionRegret, RoundLoss
from osp_core.testing.report import NotApplicable, Report, examine
from osp_core.testing.sample import RELATIVE, Sample, constant, norm_name, show, usual_target


def check_loss(
    target: AffineLoss,
    space: OutputSpace,
    *,
    expected_failures: Mapping[str, str] | Iterable[str] = (),
    seed: int = 0,
) -> None:
    """Check that `target` meets [SBTO24, Assumption 1] on `space`; raise one ConformanceError otherwise."""
    examine_loss(target, space, expected_failures=expected_failures, seed=seed).raise_failures()


def examine_loss(
    target: AffineLoss,
    space: OutputSpace,
    *,
    expected_failures: Mapping[str, str] | Iterable[str] = (),
    seed: int = 0,
) -> Report:
    """Run the checks of `check_loss` and return their report."""
    checks = [
        (
            check.__name__.removeprefix("check_"),
            lambda check=check: check(target, space, np.random.default_rng(seed)),
        )
        for check in LOSS_CHECKS
    ]
    return examine(f"target {target!r} on {space!r}", checks, expected_failures)


def check_loss_is_affine(target: AffineLoss, space: OutputSpace, rng: np.random.Generator) -> None:
    """L(·; y) of a mixture is the mixture of the losses, for every y."""
    sample = Sample.of(space, rng)
    for y, loss in _rounds(target, space, sample, rng):
        for _ in range(4):
            u, v = sample.hull_points[rng.integers(len(sample.hull_points), size=2)]
            t = rng.uniform(0.2, 0.8)
            mixed, expected = loss(t * u + (1 - t) * v), t * loss(u) + (1 - t) * loss(v)
            size = 1.0 + abs(loss(u)) + abs(loss(v))
            assert abs(mixed - expected) <= RELATIVE * size, (
                f"L(·; y) is not affine at y = {show(y)}: L = {mixed:.10g} at {t:.3g}·u + {1 - t:.3g}·v, but "
                "the mixture "
                f"of L(u) = {loss(u):.10g} and L(v) = {loss(v):.10g} is {expected:.10g}; u = {show(u)}, v = "
                f"{show(v)}."
            )


def check_loss_is_nonnegative(target: AffineLoss, space: OutputSpace, rng: np.random.Generator) -> None:
    """L(·; y) ≥ 0 at every known output, and at the cheapest one, which `lmo` finds."""
    sample = Sample.of(space, rng)
    for y, loss in _rounds(target, space, sample, rng):
        candidates = np.vstack([sample.outputs, space.lmo(loss.cost)])
        values = candidates @ loss.cost + loss.constant
        worst, size = int(np.argmin(values)), 1.0 + np.abs(values).max()
        assert values[worst] >= -RELATIVE * size, (
            f"L(y′; y) = {values[worst]:.10g} is negative for y′ = {show(candidates[worst])}, y = {show(y)}."
        )


def check_loss_is_zero_at_the_truth(target: AffineLoss, space: OutputSpace, rng: np.random.Generator) -> None:
    """L(y; y) = 0 for every known output."""
    sample = Sample.of(space, rng)
    for y, loss in _rounds(target, space, sample, rng):
        value = float(loss.cost @ y) + loss.constant
        assert abs(value) <= RELATIVE * (1.0 + np.abs(loss.cost) @ np.abs(y)), (
            f"L(y; y) = {value:.10g} instead of 0 for y = {show(y)}."
        )


def check_loss_gamma(target: AffineLoss, space: OutputSpace, rng: np.random.Generator) -> None:
    """L(y′; y) ≤ γ‖y′ − y‖ for y in Y and y′ in conv(Y), [SBTO24, Assumption 1 (III)].

    Pairs of vertices miss the worst y′, so the hull is searched along the steepest direction of L too.
    """
    gamma = constant(lambda: target.gamma(space), "γ")
    assert gamma >= 0, f"gamma = {gamma} is negative."
    assert np.isfinite(gamma), f"gamma = {gamma} is not finite."
    sample = Sample.of(space, rng)
    for number, (y, loss) in enumerate(_rounds(target, space, sample, rng)):
        steepest = _steepest_points(space, y, loss) if number < 16 else np.empty((0, space.dim))
        points = np.vstack([sample.outputs, sample.hull_points, steepest])
        losses, distances = points @ loss.cost + loss.constant, space.distance(points, y)
        rounding = 1e-14 * (1.0 + np.abs(points) @ np.abs(loss.cost) + abs(loss.constant))
        lack = losses - gamma * distances * (1 + RELATIVE) - 10 * rounding
        worst = int(np.argmax(lack))
        assert lack[worst] <= 0, (
            f"gamma = {gamma:.10g} is too small: L(y′; y) = {losses[worst]:.10g} is "
            f"{losses[worst] / distances[worst]:.10g} "
            f"times the {norm_name(space.norm)} distance of y′ = {show(points[worst])} from y = {show(y)}."
        )


def check_target(space: OutputSpace, rng: np.random.Generator) -> None:
    """The usual target of the space is affine, non-negative on the hull and zero at the truth."""
    target = usual_target(space)
    check_loss_is_affine(target, space, rng)
    check_loss_is_nonnegative(target, space, rng)
    check_loss_is_zero_at_the_truth(target, space, rng)


def check_gamma(space: OutputSpace, rng: np.random.Generator) -> None:
    """γ of the usual target is not violated, [SBTO24, Assumption 1 (III)]."""
    check_loss_gamma(usual_target(space), space, rng)


LOSS_CHECKS = (
    check_loss_is_affine,
    check_loss_is_nonnegative,
    check_loss_is_zero_at_the_truth,
    check_loss_gamma,
)


def _rounds(
    target: AffineLoss, space: OutputSpace, sample: Sample, rng: np.random.Generator
) -> list[tuple[Array, RoundLoss]]:
    """The true output and the loss of rounds with all kinds of feedback."""
    feedback: Sequence[Any] = list(sample.labels)
    if isinstance(target, DecisionRegret):
        costs = rng.standard_normal((12, space.dim))
        # A round steeper than the stated γ is refused, so the costs are scaled to be below it.
        size = np.array([np.linalg.norm(cost, 1) for cost in costs])
        try:
            feedback = list(costs * (target.gamma(space) / size)[:, np.newaxis])
        except Exception as error:
            raise NotApplicable(f"no costs to try: {error}") from error
    return [target.reveal(space, one) for one in feedback]


def _steepest_points(space: OutputSpace, y: Array, loss: RoundLoss) -> Array:
    """Points of the hull in the direction in which L grows fastest: y + t·Pc, brought back to the hull."""
    direction = space.project_direction(loss.cost)
    length = float(np.linalg.norm(direction))
    if length == 0:
        return np.empty((0, space.dim))
    steps = np.array([0.05, 0.5]) / length
    return np.array([space.project(y + step * direction).point for step in steps])
