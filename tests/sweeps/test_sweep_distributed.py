"""Sweeps on a real Dask cluster on this machine: the same rows, also when a worker is killed on the way."""

import json
import os
import signal
import socket

import distributed
import pytest
from click.testing import CliRunner

import osp_core as osp
from osp_core.cli import main
from osp_core.sweeps import SweepError


@pytest.fixture(scope="module")
def cluster():
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, host="127.0.0.1"
    ) as cluster:
        yield cluster


def processes(cluster):
    with distributed.Client(cluster.scheduler_address) as client:
        return sorted(client.run(os.getpid).values())


def test_a_cluster_gives_the_rows_that_one_process_gives(cluster, grid, tmp_path, essence):
    far = osp.run_many(grid, store=tmp_path, scheduler=cluster.scheduler_address)
    near = osp.run_many(grid, n_jobs=1)
    assert [row["key"] for row in far.rows] == [row["key"] for row in near.rows]
    assert essence(far.rows) == essence(near.rows)
    again = osp.run_many(grid, store=tmp_path, scheduler=cluster.scheduler_address)
    assert (again.ran, again.skipped) == (0, 16)


def test_a_sweep_with_a_killed_worker_equals_the_undisturbed_one(cluster, grid, tmp_path, essence):
    grid |= {"rounds": 100, "seed": 1}
    victim = processes(cluster)[0]
    killed = []

    def kill(number, row):
        if number == 3:
            os.kill(victim, signal.SIGKILL)
            killed.append(victim)

    disturbed = osp.run_many(grid, store=tmp_path, scheduler=cluster.scheduler_address, callback=kill)
    assert killed == [victim]
    assert disturbed.failures == []
    stored = [json.loads(line) for line in (tmp_path / "results.jsonl").read_text().splitlines()]
    assert len({row["key"] for row in stored}) == len(stored) == 16  # none lost, none twice
    assert essence(stored) == essence(osp.run_many(grid, n_jobs=1).rows)
    with pytest.raises(ProcessLookupError):
        os.kill(victim, 0)


def test_failures_are_rows_on_a_cluster_too(cluster, grid):
    grid["grid"]["learner"] = ["nonesuch"]
    with distributed.Client(cluster.scheduler_address) as client:
        result = osp.run_many(grid, scheduler=client)  # a client of one's own serves as well
    assert {row["error"]["type"] for row in result.failures} == {"UnknownNameError"}
    assert len(result.failures) == len(result.rows) == 8


def test_the_command_takes_an_address(cluster, tmp_path):
    (tmp_path / "grid.toml").write_text(
        'space = "simplex"\nparams = {d = 3}\nstream = "linear_teacher"\nrounds = 20\nrepeats = 3\n'
    )
    arguments = ["sweep", str(tmp_path / "grid.toml"), "--out", str(tmp_path / "out"), "--json"]
    done = CliRunner().invoke(main, [*arguments, "--scheduler", cluster.scheduler_address])
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["ran"] == 3


def test_an_address_where_nobody_answers_is_named(grid, monkeypatch):
    monkeypatch.setattr("osp_core.sweeps.schedulers.PATIENCE", 0.5)
    with socket.socket() as taken:  # bound, but nobody listens
        taken.bind(("127.0.0.1", 0))
        address = f"tcp://127.0.0.1:{taken.getsockname()[1]}"
        with pytest.raises(SweepError, match="No Dask scheduler answers"):
            osp.run_many(grid, scheduler=address)
    with pytest.raises(osp.OspError, match=r"address|answers"):
        osp.run_many(grid, scheduler=3)
