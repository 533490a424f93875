"""Files are read row by row: memory does not grow with them."""

import json
import tracemalloc

import numpy as np
import pytest

from osp_core.runs import RunConfig, open_table
from osp_core.runs.prepare import prepare
from osp_core.runs.text_files import LONGEST_LINE


def write(path, rows):
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((rows, 5)), rng.integers(3, size=rows)
    if path.suffix == ".npz":
        np.savez(path, X=X, label=np.array(["u", "v", "w"])[y])
        return path
    with open(path, "w") as file:
        if path.suffix == ".csv":
            file.write("a,b,c,d,e,label\n")
        for x, k in zip(X.tolist(), y.tolist(), strict=True):
            if path.suffix == ".csv":
                file.write(",".join(map(repr, x)) + f",{'uvw'[k]}\n")
            else:
                file.write(json.dumps({"x": x, "label": "uvw"[k]}) + "\n")
    return path


def peak(work, path):
    tracemalloc.start()
    try:
        work(path)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("ending", [".csv", ".jsonl", ".npz"])
def test_preparing_and_reading_a_run_takes_as_much_memory_for_four_times_the_rows(
    tmp_path, ending, monkeypatch
):
    monkeypatch.setattr("osp_core.runs.array_files.PIECE", 100)

    def work(path):
        prepared = prepare(RunConfig(space="simplex", data=str(path)))
        assert sum(1 for _ in prepared.rounds()) == prepared.total

    small, large = (write(tmp_path / f"{rows}{ending}", rows) for rows in (2100, 8400))
    work(small)  # what is only imported or cached once
    grown = peak(work, large) - peak(work, small)
    assert grown < 0.1 * (large.stat().st_size - small.stat().st_size)


def test_a_line_without_an_end_does_not_fill_the_memory(tmp_path):
    path = tmp_path / "d.csv"
    with open(path, "wb") as file:
        file.write(b"a,label\n")
        file.truncate(8 * LONGEST_LINE)  # a hole: zeros that take no room on disk
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match=r"d\.csv:2: the line is longer"):
            list(open_table(path, "label").rows())
        assert tracemalloc.get_traced_memory()[1] < 5 * LONGEST_LINE
    finally:
        tracemalloc.stop()


def test_arrays_stored_by_column_are_read_too(tmp_path):
    X = np.asfortranarray(np.arange(12.0).reshape(4, 3))
    np.savez(tmp_path / "d.npz", X=X, label=np.arange(4))
    rows = list(open_table(tmp_path / "d.npz", "label").rows())
    np.testing.assert_array_equal([row.x for row in rows], X)
    assert [row.label for row in rows] == [0, 1, 2, 3]


def test_compressed_arrays_larger_than_a_piece_are_read_in_pieces(tmp_path):
    X = np.random.default_rng(0).standard_normal((2500, 2))
    np.savez_compressed(tmp_path / "d.npz", X=X.astype(np.float32), label=np.arange(2500) % 3)
    rows = list(open_table(tmp_path / "d.npz", "label").rows())
    np.testing.assert_array_equal([row.x for row in rows], X.astype(np.float32))
    assert [row.line for row in rows] == list(range(1, 2501))
