"""A guard around a space: what a faulty plugin does is repaired where that is safe, else refused by name."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from osp_core.errors import OspError, as_positive
from osp_core.registry.registry import plugin_of
from osp_core.registry.watch import PluginWarning, Watch, shown
from osp_core.spaces import OutputSpace

__all__ = ["PluginWarning", "guarded"]

CONSTANTS = frozenset((
    "dim", "norm", "psi", "nu", "kappa", "lam", "lam2", "diameter", "diameter2", "zero_one",
    "equal_norm", "min_entry", "max_entry", "min_mass", "max_mass", "max_square", "constant_mass",
    "nearest_is_exact", "paper_loss_scale",
))  # fmt: skip
"""What must be the same whenever it is read."""


def guarded(space: OutputSpace, *, slow: float = 1.0, time_limit: float | None = None) -> OutputSpace:
    """Return the same space with every call of the plugin's methods watched.

    A changed argument, an array rewritten after it was handed out, −0.0 and other dtypes are repaired, and
    reported once with a `PluginWarning`. What cannot be repaired raises a `PluginError` that names plugin and
    method: exceptions, wrong shapes, NaN, infinities, points that are no outputs, combinations with another
    mean; an oracle that answers one cost in two ways; predictions outside conv(Y), and gaps that one oracle
    call shows to be false, where Ψ has a gradient; constants that change; a `with_psi` that keeps the old Ψ;
    draws that are off their mean by more than chance explains (it would blame one sound space in 10⁹). In a
    round this comes before anything changes. Of a sound space nothing changes but the speed: every answer
    costs a look at it, and every call of the oracle a second one.

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
    twin.__dict__["_watch"] = Watch(space, _title(space), as_positive(slow, "slow"), limit)
    return twin


def _over(space: Any, watch: Watch, name: str) -> OutputSpace:
    """The guard of a space that a guarded one returned, with the same limits."""
    if not isinstance(space, OutputSpace):
        raise watch.error(name, f"returned {shown(space)} instead of a space")
    return guarded(space, slow=watch.slow, time_limit=watch.time_limit)


class _Guard:
    """Stands before the class of a space, whose methods it calls through the watch."""

    _watch: Watch

    def __reduce__(self) -> tuple[Any, ...]:
        # The class is made at run time, and no module has it under its name.
        return _bare, (type(self._watch.inner),), self.__getstate__()

    def __getattribute__(self, name: str) -> Any:
        value = super().__getattribute__(name)
        return self._watch.constant(name, value) if name in CONSTANTS else value

    @property
    def nearest_is_exact(self) -> bool:
        """As the space itself says: that the guard has a method `nearest_vertex` proves nothing."""
        return self._watch.inner.nearest_is_exact

    def lmo(self, cost: Any) -> Any:
        first = self._watch.vertex("lmo", _ask(self, "lmo", (cost,), {}))
        return self._watch.same_answer("lmo", first, _ask(self, "lmo", (cost,), {}))

    def predict(self, theta: Any) -> Any:
        prediction = self._watch.prediction("predict", _ask(self, "predict", (theta,), {}))
        self._watch.inside(prediction.point)
        self._watch.optimal(self.psi, np.asarray(theta, dtype=np.float64), prediction)
        for name in list(self._watch.constants):  # once a round, before anything is changed by it
            getattr(self, name)
        return prediction

    def decompose(self, point: Any) -> Any:
        answer = _ask(self, "decompose", (point,), {})
        return self._watch.combination("decompose", answer, np.asarray(point, dtype=np.float64))

    def sample_vertex(self, point: Any, rng: np.random.Generator) -> Any:
        before = _state_of(rng)
        vertex = self._watch.vertex("sample_vertex", _ask(self, "sample_vertex", (point, rng), {}))
        self._watch.unbiased("sample_vertex", vertex, point, before, _state_of(rng))
        return vertex

    def sample_many(self, points: Any, rng: np.random.Generator) -> Any:
        before = _state_of(rng)
        rows = self._watch.vertices("sample_many", _ask(self, "sample_many", (points, rng), {}))
        self._watch.unbiased("sample_many", rows, points, before, _state_of(rng))
        return rows

    def at(self, context: Any) -> Any:
        found = _ask(self, "at", (context,), {})
        return self if found is self else _over(found, self._watch, "at")

    def blocks(self) -> Any:
        found = _ask(self, "blocks", (), {})
        return found and [replace(block, space=_over(block.space, self._watch, "blocks")) for block in found]

    def with_psi(self, psi: Any) -> Any:
        watch = self._watch
        found = _over(watch.call("with_psi", watch.inner.with_psi, (psi,), {}), watch, "with_psi")
        for space in (found, *(block.space for block in found.blocks() or ())):
            if space.psi != psi:
                raise watch.error("with_psi", f"returned a space with {space.psi!r} in it instead of {psi!r}")
        return found

    def compiled_parts(self) -> None:
        """Compiled rounds would go around the guard."""


_CHECKS: dict[str, Callable[[Watch, str, Any], Any]] = {
    **dict.fromkeys(("nearest_vertex", "from_label"), Watch.vertex),
    **dict.fromkeys(("lmo_many", "nearest_vertex_many", "vertices"), Watch.vertices),
    **dict.fromkeys(("project", "kl_project", "binary_kl_project"), Watch.prediction),
    **dict.fromkeys(
        ("predict_many", "project_many", "kl_project_many", "binary_kl_project_many"), Watch.predictions
    ),
    **dict.fromkeys(("marginals", "project_direction"), Watch.point),
    "log_partition": Watch.number,
    **dict.fromkeys(("to_label", "is_vertex", "contains"), lambda watch, name, answer: answer),
}


def _watched(name: str, check: Callable[[Watch, str, Any], Any]) -> Callable[..., Any]:
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


def _state_of(rng: Any) -> str:
    return repr(getattr(getattr(rng, "bit_generator", None), "state", None))


def _title(space: OutputSpace) -> str:
    if space.made_with is None:
        return repr(space)
    name = space.made_with[0]
    try:
        return f"the space {name!r} of plugin {plugin_of('space', name)!r}"
    except OspError:  # unregistered since
        return f"the space {name!r}"
