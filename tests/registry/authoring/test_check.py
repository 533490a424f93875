"""``osp check``."""

import json

import pytest

GOOD = """
import numpy as np, osp_core as osp

class Coins(osp.ZeroOneSpace):
    dim = 3
    def lmo(self, cost):
        return np.eye(3)[np.argmin(cost)]

coins = Coins()

def make():
    return Coins()

def needy(n):
    return Coins()

def number():
    return 3
"""
WRONG = GOOD.replace("argmin", "argmax")


@pytest.fixture
def project(tmp_path, monkeypatch):
    (tmp_path / "checked_good.py").write_text(GOOD)
    (tmp_path / "checked_wrong.py").write_text(WRONG)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.path", [*__import__("sys").path])
    return tmp_path


@pytest.mark.parametrize(
    "subject", ["checked_good:Coins", "checked_good:coins", "checked_good:make", "simplex"]
)
def test_what_conforms_exits_with_zero(osp_command, project, subject):
    result = osp_command("check", subject)
    assert result.exit_code == 0, result.output
    assert "ok" in result.stdout
    assert "FAILED" not in result.stdout


def test_what_fails_exits_with_one_and_says_what(osp_command, project):
    result = osp_command("check", "checked_wrong:Coins")
    assert result.exit_code == 1
    assert "FAILED" in result.stdout
    assert "lmo_is_optimal" in result.stdout


def test_json_has_every_check(osp_command, project):
    document = json.loads(osp_command("check", "checked_good:Coins", "--json").stdout)
    assert document[0]["ok"] is True
    checks = {check["name"]: check["outcome"] for check in document[0]["checks"]}
    assert checks["lmo_is_optimal"] == "passed"
    wrong = osp_command("check", "checked_wrong:Coins", "--json")
    assert wrong.exit_code == 1
    assert json.loads(wrong.stdout)[0]["ok"] is False


def test_verbose_lists_what_passed(osp_command, project):
    assert "PASSED nu" in osp_command("check", "-v", "checked_good:Coins").stdout


@pytest.mark.parametrize(
    ("subject", "message"),
    [
        ("nowhere:Coins", "cannot be imported"),
        ("checked_good:Notes", "cannot be imported"),
        ("checked_good:needy", "cannot be made without arguments"),
        ("checked_good:number", "not an OutputSpace"),
        ("symplex", "symplex"),
    ],
)
def test_what_cannot_be_checked_is_an_error_of_its_own(osp_command, project, subject, message):
    result = osp_command("check", subject)
    assert result.exit_code == 2
    assert message in result.stderr
