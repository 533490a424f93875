"""A guard around a space: what a faulty plugin does is repaired where that is safe, else refused by name."""

from __future__ import annotations

import functools
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from osp_core.combinations import ConvexCombination
from osp_core.errors import Array, OspError, PluginError, as_positive
from osp_core.predictions import Prediction, Predictions
from osp_core.registry import plugin_of
from osp_core.spaces import OutputSpace


class PluginWarning(UserWarning):
    """A plugin did something wrong that the guard repaired, or took long."""


def guarded(space: OutputSpace, *, slow: float = 1.0, time_limit: float | None = None) -> OutputSpace:
    """Return the same space with every call of the plugin's methods watched.

    A changed argument, a buffer handed out twice, −0.0 and other dtypes are repaired, and reported once with
    a `PluginWarning`. Exceptions, wrong shapes, NaN, infinities, points that are no outputs and combinations
    with another mean raise a `PluginError` that names plugin and method; in a round they do so before
    anything changes. Of a sound space nothing changes but the speed: every answer costs a look at it.

    Parameters
    ----------
    space : OutputSpace
    slow : float
        Calls that take longer than this many seconds are reported.
    time_limit : float, optional
        The answers of calls that take longer are refused. A call that never returns is not ended: run such
        plugins in a process of their own.

    Examples
    --------
    >>> import numpy as np, osp_core as osp
    >>> space = osp.guarded(osp.space_from_lmo(lambda cost: np.full(3, np.nan), 3))
    >>> space.lmo(np.ones(3))
    Traceback (most recent call last):
    ...
    osp_core.errors.PluginError: lmo of space_from_lmo(<lambda>, dim=3) returned [nan nan nan]; ...
    """
    if isinstance(space, _Guard):
        return space
    twin = _bare(type(space))
    limit = None if time_limit is None else as_positive(time_limit, "time_limit")
    twin.__dict__.update(space.__dict__)
    # The space itself, not watched, answers whether a point is an output, so that asking does not ask again.
    twin.__dict__["_watch"] = _Watch(space, _title(space), as_positive(slow, "slow"), limit)
    return twin


@dataclass
class _Watch:
    """What the guard of one space knows."""

    inner: OutputSpace
    title: str
    slow: float
    time_limit: float | None
    told: set[str] = field(default_factory=set)

    def over(self, space: OutputSpace) -> OutputSpace:
        """The guard of another space, with the same limits."""
        return guarded(space, slow=self.slow, time_limit=self.time_limit)

    def call(self, name: str, method: Callable[..., Any], args: Sequence[Any], kwargs: Any) -> Any:
        """Call a method with copies of its arrays, and look at the time and at what became of them."""
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
            raise self.error(name, f"returned {_shown(answer)}, which is no array of numbers") from error
        if array.shape != shape:
            raise self.error(name, f"returned an array of shape {array.shape} instead of {shape}")
        if not np.isfinite(array).all() or not exact:
            raise self.error(name, f"returned {_shown(answer)}; it must return finite float64 numbers")
        if not same:
            self.tell(name, f"returned {getattr(answer, 'dtype', type(answer).__name__)} instead of float64")
        return array

    def vertex(self, name: str, answer: Any) -> Array:
        vertex = self.numbers(name, answer, (self.inner.dim,))
        if (np.signbit(vertex) & (vertex == 0)).any():
            self.tell(name, "returned −0.0, which is not the same key as 0.0")
            vertex += 0.0
        if not self.call("is_vertex", self.inner.is_vertex, (vertex,), {}):
            raise self.error(name, f"returned {_shown(vertex)}, which is no output of the space")
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
            raise self.error(name, f"returned {_shown(answer)} instead of a Prediction")
        point = self.point(name, answer.point)
        if not 0.0 <= answer.gap < np.inf:
            raise self.error(name, f"returned a prediction with the gap {answer.gap}")
        if answer.combination is not None:
            self.combination(name, answer.combination, point)
        return replace(answer, point=point)

    def predictions(self, name: str, answer: Any) -> Predictions:
        if not isinstance(answer, Predictions):
            raise self.error(name, f"returned {_shown(answer)} instead of Predictions")
        rows = self.numbers(name, answer.point, (*np.shape(answer.point)[:1], self.inner.dim))
        gaps = np.asarray(answer.gap)
        if gaps.shape != rows.shape[:1] or not ((gaps >= 0) & (gaps < np.inf)).all():
            raise self.error(name, f"returned predictions with the gaps {_shown(gaps)}")
        return replace(answer, point=rows)

    def combination(self, name: str, answer: Any, point: Array) -> ConvexCombination:
        if not isinstance(answer, ConvexCombination):
            raise self.error(name, f"returned {_shown(answer)} instead of a ConvexCombination")
        mean = self.numbers(name, answer.mean + 0.0, (self.inner.dim,))
        if np.abs(mean - point).max(initial=0.0) > 1e-6 * (1.0 + np.abs(point).max(initial=0.0)):
            raise self.error(name, f"returned a combination of mean {_shown(mean)} for {_shown(point)}")
        return answer


