"""Checks of predictions ŷ(θ) and of the Fenchel–Young loss they make."""

from __future__ import annotations

from typing import Any

import numpy as np

from osp_core.errors import Array, UnsupportedError
from osp_core.geometry.predictions import Prediction
from osp_core.spaces import OutputSpace
from osp_core.surrogates.decoders import RandomizedDecoder
from osp_core.surrogates.fenchel_young import FenchelYoungLoss
from osp_core.testing.report import NotApplicable
from osp_core.testing.sample import RELATIVE, Sample, psi_gradient, psi_value, show
from osp_core.testing.slow_twins import brute_force_prediction, hull_distance


def check_prediction_is_feasible(space: OutputSpace, rng: np.random.Generator) -> None:
    """ŷ lies in conv(Y): no linear cost separates it, and for listed outputs it is a mixture of them."""
    sample = Sample.of(space, rng)
    size = 1.0 + np.abs(sample.outputs).max()
    costs = rng.standard_normal((8, space.dim))
    lowest = np.array([space.lmo(cost) @ cost for cost in costs])
    for theta, prediction in zip(sample.thetas, sample.predictions, strict=True):
        point = prediction.point
        assert point.shape == (space.dim,), f"predict returned shape {point.shape} instead of ({space.dim},)."
        assert np.isfinite(point).all(), f"predict({show(theta)}) is {show(point)}."
        excess = lowest - costs @ point
        assert excess.max() <= RELATIVE * size * space.dim, (
            f"predict({show(theta)}) = {show(point)} is outside conv(Y): a linear cost is lower there than "
            "at "
            f"every vertex, by {excess.max():.3g}."
        )
        if sample.enumerated is not None and len(sample.enumerated) <= 200:
            distance = hull_distance(sample.enumerated, point)
            assert distance <= 1e-7 * size, f"predict({show(theta)}) is {distance:.3g} away from conv(Y)."


def check_prediction_is_optimal(space: OutputSpace, rng: np.random.Generator) -> None:
    """ŷ maximises ⟨θ, y⟩ − Ψ(y): the first-order condition, by one oracle call, holds to its stated gap."""
    sample = Sample.of(space, rng)
    checked = 0
    for theta, prediction in zip(sample.thetas, sample.predictions, strict=True):
        assert prediction.gap >= 0, f"predict({show(theta)}) states the negative gap {prediction.gap}."
        certificate = _oracle_gap(space, theta, prediction)
        if certificate is None:
            continue  # the gradient of an entropy is infinite on the boundary
        checked += 1
        gap, tolerance, vertex = certificate
        assert gap <= prediction.gap * (1 + 1e-6) + tolerance, (
            f"predict({show(theta)}) = {show(prediction.point)} is not optimal: ⟨θ, y⟩ − Ψ(y) rises towards "
            f"{show(vertex)} with slope {gap:.10g}, while the stated gap is {prediction.gap:.3g}."
        )
    if not checked:
        raise NotApplicable(f"{type(space.psi).__name__} has no finite gradient at any prediction")


def check_prediction_matches_brute_force(space: OutputSpace, rng: np.random.Generator) -> None:
    """ŷ is what a slow solver finds over the listed outputs."""
    sample = Sample.of(space, rng)
    if sample.enumerated is None or len(sample.enumerated) > 60:
        raise NotApplicable("there are too many outputs to list")
    tried = 0
    for theta, prediction in zip(sample.thetas, sample.predictions, strict=True):
        if tried >= 8 or not 1e-2 <= np.abs(theta).max() <= 20:
            continue
        slow, accuracy = brute_force_prediction(space, sample.enumerated, theta)
        tried += 1
        distance = float(np.linalg.norm(slow - prediction.point))
        blur = float(np.sqrt(prediction.gap / space.lam2))
        assert distance <= blur + accuracy * (1.0 + np.abs(slow).max()), (
            f"predict({show(theta)}) = {show(prediction.point)}, but the maximiser of ⟨θ, y⟩ − Ψ(y) over all "
            "outputs "
            f"is {show(slow)}, {distance:.3g} away."
        )


