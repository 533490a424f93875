"""The one table of what plugins offer: names to factories, for every kind."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Iterable
from dataclasses import dataclass
from importlib import metadata
from typing import Any

import pluggy

from osp_core.errors import InvalidInputError, MissingDependencyError, OspError, PluginError, UnknownNameError
from osp_core.hooks import API_VERSION, PROJECT, Hooks, Registration
from osp_core.registry import plugin_files
from osp_core.registry.kinds import HOOK_OF, MADE, loaded, resolve
from osp_core.registry.requirements import check_backend, check_parameters, missing_packages


@dataclass(frozen=True)
class Record:
    """What is known of a registered name without importing its factory."""

    name: str
    summary: str
    plugin: str
    parameters: tuple[str, ...]
    backends: tuple[str, ...]
    available: bool
    reason: str
    """Why it is not available, or which of its back ends are not; empty when all is well."""
    needs: tuple[str, ...] = ()
    """The packages it cannot do without, installed or not."""


class Registry:
    """The plugins found through entry points, and those registered at run time.

    Nothing is imported before the first question. A plugin that fails is remembered with its reason and
    hinders no other.
    """

    def __init__(self) -> None:
        self._manager = pluggy.PluginManager(PROJECT)
        self._manager.add_hookspecs(Hooks)
        self._broken: dict[str, str] = {}
        self._entries: dict[str, list[tuple[str, Registration]]] = {kind: [] for kind in HOOK_OF}
        for entry_point in metadata.entry_points(group=PROJECT):
            title = self._title(entry_point)
            try:
                self.add(entry_point.load(), title, tolerate_conflicts=True)
            except (Exception, SystemExit) as error:  # a stranger's module may raise anything
                self._broken[title] = f"{_cause(error)} (entry point {entry_point.value!r})"
        self._files: set[str] = set()
        for directory in plugin_files.named_directories():
            try:
                self.add_directory(directory)
            except OspError as error:
                self._broken[plugin_files.VARIABLE] = str(error)

    def add_directory(self, directory: str) -> list[str]:
        """Load the plugin files of a directory, each once; one that fails hinders no other."""
        titles = []
        for path in plugin_files.plugin_files(directory):
            if str(path) in self._files:
                continue
            self._files.add(str(path))
            try:
                titles.append(self.add(plugin_files.import_file(path), path.stem, tolerate_conflicts=True))
            except (Exception, SystemExit) as error:  # a stranger's file may raise anything
                self._broken[path.stem] = f"{_cause(error)} (file {str(path)!r})"
        return titles

    def add(self, plugin: Any, name: str | None = None, *, tolerate_conflicts: bool = False) -> str:
        title = str(name or getattr(plugin, "__name__", None) or type(plugin).__name__)
        if self._manager.has_plugin(title):
            raise PluginError(
                f"A plugin named {title!r} is registered already; unregister it first, or name this one."
            )
        version = getattr(plugin, "osp_api_version", API_VERSION)
        if version != API_VERSION:
            raise PluginError(
                f"Plugin {title!r} is written for plugin API {version}; this is API {API_VERSION}."
            )
        try:
            self._manager.register(plugin, title)
            self._manager.check_pending()  # a misspelt hook is an error, not silence
            entries = self._collect(plugin, title)
            if not tolerate_conflicts:
                self._refuse_conflicts(entries, title)
        except Exception as error:
            if self._manager.has_plugin(title):
                self._manager.unregister(name=title)
            if isinstance(error, OspError):
                raise
            raise PluginError(f"Plugin {title!r} cannot be used: {_cause(error)}") from error
        for kind, registrations in entries.items():
            self._entries[kind].extend((title, registration) for registration in registrations)
        return title

    def remove(self, name: str) -> None:
        if not self._manager.has_plugin(name):
            raise UnknownNameError(f"No plugin is registered as {name!r}.")
        self._manager.unregister(name=name)
        for entries in self._entries.values():
            entries[:] = [entry for entry in entries if entry[0] != name]

    def records(self, kind: str) -> list[Record]:
        names = {registration.name for _, registration in self._entries[kind]}
        records = [self._record(kind, name) for name in names]
        if kind == "space":  # a broken plugin is listed once, among the spaces it most likely offers
            records += [
                Record(name, "", name, (), (), False, reason) for name, reason in self._broken.items()
            ]
        return sorted(records, key=lambda record: record.name)

    def make(self, kind: str, name: str, params: dict[str, Any]) -> Any:
        factory, expected = self.factory(kind, name), resolve(MADE[kind])
        assert isinstance(expected, type)
        if isinstance(factory, expected):  # a finished object
            if params:
                raise InvalidInputError(
                    f"{kind} {name!r} has no parameter {next(iter(params))!r}; it has none."
                )
            return factory
        check_parameters(kind, name, factory, params)
        check_backend(kind, self._find(kind, name)[1], params)
        try:
            made = factory(**params)
        except TypeError as error:
            if error.__traceback__ is not None and error.__traceback__.tb_next is None:
                raise InvalidInputError(f"{kind} {name!r}: {error}.") from error
            raise
        if not isinstance(made, expected):
            plugin = self._find(kind, name)[0]
            raise PluginError(
                f"The {kind} {name!r} of plugin {plugin!r} must be an instance of {expected.__name__}, "
                f"its factory made {made!r}."
            )
        if hasattr(made, "made_with"):
            made.made_with = (name, dict(params))  # a checkpoint says how to make it again
        return made

    def make_on(self, kind: str, name: str, space: Any, params: dict[str, Any]) -> Any:
        """Make a part of a predictor on `space`, which those get that have a parameter for it."""
        factory = self.factory(kind, name)
        finished = isinstance(factory, resolve(MADE[kind]))
        takes = () if finished else inspect.signature(factory).parameters
        return self.make(kind, name, {"space": space, **params} if "space" in takes else params)

    def factory(self, kind: str, name: str) -> Any:
        plugin, registration = self._find(kind, name)
        if missing := missing_packages(registration.requires):
            raise MissingDependencyError(f"{kind} {name!r} {'; '.join(missing)}.")
        try:
            return resolve(registration.factory)
        except OspError:
            raise
        except Exception as error:  # the factory's module may raise anything
            raise PluginError(
                f"{kind} {name!r} of plugin {plugin!r} cannot be loaded: {_cause(error)}"
            ) from error

    def name_of(self, kind: str, thing: Any) -> str | None:
        names = [entry.name for _, entry in self._entries[kind] if loaded(entry.factory) is thing]
        return names[0] if names else None

    def plugin_of(self, kind: str, name: str) -> str:
        return self._find(kind, name)[0]

    def _find(self, kind: str, name: str) -> tuple[str, Registration]:
        found = [entry for entry in self._entries[kind] if entry[1].name == name]
        if len(found) == 1:
            return found[0]
        if found:
            raise PluginError(_conflict(kind, name, [plugin for plugin, _ in found]) + ".")
        if isinstance(name, str) and name in self._broken:
            raise PluginError(f"{kind} {name!r} cannot be used: {self._broken[name]}")
        names = sorted({registration.name for _, registration in self._entries[kind]})
        close = difflib.get_close_matches(str(name), names, n=1)
        hint = f" Did you mean {close[0]!r}?" if close else ""
        broken = "".join(f" Plugin {title!r} is broken: {why}." for title, why in self._broken.items())
        raise UnknownNameError(
            f"There is no {kind} called {name!r}.{hint} There are: {', '.join(names)}.{broken}"
        )

    def _title(self, entry_point: metadata.EntryPoint) -> str:
        """The name of an entry point; two distributions may use the same, and both must be heard of."""
        title = entry_point.name
        if self._manager.has_plugin(title) or title in self._broken:
            distribution = entry_point.dist.name if entry_point.dist is not None else entry_point.value
            title = f"{title} of {distribution}"
        return title

    def _record(self, kind: str, name: str) -> Record:
        found = [entry for entry in self._entries[kind] if entry[1].name == name]
        plugin, registration = found[0]
        reasons = missing_packages(registration.requires)
        missing_of = {backend: missing_packages(needs) for backend, needs in registration.backends.items()}
        backends = tuple(backend for backend, missing in missing_of.items() if not missing)
        available = not reasons and (bool(backends) or not registration.backends)
        reasons += [f"back end {b!r} {reason}" for b, missing in missing_of.items() for reason in missing]
        if len(found) > 1:
            available, reasons = False, [_conflict(kind, name, [owner for owner, _ in found])]
        return Record(
            name,
            registration.summary,
            plugin,
            registration.parameters,
            backends,
            available,
            "; ".join(reasons),
            tuple(registration.requires),
        )

    def _collect(self, plugin: Any, title: str) -> dict[str, list[Registration]]:
        """Ask one plugin what it offers, and check the answer."""
        callers = self._manager.get_hookcallers(plugin) or []
        if not callers:
            raise PluginError(f"Plugin {title!r} implements none of the hooks {', '.join(HOOK_OF.values())}.")
        answers = {
            caller.name: implementation.function()
            for caller in callers
            for implementation in caller.get_hookimpls()
            if implementation.plugin is plugin
        }
        return {kind: _registrations(answers.get(hook, ()), hook, title) for kind, hook in HOOK_OF.items()}

    def _refuse_conflicts(self, entries: dict[str, list[Registration]], title: str) -> None:
        for kind, registrations in entries.items():
            for registration in registrations:
                owners = [plugin for plugin, other in self._entries[kind] if other.name == registration.name]
                if owners:
                    raise PluginError(_conflict(kind, registration.name, [*owners, title]) + ".")


def _registrations(answer: Any, hook: str, title: str) -> list[Registration]:
    items = list(answer) if isinstance(answer, Iterable) and not isinstance(answer, str) else [answer]
    for item in items:
        if not isinstance(item, Registration):
            raise PluginError(
                f"{hook}() of plugin {title!r} must return a list of Registration, not one with {item!r}."
            )
    names = [item.name for item in items]
    if repeated := sorted({name for name in names if names.count(name) > 1}):
        raise PluginError(f"{hook}() of plugin {title!r} registers {repeated[0]!r} twice.")
    return items


def _conflict(kind: str, name: str, plugins: list[str]) -> str:
    owners = " and ".join(map(repr, plugins))
    return f"the {kind} name {name!r} is claimed by the plugins {owners}; remove one of them"


def _cause(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"
