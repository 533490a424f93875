"""Checks of what is random: decompositions, samples, and the expected loss of the decoders."""

from __future__ import annotations

import numpy as np

from osp_core.errors import Array
from osp_core.geometry.combinations import ConvexCombination
from osp_core.spaces import OutputSpace
from osp_core.surrogates.decoders import BlockwiseDecoder, Decoder, RandomizedDecoder
from osp_core.targets import AffineLoss
from osp_core.testing.report import NotApplicable
from osp_core.testing.sample import RELATIVE, Sample, constant, show, usual_target

FALSE_ALARM = 1e-7  # chance that an unbiased sampler fails the statistical test


def check_decomposition(space: OutputSpace, rng: np.random.Generator) -> None:
    """`decompose` returns distinct vertices with weights ≥ 0 that sum to 1 and average to the point."""
    sample = Sample.of(space, rng)
    points = [*sample.hull_points, *sample.labels[:3], *(one.point for one in sample.predictions[::4])]
    for point in points:
        before = point.copy()
        combination = space.decompose(point)
        assert np.array_equal(point, before), (
            f"decompose changed its argument {show(before)} to {show(point)}."
        )
        _check_combination(space, combination, point, "decompose")


def check_prediction_combination(space: OutputSpace, rng: np.random.Generator) -> None:
    """A combination that comes with ŷ has ŷ as its mean: the decoder samples from it."""
    sample = Sample.of(space, rng)
    carried = [one for one in sample.predictions if one.combination is not None]
    if not carried:
        raise NotApplicable("predictions carry no combination; sample_vertex is used instead")
    for prediction in carried[::3]:
        assert prediction.combination is not None
        _check_combination(space, prediction.combination, prediction.point, "the prediction's combination")


def check_sampling_is_unbiased(space: OutputSpace, rng: np.random.Generator) -> None:
    """E[sample_vertex(point)] = point; exactly where it samples from `decompose`, otherwise statistically."""
    sample = Sample.of(space, rng)
    points = sample.hull_points[[0, 5, 9]]  # the centre, a mixture of four, a point near a vertex
    own_sampler = type(space).sample_vertex is not OutputSpace.sample_vertex
    own_batch = type(space).sample_many is not OutputSpace.sample_many
    for point in points:
        if own_sampler:
            draws = np.array([space.sample_vertex(point, rng) for _ in range(400)])
            _check_mean(space, draws, point, "sample_vertex")
        else:
            _check_combination(space, space.decompose(point), point, "decompose")
        if own_batch:
            _check_mean(space, space.sample_many(np.tile(point, (3000, 1)), rng), point, "sample_many")


def check_sampling_is_reproducible(space: OutputSpace, rng: np.random.Generator) -> None:
    """Equal generators give equal samples, vertices come back as themselves, the point is left alone."""
    sample = Sample.of(space, rng)
    for point in sample.hull_points[:6]:
        before, seed = point.copy(), int(rng.integers(2**32))
        first, second = (space.sample_vertex(point, np.random.default_rng(seed)) for _ in range(2))
        assert first.tobytes() == second.tobytes(), (
            f"sample_vertex({show(point)}) differs for equal generators."
        )
        assert np.array_equal(point, before), f"sample_vertex changed its argument {show(before)}."
    for cost in rng.standard_normal((4, space.dim)):
        y = space.lmo(cost)  # not any output: one that is no extreme point has other decompositions
        drawn = space.sample_vertex(y.copy(), rng)
        assert np.array_equal(drawn, y), f"sample_vertex of the vertex {show(y)} is {show(drawn)}."


def check_lemma_4(space: OutputSpace, rng: np.random.Generator) -> None:
    """E L ≤ 4γ/(λν)·S for Algorithm 1, every known y and θ at scales 1e−3 … 1e3, [SBTO24, Lemma 4]."""
    target = usual_target(space)
    gamma = constant(lambda: target.gamma(space), "γ")
    ratio = 4.0 * gamma / (constant(lambda: space.lam, "λ") * constant(lambda: space.nu, "ν"))
    _check_expected_loss(Sample.of(space, rng), RandomizedDecoder(space), target, ratio, "4γ/(λν)")


def check_decoding_ratio(space: OutputSpace, rng: np.random.Generator) -> None:
    """E L ≤ decoding_ratio·S for Algorithm 1."""
    target = usual_target(space)
    ratio = constant(lambda: space.decoding_ratio(target), "decoding_ratio")
    _check_expected_loss(Sample.of(space, rng), RandomizedDecoder(space), target, ratio, "decoding_ratio")


def check_blockwise_decoding(space: OutputSpace, rng: np.random.Generator) -> None:
    """E L ≤ ratio·S for decoding block by block, with the ratio that decoder states."""
    if not space.blocks():
        raise NotApplicable("the space has no blocks")
    target = usual_target(space)
    decoder = BlockwiseDecoder(space)
    ratio = constant(lambda: decoder.ratio(target), "the ratio of blockwise decoding")
    _check_expected_loss(Sample.of(space, rng), decoder, target, ratio, "BlockwiseDecoder.ratio")


