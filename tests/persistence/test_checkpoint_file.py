"""The checkpoint file: whole or refused."""

import hashlib
import json
import os
import pickle
import zipfile

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from osp_core.persistence.archive import CheckpointError, read_checkpoint, write_checkpoint

HEADER = {"space": {"name": "simplex", "params": {"d": 3}}, "rounds": 17, "note": "naïve ✓", "none": None}


@pytest.fixture
def arrays():
    rng = np.random.default_rng(0)
    return {
        "weights": rng.standard_normal((3, 4)) * 10.0 ** rng.integers(-300, 300, size=(3, 4)),
        "flags": np.array([True, False]),
        "counts": np.array([[1, -(2**62)]]),
        "learner.empty": np.zeros((0, 5)),
        "scalar": np.array(1.5),
    }


def test_what_is_written_is_read_bit_for_bit(tmp_path, arrays):
    path = tmp_path / "run.ckpt"
    write_checkpoint(path, HEADER, arrays)
    header, found = read_checkpoint(path)
    assert {key: header[key] for key in HEADER} == HEADER
    assert found.keys() == arrays.keys()
    for name, array in arrays.items():
        assert found[name].dtype == array.dtype
        assert found[name].shape == array.shape
        assert found[name].tobytes() == array.tobytes()


def test_writing_again_replaces_the_file_and_leaves_nothing_else(tmp_path, arrays):
    path = tmp_path / "run.ckpt"
    for rounds in (1, 2):
        write_checkpoint(path, {"rounds": rounds}, arrays)
    assert read_checkpoint(path)[0]["rounds"] == 2
    assert os.listdir(tmp_path) == ["run.ckpt"]


