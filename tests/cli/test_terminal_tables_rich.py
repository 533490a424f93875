"""Tables with rich."""

import io

import pytest
from rich.console import Console

from osp_core.cli import terminal_tables


def test_cells_are_text_not_mark_up():
    stream = io.StringIO()
    terminal_tables.show_rich(
        "Title", ("name",), [["pip install 'dist[fast]'"]], Console(file=stream, width=100)
    )
    assert "pip install 'dist[fast]'" in stream.getvalue()


@pytest.mark.parametrize("width", [30, 200])
def test_no_cell_is_lost_in_a_narrow_window(width):
    stream = io.StringIO()
    cell = "several words that have to be wrapped"
    terminal_tables.show_rich(
        "Title", ("name", "note"), [["simplex", cell]], Console(file=stream, width=width)
    )
    assert all(word in stream.getvalue() for word in ("simplex", *cell.split()))


def test_a_terminal_gets_the_rich_table(capsys, monkeypatch):
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    terminal_tables.show_table("Title", ("name",), [["simplex"]])
    shown = capsys.readouterr().out
    terminal_tables.show_plain("Title", ("name",), [["simplex"]])
    assert "simplex" in shown
    assert shown != capsys.readouterr().out
