"""The core and the plugins under test come from one installation, not half from the clone."""

import importlib.util
from importlib import metadata
from pathlib import Path

import osp_core

ROOT = Path(__file__).resolve().parents[2]


def test_the_plugins_lie_beside_the_core_or_both_are_editable():
    core = Path(osp_core.__file__).resolve().parent
    editable = core == ROOT / "osp_core"
    home = ROOT / "plugins" if editable else core.parent
    for entry_point in metadata.entry_points(group="osp"):
        if entry_point.dist.name == "online-structured-prediction":
            package = entry_point.module.split(".")[0]
            found = Path(importlib.util.find_spec(package).origin).resolve().parent
            assert found == (core if package == "osp_core" else home / package)
