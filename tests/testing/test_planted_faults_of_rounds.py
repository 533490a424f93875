"""Faults planted in what a stranger's space offers to compiled rounds: the kit must name each."""

import dataclasses

import numpy as np
import pytest

import osp_core as osp
from osp_core import kernels
from osp_core.online.compiled_rounds import CompiledRounds
from osp_core.testing import check_space, examine_space
from osp_core.testing.sample import Sample

SIMPLEX, CUBE = (type(osp.make_space(name, d=3)) for name in ("simplex", "hypercube"))
SOUND = SIMPLEX(3).compiled_parts()


def offering(kind=SIMPLEX, **faults):
    """A stranger's space: like ours, with some of its parts replaced."""

    class Space(kind):
        def compiled_parts(self):
            return dataclasses.replace(super().compiled_parts(), **faults)

    return Space


def failures(space):
    Sample._latest = None
    with kernels.use("numpy"):  # what is wrong as plain Python is named before anything is compiled
        return {result.name: result.message for result in examine_space(space).failures}


def too_short(theta, params, out):
    SOUND.predict(theta[:2], params, out[:2])


def too_long(theta, params, out):
    SOUND.predict(theta, params, out)
    out[theta.size] = 0.0


def in_place(theta, params, out):
    SOUND.predict(theta, params, out)
    theta -= theta[0]


def sloppy(theta, params, out):
    SOUND.predict(theta, params, out)
    out *= 1.0 + 1e-6


def free_of_charge(theta, params, y, y_hat):
    return 0.0


def out_of_bounds(theta, params, y, y_hat):
    return theta[theta.size]


def lazy_nearest(y_hat, params, out):
    """Right where one output is clearly the nearest."""
    SOUND.nearest(y_hat, params, out)
    if y_hat.max() < 0.7:
        out[:] = 0.0
        out[2] = 1.0


def sorting_nearest(y_hat, params, out):
    SOUND.nearest(y_hat, params, out)
    y_hat.sort()


def mirrored(y_hat, params, rng, out):
    """The right mean by the same numbers, another way."""
    share, uniform = 0.0, rng.random()
    out[:] = 0.0
    for i in range(y_hat.size - 1, -1, -1):
        share += y_hat[i]
        if uniform < share:
            break
    out[i] = 1.0


def greedy(y_hat, params, rng, out):
    SOUND.sample(y_hat, params, rng, out)
    rng.random()


PARTS = {
    "a prediction that ends early": ("predict", too_short, "parts.predict", "in out"),
    "a prediction beyond the end": ("predict", too_long, "parts.predict", "IndexError"),
    "a prediction that changes θ": ("predict", in_place, "parts.predict", "changed its input"),
    "a prediction that is a little off": ("predict", sloppy, "parts.predict", "predict says"),
    "a loss of nothing": ("loss", free_of_charge, "parts.loss", "Ψ says"),
    "a loss that reads beyond the end": ("loss", out_of_bounds, "parts.loss", "IndexError"),
    "a nearest output that is not": (
        "nearest",
        lazy_nearest,
        "parts.nearest",
        "nearest_vertex says",
    ),
    "a nearest output that sorts ŷ": ("nearest", sorting_nearest, "parts.nearest", "changed its input"),
    "another draw": ("sample", mirrored, "parts.sample", "differ for equal generators"),
    "a draw of more numbers": ("sample", greedy, "parts.sample", "different amounts"),
    "another scale": ("params", np.array([2.0]), "parts.params", "begin with the scale of Ψ"),
    "no parameters": ("params", np.array([]), "parts.params", "begin with the scale of Ψ"),
    "a list of parameters": ("params", [1.0], "parts.params", "vector of float64"),
}


@pytest.mark.parametrize("case", PARTS)
def test_a_part_that_is_not_what_it_stands_for_is_named(case):
    part, fault, name, message = PARTS[case]
    found = failures(offering(**{part: fault})(3))
    assert set(found) <= {"compiled_parts", "compiled_rounds"}
    assert name in found["compiled_parts"]
    assert message in found["compiled_parts"]


class OwnDistance(offering()):
    """Measures by its own rule, which compiled rounds do not know: p is another."""

    def compiled_parts(self):
        return super().compiled_parts()

    def distance(self, points, point):
        return 1.5 * super().distance(points, point)


class OwnBlocks(offering(CUBE)):
    """Decoded by coordinates that draw by other random numbers than compiled rounds."""

    def compiled_parts(self):
        return super().compiled_parts()

    def blocks(self):
        class Coordinate(CUBE):
            def sample_many(self, points, rng):
                return (rng.random(points.shape) >= 1.0 - points).astype(float)

        return [osp.Block(Coordinate(1), np.arange(self.dim)[:, np.newaxis])]


class OwnNearestBlocks(offering(CUBE)):
    """Whose coordinates are rounded another way than the whole."""

    def compiled_parts(self):
        return super().compiled_parts()

    def blocks(self):
        class Coordinate(CUBE):
            def nearest_vertex_many(self, points):
                return (points > 0.3).astype(float)

        return [osp.Block(Coordinate(1), np.arange(self.dim)[:, np.newaxis])]


ROUNDS = {
    "another distance": (OwnDistance, "p = "),
    "another draw of a coordinate": (OwnBlocks, "vertex = "),
    "another rounding of a coordinate": (OwnNearestBlocks, "nearest = "),
}


@pytest.mark.parametrize("case", ROUNDS)
def test_rounds_that_are_not_those_of_the_space_are_named(case):
    kind, message = ROUNDS[case]
    found = failures(kind(3))
    assert "compiled_parts" not in found
    assert message in found["compiled_rounds"]


def share(record, name):
    """Put another array of the record where `name` is, if that says the same."""
    if np.array_equal(getattr(record, name), record.vertex):
        setattr(record, name, record.vertex)


SPOILED = {
    "nearest is vertex": (lambda record: share(record, "nearest"), "same memory"),
    "y is vertex": (lambda record: share(record, "y"), "same memory"),
    "expected loss": (lambda record: setattr(record, "expected_loss", 0.0), "expected_loss = "),
    "target loss": (lambda record: setattr(record, "target_loss", 0.25), "target_loss = "),
    "surrogate loss": (lambda record: setattr(record, "surrogate_loss", 0.0), "surrogate_loss = "),
}


@pytest.mark.parametrize("case", SPOILED)
def test_records_that_are_not_those_of_the_general_code_are_named(case, monkeypatch):
    (spoil, message), learn = SPOILED[case], CompiledRounds._learn

    def spoiled(self, *arguments):
        record = learn(self, *arguments)
        spoil(record)
        return record

    monkeypatch.setattr(CompiledRounds, "_learn", spoiled)
    assert message in failures(offering()(3))["compiled_rounds"]


def test_what_is_sound_passes_and_what_is_not_used_is_not_judged():
    with kernels.use("numpy"):
        for space in (offering()(3), offering(CUBE)(3)):
            check_space(space)
            report = examine_space(space)
            assert {report.named(name).outcome for name in ("compiled_parts", "compiled_rounds")} == {
                "passed"
            }

        class Heir(offering(predict=sloppy)):
            """Inherits the parts without declaring them, and so plays plain rounds."""

        report = examine_space(Heir(3))
    assert report.named("compiled_parts").outcome == "not applicable"
    assert report.named("compiled_rounds").outcome == "not applicable"
