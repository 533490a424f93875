"""Checks of the twins of a space: with another Ψ, or with predictions that may stop early."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from osp_core.errors import Array, MissingConstantError, OspError, UnsupportedError
from osp_core.geometry.predictions import Prediction
from osp_core.regularizers import Regularizer, SquaredNorm
from osp_core.spaces import OutputSpace
from osp_core.testing.sample import RELATIVE, Sample, psi_gradient, show

CONSTANTS = ("nu", "kappa", "lam", "lam2", "diameter", "diameter2", "max_mass", "max_square", "constant_mass")
ACCURACY = 0.05


def check_with_psi(space: OutputSpace, rng: np.random.Generator) -> None:
    """`with_psi` gives the numbers of a space made with that Ψ, and leaves the space itself alone."""
    sample = Sample.of(space, rng)
    thetas = _few(sample.thetas)
    before = _numbers(space, thetas)  # everything that is ever kept has been computed now
    for psi in _others(space):
        twin = space.with_psi(psi)
        assert twin.psi == psi, f"with_psi({psi!r}) has the Ψ {twin.psi!r}."
        for theta in thetas:
            prediction = twin.predict(theta)
            _check_gap(twin, theta, prediction)
            for y in sample.labels[:8]:
                _check_growth(twin, theta, prediction, y)
        _check_blocks(twin, thetas)
        _check_against_new(space, twin, psi, thetas)
        _compare(_numbers(twin.with_psi(space.psi), thetas), before, f"after with_psi({psi!r}) and back")
    _compare(_numbers(space, thetas), before, "after with_psi was called on it")


def check_accurate_to(space: OutputSpace, rng: np.random.Generator) -> None:
    """`accurate_to(gap)` changes no constant; its predictions have at most that gap, under any Ψ."""
    thetas = _few(Sample.of(space, rng).thetas)
    before = _numbers(space, thetas)
    for scale in (1.0, 7.0):
        coarse = space.accurate_to(ACCURACY)
        if scale != 1.0:
            coarse = coarse.with_psi(SquaredNorm(scale))
        for theta in thetas:
            prediction = coarse.predict(theta)
            rounding = 1e-8 * (1.0 + np.abs(theta).max()) * (1.0 + space.max_mass)
            assert prediction.gap <= ACCURACY + rounding, (
                f"accurate_to({ACCURACY}) predicts with the gap {prediction.gap:.6g} under {coarse.psi!r}, "
                f"for θ = {show(theta)}."
            )
            _check_gap(coarse, theta, prediction)
    _compare(_numbers(space, thetas), before, "after accurate_to was called on it")


def _few(thetas: Array) -> Array:
    moderate = np.abs(thetas).max(axis=1) <= 10.0
    return np.asarray(thetas[moderate][:: max(1, len(thetas) // 6)])


def _others(space: OutputSpace) -> Iterator[Regularizer]:
    """Other Ψ that the space can predict with: flatter ones, whose λ is smaller, and a steeper one."""
    yield SquaredNorm(0.3 * space.psi.scale)
    yield SquaredNorm(4.0 * space.psi.scale)
    if not isinstance(space.psi, SquaredNorm) and dataclasses.is_dataclass(space.psi):
        try:
            flatter = dataclasses.replace(space.psi, scale=0.25 * space.psi.scale)
        except TypeError:  # a regularizer of one's own, made otherwise
            return
        if flatter != space.psi:
            yield flatter


def _numbers(space: OutputSpace, thetas: Array) -> dict[str, Any]:
    """What depends on Ψ, or may be kept beside it: constants, constants of blocks, ratios, predictions."""
    numbers: dict[str, Any] = {name: _known(partial(getattr, space, name)) for name in CONSTANTS}
    for i, block in enumerate(space.blocks() or ()):
        for name in ("nu", "lam", "lam2"):
            numbers[f"{name} of block {i}"] = _known(partial(getattr, block.space, name))
    numbers["decoding_ratio"] = _known(lambda: space.decoding_ratio(space.target_loss()))
    numbers["gradient_ratio"] = _known(space.gradient_ratio)
    numbers["predictions"] = _known(lambda: np.array([space.predict(theta).point for theta in thetas]))
    return numbers


def _known(value: Callable[[], Any]) -> Any:
    try:
        return value()
    except OspError as error:
        return type(error).__name__


def _compare(found: dict[str, Any], expected: dict[str, Any], when: str) -> None:
    for name, value in expected.items():
        same = (
            found.get(name) == value
            if isinstance(value, str)
            else not isinstance(found.get(name), str)
            and np.allclose(found[name], value, rtol=RELATIVE, atol=1e-6 if name == "predictions" else 0.0)
        )
        assert same, f"{name} is {show(found.get(name))} {when}; it must be {show(value)}."


def _check_against_new(space: OutputSpace, twin: OutputSpace, psi: Regularizer, thetas: Array) -> None:
    """Where the space was made by name, compare with one that is made with this Ψ from the beginning."""
    if space.made_with is None:
        return
    from osp_core.registry.registry import make_space

    name, parameters = space.made_with
    _compare(
        _numbers(twin, thetas),
        _numbers(make_space(name, **{**parameters, "psi": psi}), thetas),
        f"after with_psi({psi!r})",
    )


def _check_gap(space: OutputSpace, theta: Array, prediction: Prediction) -> None:
    """The gap that a prediction states is that of its point, by one oracle call."""
    try:
        with np.errstate(all="ignore"):
            slope = psi_gradient(space, prediction.point) - theta
    except UnsupportedError:  # nobody knows ∇Ψ of the Gibbs entropy
        return
    if not np.isfinite(slope).all():  # at the boundary of the domain of an entropy
        return
    gap = float(slope @ (prediction.point - space.lmo(slope)))
    rounding = 1e-7 * (1.0 + np.abs(theta).max() + space.psi.scale) * (1.0 + space.max_mass)
    assert gap <= prediction.gap + rounding, (
        f"a prediction under {space.psi!r} states the gap {prediction.gap:.6g}, but one oracle call shows "
        f"{gap:.6g}, for θ = {show(theta)}. Something inside the space still has another Ψ."
    )


def _check_growth(twin: OutputSpace, theta: Array, prediction: Prediction, y: Array) -> None:
    """S ≥ (λ/2)‖ŷ − y‖² with the λ and the λ₂ that the twin states, [SBTO24, Prop. 3]."""
    loss = float(twin.psi.loss(twin, theta, y, prediction)) + prediction.gap
    rounding = 1e-9 * (1.0 + np.abs(theta).max()) * (1.0 + twin.max_mass)
    for name, p in (("lam", twin.norm), ("lam2", 2.0)):
        lam, distance = getattr(twin, name), float(np.linalg.norm(prediction.point - y, ord=p))
        if distance > 0:  # λ is infinite where there is one output only
            assert lam / 2.0 * distance**2 <= loss * (1 + 1e-9) + rounding, (
                f"{name} = {lam:.10g} is too large under {twin.psi!r}: the loss of {show(y)} is {loss:.10g}, "
                f"for θ = {show(theta)}."
            )


def _check_blocks(twin: OutputSpace, thetas: Array) -> None:
    """The blocks predict, each by itself, what the whole predicts: they carry the new Ψ."""
    for block in twin.blocks() or ():
        for at in block.coordinates[:2]:
            for theta in thetas:
                part, whole = block.space.predict(theta[at]).point, twin.predict(theta).point[at]
                assert np.allclose(part, whole, atol=1e-5), (
                    f"a block of the space under {twin.psi!r} predicts {show(part)} where the whole predicts "
                    f"{show(whole)}."
                )
        try:
            lam = block.space.lam
        except (MissingConstantError, UnsupportedError):
            continue
        expected = block.space.psi.strong_convexity(block.space, block.space.norm)
        assert np.isclose(lam, expected), (
            f"a block of the space under {twin.psi!r} has lam = {lam:.10g}; its Ψ gives {expected:.10g}."
        )