def check_gradient_ratio(space: OutputSpace, rng: np.random.Generator) -> None:
    """‖ŷ − y‖₂² ≤ gradient_ratio·S, [SBTO24, Prop. 3]."""
    sample = Sample.of(space, rng)
    ratio = constant(space.gradient_ratio, "gradient_ratio")
    for i, prediction in enumerate(sample.predictions):
        squares = np.square(sample.labels - prediction.point).sum(axis=1)
        allowed = ratio * (sample.losses[i] + sample.loss_rounding[i]) * (1 + RELATIVE)
        j = int(np.argmax(squares - allowed))
        assert squares[j] <= allowed[j] + 1e-12, (
            f"gradient_ratio = {ratio:.10g} is too small: ‖ŷ − y‖₂² = {squares[j]:.10g} but S(θ; y) = "
            f"{sample.losses[i, j]:.10g} at θ = {show(sample.thetas[i])}, y = {show(sample.labels[j])}."
        )


def _check_expected_loss(
    sample: Sample, decoder: Decoder, target: AffineLoss, ratio: float, name: str
) -> None:
    rounds = [target.at(y) for y in sample.labels]
    certified = 0
    for i, prediction in enumerate(sample.predictions):
        law = decoder.law(prediction)
        if not law.certified:
            continue
        certified += 1
        expected = np.array([float(one.cost @ law.mean) + one.constant for one in rounds])
        allowed = ratio * (sample.losses[i] + sample.loss_rounding[i]) * (1 + RELATIVE)
        j = int(np.argmax(expected - allowed))
        assert expected[j] <= allowed[j] + 1e-11, (
            f"{name} = {ratio:.10g} is too small: E L = {expected[j]:.10g} but S(θ; y) = "
            f"{sample.losses[i, j]:.10g} at "
            f"θ = {show(sample.thetas[i])}, y = {show(sample.labels[j])}, ŷ = {show(prediction.point)}, "
            f"p = {np.max(law.p):.6g}."
        )
    if not certified:
        raise NotApplicable("no law is certified: the nearest vertex or ν is not known")


def _check_combination(space: OutputSpace, combination: ConvexCombination, point: Array, source: str) -> None:
    vertices, weights = combination.vertices, np.asarray(combination.weights)
    assert (weights >= 0).all(), f"{source} of {show(point)} has the negative weight {weights.min():.3g}."
    assert abs(weights.sum() - 1.0) <= RELATIVE, (
        f"{source} of {show(point)} has weights summing to {weights.sum()!r}."
    )
    error = weights @ vertices - point
    assert np.abs(error).max() <= 1e-7 * (1.0 + np.abs(point).max()), (
        f"{source} has the wrong mean: the weighted mean of its {len(weights)} vertices is "
        f"{show(weights @ vertices)} "
        f"instead of {show(point)}. Are weights stale, or atoms left that were dropped?"
    )
    distinct = len(np.unique(vertices, axis=0))
    assert distinct == len(vertices), (
        f"{source} of {show(point)} repeats {len(vertices) - distinct} vertices."
    )
    strangers = [vertex for vertex in vertices[:40] if not space.is_vertex(vertex)]
    assert not strangers, f"{source} of {show(point)} has the atom {show(strangers[0])}, which is no vertex."


def _check_mean(space: OutputSpace, draws: Array, point: Array, source: str) -> None:
    for vertex in draws[:20]:
        assert space.is_vertex(vertex), f"{source}({show(point)}) drew {show(vertex)}, which is no vertex."
    low, high = draws.min(axis=0), draws.max(axis=0)
    axes = np.eye(space.dim)
    low = np.minimum(low, [space.lmo(axis)[i] for i, axis in enumerate(axes)])
    high = np.maximum(high, [space.lmo(-axis)[i] for i, axis in enumerate(axes)])
    # Bernstein's inequality with the largest variance a variable in [low, high] of this mean can have,
    # and a union bound over the coordinates.
    variance = np.maximum((high - point) * (point - low), 0.0)
    log_term = np.log(2.0 * space.dim / FALSE_ALARM)
    linear = (high - low) * log_term / 3.0
    tolerance = (linear + np.sqrt(linear**2 + 2.0 * len(draws) * variance * log_term)) / len(draws)
    error = np.abs(draws.mean(axis=0) - point)
    worst = int(np.argmax(error - tolerance))
    assert error[worst] <= tolerance[worst] + RELATIVE, (
        f"{source} is biased: the mean of {len(draws)} draws at {show(point)} is "
        f"{draws.mean(axis=0)[worst]:.6g} at index "
        f"{worst} instead of {point[worst]:.6g}; {tolerance[worst]:.3g} is the most that chance allows."
    )
