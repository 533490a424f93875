"""Live progress with rich."""

import io
import sys

from osp_core.online.progress import live_progress


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_a_terminal_sees_a_bar_with_the_losses(monkeypatch):
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "100")
    with live_progress(2) as advance:
        advance("multiclass: mean expected loss 0.400")
        advance("multiclass: mean expected loss 0.300")
    assert "mean expected loss 0.300" in screen.getvalue()