def test_a_failed_write_keeps_the_old_file(tmp_path, arrays, monkeypatch):
    path = tmp_path / "run.ckpt"
    write_checkpoint(path, {"rounds": 1}, arrays)

    def full(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(CheckpointError, match=r"No space left on device\. What was there before"):
        write_checkpoint(path, {"rounds": 2}, arrays)
    monkeypatch.undo()
    assert read_checkpoint(path)[0]["rounds"] == 1
    assert os.listdir(tmp_path) == ["run.ckpt"]


@pytest.mark.parametrize("header", [{"x": float("nan")}, {"x": object()}, {"x": {1, 2}}])
def test_headers_that_would_not_survive_are_refused(tmp_path, header):
    with pytest.raises(CheckpointError, match="plain JSON"):
        write_checkpoint(tmp_path / "run.ckpt", header, {})
    assert not os.listdir(tmp_path)


def test_objects_are_not_stored(tmp_path):
    with pytest.raises(CheckpointError, match="dtype object"):
        write_checkpoint(tmp_path / "run.ckpt", {}, {"x": np.array([object()])})
    with pytest.raises(CheckpointError, match="cannot be stored"):
        write_checkpoint(tmp_path / "run.ckpt", {}, {"../x": np.zeros(1)})


@given(where=st.floats(0, 1, exclude_max=True), bit=st.integers(0, 7))
def test_no_flipped_bit_changes_what_is_read(tmp_path_factory, where, bit):
    path = tmp_path_factory.mktemp("flip") / "run.ckpt"
    weights = np.arange(12.0)
    write_checkpoint(path, HEADER, {"weights": weights})
    data = bytearray(path.read_bytes())
    data[int(where * len(data))] ^= 1 << bit
    path.write_bytes(data)
    try:
        header, arrays = read_checkpoint(path)
    except CheckpointError:
        return
    # Zip has bytes without meaning (dates, attributes): then nothing may have changed.
    assert arrays["weights"].tobytes() == weights.tobytes()
    assert {key: header[key] for key in HEADER} == HEADER


@pytest.mark.parametrize("part", [0.0, 0.1, 0.5, 0.9, 0.999])
def test_a_truncated_file_is_refused(tmp_path, arrays, part):
    path = tmp_path / "run.ckpt"
    write_checkpoint(path, HEADER, arrays)
    data = path.read_bytes()
    path.write_bytes(data[: int(part * len(data))])
    with pytest.raises(CheckpointError, match=r"damaged|no checkpoint|no archive"):
        read_checkpoint(path)


def test_other_files_are_refused_with_a_reason(tmp_path):
    path = tmp_path / "x"
    with pytest.raises(CheckpointError, match="no checkpoint at"):
        read_checkpoint(path)
    path.write_bytes(pickle.dumps({"weights": [1, 2]}))
    with pytest.raises(CheckpointError):
        read_checkpoint(path)
    np.savez(tmp_path / "y.npz", weights=np.zeros(3))
    with pytest.raises(CheckpointError):
        read_checkpoint(tmp_path / "y.npz")
    with pytest.raises(CheckpointError):
        read_checkpoint(tmp_path)


def rewritten(path, change, compression=zipfile.ZIP_STORED):
    """The same archive with one member changed."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    change(members)
    with zipfile.ZipFile(path, "w", compression) as archive:
        for name, data in members.items():
            archive.writestr(name, data)


def test_a_newer_schema_is_refused_by_name(tmp_path):
    path = tmp_path / "run.ckpt"
    write_checkpoint(path, {}, {})

    def newer(members):
        sealed = json.loads(members["header.json"])
        sealed["body"]["schema"] = 99
        members["header.json"] = json.dumps(sealed).encode()

    rewritten(path, newer)
    with pytest.raises(CheckpointError, match="schema 99"):
        read_checkpoint(path)


def test_an_edited_header_or_array_is_refused(tmp_path):
    path = tmp_path / "run.ckpt"
    write_checkpoint(path, {"rounds": 1}, {"w": np.zeros(2)})
    rewritten(
        path, lambda m: m.update({"header.json": m["header.json"].replace(b'"rounds": 1', b'"rounds": 2')})
    )
    with pytest.raises(CheckpointError, match="header does not match"):
        read_checkpoint(path)
    write_checkpoint(path, {"rounds": 1}, {"w": np.zeros(2)})
    rewritten(path, lambda m: m.update({"w.npy": m["w.npy"].replace(bytes(8), np.ones(1).tobytes())}))
    with pytest.raises(CheckpointError, match="'w' does not match"):
        read_checkpoint(path)
    write_checkpoint(path, {"rounds": 1}, {"w": np.zeros(2)})
    rewritten(path, lambda m: m.update({"evil.npy": b"1"}))
    with pytest.raises(CheckpointError, match="members are not those"):
        read_checkpoint(path)


def test_a_zip_bomb_is_refused_before_it_is_unpacked(tmp_path):
    path = tmp_path / "bomb.ckpt"
    write_checkpoint(path, {}, {"w": np.zeros(2)})
    rewritten(path, lambda m: m.update({"w.npy": bytes(50_000_000)}), compression=zipfile.ZIP_DEFLATED)
    assert path.stat().st_size < 200_000
    with pytest.raises(CheckpointError, match="compressed"):
        read_checkpoint(path)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_numbers_that_are_none_are_neither_written_nor_read(tmp_path, value, monkeypatch):
    path = tmp_path / "run.ckpt"
    write_checkpoint(path, {"rounds": 1}, {"w": np.zeros(3)})
    wild = {"fine": np.ones(2), "learner.w": np.array([[0.0, 1.0], [value, 2.0]])}
    with pytest.raises(CheckpointError, match=r"Array 'learner\.w' has the entry (nan|inf|-inf) at \[1, 0\]"):
        write_checkpoint(path, {"rounds": 2}, wild)
    assert read_checkpoint(path)[0]["rounds"] == 1
    # A file of somebody else's making, with every checksum right.
    monkeypatch.setattr("osp_core.persistence.archive._refuse_wild", lambda name, values: None)
    write_checkpoint(path, {"rounds": 2}, wild)
    monkeypatch.undo()
    with pytest.raises(CheckpointError, match=r"run\.ckpt' cannot be used: .*'learner\.w' has the entry"):
        read_checkpoint(path)


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999"])
def test_numbers_that_are_none_in_a_header_are_refused_although_it_is_sealed(tmp_path, number):
    path = tmp_path / "run.ckpt"
    write_checkpoint(path, {"rounds": 1}, {})

    def reseal(members):
        body = json.loads(members["header.json"])["body"] | {"rounds": float(number.replace("1e999", "inf"))}
        text = json.dumps(body, sort_keys=True).replace("Infinity" if number == "1e999" else number, number)
        seal = hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()
        members["header.json"] = f'{{"sha256": "{seal}", "body": {text}}}'.encode()

    rewritten(path, reseal)
    with pytest.raises(CheckpointError, match="Out of range float"):
        read_checkpoint(path)


def test_a_described_type_that_is_not_that_of_the_array_is_refused(tmp_path):
    path = tmp_path / "run.ckpt"
    write_checkpoint(path, {}, {"w": np.arange(4)})

    def relabel(members):
        body = json.loads(members["header.json"])["body"]
        body["arrays"]["w"]["dtype"] = "float64"
        text = json.dumps(body, sort_keys=True)
        seal = hashlib.sha256(text.encode()).hexdigest()
        members["header.json"] = f'{{"sha256": "{seal}", "body": {text}}}'.encode()

    rewritten(path, relabel)
    with pytest.raises(CheckpointError, match="'w' is not as the header describes it"):
        read_checkpoint(path)
