"""Checks of the oracles: linear minimisation, the nearest vertex, membership, the list of outputs."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from osp_core.errors import Array
from osp_core.spaces import OutputSpace
from osp_core.testing.report import NotApplicable
from osp_core.testing.sample import RELATIVE, Sample, is_known, norm_name, show


def check_lmo_returns_vertices(space: OutputSpace, rng: np.random.Generator) -> None:
    """`lmo` returns a finite float64 vector of length `dim` that `is_vertex` and the list of outputs know."""
    sample = Sample.of(space, rng)
    for cost in _costs(space, rng):
        y = space.lmo(cost)
        assert isinstance(y, np.ndarray), f"lmo({show(cost)}) returned a {type(y).__name__}, not an array."
        assert y.shape == (space.dim,), f"lmo returned shape {y.shape} instead of ({space.dim},)."
        assert y.dtype == np.float64, f"lmo returned entries of type {y.dtype} instead of float64."
        assert np.isfinite(y).all(), f"lmo({show(cost)}) returned {show(y)}."
        assert space.is_vertex(y), f"lmo({show(cost)}) returned {show(y)}, which is_vertex denies."
        if sample.enumerated is not None:
            assert is_known(sample.enumerated, y), f"lmo returned {show(y)}, which vertices() does not list."


def check_lmo_is_optimal(space: OutputSpace, rng: np.random.Generator) -> None:
    """No known output is cheaper than the answer of `lmo`, at costs of size 1e−8 … 1e8."""
    outputs = Sample.of(space, rng).outputs
    for cost in _costs(space, rng):
        y = space.lmo(cost)
        values = outputs @ cost
        best, size = int(np.argmin(values)), float(np.abs(outputs).max(axis=0) @ np.abs(cost))
        assert float(y @ cost) <= values[best] + RELATIVE * size, (
            f"lmo is beaten: at cost {show(cost)} it returned {show(y)} of value {float(y @ cost):.10g}, but "
            f"{show(outputs[best])} has value {values[best]:.10g}. lmo must minimise ⟨cost, y⟩."
        )


def check_lmo_is_pure(space: OutputSpace, rng: np.random.Generator) -> None:
    """`lmo` leaves its argument alone, answers the same twice, and hands out arrays nobody else holds."""
    for cost in _costs(space, rng):
        before = cost.copy()
        first = space.lmo(cost)
        assert np.array_equal(cost, before), f"lmo changed its argument from {show(before)} to {show(cost)}."
        kept = first.copy()
        if first.flags.writeable:
            first += 7.0
        second = space.lmo(cost)
        assert kept.tobytes() == second.tobytes(), (
            f"lmo({show(cost)}) answered {show(kept)}, then {show(second)}: it must break ties the same way "
            "every "
            "time, and return an array that callers may overwrite."
        )


def check_equal_vertices_have_equal_bytes(space: OutputSpace, rng: np.random.Generator) -> None:
    """Vertices are keys: no −0.0, and no 0.9999999999999999 beside 1.0."""
    sample = Sample.of(space, rng)
    grid: dict[bytes, tuple[Array, str]] = {}
    decimals = 9 - int(np.ceil(np.log10(1.0 + np.abs(sample.outputs).max())))
    for y, source in _answers(space, sample, rng):
        negative_zero = (y == 0) & np.signbit(y)
        assert not negative_zero.any(), (
            f"{source} returned −0.0 at index {int(np.argmax(negative_zero))} of {show(y)}: equal vertices "
            "must have "
            "equal bytes. Add 0.0 to the vertex before returning it."
        )
        key = np.round(y, decimals) + 0.0
        twin, other = grid.setdefault(key.tobytes(), (y, source))
        assert twin.tobytes() == y.tobytes(), (
            f"{other} and {source} return the vertex {show(key)} with different bytes: they differ by up to "
            f"{np.abs(twin - y).max():.3g}. Round vertices to the values they stand for."
        )


def check_vertex_is_its_own_nearest(space: OutputSpace, rng: np.random.Generator) -> None:
    """`nearest_vertex(y)` is y for every output."""
    for y in _some(Sample.of(space, rng).outputs, rng):
        nearest = space.nearest_vertex(y.copy())
        assert np.array_equal(nearest, y), (
            f"nearest_vertex({show(y)}) is {show(nearest)}, at distance "
            f"{float(space.distance(nearest, y)):.6g}: "
            "a vertex must be its own nearest."
        )


def check_nearest_vertex_is_not_beaten(space: OutputSpace, rng: np.random.Generator) -> None:
    """No known output is nearer to a point of the hull than `nearest_vertex`, in the norm of the space."""
    sample = Sample.of(space, rng)
    if not space.nearest_is_exact:
        raise NotApplicable("nearest_is_exact is False: the space promises a candidate only")
    points = [*sample.hull_points, *(prediction.point for prediction in sample.predictions[::2])]
    for point in points:
        nearest = space.nearest_vertex(point.copy())
        assert space.is_vertex(nearest), f"nearest_vertex({show(point)}) is {show(nearest)}, no vertex."
        distances = space.distance(sample.outputs, point)
        best, found = int(np.argmin(distances)), float(space.distance(nearest, point))
        assert found <= distances[best] + RELATIVE * (1.0 + distances[best]), (
            f"nearest_vertex is beaten: of {show(point)} it returned {show(nearest)} at "
            f"{norm_name(space.norm)} "
            f"distance {found:.10g}, but {show(sample.outputs[best])} is at {distances[best]:.10g}."
        )
        promised = space.least_distance(point.copy())
        assert promised <= found + RELATIVE * (1.0 + found), (
            f"least_distance({show(point)}) is {promised:.10g}, but {show(nearest)} is at {found:.10g}."
        )


def check_enumeration(space: OutputSpace, rng: np.random.Generator) -> None:
    """`vertices()` lists distinct outputs, all of them accepted by `is_vertex`."""
    rows = Sample.of(space, rng).enumerated
    if rows is None:
        raise NotApplicable("the outputs cannot be enumerated")
    assert rows.ndim == 2, f"vertices() has {rows.ndim} dimensions instead of 2."
    assert rows.shape[1] == space.dim, f"vertices() has {rows.shape[1]} columns instead of {space.dim}."
    assert len(rows), "vertices() is empty."
    unique, counts = np.unique(rows, axis=0, return_counts=True)
    assert len(unique) == len(rows), (
        f"vertices() lists {show(unique[np.argmax(counts)])} {counts.max()} times."
    )
    for y in _some(rows, rng):
        assert space.is_vertex(y), f"vertices() lists {show(y)}, which is_vertex denies."


def check_membership(space: OutputSpace, rng: np.random.Generator) -> None:
    """`contains` accepts points of the hull and refuses others; `is_vertex` refuses mixtures."""
    sample = Sample.of(space, rng)
    for point in sample.hull_points:
        assert space.contains(point, 1e-7), f"contains({show(point)}) is False for a point of the hull."
    for outside, distance in outside_points(space, sample, rng):
        assert not space.contains(outside, 0.5 * distance), (
            f"contains({show(outside)}, {0.5 * distance:.3g}) is True for a point {distance:.3g} or more "
            "outside."
        )
        assert not space.is_vertex(outside), f"is_vertex({show(outside)}) is True outside the hull."
    if sample.enumerated is not None and len(sample.enumerated) > 1:
        first, second = sample.enumerated[rng.choice(len(sample.enumerated), 2, replace=False)]
        mixture = 0.7 * first + 0.3 * second
        if not is_known(sample.enumerated, mixture):
            assert not space.is_vertex(mixture), f"is_vertex({show(mixture)}) is True for a mixture of two."
    wrong_length = np.zeros(space.dim + 1)
    assert not space.is_vertex(wrong_length), "is_vertex is True for a vector that is too long."
    assert not space.is_vertex(np.full(space.dim, np.nan)), "is_vertex is True for NaN."


def outside_points(
    space: OutputSpace, sample: Sample, rng: np.random.Generator
) -> Iterator[tuple[Array, float]]:
    """Points beyond a vertex with a lower bound of their distance from the hull."""
    for _ in range(3):
        direction = rng.standard_normal(space.dim)
        direction /= np.linalg.norm(direction)
        # y maximises along the direction, so one step further is exactly one step outside.
        yield space.lmo(-direction) + direction, 1.0


def _costs(space: OutputSpace, rng: np.random.Generator) -> Iterator[Array]:
    """Costs with and without ties, of all sizes."""
    dim = space.dim
    yield np.zeros(dim)
    yield np.ones(dim)
    yield -np.ones(dim)
    for scale in (1e-8, 1e-3, 1.0, 1.0, 1.0, 1e3, 1e8):
        yield scale * rng.standard_normal(dim)
        yield scale * rng.integers(-1, 2, size=dim).astype(np.float64)
    for axis in rng.permutation(np.eye(dim))[:6]:
        yield axis
        yield -axis


def _answers(space: OutputSpace, sample: Sample, rng: np.random.Generator) -> Iterator[tuple[Array, str]]:
    """Vertices from everything that returns one."""
    yield from ((y, "vertices()") for y in sample.outputs[:200])
    for cost in _costs(space, rng):
        yield space.lmo(cost), f"lmo({show(cost)})"
        yield space.lmo(-cost), f"lmo({show(-cost)})"
    for point in sample.hull_points:
        yield space.nearest_vertex(point), "nearest_vertex"
        yield space.sample_vertex(point, rng), "sample_vertex"
        yield from ((vertex, "decompose") for vertex in space.decompose(point).vertices)
    for y in sample.labels[:8]:
        yield space.from_label(space.to_label(y)), "from_label"


def _some(rows: Array, rng: np.random.Generator, most: int = 100) -> Array:
    return rows if len(rows) <= most else np.asarray(rng.permutation(rows)[:most])
