"""``osp demo``."""

import dataclasses
import json

import pytest

from osp_core.cli import demo
from osp_core.cli.demo_spaces import STREETS, demo_spaces, list_routes

TITLES = ["multiclass", "multilabel", "matching", "ranking", "ordinal", "spanning trees", "custom polytope"]


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    """The report goes to the current directory."""
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def two_spaces(monkeypatch):
    """The demonstration on its two fastest spaces."""
    monkeypatch.setattr("osp_core.cli.demo_spaces.demo_spaces", lambda: demo_spaces()[:2])


def test_every_guarantee_holds_on_all_seven_kinds_of_structure(osp_command, tmp_path):
    result = osp_command("demo", "--rounds", "12", "--seeds", "2", "--json")
    assert result.exit_code == 0, result.output
    outcomes = json.loads(result.stdout)
    assert [outcome["space"] for outcome in outcomes] == TITLES
    for outcome in outcomes:
        assert outcome["rounds"] == 12
        assert outcome["seeds"] == 2
        assert outcome["lemma_4"] is True
        assert outcome["regret_bound"] is True
        assert 0 < outcome["expected_loss"] < 12
        assert outcome["regret"] == pytest.approx(outcome["expected_loss"] - outcome["comparator_loss"])
        assert outcome["regret"] <= outcome["bound"]
    page = (tmp_path / "osp-demo.html").read_text(encoding="utf-8")
    assert all(f">{title}</h2>" in page for title in TITLES)
    assert page.count("<svg") == 7 * 10


def test_the_table_shows_what_json_shows(osp_command, two_spaces):
    small = ("demo", "--rounds", "20", "--seeds", "1")
    outcomes = json.loads(osp_command(*small, "--json").stdout)
    output = osp_command(*small).stdout
    for outcome in outcomes:
        line = next(line for line in output.splitlines() if line.startswith(outcome["space"]))
        for field in ("target_loss", "expected_loss", "comparator_loss", "regret", "bound"):
            assert f"{outcome[field]:.2f}".replace("-", "−") in line
        assert line.endswith("held     held") or line.split()[-2:] == ["held", "held"]
    assert "osp-demo.html" in output


def test_the_seed_decides_everything(osp_command, two_spaces):
    first, again, other = (
        osp_command("demo", "--rounds", "20", "--seeds", "1", "--seed", seed, "--json").stdout
        for seed in ("3", "3", "4")
    )
    assert first == again
    assert first != other


def test_the_report_goes_where_it_should_or_nowhere(osp_command, two_spaces, tmp_path):
    small = ("demo", "--rounds", "5", "--seeds", "1")
    assert osp_command(*small, "--out", "sub/page.html").exit_code == 0
    assert (tmp_path / "sub" / "page.html").exists()
    assert osp_command(*small, "--no-report").exit_code == 0
    assert not (tmp_path / "osp-demo.html").exists()


def test_nothing_but_the_table_is_printed_when_nobody_looks(osp_command, two_spaces):
    result = osp_command("demo", "--rounds", "5", "--seeds", "1")
    assert result.stderr == ""
    assert "\r" not in result.stdout
    assert "\x1b" not in result.stdout


def test_a_violated_guarantee_is_a_failure(osp_command, two_spaces, monkeypatch):
    real = demo.play

    def worse(*args):
        run = real(*args)
        low = dataclasses.replace(run.bound, value=run.regret.min() - 1.0)
        return dataclasses.replace(run, statements=(dataclasses.replace(run.statements[0], bound=low),))

    monkeypatch.setattr(demo, "play", worse)
    result = osp_command("demo", "--rounds", "20", "--seeds", "1")
    assert result.exit_code == 1
    assert "VIOLATED" in result.stdout
    assert "guarantee was violated" in result.stderr


@pytest.mark.parametrize(
    ("option", "value"), [("--rounds", "0"), ("--rounds", "many"), ("--seeds", "0"), ("--seed", "-1")]
)
def test_bad_numbers_are_refused(osp_command, option, value, tmp_path):
    result = osp_command("demo", option, value)
    assert result.exit_code == 2
    assert option in result.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_report_that_cannot_be_written_is_one_line(osp_command, two_spaces, tmp_path):
    (tmp_path / "file").write_text("in the way")
    result = osp_command("demo", "--rounds", "3", "--seeds", "1", "--out", "file/page.html")
    assert result.exit_code == 2
    assert "cannot be made" in result.stderr
    assert "Traceback" not in result.output


def test_the_custom_polytope_is_there_without_cvxpy(monkeypatch):
    monkeypatch.setattr("osp_core.cli.demo_spaces.list_spaces", list)
    title, note, space = demo_spaces()[-1]
    assert title == "custom polytope"
    assert "list" in note
    routes = list_routes()
    assert routes.shape == (6, len(STREETS))  # 4 over 2 ways through a grid of 3 × 3
    assert (routes.sum(axis=1) == 4).all()
    assert len(space.vertices()) == 6
