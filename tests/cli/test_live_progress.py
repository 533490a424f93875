"""Live progress without rich."""

import io
import sys

import pytest

from osp_core.online.progress import live_progress


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def no_rich(monkeypatch):
    monkeypatch.setitem(sys.modules, "rich.console", None)


def test_a_terminal_sees_how_far_it_is(monkeypatch, no_rich):
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    with live_progress(3) as advance:
        for loss in (0.5, 0.25, 0.125):
            advance(f"loss {loss}")
    shown = screen.getvalue()
    assert "3/3 loss 0.125" in shown
    assert shown.endswith("\n")


def test_a_pipe_sees_nothing(monkeypatch):
    pipe = io.StringIO()
    monkeypatch.setattr(sys, "stderr", pipe)
    with live_progress(2) as advance:
        advance("loss 1")
    assert pipe.getvalue() == ""
