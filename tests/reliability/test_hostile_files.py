"""Files made to do harm are refused by name, before they are unpacked, and run nothing."""

import hashlib
import io
import json
import pickle
import struct
import tracemalloc
import zipfile
from pathlib import Path

import numpy as np
import pytest

import osp_core as osp
from osp_core.runs import RunConfig, open_table

MOST_MEMORY = 8_000_000
GROWN = 300 * 2**20
"""What the bombs would unpack to."""


class Harmful:
    """Makes a file when it is unpickled."""

    def __init__(self, marker):
        self.marker = marker

    def __reduce__(self):
        return Path.touch, (self.marker,)


def npy_header(shape, dtype="<f8", by_column=False, version=(1, 0)):
    """The beginning of an array in numpy's format."""
    buffer = io.BytesIO()
    described = {"descr": dtype, "fortran_order": by_column, "shape": shape}
    write = {(1, 0): np.lib.format.write_array_header_1_0, (2, 0): np.lib.format.write_array_header_2_0}
    write[version](buffer, described)
    return buffer.getvalue()


def archive(path, members):
    """A compressed archive; a number stands for so many zeros."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as made:
        for name, parts in members.items():
            with made.open(name, "w", force_zip64=True) as member:
                for part in parts:
                    if isinstance(part, bytes):
                        member.write(part)
                    else:
                        for begin in range(0, part, 2**20):
                            member.write(bytes(min(2**20, part - begin)))
    return path


def good_checkpoint(path):
    predictor = osp.OnlinePredictor(osp.make_space("simplex", d=3), 2, seed=0)
    predictor.step([0.1, 0.2], 1)
    predictor.save(path)
    return path


def tampered(path):
    data = bytearray(good_checkpoint(path).read_bytes())
    at = data.index(b"learner.core.npy") + 150  # among its entries
    data[at] ^= 1
    path.write_bytes(data)


def bomb(path):
    with zipfile.ZipFile(good_checkpoint(path)) as whole:
        members = {name: [whole.read(name)] for name in whole.namelist()}
    archive(path, {**members, "learner.core.npy": [npy_header((3, 2)), GROWN]})


def bomb_in_the_header(path):
    archive(path, {"header.json": [b'{"sha256": "', GROWN, b'"}']})


def sealed(path, changes, described=None):
    """A checkpoint with other arrays or another header, and every checksum right."""
    with zipfile.ZipFile(good_checkpoint(path)) as whole:
        members = {name: whole.read(name) for name in whole.namelist()}
    body = json.loads(members["header.json"])["body"]
    for name, array in changes.items():
        buffer = io.BytesIO()
        np.lib.format.write_array(buffer, array, version=(1, 0), allow_pickle=False)
        members[f"{name}.npy"] = buffer.getvalue()
        entry = {"shape": list(array.shape), "dtype": array.dtype.name}
        body["arrays"][name] = {**entry, "sha256": hashlib.sha256(buffer.getvalue()).hexdigest()}
    body |= described or {}
    text = json.dumps(body, sort_keys=True, ensure_ascii=False)
    seal = hashlib.sha256(text.encode()).hexdigest()
    members["header.json"] = f'{{"sha256": "{seal}", "body": {text}}}'.encode()
    with zipfile.ZipFile(path, "w") as made:
        for name, content in members.items():
            made.writestr(name, content)


def not_a_number(path):
    sealed(path, {"learner.core": np.full((3, 2), np.nan)})


def infinite(path):
    sealed(path, {"learner.numbers": np.array([1.0, np.inf, 0.0, 0.0])})


def unknown_type(path):
    sealed(path, {"learner.core": np.zeros((3, 2), dtype=np.complex128)})


def key_twice(path):
    with zipfile.ZipFile(good_checkpoint(path)) as whole:
        members = {name: whole.read(name) for name in whole.namelist()}
    # The last one counts for most readers, and is the one that was sealed.
    members["header.json"] = members["header.json"].replace(b'"plays": 1', b'"plays": 9, "plays": 1')
    with zipfile.ZipFile(path, "w") as made:
        for name, content in members.items():
            made.writestr(name, content)


def many_members(path):
    with zipfile.ZipFile(path, "w") as made:
        for number in range(20_000):
            made.writestr(zipfile.ZipInfo(str(number)), b"")


CHECKPOINTS = {
    tampered: "checksum|Bad CRC",
    bomb: "compressed",
    bomb_in_the_header: "compressed",
    many_members: "20000 members",
    not_a_number: r"'learner\.core' has the entry nan at \[0, 0\]",
    infinite: r"'learner\.numbers' has the entry inf at \[1\]",
    unknown_type: r"'learner\.core' is not described",
    key_twice: "the key 'plays' is there twice",
}
LABELS = [npy_header((1,), "<i8"), bytes(8)]
LONG_HEADER = b"\x93NUMPY\x02\x00" + struct.pack("<I", GROWN)
TABLES = {
    "zeros without end": ({"X.npy": [npy_header((GROWN // 8, 1)), GROWN]}, "would grow from"),
    "a longer array than it says": ({"X.npy": [npy_header((1, 1)), 2**25]}, "not as long as its shape"),
    "columns without end": ({"X.npy": [npy_header((0, 10**12))]}, "a row may have 1000000 entries"),
    "one wide row": ({"X.npy": [npy_header((1, 3 * 10**6)), 24 * 10**6]}, "a row may have 1000000 entries"),
    "a long header": ({"X.npy": [LONG_HEADER, 2**25]}, "no archive of plain arrays"),
    "by column": ({"X.npy": [npy_header((2, 1), by_column=True), 2**25]}, "not as long as its shape"),
    "negative shape": ({"X.npy": [npy_header((-1, -1)), bytes(8)]}, "a row may have"),
    "a long label": (
        {"X.npy": [npy_header((1, 1)), bytes(8)], "y.npy": [npy_header((1,), "<U8000000"), 32_000_000]},
        "a row may have 1000000 entries and 16777216 bytes",
    ),
}


def refusal(read, expected):
    """The message of what `read` raises, which takes little memory."""
    tracemalloc.start()
    try:
        with pytest.raises(osp.OspError, match=expected):
            read()
        assert tracemalloc.get_traced_memory()[1] < MOST_MEMORY
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("make", CHECKPOINTS)
def test_hostile_checkpoints_are_refused_in_little_memory(tmp_path, make):
    make(tmp_path / "x.ckpt")
    refusal(lambda: osp.OnlinePredictor.load(tmp_path / "x.ckpt"), CHECKPOINTS[make])


@pytest.mark.parametrize("name", TABLES)
def test_hostile_archives_of_arrays_are_refused_in_little_memory(tmp_path, name):
    members, message = TABLES[name]
    path = archive(tmp_path / "d.npz", {"y.npy": LABELS, **members})
    refusal(lambda: list(open_table(path, "y").rows()), message)


def test_a_pickle_is_never_loaded_whatever_its_name(tmp_path):
    marker = tmp_path / "harm"
    for name in ("x.ckpt", "d.npz", "run.toml", "d.csv", "d.jsonl"):
        (tmp_path / name).write_bytes(pickle.dumps(Harmful(marker)))
    np.savez(tmp_path / "inside.npz", X=np.zeros((1, 1)), y=np.array([Harmful(marker)]))
    refusal(lambda: osp.OnlinePredictor.load(tmp_path / "x.ckpt"), "no archive")
    refusal(lambda: RunConfig.from_toml(tmp_path / "run.toml"), r"run\.toml")
    for name in ("d.npz", "inside.npz", "d.csv", "d.jsonl"):
        refusal(lambda name=name: list(open_table(tmp_path / name, "y").rows()), name)
    assert not marker.exists()
    pickle.loads((tmp_path / "x.ckpt").read_bytes())
    assert marker.exists()  # it would have been noticed


@pytest.mark.parametrize("name", ["bomb.npz", "pickle.npz", "climbing.toml"])
def test_the_command_refuses_them_in_one_line(tmp_path, name, osp_command):
    archive(tmp_path / "bomb.npz", {"y.npy": LABELS, **TABLES["zeros without end"][0]})
    (tmp_path / "pickle.npz").write_bytes(pickle.dumps(Harmful(tmp_path / "harm")))
    (tmp_path / "climbing.toml").write_text("space = 'simplex'\ndata = '../../d.csv'\n")
    given = ["--config"] if name.endswith("toml") else ["--space", "simplex", "--label", "y", "--data"]
    out = ["--out", str(tmp_path / "out")]
    done = osp_command("run", *given, str(tmp_path / name), *out)
    assert done.exit_code == 2
    assert done.stderr.count("\n") == 1
    assert not (tmp_path / "out").exists()
    assert not (tmp_path / "harm").exists()


@pytest.mark.parametrize("make", [bomb, not_a_number, key_twice])
def test_the_command_passes_over_a_hostile_checkpoint_and_says_so(tmp_path, make, osp_command):
    settings = ["--space", "simplex", "-p", "d=3", "--stream", "linear_teacher", "--rounds", "30"]
    out = ["--checkpoint-every", "10", "--out", str(tmp_path / "out")]
    osp_command("run", *settings, *out, catch_exceptions=False)
    newest = osp.Checkpoints(tmp_path / "out" / "checkpoints", every=1).paths()[0]
    make(newest)
    done = osp_command("run", *settings, *out, "--resume", "--quiet")
    assert done.exit_code == 0
    assert done.stderr.count("passed over a damaged checkpoint") == 1
    assert osp.OnlinePredictor.load(newest).learner.rounds == 30
