"""Plain tables."""

from osp_core.cli import terminal_tables

ROWS = [["simplex", "one [fast]"], ["a much longer name", "x"]]


def test_plain_columns_are_aligned_and_lines_have_no_trailing_blanks(capsys):
    terminal_tables.show_plain("Title", ("name", "note"), ROWS)
    title, header, rule, *lines = capsys.readouterr().out.splitlines()
    assert title == "Title"
    assert {line.find(note) for line, (_, note) in zip(lines, ROWS, strict=True)} == {header.find("note")}
    assert rule.split() == ["-" * len("a much longer name"), "-" * len("one [fast]")]
    assert all(line == line.rstrip() for line in (header, rule, *lines))


def test_a_pipe_gets_the_plain_table(capsys):
    terminal_tables.show_table("Title", ("name", "note"), ROWS)
    shown = capsys.readouterr().out
    terminal_tables.show_plain("Title", ("name", "note"), ROWS)
    assert shown == capsys.readouterr().out


def test_a_terminal_without_rich_gets_the_plain_table(capsys, monkeypatch):
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setitem(__import__("sys").modules, "rich.console", None)
    terminal_tables.show_table("Title", ("name", "note"), ROWS)
    assert "-" * len("a much longer name") in capsys.readouterr().out


def test_a_table_may_be_empty(capsys):
    terminal_tables.show_plain("Nothing", ("name", "note"), [])
    assert capsys.readouterr().out.splitlines() == ["Nothing", "name  note", "----  ----"]
