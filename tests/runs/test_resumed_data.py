"""Resuming goes on from the rows that were learned: by name, in any format, and from no others."""

import hashlib
import json

import numpy as np
import pytest

import osp_core as osp
from osp_core.persistence.archive import read_checkpoint, write_checkpoint
from osp_core.runs import DataError, RunConfig, execute, execute_seeds, open_table
from osp_core.runs.labels import read_label

NAMES = ("w", "x", "y", "z", "kind")
DONE, TOTAL = 40, 90


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    teacher = rng.standard_normal((3, 4))
    return [
        [*(f"{value:.6f}" for value in x), ("iris", "lily", "rose")[int(np.argmax(teacher @ x))]]
        for x in rng.standard_normal((TOTAL, 4))
    ]


def written(path, rows, names=NAMES):
    """The rows as a file; `names` may be in another order than theirs."""
    order = [NAMES.index(name) for name in names]
    cells = [[row[i] for i in order] for row in rows]
    if path.suffix == ".jsonl":
        records = [
            {n: c if n == "kind" else float(c) for n, c in zip(names, row, strict=True)} for row in cells
        ]
        path.write_text("".join(json.dumps(record) + "\n" for record in records))
    else:
        separator = "\t" if path.suffix == ".tsv" else ","
        path.write_text("".join(separator.join(row) + "\n" for row in [names, *cells]))
    return path


def config(path, **changes):
    settings = {"space": "simplex", "data": str(path), "label": "kind", "checkpoint_every": 20}
    return RunConfig.of({**settings, **changes})


def snapshot(directory):
    return {path: path.read_bytes() for path in directory.rglob("*") if path.is_file()}


@pytest.fixture
def begun(tmp_path, rows):
    """A run that has learned the first rows of d.csv, and how it ends where nothing happens to the file."""
    path = written(tmp_path / "d.csv", rows)
    execute(config(path, rounds=DONE), tmp_path / "out")
    return tmp_path / "out", execute(config(path), tmp_path / "straight").summary["weights_sha256"]


@pytest.mark.parametrize("ending", ["csv", "tsv", "jsonl"])
@pytest.mark.parametrize("names", [NAMES, ("z", "kind", "x", "w", "y")], ids=["as before", "swapped"])
def test_the_same_rows_are_continued_whatever_the_format_and_the_order_of_columns(
    tmp_path, rows, begun, ending, names
):
    out, expected = begun
    path = written(tmp_path / f"again.{ending}", rows, names)
    assert execute(config(path), out, resume=True).summary["weights_sha256"] == expected


def test_a_run_file_reads_columns_by_name_too(tmp_path, rows, begun):
    out, expected = begun
    written(tmp_path / "d.csv", rows, ("z", "y", "x", "w", "kind"))
    again = RunConfig.from_toml(out / "run.toml", rounds=TOTAL).beside(out)
    assert again.columns == ("w", "x", "y", "z")
    # The scales and the bound are those of the whole file: it was read before the first round.
    assert execute(again, tmp_path / "again").summary["weights_sha256"] == expected


@pytest.mark.parametrize(
    ("header", "message"),
    [
        ("w,x,y,v,kind", r"again\.csv: .*has no 'z', and has 'v' besides"),
        ("w,x,y,kind", r"again\.csv: .*has no 'z'"),
        ("w,x,y,z,v,kind", r"again\.csv: .*has 'v' besides"),
    ],
)
def test_other_columns_are_refused_by_name(tmp_path, rows, begun, header, message):
    out, _ = begun
    width = header.count(",")
    lines = [",".join([*row[:4], "0.5"][:width] + row[4:]) for row in rows]
    (tmp_path / "again.csv").write_text("\n".join([header, *lines]) + "\n")
    before = snapshot(out)
    with pytest.raises(DataError, match=message):
        execute(config(tmp_path / "again.csv"), out, resume=True)
    assert snapshot(out) == before


def test_a_new_column_can_be_dropped(tmp_path, rows, begun):
    out, expected = begun
    lines = [",".join(["7", *row]) for row in rows]
    (tmp_path / "again.csv").write_text("\n".join(["id,w,x,y,z,kind", *lines]) + "\n")
    resumed = execute(config(tmp_path / "again.csv", drop=("id",)), out, resume=True)
    assert resumed.summary["weights_sha256"] == expected


def edited(rows, column, text):
    return [*rows[:7], [*rows[7][:column], text, *rows[7][column + 1 :]], *rows[8:]]


