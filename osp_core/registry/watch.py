"""What the guard of a space looks at: every call, every answer, and what only shows over many of them."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from osp_core.errors import Array, OspError, PluginError, UnsupportedError
from osp_core.geometry.combinations import ConvexCombination
from osp_core.geometry.predictions import Prediction, Predictions
from osp_core.regularizers import Regularizer
from osp_core.spaces import OutputSpace

REMEMBERED = 4096  # outputs, and states of generators, that are known again
FEW = 32  # coordinates that are looked at one by one
TOLERANCE = 1e-7  # relative; of answers that were computed with rounding


class PluginWarning(UserWarning):
    """A plugin did something wrong that the guard repaired, or took long."""


@dataclass
class Watch:
    """What the guard of one space knows.

    Attributes
    ----------
    inner : OutputSpace
        The space itself, not watched: it answers what is asked about answers.
    title : str
        What messages call it.
    slow, time_limit : float
        Seconds that a call may take before that is told, or refused.
    told : set
        What was told already.
    constants : dict
        The constants that somebody has read, as they were then.
    returned : dict
        The arrays that every method returned last, and what was in them.
    outputs : dict
        Outputs that were found to be some, by their bytes.
    costs : tuple of arrays, optional
        A few linear costs, one a row, and the least value of each over the outputs.
    drift : Drift
        Of the draws.
    """

    inner: OutputSpace
    title: str
    slow: float
    time_limit: float | None
    told: set[str] = field(default_factory=set)
    constants: dict[str, Any] = field(default_factory=dict)
    returned: dict[str, list[tuple[Any, bytes]]] = field(default_factory=dict)
    outputs: dict[bytes, None] = field(default_factory=dict)
    costs: tuple[Array, Array] | None = None
    drift: Drift = field(default_factory=lambda: Drift())

    def call(self, name: str, method: Callable[..., Any], args: Sequence[Any], kwargs: Any) -> Any:
        """Call a method with copies of its arrays; look at the time, at them and at its earlier answers."""
        given = [np.array(arg) if isinstance(arg, np.ndarray) else arg for arg in args]
        began = time.monotonic()
        try:
            answer = method(*given, **kwargs)
        except OspError:
            raise
        except Exception as error:  # a plugin may raise anything
            raise self.error(name, f"raised {type(error).__name__}: {error}") from error
        seconds = time.monotonic() - began
        if self.time_limit is not None and seconds > self.time_limit:
            raise self.error(name, f"took {seconds:.3g} s, more than the {self.time_limit:g} s it may take")
        if seconds > self.slow:
            self.tell(name, f"took {seconds:.3g} s")
        for arg, copied in zip(args, given, strict=True):
            if isinstance(arg, np.ndarray) and arg.tobytes() != copied.tobytes():
                self.tell(name, "changed its argument")
        if any(array.tobytes() != content for array, content in self.returned.get(name, ())):
            self.tell(name, "rewrote an array that it had returned before; those it returned are copied")
        self.returned[name] = [(array, array.tobytes()) for array in _arrays_of(answer)]
        return answer

    def error(self, name: str, what: str) -> PluginError:
        return PluginError(f"{name} of {self.title} {what}. Check it with osp_core.testing.check_space.")

    def tell(self, name: str, what: str) -> None:
        kind = f"{name} {what.split()[0]}"
        if kind not in self.told:
            self.told.add(kind)
            warnings.warn(f"{name} of {self.title} {what}.", PluginWarning, stacklevel=5)

    # --- what answers must be ------------------------------------------------------------------------

    def numbers(self, name: str, answer: Any, shape: tuple[int, ...]) -> Array:
        """Finite float64 numbers in an array that nobody else holds."""
        try:
            array = np.array(answer, dtype=np.float64)
            same = isinstance(answer, np.ndarray) and answer.dtype == np.float64
            exact = same or bool((np.asarray(answer) == array).all())
        except (TypeError, ValueError) as error:
            raise self.error(name, f"returned {shown(answer)}, which is no array of numbers") from error
        if array.shape != shape:
            raise self.error(name, f"returned an array of shape {array.shape} instead of {shape}")
        if not np.isfinite(array).all() or not exact:
            raise self.error(name, f"returned {shown(answer)}; it must return finite float64 numbers")
        if not same:
            self.tell(name, f"returned {getattr(answer, 'dtype', type(answer).__name__)} instead of float64")
        return array

    def vertex(self, name: str, answer: Any) -> Array:
        vertex = self.numbers(name, answer, (self.inner.dim,))
        if (np.signbit(vertex) & (vertex == 0)).any():
            self.tell(name, "returned −0.0, which is not the same key as 0.0")
            vertex += 0.0
        key = vertex.tobytes()
        if key not in self.outputs:
            if not self.call("is_vertex", self.inner.is_vertex, (vertex,), {}):
                raise self.error(name, f"returned {shown(vertex)}, which is no output of the space")
            remember(self.outputs, key)
        return vertex

    def vertices(self, name: str, answer: Any) -> Array:
        rows = self.numbers(name, answer, (*np.shape(answer)[:1], self.inner.dim))
        for row in np.unique(rows, axis=0):
            self.vertex(name, row)
        return rows + 0.0

    def point(self, name: str, answer: Any) -> Array:
        return self.numbers(name, answer, (self.inner.dim,))

    def number(self, name: str, answer: Any) -> float:
        return float(self.numbers(name, np.asarray(answer), ()))

    def prediction(self, name: str, answer: Any) -> Prediction:
        if not isinstance(answer, Prediction):
            raise self.error(name, f"returned {shown(answer)} instead of a Prediction")
        point, combination = self.point(name, answer.point), answer.combination
        if not 0.0 <= answer.gap < np.inf:
            raise self.error(name, f"returned a prediction with the gap {answer.gap}")
        if combination is not None:
            combination = self.combination(name, combination, point)
        return replace(answer, point=point, combination=combination)

    def predictions(self, name: str, answer: Any) -> Predictions:
        if not isinstance(answer, Predictions):
            raise self.error(name, f"returned {shown(answer)} instead of Predictions")
        rows = self.numbers(name, answer.point, (*np.shape(answer.point)[:1], self.inner.dim))
        gaps = np.array(answer.gap)
        if gaps.shape != rows.shape[:1] or not ((gaps >= 0) & (gaps < np.inf)).all():
            raise self.error(name, f"returned predictions with the gaps {shown(gaps)}")
        single = tuple(self.prediction(name, one) for one in answer.single)
        return replace(answer, point=rows, gap=gaps, single=single)

    def combination(self, name: str, answer: Any, point: Array) -> ConvexCombination:
        """Outputs whose mean is the point: a copy, which draws as ours do."""
        if not isinstance(answer, ConvexCombination):
            raise self.error(name, f"returned {shown(answer)} instead of a ConvexCombination")
        copied = ConvexCombination(answer.atoms.copy(), answer.weights)
        copied.__dict__["weights"] = np.array(answer.weights)  # to the last bit
        self.vertices(name, copied.vertices)
        mean = self.numbers(name, copied.mean + 0.0, (self.inner.dim,))
        if np.abs(mean - point).max(initial=0.0) > 1e-6 * (1.0 + np.abs(point).max(initial=0.0)):
            raise self.error(name, f"returned a combination of mean {shown(mean)} for {shown(point)}")
        return copied

    # --- what only shows at run time -----------------------------------------------------------------

    def constant(self, name: str, value: Any) -> Any:
        """A constant that is what it was when it was read first."""
        first = self.constants.setdefault(name, value)
        if first != value and not (first != first and value != value):
            raise self.error(name, f"was {first!r} and is {value!r} now: a constant must not change")
        return value

    def same_answer(self, name: str, first: Array, again: Any) -> Array:
        """The first of two answers to one question, which must agree."""
        if (np.asarray(again, dtype=np.float64) + 0.0).tobytes() != first.tobytes():
            raise self.error(
                name,
                f"answered {shown(first)}, and then {shown(again)} to the same cost; ties must be broken the "
                "same way every time",
            )
        return first

    def optimal(self, psi: Regularizer, theta: Array, prediction: Prediction) -> None:
        """Refuse a gap that one oracle call shows to be false."""
        point = prediction.point
        try:
            with np.errstate(all="ignore"):
                slope, *near = (
                    np.asarray(psi.gradient(at))
                    for at in (point, np.nextafter(point, np.inf), np.nextafter(point, -np.inf))
                )
                rounding = np.abs(near[0] - near[1])  # of ŷ, to float64
        except UnsupportedError:
            return
        if not np.isfinite([slope, rounding]).all():
            return  # the gradient of an entropy is infinite on the boundary
        ascent = theta - slope
        best = self._oracle(-ascent)
        gap = float(ascent @ (best - point))
        size = (1.0 + np.abs(ascent).max()) * (1.0 + np.abs(best).sum() + np.abs(point).sum())
        blur = TOLERANCE * size + float(rounding @ np.abs(best - point))
        if gap > prediction.gap * (1.0 + 1e-6) + blur:
            raise self.error(
                "predict",
                f"states the gap {prediction.gap:.3g} for {shown(point)}, but ⟨θ, y⟩ − Ψ(y) rises from there "
                f"towards {shown(best)} with slope {gap:.6g}",
            )

    def inside(self, point: Array) -> None:
        """Refuse a point that one of a few linear costs, the same every time, separates from conv(Y)."""
        if self.costs is None:
            dim = self.inner.dim
            axes = np.eye(dim)[: dim if dim <= FEW else 0]
            others = np.random.default_rng(0).standard_normal((8, dim))
            costs = np.vstack([np.ones(dim), -np.ones(dim), axes, -axes, others])
            self.costs = costs, np.array([cost @ self._oracle(cost) for cost in costs])
        costs, least = self.costs
        blur = TOLERANCE * (1.0 + np.abs(costs) @ np.abs(point) + np.abs(least))
        if (costs @ point < least - blur).any():
            raise self.error("predict", f"returned {shown(point)}, which is outside conv(Y)")

    def unbiased(self, name: str, draws: Array, points: Any, before: str, after: str) -> None:
        """Refuse draws that are off their mean by more than chance can explain.

        `before` and `after` are states of their generator.
        """
        off = np.atleast_2d(draws - np.asarray(points))
        if before == after and np.abs(off).max(initial=0.0) > 1e-6:
            raise self.error(name, f"drew {shown(draws)} without a number of the generator it was given")
        if before in self.drift.generators:
            return  # draws that are repeated say nothing new
        remember(self.drift.generators, before)
        largest = float(self.inner.diameter2)
        if 0.0 < largest < np.inf and self.drift.exceeds_chance(off / largest):
            mean = self.drift.total / self.drift.draws * largest
            raise self.error(
                name,
                f"is biased: over {self.drift.draws} draws it was off the point it was given by "
                f"{shown(np.round(mean, 6))} on average",
            )

    def _oracle(self, cost: Array) -> Array:
        return np.asarray(self.call("lmo", self.inner.lmo, (cost,), {}), dtype=np.float64)


@dataclass
class Drift:
    """The sum of what draws were off their mean by, in units of the diameter.

    Where draws are unbiased it is a martingale with steps of length at most 1, so that all of its first n
    sums are shorter than √(2n·ln(2/δ)) with probability 1 − δ (Pinelis 1994). Stage j is about the first 2ʲ
    draws; the δ of all stages add up to FALSE_ALARM.
    """

    total: Array = field(default_factory=lambda: np.zeros(1))
    draws: int = 0
    generators: dict[str, None] = field(default_factory=dict)

    FALSE_ALARM = 1e-9

    def exceeds_chance(self, steps: Array) -> bool:
        """Add steps, one a row; whether the sum is longer than chance can explain."""
        self.total, self.draws = self.total + steps.sum(axis=0), self.draws + len(steps)
        stage = math.ceil(math.log2(max(1, self.draws)))
        delta = self.FALSE_ALARM / ((stage + 1) * (stage + 2))
        return float(np.linalg.norm(self.total)) > math.sqrt(2.0 * 2**stage * math.log(2.0 / delta))


def remember(known: dict[Any, None], key: Any) -> None:
    """Add to what is known; where that is too much, forget what came first."""
    if len(known) >= REMEMBERED:
        del known[next(iter(known))]
    known[key] = None


def shown(value: Any) -> str:
    """A value in a message."""
    return np.array2string(value, threshold=12) if isinstance(value, np.ndarray) else repr(value)[:200]


def _arrays_of(answer: Any) -> list[Any]:
    """The arrays of an answer that a plugin could go on writing to."""
    if isinstance(answer, Prediction | Predictions):
        parts = [answer.point, *_arrays_of(getattr(answer, "combination", None))]
    elif isinstance(answer, ConvexCombination):
        atoms = answer.atoms
        parts = [answer.weights, atoms if isinstance(atoms, np.ndarray) else atoms.data]
    else:
        parts = [answer]
    return [part for part in parts if isinstance(part, np.ndarray)]
