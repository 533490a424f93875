"""``osp spaces``."""

import json
import os
import subprocess
import sys

import osp_core as osp


def test_every_space_has_a_line_with_its_plugin_regularizer_and_norm(osp_command):
    lines = osp_command("spaces").stdout.splitlines()
    for record in osp.list_spaces():
        assert any(line.startswith(record.name) and record.plugin in line for line in lines), record.name
    simplex = next(line for line in lines if line.startswith("simplex"))
    assert "one of d classes" in simplex
    assert "NegativeEntropy" in simplex
    assert "ℓ1" in simplex
    hypercube = next(line for line in lines if line.startswith("hypercube"))
    assert "SquaredNorm" in hypercube
    assert "ℓ2" in hypercube


def test_json_has_the_records(osp_command):
    entries = {entry["name"]: entry for entry in json.loads(osp_command("spaces", "--json").stdout)}
    assert set(entries) == {record.name for record in osp.list_spaces()}
    assert entries["simplex"]["plugin"] == "simplex"
    assert "classes" in entries["simplex"]["parameters"]
    assert entries["simplex"]["available"] is True


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
