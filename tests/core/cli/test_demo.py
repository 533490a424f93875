"""``osp demo``."""

import json

import pytest

from osp_core.cli import demo


def test_the_regret_is_below_the_bound_and_lemma_4_holds(osp_command):
    result = osp_command("demo", "--rounds", "60", "--json")
    assert result.exit_code == 0
    outcomes = json.loads(result.stdout)
    assert [outcome["space"].split(",")[0] for outcome in outcomes] == ["simplex", "hypercube"]
    for outcome in outcomes:
        assert outcome["rounds"] == 60
        assert outcome["lemma_4"] is True
        assert 0 < outcome["expected_loss"] < 60
        assert outcome["regret"] == pytest.approx(outcome["expected_loss"] - outcome["comparator_loss"])
        assert outcome["regret"] <= outcome["bound"]


def test_the_table_shows_what_json_shows(osp_command):
    outcomes = json.loads(osp_command("demo", "--rounds", "40", "--json").stdout)
    lines = osp_command("demo", "--rounds", "40").stdout.splitlines()
    for outcome in outcomes:
        line = next(line for line in lines if line.startswith(outcome["space"]))
        for field in ("target_loss", "expected_loss", "comparator_loss", "regret", "bound"):
            assert f"{outcome[field]:.2f}" in line
        assert "held in every round" in line


def test_the_seed_decides_everything(osp_command):
    first, again, other = (
        osp_command("demo", "--rounds", "30", "--seed", seed, "--json").stdout for seed in ("3", "3", "4")
    )
    assert first == again
    assert first != other


def test_a_violated_guarantee_is_a_failure(osp_command, monkeypatch):
    real = demo.play

    def worse(*args):
        outcome = real(*args)
        return demo.Outcome(**{**vars(outcome), "regret": outcome.bound + 1.0})

    monkeypatch.setattr(demo, "play", worse)
    result = osp_command("demo", "--rounds", "20")
    assert result.exit_code == 1
    assert "guarantee was violated" in result.stderr


@pytest.mark.parametrize("rounds", ["0", "-3", "many"])
def test_a_bad_number_of_rounds_is_refused(osp_command, rounds):
    result = osp_command("demo", "--rounds", rounds)
    assert result.exit_code == 2
    assert "--rounds" in result.stderr