def check_fenchel_young_gradient(space: OutputSpace, rng: np.random.Generator) -> None:
    """ŷ − y is the gradient of S(·; y): it lies between the two one-sided difference quotients."""
    sample, loss = Sample.of(space, rng), FenchelYoungLoss(space)
    step = 1e-4
    for scale in (0.1, 1.0, 10.0):
        theta = scale * rng.standard_normal(space.dim)
        y = sample.labels[rng.integers(len(sample.labels))]
        prediction = space.predict(theta)
        value, gradient = loss.at(theta, prediction, y)
        rounding = 1e-11 * (1.0 + scale) * (1.0 + np.abs(sample.outputs).sum(axis=1).max())
        blur = (rounding + 2 * prediction.gap) / step
        assert value >= 0, f"S(θ; y) = {value} is negative at θ = {show(theta)}, y = {show(y)}."
        for direction in _unit_directions(space.dim, rng):
            above = loss.value(theta + step * direction, y) - value
            below = value - loss.value(theta - step * direction, y)
            slope = float(gradient @ direction)
            # S is convex in θ, so the slope is between the quotients whatever its curvature.
            assert below / step - blur <= slope <= above / step + blur, (
                f"the gradient of S(·; y) is wrong at θ = {show(theta)}, y = {show(y)}: along "
                f"{show(direction)} it "
                f"gives {slope:.8g}, but the difference quotients are {below / step:.8g} and "
                f"{above / step:.8g}."
            )


def check_fenchel_young_value(space: OutputSpace, rng: np.random.Generator) -> None:
    """S(θ; y) = max_u {⟨θ, u⟩ − Ψ(u)} + Ψ(y) − ⟨θ, y⟩, never below what any u of the hull gives."""
    sample = Sample.of(space, rng)
    try:
        values = psi_value(space, sample.labels)
    except UnsupportedError as error:
        raise NotApplicable(str(error)) from error
    rivals = np.vstack([sample.labels, sample.hull_points])
    rival_values = psi_value(space, rivals)
    for i, theta in enumerate(sample.thetas):
        lower = (rivals @ theta - rival_values).max() + values - sample.labels @ theta
        lack = lower - sample.losses[i] - sample.loss_rounding[i] * 10
        j = int(np.argmax(lack))
        assert lack[j] <= 0, (
            f"S(θ; y) = {sample.losses[i, j]:.10g} is below Ω*(θ) + Ω(y) − ⟨θ, y⟩ ≥ {lower[j]:.10g} at "
            f"θ = {show(theta)}, y = {show(sample.labels[j])}."
        )


def check_large_scores(space: OutputSpace, rng: np.random.Generator) -> None:
    """Nothing is NaN or infinite, and ŷ is nearly a best vertex, at |θ| = 1e8; nor at 0 and 1e−8."""
    sample, loss, decoder = Sample.of(space, rng), FenchelYoungLoss(space), RandomizedDecoder(space)
    extremes = [np.zeros(space.dim), np.ones(space.dim), rng.standard_normal(space.dim)]
    extremes += [np.eye(space.dim)[0], -np.eye(space.dim)[-1], np.sign(rng.standard_normal(space.dim))]
    for scale in (1e-8, 1e8):
        for theta in scale * np.array(extremes):
            prediction = space.predict(theta)
            best = space.lmo(-theta)
            y = sample.labels[rng.integers(len(sample.labels))]
            numbers: dict[str, Any] = {
                "ŷ": prediction.point,
                "gap": prediction.gap,
                "S(θ; y)": loss.at(theta, prediction, y)[0],
                "S(θ; best vertex)": loss.at(theta, prediction, best)[0],
                "nearest vertex": space.nearest_vertex(prediction.point),
                "p": decoder.law(prediction).p,
                "sampled vertex": space.sample_vertex(prediction.point, rng),
            }
            for name, number in numbers.items():
                assert np.isfinite(number).all(), f"{name} = {number} at θ = {show(theta)}."
            _check_nearly_best(space, sample, theta, prediction, best)


