"""``osp run`` leaves a report, a partial one after Ctrl-C."""

import signal

import pytest
from click.testing import CliRunner

import osp_core as osp
from osp_core.cli import main


@pytest.fixture
def run(tmp_path):
    def call(*options):
        basic = ["run", "--space", "simplex", "-p", "d=3", "--stream", "linear_teacher", "--rounds", "40"]
        return CliRunner().invoke(main, [*basic, "--out", str(tmp_path / "out"), *options])

    return call


def test_a_report_is_among_the_results(run, tmp_path):
    result = run()
    assert result.exit_code == 0
    assert "report.html" in result.output
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "40 rounds" in page
    assert "stream = &quot;linear_teacher&quot;" in page


def test_no_report_is_no_report(run, tmp_path):
    assert run("--no-report").exit_code == 0
    assert not (tmp_path / "out" / "report.html").exists()


def test_seeds_share_one_report_with_bands(run, tmp_path):
    assert run("--seeds", "0-1").exit_code == 0
    assert "means over 2 seeds" in (tmp_path / "out" / "report.html").read_text(encoding="utf-8")


def test_an_interrupt_leaves_a_partial_report_and_resuming_a_whole_one(run, tmp_path, monkeypatch):
    real, played = osp.OnlinePredictor.step, []

    def step(self, x, y, **options):
        played.append(1)
        if len(played) == 10:
            signal.raise_signal(signal.SIGINT)
        return real(self, x, y, **options)

    monkeypatch.setattr(osp.OnlinePredictor, "step", step)
    path = tmp_path / "out" / "report.html"
    assert run().exit_code == 130
    partial = path.read_text(encoding="utf-8")
    assert "partial report" in partial
    assert "10 rounds" in partial
    assert run("--resume").exit_code == 0
    whole = path.read_text(encoding="utf-8")
    assert "partial report" not in whole
    assert "40 rounds" in whole
