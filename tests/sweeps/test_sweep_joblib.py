"""Sweeps on several cores: the same rows with any number of them, and after the death of one."""

import json
import os
import signal
import subprocess
import sys
import textwrap

import pytest

import osp_core as osp


def test_the_number_of_workers_changes_nothing(grid, tmp_path, essence):
    grid["grid"]["learner"] = ["ogd", "nonesuch"]  # failures are rows like others
    alone = osp.run_many(grid, n_jobs=1)
    assert len(alone.failures) == 8
    for n_jobs in (2, 4):
        store = tmp_path / str(n_jobs)
        together = osp.run_many(grid, store=store, n_jobs=n_jobs)
        assert [row["key"] for row in together.rows] == [row["key"] for row in alone.rows]
        assert essence(together.rows) == essence(alone.rows)
        stored = [json.loads(line) for line in (store / "results.jsonl").read_text().splitlines()]
        assert essence(stored) == essence(alone.rows)


DEADLY = """
import os
import signal
from pathlib import Path
import osp_core as osp
from osp_streams.teacher import linear_teacher

def deadly(space, rounds=20, seed=0, always=False, n_features=8):
    # The first process that makes this stream dies; if `always`, every one does.
    if always:
        os.kill(os.getpid(), signal.SIGKILL)
    try:
        (Path(__file__).parent / f"died-{seed}").touch(exist_ok=False)
    except FileExistsError:
        return linear_teacher(space, rounds, n_features, seed=seed)
    os.kill(os.getpid(), signal.SIGKILL)

@osp.hookimpl
def osp_streams():
    names = ("space", "rounds", "seed", "always", "n_features")
    return [osp.Registration("deadly", deadly, summary="kills its process", parameters=names)]
"""


@pytest.fixture
def deadly(tmp_path):
    folder = tmp_path / "plugins"
    folder.mkdir()
    (folder / "deadly.py").write_text(DEADLY)
    return str(folder)


def small(**changes):
    return {"space": "simplex", "params": {"d": 3}, "stream": "linear_teacher", "rounds": 20, **changes}


@pytest.mark.filterwarnings("ignore:A worker stopped while some jobs")
def test_a_process_that_dies_loses_nothing(deadly):
    mixed = [small(seed=i, stream="deadly" if i == 4 else "linear_teacher") for i in range(8)]
    result = osp.run_many(mixed, n_jobs=2, plugins=[deadly])
    quiet = osp.run_many([small(seed=i) for i in range(8)], n_jobs=1)
    assert result.failures == []
    assert [row["summary"]["weights_sha256"] for row in result.rows] == [
        row["summary"]["weights_sha256"] for row in quiet.rows
    ]


@pytest.mark.filterwarnings("ignore:A worker stopped while some jobs")
def test_a_run_that_always_kills_its_process_is_one_failure(deadly):
    poison = small(seed=9, stream="deadly", stream_params={"always": True})
    result = osp.run_many([poison, *(small(seed=i) for i in range(4))], n_jobs=2, plugins=[deadly])
    assert [row["status"] for row in result.rows] == ["failed", "done", "done", "done", "done"]
    assert "died twice" in result.rows[0]["error"]["message"]


def test_an_interrupt_leaves_a_store_to_continue_from(grid, tmp_path, essence):
    """Ctrl-C reaches the whole process group: half a run must not be taken for a result."""
    script = textwrap.dedent(
        f"""
        import os, signal
        import osp_core as osp
        os.setpgrp()
        # A background job may have been started with SIGINT ignored, and would pass that on to this process.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        stop = lambda number, row: os.killpg(0, signal.SIGINT) if number == 3 else None
        try:
            osp.run_many({grid!r}, store={str(tmp_path)!r}, n_jobs=2, callback=stop)
        except KeyboardInterrupt:
            raise SystemExit(130)
        """
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode in (130, -signal.SIGINT), done.stderr
    stored = (tmp_path / "results.jsonl").read_text().splitlines()
    assert 3 <= len(stored) < 16
    assert os.path.getsize(tmp_path / "results.jsonl") > 0
    result = osp.run_many(grid, store=tmp_path, n_jobs=2)
    assert result.skipped == len(stored)
    assert essence(result.rows) == essence(osp.run_many(grid, n_jobs=1).rows)