def check_common_offset(space: OutputSpace, rng: np.random.Generator) -> None:
    """A number added to all scores changes neither ŷ, its gap nor S(θ; y) where all masses are equal."""
    if not space.constant_mass:
        raise NotApplicable("outputs have different masses, so an offset of the scores matters")
    sample, loss = Sample.of(space, rng), FenchelYoungLoss(space)
    size = 1.0 + np.abs(sample.outputs).max()
    for offset in (2.0**26, -(2.0**26)):
        shifted = rng.standard_normal(space.dim) + offset
        theta = shifted - offset  # exact: what is lost of the scores is lost already
        prediction, moved = space.predict(theta), space.predict(shifted)
        blur = sum(float(np.sqrt(one.gap / space.lam2)) if one.gap else 0.0 for one in (prediction, moved))
        distance = float(np.linalg.norm(moved.point - prediction.point))
        where = f"at θ = {show(theta)} with {offset:.9g} added to every score"
        assert distance <= 1e-7 * size + blur, (
            f"ŷ moves by {distance:.3g} {where}, although all outputs have the same mass: from "
            f"{show(prediction.point)} to {show(moved.point)}."
        )
        y = sample.labels[rng.integers(len(sample.labels))]
        value, again = loss.at(theta, prediction, y)[0], loss.at(shifted, moved, y)[0]
        slack = 1e-7 * size * (1.0 + value)
        assert abs(again - value) <= slack + prediction.gap + moved.gap, (
            f"S(θ; y) changes from {value:.10g} to {again:.10g} {where}."
        )
        assert moved.gap <= 100 * prediction.gap + slack, (
            f"the gap rises from {prediction.gap:.3g} to {moved.gap:.3g} {where}."
        )
        _check_stated_gap(space, theta, moved, where)


def _check_stated_gap(space: OutputSpace, theta: Array, prediction: Prediction, where: str) -> None:
    try:
        certificate = _oracle_gap(space, theta, prediction)
    except NotApplicable:  # Ψ has no gradient
        return
    if certificate is not None:
        gap, tolerance, _ = certificate
        assert gap <= prediction.gap * (1 + 1e-6) + 100 * tolerance, (
            f"the stated gap {prediction.gap:.3g} is false {where}: by one oracle call it is {gap:.10g}."
        )


def _check_nearly_best(
    space: OutputSpace, sample: Sample, theta: Array, prediction: Prediction, best: Array
) -> None:
    # ⟨θ, best − ŷ⟩ ≤ Ψ(best) − Ψ(ŷ) + gap, and S(0; ·) bounds how much Ψ varies over the hull.
    zero = space.predict(np.zeros(space.dim))
    spread = float(space.psi.loss(space, np.zeros(space.dim), best, zero)) + zero.gap
    lag = float(theta @ (best - prediction.point))
    size = np.abs(theta).max() * (1.0 + np.abs(sample.outputs).sum(axis=1).max())
    assert lag <= spread + prediction.gap + 1e-12 * size, (
        f"predict({show(theta)}) = {show(prediction.point)} is worse than the vertex {show(best)}: by "
        f"{lag:.6g} in "
        f"⟨θ, ·⟩, where Ψ can account for {spread:.6g} at most."
    )


def _oracle_gap(
    space: OutputSpace, theta: Array, prediction: Prediction
) -> tuple[float, float, Array] | None:
    """The Frank–Wolfe gap by one oracle call, how far it may be off by rounding, and the vertex."""
    slope, rounding = _gradient(space, prediction)
    if not (np.isfinite(slope).all() and np.isfinite(rounding).all()):
        return None
    ascent = theta - slope
    vertex = space.lmo(-ascent)
    size = 1.0 + np.abs(theta).max() + np.abs(slope).max()
    tolerance = RELATIVE * size * (1.0 + np.abs(vertex).sum())
    tolerance += float(rounding @ np.abs(vertex - prediction.point))
    return float(ascent @ (vertex - prediction.point)), tolerance, vertex


def _gradient(space: OutputSpace, prediction: Prediction) -> tuple[Array, Array]:
    """∇Ψ(ŷ), and how much of it the rounding of ŷ to float64 may have changed."""
    y = prediction.point
    try:
        with np.errstate(all="ignore"):
            slope = psi_gradient(space, y)
            above, below = (psi_gradient(space, np.nextafter(y, end)) for end in (np.inf, -np.inf))
            return slope, np.abs(above - below)
    except UnsupportedError as error:
        raise NotApplicable(str(error)) from error


def _unit_directions(dim: int, rng: np.random.Generator) -> list[Array]:
    axes = list(rng.permutation(np.eye(dim))[:3])
    random = rng.standard_normal((2, dim))
    return axes + list(random / np.linalg.norm(random, axis=1, keepdims=True))
