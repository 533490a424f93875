"""The command itself: help, version, errors, start-up."""

import os
import subprocess
import sys

import click
import pytest

import osp_core as osp
from osp_core import cli


def test_help_lists_every_command_with_its_own_summary(osp_command):
    result = osp_command("--help")
    assert result.exit_code == 0
    context = click.Context(cli.main)
    for name, summary in cli.COMMANDS.items():
        assert name in result.stdout
        assert cli.main.get_command(context, name).help == summary


@pytest.mark.parametrize("name", sorted(cli.COMMANDS))
def test_every_command_has_help(osp_command, name):
    result = osp_command(name, "--help")
    assert result.exit_code == 0
    assert f"osp {name}" in result.stdout.replace("main", "osp")


@pytest.mark.parametrize("name", sorted(cli.COMMANDS))
def test_the_help_of_every_command_has_examples_of_it(osp_command, name):
    _, _, examples = osp_command(name, "--help").stdout.partition("Examples:\n")
    first = examples.splitlines()[0]
    assert f"osp {name}" in first
    assert "\b" not in examples


@pytest.mark.parametrize(
    "name", ["check", "decode", "demo", "doctor", "experiment", "run", "spaces", "sweep"]
)
def test_every_command_that_answers_can_answer_in_json(osp_command, name):
    assert "--json" in osp_command(name, "--help").stdout


def test_the_exit_codes_are_documented(osp_command):
    text = " ".join(osp_command("--help").stdout.split())
    assert "Exit codes: 0 all is well; 1 something failed while running; 2 bad input" in text
    assert "130 interrupted" in text


def test_an_interrupt_is_exit_code_130_and_no_traceback(osp_command, monkeypatch):
    def interrupted(*args):
        raise KeyboardInterrupt

    monkeypatch.setattr("osp_core.cli.spaces.list_spaces", interrupted)
    result = osp_command("spaces")
    assert (result.exit_code, result.stdout, result.stderr) == (130, "", "interrupted\n")


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (osp.InvalidInputError("x"), 2),
        (osp.MissingDependencyError("x"), 2),
        (osp.NumericalError("x"), 1),
        (osp.OracleError("x"), 1),
        (OSError(5, "Input/output error", "f"), 1),
    ],
)
def test_bad_input_and_breakdowns_have_different_exit_codes(osp_command, monkeypatch, error, code):
    def fail(*args):
        raise error

    monkeypatch.setattr("osp_core.cli.spaces.list_spaces", fail)
    result = osp_command("spaces")
    assert result.exit_code == code
    assert result.stderr == f"Error: {error}\n"


def test_help_imports_no_subcommand():
    script = (
        "import sys\n"
        "from osp_core.cli import main\n"
        "main(['--help'], standalone_mode=False)\n"
        "print(sorted(m for m in sys.modules if m.startswith('osp_core.cli.')))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_the_version_is_that_of_the_package(osp_command):
    result = osp_command("--version")
    assert result.stdout.split() == ["osp,", "version", osp.__version__]


def test_an_unknown_command_is_a_usage_error(osp_command):
    result = osp_command("sapces")
    assert result.exit_code == 2
    assert "sapces" in result.stderr


def test_an_error_of_ours_is_one_line_on_standard_error_and_exit_code_2(osp_command, monkeypatch):
    def fail(*args):
        raise osp.GuaranteeError("The premise\nfails; do this instead.")

    monkeypatch.setattr("osp_core.cli.spaces.list_spaces", fail)
    result = osp_command("spaces")
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr == "Error: The premise fails; do this instead.\n"


def test_a_bug_keeps_its_traceback(osp_command, monkeypatch):
    def fail(*args):
        raise ZeroDivisionError("a bug")

    monkeypatch.setattr("osp_core.cli.spaces.list_spaces", fail)
    result = osp_command("spaces")
    assert isinstance(result.exception, ZeroDivisionError)


def test_a_terminal_without_greek_letters_gets_no_traceback():
    done = subprocess.run(
        [sys.executable, "-c", "from osp_core.cli import main; main()", "spaces"],
        capture_output=True,
        env={**os.environ, "PYTHONIOENCODING": "latin-1"},
        check=True,
    )
    assert b"simplex" in done.stdout
    assert done.stderr == b""
