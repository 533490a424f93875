"""``osp spaces``."""

import json
import os
import subprocess
import sys

import osp_core as osp
from osp_core.registry import load_factory


def test_every_space_has_a_line_with_its_regularizer_norm_constant_and_target(osp_command):
    lines = osp_command("spaces").stdout.splitlines()
    assert lines[1].split() == ["name", "outputs", "Ψ", "norm", "ν", "target", "needs"]
    for record in osp.list_spaces():
        assert any(line.startswith(f"{record.name} ") for line in lines), record.name
    simplex = next(line for line in lines if line.startswith("simplex"))
    assert "one of d classes" in simplex
    assert "NegativeEntropy" in simplex
    assert simplex.split()[-3:] == ["ℓ1", "2", "zero_one"]
    hypercube = next(line for line in lines if line.startswith("hypercube"))
    assert "SquaredNorm" in hypercube
    assert hypercube.split()[-3:] == ["ℓ2", "1", "hamming"]
    assert "cvxpy" in next(line for line in lines if line.startswith("polytope")).split("integer")[1]


def test_json_has_the_records(osp_command):
    entries = {entry["name"]: entry for entry in json.loads(osp_command("spaces", "--json").stdout)}
    assert set(entries) == {record.name for record in osp.list_spaces()}
    assert entries["simplex"]["plugin"] == "simplex"
    assert "classes" in entries["simplex"]["parameters"]
    assert entries["simplex"]["available"] is True
    assert entries["simplex"]["nu"] == 2.0
    assert entries["permutahedron"]["target"] == "alignment"
    assert entries["polytope"]["needs"] == ["cvxpy"]


def test_the_constants_in_the_table_are_those_of_a_space(osp_command):
    for entry in json.loads(osp_command("spaces", "--json").stdout):
        if entry["example"] is not None:
            space = load_factory("space", entry["name"]).examples()[0]
            assert entry["psi"] == repr(space.psi)
            assert entry["norm"] == f"ℓ{space.norm:g}"
            assert entry["nu"] == space.nu


def test_what_is_disabled_is_listed_with_the_reason(osp_command):
    class Needy:
        @osp.hookimpl
        def osp_spaces(self):
            return [osp.Registration("needy", dict, requires={"nobody_has_this": "some-dist[extra]"})]

    osp.register(Needy(), "needy-plugin")
    try:
        line = next(line for line in osp_command("spaces").stdout.splitlines() if line.startswith("needy"))
    finally:
        osp.unregister("needy-plugin")
    assert "needs nobody_has_this: pip install 'some-dist[extra]'" in line


def test_a_plugin_that_raises_on_import_is_shown_by_name_and_the_command_succeeds(tmp_path):
    (tmp_path / "cheese.py").write_text("raise RuntimeError('mouldy')")
    info = tmp_path / "cheese-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: cheese\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[osp]\ncheese_plugin = cheese\n")
    for command in ("spaces", "doctor"):
        done = subprocess.run(
            [sys.executable, "-c", "from osp_core.cli import main; main()", command],
            capture_output=True,
            text=True,
            env={**os.environ, "PYTHONPATH": str(tmp_path)},
            check=True,
        )
        assert "RuntimeError: mouldy" in done.stdout
        assert "cheese_plugin" in done.stdout
        assert "simplex" in done.stdout
