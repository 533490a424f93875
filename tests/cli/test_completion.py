"""Shell completion, asked as a shell would: through click's own interface."""

import os
import subprocess
import sys

import pytest
from click.shell_completion import BashComplete, ShellComplete

import osp_core as osp
from osp_core.cli import COMMANDS, main


def complete(*words):
    """What the tab key offers after the words; the last one is not finished."""
    *done, unfinished = words
    found = ShellComplete(main, {}, "osp", "_OSP_COMPLETE").get_completions(done, unfinished)
    return [item.value for item in found]


def test_commands_are_offered():
    assert complete("") == sorted(COMMANDS)
    assert complete("de") == ["decode", "demo"]


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_options_of_every_command_are_offered(name):
    assert "--help" in complete(name, "--")


@pytest.mark.parametrize("command", ["run", "decode"])
def test_spaces_are_offered(command):
    assert complete(command, "--space", "") == [r.name for r in osp.list_spaces() if r.available]
    assert complete(command, "--space", "perm") == ["permutahedron"]


def test_a_space_that_cannot_be_used_is_not_offered():
    class Needy:
        @osp.hookimpl
        def osp_spaces(self):
            return [osp.Registration("needy", dict, requires={"nobody_has_this": "some-dist"})]

    osp.register(Needy(), "needy-plugin")
    try:
        assert complete("run", "--space", "need") == []
    finally:
        osp.unregister("needy-plugin")


def test_learners_streams_decoders_and_targets_are_offered():
    assert complete("run", "--learner", "") == [record.name for record in osp.list_learners()]
    assert "linear_teacher" in complete("run", "--stream", "lin")
    for command in ("run", "decode"):
        assert complete(command, "--decoder", "") == [record.name for record in osp.list_decoders()]
    assert complete("run", "--decoder", "r") == ["randomized"]
    assert complete("run", "--target", "a") == ["absolute", "alignment"]
    assert complete("run", "--on-error", "s") == ["stop", "skip"]


def test_parameters_are_offered_of_what_was_chosen_before():
    assert complete("run", "--space", "simplex", "-p", "") == ["d=", "classes=", "psi=", "norm="]
    assert complete("decode", "--space", "birkhoff", "-p", "b") == ["backend="]
    assert complete("run", "--learner", "ogd", "--learner-param", "s") == ["step_size="]
    assert complete("run", "--target", "ndcg", "--target-param", "") == ["gains=", "discounts="]
    assert complete("run", "--target", "decision_regret", "--target-param", "") == ["gamma="]
    assert complete("run", "--decoder", "randomized", "--decoder-param", "") == []
    assert complete("run", "-p", "") == []


def test_columns_of_the_file_are_offered(tmp_path):
    (tmp_path / "d.csv").write_text("width,weight,kind\n1,2,a\n")
    data = ["run", "--data", str(tmp_path / "d.csv")]
    assert complete(*data, "--label", "") == ["width", "weight", "kind"]
    assert complete(*data, "--drop", "wei") == ["weight"]
    assert complete("run", "--label", "") == []
    assert complete("run", "--data", str(tmp_path / "none.csv"), "--label", "") == []


def test_summaries_come_with_the_names():
    found = ShellComplete(main, {}, "osp", "_OSP_COMPLETE").get_completions(["run", "--space"], "simplex")
    assert [(item.value, item.help) for item in found] == [("simplex", "one of d classes")]


def test_a_shell_gets_its_script_and_its_answers():
    assert "_OSP_COMPLETE=bash_complete" in BashComplete(main, {}, "osp", "_OSP_COMPLETE").source()
    environment = {
        **os.environ,
        "_OSP_COMPLETE": "bash_complete",
        "COMP_WORDS": "osp run --space ordi",
        "COMP_CWORD": "3",
    }
    done = subprocess.run(
        [sys.executable, "-c", "from osp_core.cli import main; main(prog_name='osp')"],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == ["plain,ordinal"]
