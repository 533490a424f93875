"""Checks of compiled rounds: each function a space offers to them, and whole rounds made of these."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from osp_core import kernels
from osp_core.compiled.eligible import parts_for
from osp_core.compiled.parts import SpaceParts
from osp_core.errors import Array
from osp_core.learners import OGD
from osp_core.online.compiled_rounds import CompiledRounds
from osp_core.online.predictor import OnlinePredictor
from osp_core.online.records import Round
from osp_core.online.trace import FIELDS
from osp_core.spaces import OutputSpace
from osp_core.surrogates.decoders import Decoder, RandomizedDecoder
from osp_core.testing.report import NotApplicable
from osp_core.testing.sample import RELATIVE, Sample, show, usual_target

N_FEATURES = 4
ROUNDS = 40
DRAWS = 6  # of every prediction


def check_compiled_parts(space: OutputSpace, rng: np.random.Generator) -> None:
    """The functions of `compiled_parts` answer as the methods of the space, and draw as `sample_vertex`."""
    parts, sample = _declared_parts(space), Sample.of(space, rng)
    _check_params(space, parts)
    for theta, prediction in zip(sample.thetas, sample.predictions, strict=True):
        y_hat = _answer(parts, "predict", theta)
        assert np.allclose(y_hat, prediction.point, rtol=0.0, atol=RELATIVE), (
            f"parts.predict({show(theta)}) is {show(y_hat)}; predict says {show(prediction.point)}."
        )
        size = 1.0 + float(np.abs(theta).max())
        for y in sample.labels[:4]:
            value = _called(parts, "loss", theta, parts.params, y, prediction.point)
            loss = float(space.psi.loss(space, theta, y, prediction))
            assert abs(max(0.0, value) - loss) <= RELATIVE * size, (
                f"parts.loss is {value:.9g} at θ = {show(theta)}, y = {show(y)}; Ψ says {loss:.9g}."
            )
    predicted = [prediction.point for prediction in sample.predictions]
    for point in [*predicted, *sample.hull_points]:
        nearest = _answer(parts, "nearest", point)
        assert np.array_equal(nearest, space.nearest_vertex(point)), (
            f"parts.nearest({show(point)}) is {show(nearest)}, not what nearest_vertex says."
        )
    for point in predicted:
        for seed in rng.integers(2**32, size=DRAWS):
            _check_draw(space, parts, point, int(seed))


def check_compiled_rounds(space: OutputSpace, rng: np.random.Generator) -> None:
    """Rounds made of `compiled_parts` are those of the general code: first as plain Python, then compiled."""
    _declared_parts(space)
    inputs = rng.standard_normal((ROUNDS, N_FEATURES))
    inputs /= np.maximum(1.0, np.linalg.norm(inputs, axis=1, keepdims=True))
    outputs = [space.lmo(cost) for cost in inputs @ rng.standard_normal((N_FEATURES, space.dim))]
    # At W = 0 two outputs may be equally near to ŷ, and rounding would choose.
    weights = 0.1 * space.psi.scale * rng.standard_normal((space.dim, N_FEATURES))
    fitting = [make for make in _predictors(space, weights) if parts_for(make()) is not None]
    if not fitting:
        raise NotApplicable("its decoders do not fit compiled rounds: ν or the nearest output is unknown")
    for make in fitting:
        general = make()
        general._compiled = None
        trace = _compare_steps(general, _with_rounds(make(), compiled=False), inputs, outputs)
        if kernels.selected() == "numba":
            _compare_run(_with_rounds(make(), compiled=True), trace, inputs, outputs)


def _declared_parts(space: OutputSpace) -> SpaceParts:
    """The parts of a space whose class declares them: where they are inherited, nobody uses them."""
    parts = space.compiled_parts() if "compiled_parts" in vars(type(space)) else None
    if parts is None:
        raise NotApplicable("the space offers no functions for compiled rounds")
    return parts


def _check_params(space: OutputSpace, parts: SpaceParts) -> None:
    params = parts.params
    sound = isinstance(params, np.ndarray) and params.ndim == 1 and params.dtype == np.float64
    assert sound, f"parts.params must be a vector of float64 numbers, got {params!r}."
    assert params[:1].tolist() == [space.psi.scale], (
        f"parts.params must begin with the scale of Ψ, {space.psi.scale:g}, got {show(params)}."
    )


def _called(parts: SpaceParts, name: str, *arguments: Any) -> Any:
    """Call a part as plain Python, which tells of an index that is out of bounds: compiled code does not."""
    kept = [np.copy(argument) if isinstance(argument, np.ndarray) else None for argument in arguments]
    try:
        value = getattr(parts, name)(*arguments)
    except Exception as error:  # the code under test may raise anything
        raise AssertionError(f"parts.{name} raised {type(error).__name__}: {error}.") from error
    for argument, before in zip(arguments, kept, strict=True):
        # What is full of NaN is there to be written to.
        if before is not None and not np.isnan(before).all():
            assert np.array_equal(argument, before), f"parts.{name} changed its input {show(before)}."
    return value


def _answer(parts: SpaceParts, name: str, vector: Array, *more: Any) -> Array:
    """What a part writes into `out`, which must be all of it."""
    out = np.full(vector.size, np.nan)
    _called(parts, name, vector.copy(), parts.params, *more, out)
    assert np.isfinite(out).all(), f"parts.{name}({show(vector)}) leaves {show(out)} in out."
    return out


def _check_draw(space: OutputSpace, parts: SpaceParts, point: Array, seed: int) -> None:
    one, other = (np.random.default_rng(seed) for _ in range(2))
    drawn, expected = _answer(parts, "sample", point, one), space.sample_vertex(point, other)
    assert np.array_equal(drawn, expected), (
        f"parts.sample({show(point)}) and sample_vertex differ for equal generators: {show(drawn)} and "
        f"{show(expected)}."
    )
    assert one.bit_generator.state == other.bit_generator.state, (
        "parts.sample and sample_vertex take different amounts of random numbers."
    )


def _predictors(space: OutputSpace, weights: Array) -> list[Callable[[], OnlinePredictor]]:
    """How to make predictors that begin with these weights: one for every decoder of a compiled round."""
    target = usual_target(space)
    usual = OnlinePredictor(space, N_FEATURES, target=target)
    # Longer steps than the theorem's lead to laws of all kinds in few rounds.
    step = 10.0 * float(usual.learner.state()["eta"])

    def make(decoder: Decoder) -> OnlinePredictor:
        learner = OGD(step_size=step)
        predictor = OnlinePredictor(
            space, N_FEATURES, target=target, learner=learner, decoder=decoder, seed=1
        )
        learner.load_state({**learner.state(), "core": weights})
        return predictor

    decoders: list[Decoder] = [RandomizedDecoder(space)]
    if type(usual.decoder) is not RandomizedDecoder:
        decoders.append(usual.decoder)
    return [partial(make, decoder) for decoder in decoders]


def _with_rounds(predictor: OnlinePredictor, *, compiled: bool) -> OnlinePredictor:
    parts, learner = parts_for(predictor), predictor.learner
    assert parts is not None
    assert isinstance(learner, OGD)
    predictor._compiled = CompiledRounds(predictor, learner, parts, compiled=compiled)
    return predictor


def _compare_steps(
    general: OnlinePredictor, compiled: OnlinePredictor, inputs: Array, outputs: list[Array]
) -> Array:
    """Compare round by round, and return the rounds of the general code as the rows of a trace."""
    rows = []
    for number, (x, y) in enumerate(zip(inputs, outputs, strict=True), start=1):
        expected, found = general.step(x, y), compiled.step(x, y)
        for name in ("y", "nearest", "vertex"):
            one, other = getattr(found, name), getattr(expected, name)
            assert np.array_equal(one, other), (
                f"round {number} made of compiled_parts has {name} = {show(one)}; that of the general code "
                f"has {show(other)}, at p = {expected.p:.9g} and ŷ = {show(expected.law.prediction.point)}."
            )
        rows.append([getattr(expected, name) for name in FIELDS])
        _compare_numbers(
            number, [getattr(found, name) for name in FIELDS], rows[-1], "made of compiled_parts"
        )
        _check_ownership(number, found)
    _compare_generators(general, compiled)
    return np.array(rows)


def _compare_run(compiled: OnlinePredictor, trace: Array, inputs: Array, outputs: list[Array]) -> None:
    """Compare a whole run in compiled code with a trace."""
    try:
        table = compiled.learn_many(inputs, outputs)
    except Exception as error:  # numba has many
        raise AssertionError(f"numba cannot compile compiled_parts: {error}") from error
    assert len(table) == len(trace), (
        f"compiled round {len(table) + 1} was refused: its surrogate loss is negative, or not finite."
    )
    for number, (found, expected) in enumerate(zip(table, trace, strict=True), start=1):
        _compare_numbers(number, found, expected, "in compiled code")


def _compare_numbers(number: int, found: Any, expected: Any, where: str) -> None:
    # Backwards, because a wrong p makes all losses wrong.
    for name, one, other in reversed(list(zip(FIELDS, found, expected, strict=True))):
        assert abs(one - other) <= 1e-7 * (1.0 + abs(other)), (
            f"round {number} {where} has {name} = {one:.9g}; the general code says {other:.9g}."
        )


def _compare_generators(general: OnlinePredictor, compiled: OnlinePredictor) -> None:
    assert general.rng.bit_generator.state == compiled.rng.bit_generator.state, (
        "rounds made of compiled_parts and those of the general code take different amounts of random "
        "numbers."
    )


def _check_ownership(number: int, record: Round) -> None:
    """What a record holds is its own: overwritten, it is neither seen in itself nor in later rounds."""
    held = {name: getattr(record, name) for name in ("vertex", "nearest", "y")}
    held["ŷ"] = record.law.prediction.point
    for one, other in itertools.combinations(held, 2):
        assert not np.shares_memory(held[one], held[other]), (
            f"round {number} made of compiled_parts has {one} and {other} in the same memory."
        )
    for name in ("vertex", "nearest", "y"):
        held[name].fill(np.nan)
