"""Fuzzing: what was a problem once, a short run of mutations, and a long one for the soak tier."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest
from reliability import fuzz
from reliability.fuzz import CORPUS, TARGETS


def regressions():
    return [
        pytest.param(path.parent.name, path, id=f"{path.parent.name}-{path.name}")
        for path in sorted(CORPUS.glob("*/*"))
    ]


@pytest.mark.parametrize(("target", "path"), regressions())
def test_what_was_a_problem_once_is_none_any_more(target, path, tmp_path):
    assert fuzz.examine(target, path.read_bytes(), tmp_path) in ("accepted", "refused")


@pytest.mark.parametrize("target", TARGETS)
def test_sound_seeds_are_accepted_and_mutations_accepted_or_refused(target, tmp_path):
    counts = fuzz.fuzz(target, 300, 1, tmp_path)
    assert counts["accepted"] > 0
    assert counts["refused"] > 0


def test_a_reader_that_accepts_too_much_would_be_noticed(tmp_path, monkeypatch):
    import osp_core.runs.data as data

    class Careless:
        columns, bad_rows = ("a", "b"), 0

        def __init__(self, path):
            self.path = path

        def rows(self, skip_bad=False):
            yield from sound.rows()

    sound = data.open_table(fuzz.written(tmp_path / "sound.csv", b"a,b,y\n1,2,u\n3,4.5,v\n"), "y")
    monkeypatch.setattr(data, "open_table", lambda path, label: Careless(path))
    with pytest.raises(AssertionError):
        fuzz.fuzz("csv_table", 100, 2, tmp_path)


@pytest.mark.soak
def test_a_million_inputs_do_no_harm():
    runs, script = 130_000, Path(fuzz.__file__)
    engines = ["mutation", "atheris"] if importlib.util.find_spec("atheris") else ["mutation"]
    for engine in engines:
        share = str(runs // len(engines))
        subprocess.run(
            [sys.executable, script, "--engine", engine, "--runs", share, "--seed", "3"], check=True
        )
