"""Nothing we ship unpickles, evaluates text, calls a shell or talks to the network."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

# Modules whose import is refused, and what they would let a file or a stranger do.
MODULES = {
    **dict.fromkeys(
        ("pickle", "cPickle", "_pickle", "pickletools", "dill", "cloudpickle", "marshal", "shelve", "dbm"),
        "loading runs code",
    ),
    **dict.fromkeys(("yaml", "ruamel"), "loading may run code"),
    **dict.fromkeys(("subprocess", "pty", "commands", "pexpect"), "starts programs"),
    **dict.fromkeys(("runpy", "imp", "code", "codeop", "ctypes", "cffi"), "runs code that is not ours"),
    **dict.fromkeys(
        (
            "socket",
            "urllib",
            "http",
            "ftplib",
            "smtplib",
            "requests",
            "httpx",
            "aiohttp",
            "xmlrpc",
            "telnetlib",
        ),
        "talks to the network",
    ),
}
CALLS = {
    **dict.fromkeys(("eval", "exec", "compile", "__import__"), "runs text as code"),
    **dict.fromkeys(("builtins.eval", "builtins.exec", "builtins.compile"), "runs text as code"),
    **dict.fromkeys(("os.system", "os.popen", "os.startfile", "os.fork", "os.forkpty"), "starts programs"),
    **dict.fromkeys(("pandas.read_pickle", "joblib.load", "joblib.dump", "torch.load"), "unpickles"),
    **dict.fromkeys(("tempfile.mktemp",), "names a file that somebody else can make first"),
    **dict.fromkeys(("importlib.import_module",), "imports what a name says"),
    **dict.fromkeys(
        ("importlib.util.spec_from_file_location", "importlib.machinery.SourceFileLoader"), "imports a file"
    ),
}
PREFIXES = {"os.exec": "starts programs", "os.spawn": "starts programs", "os.posix_spawn": "starts programs"}
METHODS = {
    "extractall": "unpacks paths that an archive chose",
    "read_pickle": "unpickles",
    "to_pickle": "pickles",
}

# What is allowed all the same: where, what, and why no file or stream decides what happens.
ALLOWED = {
    ("osp_core", "importlib.import_module"): "the names are those of a table in the same file",
    ("osp_core.cli", "importlib.import_module"): "the names are those of a table in the same file",
    ("osp_core.experiments", "importlib.import_module"): "the names are those of a table in the same file",
    (
        "osp_core.kernels",
        "importlib.import_module",
    ): "the package is given by our own code, numba or numpy by us",
    ("osp_core.adapters.frames", "importlib.import_module"): "pandas or polars",
    ("osp_polytope", "importlib.import_module"): "the names are those of a table in the same file",
    (
        "osp_core.registry.kinds",
        "importlib.import_module",
    ): "installed plugins say where their factories are",
    (
        "osp_core.cli.check",
        "importlib.import_module",
    ): "`osp check module:object`: the person at the keyboard",
    (
        "osp_core.registry.plugin_files",
        "importlib.util.spec_from_file_location",
    ): "directories a person named",
}


def modules():
    """Every module we ship, by its dotted name."""
    for root in (ROOT, ROOT / "plugins"):
        for package in sorted(root.glob("osp_*")):
            for path in sorted(package.rglob("*.py")):
                parts = path.relative_to(root).with_suffix("").parts
                yield ".".join(parts[:-1] if parts[-1] == "__init__" else parts), path


def findings(source):
    """What is forbidden in a module, as pairs of a name and a reason."""
    tree = ast.parse(source)
    names = _imported(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom) and not getattr(node, "level", 0):
            for module in [a.name for a in node.names] if isinstance(node, ast.Import) else [node.module]:
                if module.split(".")[0] in MODULES:
                    yield module, MODULES[module.split(".")[0]]
        if isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Load):
            yield from _forbidden_name(_dotted(node, names), node)
        if isinstance(node, ast.Call):
            yield from _forbidden_arguments(_dotted(node.func, names), node)


def _imported(tree):
    """Local names → what they stand for."""
    names = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                names[alias.asname or alias.name.split(".")[0]] = (
                    alias.name if alias.asname else alias.name.split(".")[0]
                )
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names}
    return names


def _dotted(node, names):
    """``o.system`` after ``import os as o`` → ``os.system``."""
    parts = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return ".".join(["?", *reversed(parts)])
    return ".".join([names.get(node.id, node.id), *reversed(parts)])


def _forbidden_name(name, node):
    if name in CALLS:
        yield name, CALLS[name]
    yield from ((name, why) for prefix, why in PREFIXES.items() if name.startswith(prefix))
    if isinstance(node, ast.Attribute) and node.attr in METHODS:
        yield name, METHODS[node.attr]


def _forbidden_arguments(name, node):
    keywords = {keyword.arg: keyword.value for keyword in node.keywords}
    pickles = keywords.get("allow_pickle")
    if pickles is not None and not (isinstance(pickles, ast.Constant) and pickles.value is False):
        yield name, "may unpickle"
    if name in ("numpy.load", "numpy.lib.format.read_array") and pickles is None:
        yield name, "does not say allow_pickle=False"
    shell = keywords.get("shell")
    if shell is not None and not (isinstance(shell, ast.Constant) and shell.value is False):
        yield name, "calls a shell"


FOUND = {(module, name): why for module, path in modules() for name, why in findings(path.read_text("utf-8"))}


def test_all_that_is_shipped_is_looked_at():
    names = [module for module, _ in modules()]
    assert {
        "osp_core",
        "osp_core.persistence.archive",
        "osp_core.runs.data",
        "osp_simplex",
        "osp_streams",
    } <= set(names)
    assert len(names) > 120


def test_there_is_nothing_dangerous_in_the_source():
    wrong = {
        f"{module}: {name} {why}" for (module, name), why in FOUND.items() if (module, name) not in ALLOWED
    }
    assert wrong == set()


def test_every_exception_is_still_needed():
    assert set(ALLOWED) - set(FOUND) == set()


@pytest.mark.parametrize(
    "source",
    [
        "import pickle",
        "from pickle import loads",
        "import pickle as harmless",
        "def f():\n    import marshal",
        "import yaml",
        "import subprocess",
        "import urllib.request",
        "eval('1')",
        "f = eval",
        "map(exec, lines)",
        "from builtins import eval as f\nf('1')",
        "__import__('os')",
        "import os\nos.system('ls')",
        "import os as o\no.popen('ls')",
        "from os import system\nsystem('ls')",
        "from os import execv\nexecv('/bin/sh', [])",
        "import numpy as np\nnp.load(path, allow_pickle=True)",
        "import numpy as np\nnp.load(path, allow_pickle=flag)",
        "import numpy as np\nnp.load(path)",
        "from numpy import load\nload(path)",
        "run(command, shell=True)",
        "import joblib\njoblib.load(path)",
        "import pandas\npandas.read_pickle(path)",
        "archive.extractall(path)",
        "import importlib\nimportlib.import_module(name)",
        "from importlib import import_module as get\nget(name)",
        "import tempfile\ntempfile.mktemp()",
    ],
)
def test_the_reader_sees_what_is_dangerous(source):
    assert list(findings(source)) != []


@pytest.mark.parametrize(
    "source",
    [
        "'import pickle'",
        "# eval(x)",
        "import numpy as np\nnp.load(path, allow_pickle=False)",
        "model.eval()",
        "import os\nos.replace(a, b)",
        "import re\nre.compile('x')",
        "from . import code",
        "plan.execute()",
        "import json\njson.load(file)",
    ],
)
def test_the_reader_lets_the_harmless_pass(source):
    assert list(findings(source)) == []
