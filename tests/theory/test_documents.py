"""The map from the paper to the code leads somewhere, and every erratum has a demonstration."""

import ast
import importlib
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
THEORY = ROOT / "docs" / "theory"
MAP = (THEORY / "paper_to_code.md").read_text(encoding="utf-8")
NAMED = re.findall(r"`([^`]+)`", MAP)
FUNCTIONS = sorted({name for name in NAMED if name.startswith("osp_")})
TESTS = sorted({name for name in NAMED if name.startswith("tests/")})

STATEMENTS = [
    "Assumption 1 (I)",
    "Assumption 1 (II)",
    "Assumption 1 (III)",
    "Definition 2",
    "Proposition 3",
    "Lemma 4",
    "Proposition 5",
    "Proposition 6",
    "Theorem 7",
    "Theorem 8",
    "Remark 9",
    "Remark 10",
    "Theorem 11",
    "Theorem 12",
    "Theorem 13",
    "Algorithm 1",
    "Algorithm 2",
    "Example: multiclass",
    "Example: multilabel",
    "Example: ranking",
    "Example: permutahedron",
    "Example: ordinal regression",
    "Proposition: permutahedron NEP",
    "Tightness of Lemma 4",
    "Theorem: adaptive OGD",
    "Lemma: sqrt-log",
    "Theorem: parameter-free",
    "Lemma: cone",
]


def resolve(dotted):
    """The object behind a dotted name."""
    parts = dotted.split(".")
    for length in range(len(parts), 0, -1):
        try:
            found = importlib.import_module(".".join(parts[:length]))
        except ModuleNotFoundError:
            continue
        for part in parts[length:]:
            found = getattr(found, part)
        return found
    raise AssertionError(f"{dotted} is nowhere")


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_named_function_exists(name):
    assert resolve(name) is not None


@pytest.mark.parametrize("name", TESTS)
def test_a_named_test_exists(name):
    file, _, function = name.partition("::")
    tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
    assert function in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


@pytest.mark.parametrize("statement", STATEMENTS)
def test_every_statement_of_the_paper_is_in_the_map(statement):
    rows = [line for line in MAP.splitlines() if line.startswith(f"| {statement}")]
    assert rows
    for row in rows:
        assert "`osp_" in row
        assert "`tests/" in row


def test_every_row_names_code_and_a_test():
    rows = [line for line in MAP.splitlines() if line.startswith("| ") and "---" not in line]
    rows = [row for row in rows if not row.startswith(("| paper |", "| what |"))]
    assert len(rows) > 40
    for row in rows:
        assert "`osp_" in row, row
        assert "`tests/" in row, row


def test_a_function_that_does_not_exist_is_noticed():
    with pytest.raises(AttributeError):
        resolve("osp_core.guarantees.Bound.for_exact_predictions")


def test_every_erratum_has_a_demonstration_that_asserts_something():
    text = (THEORY / "errata.md").read_text(encoding="utf-8")
    sections = re.split(r"^## ", text, flags=re.MULTILINE)[1:]
    numbered = [section for section in sections if re.match(r"E\d+\. ", section)]
    assert [section.split(".")[0] for section in numbered] == [f"E{n}" for n in range(1, 16)]
    for section in numbered:
        block = re.search(r"```python\n(.*?)```", section, flags=re.DOTALL)
        assert block, section[:40]
        assert "assert " in block[1], section[:40]
