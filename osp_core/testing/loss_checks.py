"""Checks of target losses: their costs, affine, non-negative on the hull, zero at the truth, γ, parts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from osp_core.errors import Array, GuaranteeError
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


def check_loss_has_a_cost_per_coordinate(
    target: AffineLoss, space: OutputSpace, rng: np.random.Generator
) -> None:
    """cost(y) is a finite vector as long as the outputs, constant(y) a finite number."""
    for y, loss in _revealed(target, space, Sample.of(space, rng), rng):
        assert loss.cost.shape == (space.dim,), (
            f"cost(y) has shape {loss.cost.shape} instead of {(space.dim,)} for y = {show(y)}."
        )
        assert np.isfinite(loss.cost).all(), f"cost(y) = {show(loss.cost)} is not finite for y = {show(y)}."
        assert np.isfinite(loss.constant), f"constant(y) = {loss.constant} is not finite for y = {show(y)}."


def check_loss_is_affine(target: AffineLoss, space: OutputSpace, rng: np.random.Generator) -> None:
    """L(·; y) of a mixture is the mixture of the losses, for every y."""
    sample = Sample.of(space, rng)
    for y, loss in _rounds(target, space, sample, rng):
        for _ in range(4):
            u, v = sample.hull_points[rng.integers(len(sample.hull_points), size=2)]
            t = rng.uniform(0.2, 0.8)
            try:
                mixed, at_u, at_v = loss(t * u + (1 - t) * v), loss(u), loss(v)
            except GuaranteeError as error:
                raise NotApplicable(f"it has no value everywhere: {error}") from error
            expected = t * at_u + (1 - t) * at_v
            assert abs(mixed - expected) <= RELATIVE * (_size(loss, u) + _size(loss, v)), (
                f"L(·; y) is not affine at y = {show(y)}: L = {mixed:.10g} at {t:.3g}·u + {1 - t:.3g}·v, but "
                f"the mixture of L(u) = {at_u:.10g} and L(v) = {at_v:.10g} is {expected:.10g}; u = "
                f"{show(u)}, v = {show(v)}."
            )


def check_loss_is_nonnegative(target: AffineLoss, space: OutputSpace, rng: np.random.Generator) -> None:
    """L(·; y) ≥ 0 at every known output, and at the cheapest one, which `lmo` finds."""
    sample = Sample.of(space, rng)
    for y, loss in _rounds(target, space, sample, rng):
        candidates = np.vstack([sample.outputs, space.lmo(loss.cost)])
        values = candidates @ loss.cost + loss.constant
        worst = int(np.argmin(values))
        assert values[worst] >= -RELATIVE * _size(loss, candidates[worst]), (
            f"L(y′; y) = {values[worst]:.10g} is negative for y′ = {show(candidates[worst])}, y = {show(y)}."
        )


def check_loss_is_zero_at_the_truth(target: AffineLoss, space: OutputSpace, rng: np.random.Generator) -> None:
    """L(y; y) = 0 for every known output."""
    sample = Sample.of(space, rng)
    for y, loss in _rounds(target, space, sample, rng):
        value = float(loss.cost @ y) + loss.constant
        assert abs(value) <= RELATIVE * _size(loss, y), (
            f"L(y; y) = {value:.10g} instead of 0 for y = {show(y)}."
        )


def check_loss_parts(target: AffineLoss, space: OutputSpace, rng: np.random.Generator) -> None:
    """The parts of L on the blocks of the space are losses themselves, and their sum is L."""
    blocks = space.blocks() or ()
    found = [target.on_block(space, block) for block in blocks]
    parts = [part for part in found if part is not None]
    if not parts or len(parts) < len(blocks):
        raise NotApplicable("the target is no sum over blocks of the space")
    sample = Sample.of(space, rng)
    outputs = sample.outputs[rng.integers(len(sample.outputs), size=8)]
    for y, loss in _rounds(target, space, sample, rng):
        values = outputs @ loss.cost + loss.constant
        total, size = np.zeros(len(outputs)), np.array([_size(loss, one) for one in outputs])
        for block, part in zip(blocks, parts, strict=True):
            for at in block.coordinates:
                own = part.at(y[at])
                total += outputs[:, at] @ own.cost + own.constant
                size += [_size(own, one) for one in outputs[:, at]]
        worst = int(np.argmax(np.abs(total - values) - RELATIVE * size))
        assert abs(total[worst] - values[worst]) <= RELATIVE * size[worst], (
            f"the parts of L on the blocks add up to {total[worst]:.10g} instead of {values[worst]:.10g} for "
            f"y′ = {show(outputs[worst])}, y = {show(y)}; on_block is wrong."
        )
    for block, part in zip(blocks, parts, strict=True):
        check_loss_is_nonnegative(part, block.space, rng)
        check_loss_is_zero_at_the_truth(part, block.space, rng)
        with suppress(NotApplicable):  # an unknown γ only leaves the decoder of blocks without a ratio
            check_loss_gamma(part, block.space, rng)


def check_loss_gamma(target: AffineLoss, space: OutputSpace, rng: np.random.Generator) -> None:
    """L(y′; y) ≤ γ‖y′ − y‖ for y in Y and y′ in conv(Y), [SBTO24, Assumption 1 (III)].

    Pairs of vertices miss the worst y′, so the hull is searched along the steepest direction of L too.
    """
    gamma = constant(lambda: target.gamma(space), "γ")
    assert np.isfinite(gamma), f"gamma = {gamma} is not finite."
    assert gamma >= 0, f"gamma = {gamma} is negative."
    sample = Sample.of(space, rng)
    for number, (y, loss) in enumerate(_rounds(target, space, sample, rng)):
        steepest = _steepest_points(space, y, loss) if number < 16 else np.empty((0, space.dim))
        points = np.vstack([sample.outputs, sample.hull_points, steepest])
        losses, distances = points @ loss.cost + loss.constant, space.distance(points, y)
        rounding = 1e-13 * np.array([_size(loss, point) for point in points])
        lack = losses - gamma * distances * (1 + RELATIVE) - rounding
        worst = int(np.argmax(lack))
        assert lack[worst] <= 0, (
            f"gamma = {gamma:.10g} is too small: L(y′; y) = {losses[worst]:.10g} is "
            f"{losses[worst] / distances[worst]:.10g} "
            f"times the {norm_name(space.norm)} distance of y′ = {show(points[worst])} from y = {show(y)}."
        )


def check_target(space: OutputSpace, rng: np.random.Generator) -> None:
    """The usual target of the space is non-negative on the hull, zero at the truth and affine."""
    target = usual_target(space)
    check_loss_has_a_cost_per_coordinate(target, space, rng)
    check_loss_is_nonnegative(target, space, rng)
    check_loss_is_zero_at_the_truth(target, space, rng)
    check_loss_is_affine(target, space, rng)


def check_gamma(space: OutputSpace, rng: np.random.Generator) -> None:
    """γ of the usual target is not violated, [SBTO24, Assumption 1 (III)]."""
    check_loss_gamma(usual_target(space), space, rng)


LOSS_CHECKS = (
    check_loss_has_a_cost_per_coordinate,
    check_loss_is_affine,
    check_loss_is_nonnegative,
    check_loss_is_zero_at_the_truth,
    check_loss_gamma,
    check_loss_parts,
)


def _size(loss: RoundLoss, point: Array) -> float:
    """The size of the numbers that a loss is added up from: rounding is relative to it."""
    return float(np.abs(loss.cost) @ np.abs(point)) + abs(loss.constant)


def _rounds(
    target: AffineLoss, space: OutputSpace, sample: Sample, rng: np.random.Generator
) -> list[tuple[Array, RoundLoss]]:
    """Rounds whose losses can be computed with; for others there is a check of its own."""
    rounds = _revealed(target, space, sample, rng)
    for _, loss in rounds:
        if loss.cost.shape != (space.dim,) or not np.isfinite([*loss.cost, loss.constant]).all():
            raise NotApplicable("costs and constants are not what they must be")
    return rounds


def _revealed(
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
