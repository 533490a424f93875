"""The hooks a plugin implements to add spaces, learners, streams, decoders, targets, surrogates and formats.

A plugin is a module named by an entry point of the group ``osp``:

    [project.entry-points.osp]
    mine = "my_plugin"

It should import nothing heavy: what it registers is named as ``"module:object"`` and imported when asked for.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import pluggy

from osp_core.errors import InvalidInputError, UnsupportedError

PROJECT = "osp"
API_VERSION = 1
"""A plugin written for another version says so in its module: ``osp_api_version = 1``."""

hookspec = pluggy.HookspecMarker(PROJECT)
hookimpl = pluggy.HookimplMarker(PROJECT)


@dataclass(frozen=True)
class Registration:
    """One space, learner, stream, decoder, target, surrogate or file format that a plugin offers.

    Attributes
    ----------
    name : str
        What users pass to `make_space` and its siblings.
    factory : str or callable
        "module:object", imported at first use, or the class or function itself. A target without parameters
        may be the finished object instead of what makes it; all who ask then share it.
    summary : str
        One line for `list_spaces` and its siblings, and for the shell.
    parameters : tuple of str
        Names of the keyword parameters the factory takes.
    requires : mapping
        Import name of every package the factory cannot do without → what to ask pip for.
    backends : mapping
        Name of every back end → a mapping like `requires`, empty when it needs nothing more.
    """

    name: str
    factory: str | Callable[..., Any]
    summary: str = ""
    parameters: tuple[str, ...] = ()
    requires: Mapping[str, str] = field(default_factory=dict)
    backends: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not (isinstance(self.name, str) and self.name):
            raise InvalidInputError(f"A registration needs a name, got {self.name!r}.")
        named = isinstance(self.factory, str) and all(self.factory.partition(":"))
        if not (named or callable(self.factory)):
            raise InvalidInputError(
                f"The factory of {self.name!r} must be 'module:object' or a callable, got {self.factory!r}."
            )


class Hooks:
    """The hook specifications."""

    @hookspec
    def osp_spaces(self) -> Iterable[Registration]:
        """Return the output spaces of this plugin; every factory makes an `OutputSpace`."""
        return ()

    @hookspec
    def osp_learners(self) -> Iterable[Registration]:
        """Return the learners of this plugin; every factory makes an `OnlineLearner`."""
        return ()

    @hookspec
    def osp_streams(self) -> Iterable[Registration]:
        """Return the streams of this plugin; every factory makes a `Stream` of (x, y) pairs."""
        return ()

    @hookspec
    def osp_decoders(self) -> Iterable[Registration]:
        """Return the decoders of this plugin; every factory takes `space` and makes a `Decoder` of it."""
        return ()

    @hookspec
    def osp_targets(self) -> Iterable[Registration]:
        """Return the target losses of this plugin; every factory makes an `AffineLoss`.

        One that has a parameter `space` gets that of the run.
        """
        return ()

    @hookspec
    def osp_surrogates(self) -> Iterable[Registration]:
        """Return the surrogates of this plugin; every factory makes a `FenchelYoungLoss` of a `space`."""
        return ()

    @hookspec
    def osp_formats(self) -> Iterable[Registration]:
        """Return the file formats of this plugin: what ``osp run --data`` reads.

        The name is the ending of the files, in small letters and without the dot, one registration for each.
        Every factory takes `path` and `wanted`, the `Columns` to read, and makes an `osp_core.runs.Table`.
        """
        return ()


def parameters_of(thing: Any) -> dict[str, Any]:
    """Return what the constructor of an object was given: it keeps every parameter under its own name."""
    kind: type = type(thing)
    names = _parameters(kind)
    if missing := [name for name in names if not hasattr(thing, name)]:
        raise UnsupportedError(
            f"{kind.__name__} does not keep its parameter {missing[0]!r} as an attribute of that "
            "name, so another one like it cannot be made."
        )
    return {name: getattr(thing, name) for name in names}


@functools.cache
def _parameters(kind: type) -> tuple[str, ...]:
    found = inspect.signature(kind).parameters.values()
    return tuple(one.name for one in found if one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD))