class _Guard:
    """Stands before the class of a space, whose methods it calls through the watch."""

    _watch: _Watch

    def __reduce__(self) -> tuple[Any, ...]:
        # The class is made at run time, and no module has it under its name.
        return _bare, (type(self._watch.inner),), self.__getstate__()

    def decompose(self, point: Any) -> Any:
        answer = _ask(self, "decompose", (point,), {})
        return self._watch.combination("decompose", answer, np.asarray(point, dtype=np.float64))

    def at(self, context: Any) -> Any:
        found = _ask(self, "at", (context,), {})
        return self if found is self else self._watch.over(found)

    def blocks(self) -> Any:
        found = _ask(self, "blocks", (), {})
        return found and [replace(block, space=self._watch.over(block.space)) for block in found]

    def with_psi(self, psi: Any) -> Any:
        return self._watch.over(self._watch.inner.with_psi(psi))

    def round_parts(self) -> None:
        """Compiled rounds would go around the guard."""


_CHECKS: dict[str, Callable[[_Watch, str, Any], Any]] = {
    **dict.fromkeys(("lmo", "nearest_vertex", "sample_vertex", "from_label"), _Watch.vertex),
    **dict.fromkeys(("lmo_many", "nearest_vertex_many", "sample_many", "vertices"), _Watch.vertices),
    **dict.fromkeys(("predict", "project", "kl_project", "binary_kl_project"), _Watch.prediction),
    **dict.fromkeys(
        ("predict_many", "project_many", "kl_project_many", "binary_kl_project_many"), _Watch.predictions
    ),
    **dict.fromkeys(("marginals", "project_direction"), _Watch.point),
    "log_partition": _Watch.number,
    **dict.fromkeys(("to_label", "is_vertex", "contains"), lambda watch, name, answer: answer),
}


def _watched(name: str, check: Callable[[_Watch, str, Any], Any]) -> Callable[..., Any]:
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        return check(self._watch, name, _ask(self, name, args, kwargs))

    method.__name__ = name
    return method


for _name, _check in _CHECKS.items():
    setattr(_Guard, _name, _watched(_name, _check))


def _ask(space: Any, name: str, args: Sequence[Any], kwargs: Any) -> Any:
    return space._watch.call(name, getattr(super(_Guard, space), name), args, kwargs)


@functools.cache
def _guarded_class(kind: type) -> type:
    # The same name: messages and checkpoints are those of the space itself.
    return type(kind.__name__, (_Guard, kind), {"__module__": kind.__module__, "__doc__": kind.__doc__})


def _bare(kind: type[OutputSpace]) -> OutputSpace:
    """A guarded space of this class, with nothing in it yet."""
    twin: OutputSpace = object.__new__(_guarded_class(kind))
    return twin


def _title(space: OutputSpace) -> str:
    if space.made_with is None:
        return repr(space)
    name = space.made_with[0]
    try:
        return f"the space {name!r} of plugin {plugin_of('space', name)!r}"
    except OspError:  # unregistered since
        return f"the space {name!r}"


def _shown(value: Any) -> str:
    return np.array2string(value, threshold=12) if isinstance(value, np.ndarray) else repr(value)[:200]
