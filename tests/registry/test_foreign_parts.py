"""A foreign distribution, registered at run time: its parts go through a run, and come back from a file."""

import importlib
import json
import sys
from pathlib import Path

import pytest

import osp_core as osp
from osp_core.runs import load_model

FOREIGN = Path(__file__).resolve().parents[1] / "external_plugin"


@pytest.fixture
def intervals(monkeypatch):
    """The plugin; where its distribution is installed, it is registered already."""
    if any(record.name == "intervals" for record in osp.list_spaces()):
        yield
        return
    monkeypatch.syspath_prepend(str(FOREIGN))
    name = osp.register(importlib.import_module("osp_intervals"), "intervals-at-run-time")
    yield
    osp.unregister(name)
    for module in [module for module in sys.modules if module.split(".")[0] == "osp_intervals"]:
        del sys.modules[module]


@pytest.fixture
def data(intervals, tmp_path):
    space = osp.make_space("intervals", n=5)
    stream = osp.make_stream("moving_interval", space=space, rounds=60, n_features=2, seed=1)
    lines = [f"{x[0]} {x[1]} | {y[0]} {y[1]}" for x, y in stream]
    (tmp_path / "d.intervals").write_text("a b | label\n" + "\n".join(lines) + "\n")
    return tmp_path / "d.intervals"


def test_a_run_of_foreign_parts_is_learned_reported_and_loaded_again(data, tmp_path, osp_command):
    options = {
        "--space": "intervals", "-p": "n=5", "--data": data, "--learner": "conservative_ogd",
        "--learner-param": "step_size=0.25", "--decoder": "doubtful", "--decoder-param": "doubt=0.3",
        "--target": "missed_cells", "--target-param": "miss=3.0", "--out": tmp_path / "out",
    }  # fmt: skip
    words = [str(word) for pair in options.items() for word in pair]
    result = osp_command("run", *words, "--json")
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["decoder"] == "Doubtful"
    assert "missed_cells" in (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    predictor = load_model(tmp_path / "out").predictor
    assert (predictor.learner.step_size, predictor.decoder.doubt, predictor.target.miss) == (0.25, 0.3, 3.0)
    predictor.save(tmp_path / "again.ckpt")
    loaded = osp.OnlinePredictor.load(tmp_path / "again.ckpt")
    assert (loaded.learner.step_size, loaded.decoder.doubt, loaded.target.miss) == (0.25, 0.3, 3.0)
    assert loaded.learner.weights.tobytes() == predictor.learner.weights.tobytes()
    assert loaded.decoder.space is loaded.target.space is loaded.space


def test_a_bad_line_of_the_foreign_format_is_named(data, tmp_path, osp_command):
    data.write_text("a b | label\n1 2 | 0 1\n1 2 | zero one\n")
    words = ["--space", "intervals", "-p", "n=5", "--data", str(data), "--out", str(tmp_path / "out")]
    result = osp_command("run", *words)
    assert result.exit_code == 2
    assert "d.intervals:3: an interval is two whole numbers" in result.stderr
