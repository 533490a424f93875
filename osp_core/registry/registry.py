"""The registry of this process: what there is of every kind, and which plugin each comes from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from osp_core.registry.table import Record, Registry
from osp_core.spaces import OutputSpace


def make_space(name: str, /, **params: Any) -> Any:
    """Make a registered space: ``make_space("simplex", d=3)``."""
    return _registry().make("space", name, params)


def make_learner(name: str, /, **params: Any) -> Any:
    """Make a registered learner: ``make_learner("ogd")``."""
    return _registry().make("learner", name, params)


def make_stream(name: str, /, **params: Any) -> Any:
    """Make a registered stream: ``make_stream("linear_teacher", space=space, rounds=100)``."""
    return _registry().make("stream", name, params)


def make_decoder(name: str, /, **params: Any) -> Any:
    """Make a registered decoder: ``make_decoder("randomized", space=space)``."""
    return _registry().make("decoder", name, params)


def make_target(name: str, /, **params: Any) -> Any:
    """Make a registered target: ``make_target("table", matrix=losses)``."""
    return _registry().make("target", name, params)


def make_surrogate(name: str, /, **params: Any) -> Any:
    """Make a registered surrogate: ``make_surrogate("mine", space=space)``."""
    return _registry().make("surrogate", name, params)


def make_format(name: str, /, **params: Any) -> Any:
    """Open a file in a registered format: ``make_format("csv", path=path, wanted=Columns("label"))``.

    `osp_core.runs.open_table` does so by the ending of a name.
    """
    return _registry().make("format", name, params)


def list_spaces() -> list[Record]:
    """List all spaces, those that cannot be used with the reason. Imports no factory."""
    return _registry().records("space")


def list_learners() -> list[Record]:
    """List all learners."""
    return _registry().records("learner")


def list_streams() -> list[Record]:
    """List all streams."""
    return _registry().records("stream")


def list_decoders() -> list[Record]:
    """List all decoders."""
    return _registry().records("decoder")


def list_targets() -> list[Record]:
    """List all targets."""
    return _registry().records("target")


def list_surrogates() -> list[Record]:
    """List all surrogates."""
    return _registry().records("surrogate")


def list_formats() -> list[Record]:
    """List all file formats; their names are the endings."""
    return _registry().records("format")


def list_of(kind: str) -> list[Record]:
    """List what there is of a kind: "space", "learner", "stream", "decoder", "target", …"""
    return _registry().records(kind)


def make_on(kind: str, name: str, space: OutputSpace, params: Mapping[str, Any]) -> Any:
    """Make a registered decoder or target for `space`, which those get that have a parameter for it."""
    return _registry().make_on(kind, name, space, dict(params))


def register(plugin: Any, name: str | None = None) -> str:
    """Add a plugin (a module or any object with hook implementations) at run time; return its name."""
    return _registry().add(plugin, name)


def load_plugins(directory: str) -> list[str]:
    """Load the single-file plugins of a directory; return the names of those that are new.

    Each ``*.py`` in it that does not begin with ``_`` is a plugin like a module named by an entry point.
    """
    return _registry().add_directory(directory)


def unregister(name: str) -> None:
    """Take back a plugin added with `register`."""
    _registry().remove(name)


def registered_name(kind: str, thing: Any) -> str | None:
    """The name under which a class, or a finished object, is registered; or None."""
    return _registry().name_of(kind, thing)


def plugin_of(kind: str, name: str) -> str:
    """The plugin that a registered name comes from."""
    return _registry().plugin_of(kind, name)


def load_factory(kind: str, name: str) -> Any:
    """Return the class or function behind a registered name."""
    return _registry().factory(kind, name)


_the_registry: Registry | None = None


def _registry() -> Registry:
    global _the_registry
    if _the_registry is None:
        _the_registry = Registry()
    return _the_registry
