"""The page on the architecture fits the tree: its folders, its extension points, and the way of a round."""

import re
import sys
from pathlib import Path

import numpy as np
import pytest
from compiled_twins import uncompiled

import osp_core as osp
from osp_core import testing
from osp_core.hooks import Hooks

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
X = np.array([0.3, 0.4, 0.5])


def section(name):
    """What stands between the marker of a section and that of its end."""
    begin = f"<!-- {name} -->"
    assert begin in PAGE
    return PAGE.partition(begin)[2].partition("<!-- end of ")[0]


def rows(text):
    """The cells of the rows of a table, without its head."""
    lines = [line for line in text.splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines[1:]]


def named(cell):
    return re.findall(r"`([^`]+)`", cell)


def walk(kind):
    """(file, function) in the order of the page; files of the core are named without its folder."""
    steps = []
    for function, file, _ in rows(section(f"walk: {kind}")):
        path = named(file)[0]
        steps.append((path if path.startswith("plugins/") else f"osp_core/{path}", named(function)[0]))
    return steps


def called(predictor, label):
    """(file, function) of every call of our code in one step, in order."""
    predictor.step(X, label)  # what is done once is done
    calls = []

    def note(frame, event, _):
        module = frame.f_globals.get("__name__", "")  # not the file: the package may be installed elsewhere
        if event == "call" and module.startswith("osp_"):
            root = "" if module.startswith("osp_core") else "plugins/"
            function = frame.f_code.co_qualname.rpartition("<locals>.")[2]
            calls.append((f"{root}{module.replace('.', '/')}.py", function))

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        predictor.step(X, label)
    finally:
        sys.setprofile(before)
    return calls


def missing_in_order(steps, calls):
    """The first step that is not called after those before it; None when all are."""
    rest = iter(calls)
    return next((step for step in steps if step not in rest), None)


def test_the_walk_through_a_plain_round_is_the_way_it_goes():
    predictor = osp.OnlinePredictor(osp.make_space("permutahedron", d=3), X.size, seed=0)
    assert missing_in_order(walk("plain"), called(predictor, [1, 0, 2])) is None


def test_the_walk_through_a_compiled_round_is_the_way_it_goes():
    predictor = uncompiled(osp.OnlinePredictor(osp.make_space("simplex", d=3), X.size, seed=0))
    assert missing_in_order(walk("compiled"), called(predictor, 1)) is None


def test_a_step_out_of_order_is_noticed():
    assert missing_in_order(["a", "c"], ["a", "b", "c"]) is None
    assert missing_in_order(["c", "a"], ["a", "b", "c"]) == "a"


def test_every_folder_of_the_core_has_its_line():
    tree = PAGE.partition("## The tree")[2].partition("## ")[0].partition("Beside the core")[0]
    listed = {name.rstrip("/") for cells in rows(tree) for name in named(cells[0])}
    there = {
        path.name
        for path in (ROOT / "osp_core").iterdir()
        if path.name not in ("__init__.py", "__pycache__", "py.typed")
    }
    assert listed == there


@pytest.mark.parametrize("hook", [name for name in vars(Hooks) if name.startswith("osp_")])
def test_every_hook_is_among_the_extension_points(hook):
    assert any(hook in named(cells[1]) for cells in rows(section("extension points")))


@pytest.mark.parametrize("cells", rows(section("extension points")), ids=lambda cells: cells[0])
def test_an_extension_point_has_checks_and_an_example_that_exist(cells):
    _, _, checks, example = cells
    assert [name for name in named(checks) if name.startswith("check_") and name not in testing.__all__] == []
    assert [(ROOT / path).is_file() for path in named(example)] == [True]
