"""The table of guarantees in the README has the numbers that the code computes."""

import importlib.util
from pathlib import Path

import pytest

import osp_core as osp

ROOT = Path(__file__).resolve().parents[2]
LINES = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()


def script():
    spec = importlib.util.spec_from_file_location("guarantees", ROOT / "docs" / "assets" / "guarantees.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


TABLE = script()
MADE_HERE = {record.name for record in osp.list_spaces() if record.available}


@pytest.mark.parametrize("space", [name for name in TABLE.INSTANCES if name in MADE_HERE])
def test_the_line_of_a_space_is_what_the_code_computes(space):
    assert TABLE.row(space) in LINES


def test_the_table_has_a_line_for_every_space_and_no_others():
    listed = [line.split("`")[1] for line in LINES if line.startswith("| [`")]
    assert listed == list(TABLE.INSTANCES)
    assert TABLE.line(TABLE.HEADER) in LINES


def test_the_bound_of_a_line_is_that_of_a_predictor():
    space = TABLE.INSTANCES["ordinal"][1]()
    bound = osp.OnlinePredictor(space, 3).guarantee(norm_U=1.0)
    assert f"| {TABLE.shown(bound.value)}·‖U‖² |" in TABLE.row("ordinal")
