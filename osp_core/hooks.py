"""The hooks a plugin implements to add spaces, learners and streams.

A plugin is a module named by an entry point of the group ``osp``:

    [project.entry-points.osp]
    mine = "my_plugin"

It should import nothing heavy: what it registers is named as ``"module:object"`` and imported when asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import pluggy

from osp_core.errors import InvalidInputError

PROJECT = "osp"
API_VERSION = 1
"""A plugin written for another version says so in its module: ``osp_api_version = 1``."""

hookspec = pluggy.HookspecMarker(PROJECT)
hookimpl = pluggy.HookimplMarker(PROJECT)


@dataclass(frozen=True)
class Registration:
    """One space, learner or stream that a plugin offers.

    Attributes
    ----------
    name : str
        What users pass to `make_space`, `make_learner` or `make_stream`.
    factory : str or callable
        "module:object", imported at first use, or the class or function itself.
    summary : str
        One line for `list_spaces` and ``osp spaces``.
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