CHANGES = {
    "all reversed": lambda rows: rows[::-1],
    "two swapped": lambda rows: [rows[1], rows[0], *rows[2:]],
    "a number edited": lambda rows: edited(rows, 2, "0.123456"),
    "a label edited": lambda rows: edited(rows, 4, "rose" if rows[7][4] != "rose" else "lily"),
    "a row taken out": lambda rows: [*rows[:5], *rows[6:]],
    "a row put in": lambda rows: [*rows[:5], rows[50], *rows[5:]],
    "cut off": lambda rows: rows[: DONE - 1],
}


@pytest.mark.parametrize("change", CHANGES)
def test_what_was_learned_already_must_not_have_changed(tmp_path, rows, begun, change):
    out, _ = begun
    path = written(tmp_path / "d.csv", CHANGES[change](rows))
    before = snapshot(out)
    with pytest.raises(DataError, match=rf"d\.csv.*the {DONE} rows.*another directory"):
        execute(config(path), out, resume=True)
    assert snapshot(out) == before


def test_a_file_that_lost_rows_says_how_many_are_left(tmp_path, rows, begun):
    path = written(tmp_path / "d.csv", rows[:17])
    with pytest.raises(DataError, match=rf"learned the {DONE} rows .* there are 17"):
        execute(config(path), begun[0], resume=True)


def test_rows_to_come_may_change_and_bad_rows_do_not_count(tmp_path, rows, begun):
    out, expected = begun
    path = written(tmp_path / "d.csv", [*rows[:DONE], *rows[:DONE:-1]])
    assert execute(config(path), out, resume=True).summary["rounds"] == TOTAL - 1
    bad = ["oops", *rows[3][1:]]
    path = written(tmp_path / "e.csv", [rows[0], bad, *rows[1:]])
    execute(config(written(tmp_path / "f.csv", rows), rounds=DONE), tmp_path / "other")
    resumed = execute(config(path, on_error="skip"), tmp_path / "other", resume=True)
    assert resumed.summary["weights_sha256"] == expected


def test_every_seed_is_checked(tmp_path, rows):
    path = written(tmp_path / "d.csv", rows)
    execute_seeds(config(path, rounds=DONE, seeds=[0, 1]), tmp_path / "out")
    written(path, rows[::-1])
    with pytest.raises(DataError, match=f"the {DONE} rows"):
        execute_seeds(config(path, seeds=[0, 1]), tmp_path / "out", resume=True)


def test_given_classes_do_not_hinder_rows_that_were_appended(tmp_path, rows):
    path = written(tmp_path / "d.csv", rows[:DONE])
    classes = ("rose", "lily", "iris")
    settings = {"classes": classes, "feature_bound": 50.0}
    execute(config(path, **settings), tmp_path / "out")
    written(path, rows)
    assert execute(config(path, **settings), tmp_path / "out", resume=True).summary["rounds"] == TOTAL


def test_the_digest_is_that_of_the_numbers_and_the_outputs(tmp_path, rows, begun):
    out, _ = begun
    newest = max((out / "checkpoints").iterdir())
    extra = read_checkpoint(newest)[0]["extra"]
    space = osp.make_space("simplex", classes=["iris", "lily", "rose"])
    whole = b""
    for row in list(open_table(tmp_path / "d.csv", "kind").rows())[:DONE]:
        x = (row.x - np.array(extra["centre"])) / np.array(extra["spread"])
        whole += np.append(x, 1.0).tobytes() + read_label(space, row.label).tobytes()
    assert extra["learned"] == hashlib.blake2b(whole, digest_size=16).hexdigest()


def test_a_checkpoint_that_does_not_say_what_was_learned_is_not_continued(tmp_path, begun):
    out, _ = begun
    for path in (out / "checkpoints").iterdir():
        header, arrays = read_checkpoint(path)
        del header["extra"]["learned"], header["arrays"], header["schema"]
        write_checkpoint(path, header, arrays)
    with pytest.raises(osp.InvalidInputError, match=r"round-0+40\.ckpt does not say which rows"):
        execute(config(tmp_path / "d.csv"), out, resume=True)


@pytest.mark.parametrize("ending", ["npz", "jsonl"])
def test_features_without_names_keep_their_places(tmp_path, ending):
    X, y = np.arange(12.0).reshape(6, 2), ["u", "v"] * 3
    path = tmp_path / f"d.{ending}"
    if ending == "npz":
        np.savez(path, X=X, kind=np.array(y))
    else:
        lines = [json.dumps({"x": x, "kind": k}) for x, k in zip(X.tolist(), y, strict=True)]
        path.write_text("\n".join(lines))
    name = "X" if ending == "npz" else "x"
    with pytest.raises(DataError, match=rf"in the order '{name}\[0\]', '{name}\[1\]'"):
        execute(config(path, columns=(f"{name}[1]", f"{name}[0]")), tmp_path / "out")
    execute(config(path, rounds=4), tmp_path / "out")
    assert execute(config(path), tmp_path / "out", resume=True).summary["rounds"] == 6
