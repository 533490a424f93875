"""What ``import osp_core`` and ``list_spaces()`` load, and what they leave for later."""

import json
import subprocess
import sys

HEAVY = ("scipy", "numba", "networkx", "cvxpy", "highspy", "matplotlib", "rich", "sklearn", "river", "torch")


def modules_after(script):
    """The names in sys.modules after a script ran in a fresh interpreter."""
    ending = "\nimport json, sys\nprint(json.dumps(sorted(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", script + ending], capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def heavy(modules):
    return [module for module in modules if module.split(".")[0] in HEAVY]


def test_importing_the_core_loads_no_optional_package_and_no_scipy():
    assert heavy(modules_after("import osp_core")) == []


def test_importing_the_core_asks_no_plugin():
    modules = modules_after("import osp_core")
    assert [module for module in modules if module.startswith("osp_") and module[:8] != "osp_core"] == []


def test_listing_loads_the_plugins_but_none_of_their_factories():
    loaded = modules_after(
        "import osp_core\nosp_core.list_spaces(); osp_core.list_learners(); osp_core.list_streams()"
    )
    assert heavy(loaded) == []
    plugins = [module for module in loaded if module.startswith("osp_") and module[:8] != "osp_core"]
    assert "osp_simplex" in plugins
    assert [module for module in plugins if "." in module] == [], (
        "a plugin's __init__ should import nothing more"
    )


def test_starting_the_command_loads_nothing_heavy():
    assert (
        heavy(modules_after("from osp_core.cli import main\nmain(['--help'], standalone_mode=False)")) == []
    )


def test_a_space_with_a_closed_form_needs_no_optional_package():
    script = "import osp_core as osp\nosp.make_space('simplex', d=3).predict([0.0, 1.0, 2.0])"
    optional = set(HEAVY) - {"scipy"}
    assert [module for module in heavy(modules_after(script)) if module.split(".")[0] in optional] == []
