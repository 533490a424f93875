"""The core knows no space by name or class: what it needs of one it asks of it, ours or a stranger's."""

import ast
from pathlib import Path

import pytest

import osp_core as osp
from osp_core.registry.registry import load_factory

ROOT = Path(__file__).resolve().parents[2]
RECORDS = [record for record in osp.list_spaces() if record.available]
NAMES = {record.name for record in RECORDS}
CLASSES = {
    factory.__name__
    for factory in (load_factory("space", name) for name in NAMES)
    if isinstance(factory, type)
}

# Which parts of the core may write the name of a space, and why.
MAY_NAME = {
    "osp_core/cli/demo_spaces.py": "lists what the demonstration shows",
    "osp_core/experiments/": "an experiment is about the spaces of its figure",
    "osp_core/adapters/": "an estimator makes the space of its task with `make_space`",
    "osp_core/spaces/builtin.py": "registers the spaces of the core",
    "osp_core/frank_wolfe/oracle.py": "a key of its state, the vertices it remembers",
    "osp_core/registry/guarded.py": "the method `vertices` of a space",
    "osp_core/__init__.py": "exports the spaces of the core",
}


def names_in(source):
    """The strings of a module that are the name, or the class, of a registered space; prose is longer."""
    nodes = ast.walk(ast.parse(source))
    strings = {node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    return strings & (NAMES | CLASSES)


def classes_tested_in(source):
    """The registered classes that a module tests an object for and does not define itself."""
    tree = ast.parse(source)
    own = {node.name for node in ast.walk(tree) if isinstance(node, ast.ClassDef)}
    tested = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func) in ("isinstance", "issubclass"):
            tested |= _words(node.args[1])
        elif isinstance(node, ast.Compare) and any("type(" in ast.unparse(part) for part in _sides(node)):
            tested |= set().union(*map(_words, _sides(node)))
        elif isinstance(node, ast.MatchClass):
            tested |= _words(node.cls)
    return (tested & CLASSES) - own


def _sides(compare):
    return [compare.left, *compare.comparators]


def _words(node):
    """Simplex, spaces.Simplex: the last part of every name in an expression."""
    found = {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
    return found | {part.attr for part in ast.walk(node) if isinstance(part, ast.Attribute)}


def sources():
    for path in sorted((ROOT / "osp_core").rglob("*.py")):
        yield path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8")


def test_no_module_of_the_core_names_a_registered_space():
    wrong = {
        path: sorted(found)
        for path, source in sources()
        if not path.startswith(tuple(MAY_NAME)) and (found := names_in(source))
    }
    assert wrong == {}


def test_no_module_of_the_core_tests_for_the_class_of_a_registered_space():
    wrong = {path: sorted(found) for path, source in sources() if (found := classes_tested_in(source))}
    assert wrong == {}


@pytest.mark.parametrize("path", MAY_NAME)
def test_every_exception_is_in_use(path):
    assert any(names_in(source) for name, source in sources() if name.startswith(path))


@pytest.mark.parametrize(
    ("source", "named", "tested"),
    [
        ('if name == "simplex": pass', {"simplex"}, set()),
        ('WAYS = {"Simplex": 1}', {"Simplex"}, set()),
        ('"""On the simplex."""', set(), set()),
        ("isinstance(space, Simplex)", set(), {"Simplex"}),
        ("isinstance(space, int | spaces.Hypercube)", set(), {"Hypercube"}),
        ("type(space) is Product", set(), {"Product"}),
        ("class Product: pass\nisinstance(space, Product)", set(), set()),
        ("match space:\n    case Masked(): pass", set(), {"Masked"}),
        ("Product([a, b])", set(), set()),
    ],
)
def test_the_reader_sees_names_and_tests_for_classes(source, named, tested):
    assert names_in(source) == named
    assert classes_tested_in(source) == tested
