"""Plugins that only exist while a test runs, found through entry points like real ones."""

import importlib
import sys

import pytest

from osp_core.registry import Registry


class FakePlugins:
    """Writes modules and distributions into a folder on sys.path, and asks a fresh registry what it finds."""

    def __init__(self, folder):
        self.folder = folder

    def module(self, name, source):
        (self.folder / f"{name}.py").write_text(source)
        importlib.invalidate_caches()
        return name

    def install(self, plugin, source, distribution=None):
        """A distribution with one entry point `plugin` of the group osp."""
        distribution = distribution or f"{plugin}-dist"
        module = self.module(f"{distribution.replace('-', '_')}_module", source)
        info = self.folder / f"{distribution.replace('-', '_')}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {distribution}\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(f"[osp]\n{plugin} = {module}\n")
        importlib.invalidate_caches()
        return module

    def registry(self):
        return Registry()


@pytest.fixture
def plugins(tmp_path, monkeypatch):
    before = set(sys.modules)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield FakePlugins(tmp_path)
    for name in set(sys.modules) - before:
        if getattr(sys.modules[name], "__file__", None) and str(tmp_path) in sys.modules[name].__file__:
            del sys.modules[name]
    importlib.invalidate_caches()


@pytest.fixture
def working():
    """Return a function that asserts that the rest of a registry works as if nothing had happened."""

    def check(registry):
        assert registry.make("space", "hypercube", {"d": 3}).dim == 3
        assert registry.make("learner", "ogd", {"step_size": 0.1}).step_size == 0.1
        records = {record.name: record for record in registry.records("space")}
        assert records["hypercube"].available
        assert records["hypercube"].reason == ""

    return check
