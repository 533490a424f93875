"""How the tests call the command."""

import inspect

import pytest
from click.testing import CliRunner

from osp_core.cli import main


@pytest.fixture
def osp_command():
    # click 8.1 mixes standard error into the output unless told not to; later versions never do.
    keep_apart = {"mix_stderr": False} if "mix_stderr" in inspect.signature(CliRunner).parameters else {}
    runner = CliRunner(**keep_apart)
    return lambda *arguments, **options: runner.invoke(main, arguments, **options)
