"""Imports point one way: from the protocol down to the errors, from plugins to the core, never back."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

# Every layer may import itself and those above it in this list.
LAYERS = (
    ("errors", "hooks", "kernels"),
    ("geometry",),
    ("frank_wolfe",),
    ("targets", "regularizers"),
    ("spaces",),
    ("guarantees",),
    ("surrogates",),
    ("models", "learners"),
    ("registry", "persistence"),
    ("compiled",),
    ("online",),
    ("testing",),
    ("report", "adapters"),
    ("runs", "experiments"),
    ("sweeps",),
    ("cli",),
)
# What is built on the framework: it imports these never, nor do plugins.
LEAVES = ("report", "adapters", "runs", "experiments", "sweeps", "cli")
RANK = {part: rank for rank, layer in enumerate(LAYERS) for part in layer}


def module_name(path, root):
    """The dotted name of a source file below `root`."""
    parts = path.relative_to(root).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def sources(root, package):
    """Map the modules of a package to their files."""
    return {module_name(path, root): path for path in sorted((Path(root) / package).rglob("*.py"))}


def imports(source, module, is_package, known):
    """The modules among `known` that a module imports, at the top or inside functions.

    What is imported for type checkers only does not count.
    """
    found = set()
    for node in _executed(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {_longest_known(alias.name, known) for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = _absolute(node, module, is_package)
            for alias in node.names:
                if alias.name != "__version__":  # a constant that depends on nothing
                    found.add(_longest_known(f"{base}.{alias.name}", known))
        elif isinstance(node, ast.Call):
            found |= {_longest_known(name, known) for name in _named_in_call(node)}
    return found - {None}


def _executed(tree):
    """All nodes but those below ``if TYPE_CHECKING``."""
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        yield node
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            waiting.extend(node.orelse)
        else:
            waiting.extend(ast.iter_child_nodes(node))


def _absolute(node, module, is_package):
    if node.level == 0:
        return node.module
    parts = module.split(".")
    parts = parts[: len(parts) - node.level + (1 if is_package else 0)]
    return ".".join([*parts, node.module] if node.module else parts)


def _named_in_call(node):
    """``importlib.import_module("name")`` is an import as well."""
    if ast.unparse(node.func).endswith("import_module") and node.args:
        argument = node.args[0]
        if isinstance(argument, ast.Constant) and isinstance(argument.value, str):
            yield argument.value


def _longest_known(name, known):
    """The module that ``from a.b import c`` loads last: a.b.c if that is a module, otherwise a.b."""
    while name and name not in known:
        name = name.rpartition(".")[0]
    return name or None


CORE = sources(ROOT, "osp_core")
PLUGINS = {
    package.name: sources(ROOT / "plugins", package.name)
    for package in sorted((ROOT / "plugins").iterdir())
    if (package / "__init__.py").exists()
}


def part(module):
    """osp_core.frank_wolfe.oracle → frank_wolfe; the package itself → an empty string."""
    return module.split(".")[1] if "." in module else ""


def edges():
    for module, path in CORE.items():
        for target in imports(path.read_text(encoding="utf-8"), module, path.name == "__init__.py", CORE):
            yield module, target


EDGES = sorted({(module, target) for module, target in edges() if module != target})


def test_every_module_has_a_place_in_the_order():
    assert {part(module) for module in CORE} - {""} <= set(RANK)


def test_the_page_on_the_architecture_has_this_order():
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    listed = page.partition("<!-- layers -->")[2].partition("<!-- end of layers -->")[0]
    lines = re.findall(r"^\d+\. (.*)$", listed, re.MULTILINE)
    assert [tuple(re.findall(r"`(\w+)`", line)) for line in lines] == list(LAYERS)


def test_no_module_imports_one_that_stands_above_it():
    wrong = [
        f"{module} imports {target}"
        for module, target in EDGES
        if part(module) and part(target) and RANK[part(module)] < RANK[part(target)]
    ]
    assert wrong == []


def test_the_framework_imports_nothing_that_is_built_on_it():
    wrong = [
        f"{module} imports {target}"
        for module, target in EDGES
        if part(target) in LEAVES and part(module) not in LEAVES
    ]
    assert wrong == []


def test_nobody_imports_the_command():
    assert [module for module, target in EDGES if part(target) == "cli" and part(module) != "cli"] == []


def test_only_leaves_and_the_conformance_kit_import_the_whole_package():
    wrong = [
        module for module, target in EDGES if part(target) == "" and part(module) not in (*LEAVES, "testing")
    ]
    assert wrong == []


def test_no_two_modules_import_each_other():
    graph = {module: {b for a, b in EDGES if a == module and part(b)} for module in CORE}
    done = set()

    def visit(module, path):
        assert module not in path, " → ".join([*path, module])
        if module not in done:
            for target in sorted(graph[module]):
                visit(target, [*path, module])
            done.add(module)

    for module in sorted(graph):
        if part(module):
            visit(module, [])


def test_plugins_import_the_core_and_never_each_other():
    known = {**CORE, **{module: path for plugin in PLUGINS.values() for module, path in plugin.items()}}
    for plugin, modules in PLUGINS.items():
        for module, path in modules.items():
            for target in imports(
                path.read_text(encoding="utf-8"), module, path.name == "__init__.py", known
            ):
                package = target.split(".")[0]
                assert package in (plugin, "osp_core"), f"{module} imports {target}"
                assert part(target) not in LEAVES or package == plugin, f"{module} imports {target}"


def test_the_core_never_imports_a_plugin():
    known = {module: path for plugin in PLUGINS.values() for module, path in plugin.items()}
    for module, path in CORE.items():
        assert not imports(path.read_text(encoding="utf-8"), module, path.name == "__init__.py", known), (
            module
        )


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("import a.b", {"a.b"}),
        ("import a.b as c, x", {"a.b"}),
        ("from a import b", {"a.b"}),
        ("from a import nothing", {"a"}),
        ("from a.b import thing", {"a.b"}),
        ("def f():\n    from a import b", {"a.b"}),
        ("if TYPE_CHECKING:\n    import a.b\nelse:\n    import a.c", {"a.c"}),
        ("import typing\nif typing.TYPE_CHECKING:\n    import a.b", set()),
        ("from . import c", {"a.c"}),
        ("from .c import thing", {"a.c"}),
        ("importlib.import_module('a.b')", {"a.b"}),
        ("'import a.b'", set()),
    ],
)
def test_the_reader_of_imports_sees_what_is_executed(source, expected):
    assert imports(source, "a.z", False, {"a": 0, "a.b": 0, "a.c": 0, "a.z": 0}) == expected
