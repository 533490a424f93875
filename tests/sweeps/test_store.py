"""The store: whole lines, one writer, nothing passed over in silence."""

import json
import os

import pytest

from osp_core.sweeps import Store, StoreError


def row(key, status="done", **more):
    return {"schema": 1, "key": key, "status": status, "config": {}, **more}


def written(path, *rows, tail=b""):
    (path / "results.jsonl").write_bytes(b"".join(json.dumps(r).encode() + b"\n" for r in rows) + tail)
    return path


def test_rows_are_there_again_when_the_store_is_opened_again(tmp_path):
    with Store(tmp_path / "new" / "store") as store:
        store.append(row("a", summary={"Σ": 1.5}))
        store.append(row("b", "failed"))
    with Store(tmp_path / "new" / "store") as store:
        assert store.done() == {"a": row("a", summary={"Σ": 1.5})}
    assert len((tmp_path / "new" / "store" / "results.jsonl").read_text().splitlines()) == 2


def test_the_last_row_of_a_key_counts(tmp_path):
    with Store(written(tmp_path, row("a", "failed"), row("a"))) as store:
        assert set(store.done()) == {"a"}


WHOLE = json.dumps(row("b")).encode() + b"\n"


@pytest.mark.parametrize("cut", range(1, len(WHOLE)))
def test_a_torn_last_line_is_cut_off_wherever_it_tore(tmp_path, cut):
    warnings = []
    with Store(written(tmp_path, row("a"), tail=WHOLE[:cut]), warn=warnings.append) as store:
        assert set(store.done()) == {"a"}
        store.append(row("c"))
    assert "torn" in warnings[0]
    with Store(tmp_path, warn=warnings.append) as store:
        assert set(store.done()) == {"a", "c"}
    assert len(warnings) == 1


@pytest.mark.parametrize("tail", [b"\0" * 512, b"\0" * 20 + b"\n", b"{}\n", b'{"schema": 1, "key": "x"}\n'])
def test_rubbish_at_the_end_is_cut_off_too(tmp_path, tail):
    warnings = []
    with Store(written(tmp_path, row("a"), tail=tail), warn=warnings.append) as store:
        assert set(store.done()) == {"a"}
    assert len(warnings) == 1
    assert (tmp_path / "results.jsonl").read_bytes() == json.dumps(row("a")).encode() + b"\n"


@pytest.mark.parametrize("damage", [b"oops\n", b"[1]\n", b"[" * 100_000 + b"\n", b"\xff\n"])
def test_damage_before_the_end_is_an_error_that_names_the_line_and_changes_nothing(tmp_path, damage):
    written(tmp_path, row("a"), tail=damage + WHOLE)
    before = (tmp_path / "results.jsonl").read_bytes()
    with pytest.raises(StoreError, match=r"results\.jsonl:2 is damaged"):
        Store(tmp_path)
    assert (tmp_path / "results.jsonl").read_bytes() == before


def test_a_newer_store_is_refused(tmp_path):
    written(tmp_path, row("a") | {"schema": 99})
    with pytest.raises(StoreError, match="newer version"):
        Store(tmp_path)


def test_two_sweeps_cannot_write_one_store_at_a_time(tmp_path):
    with Store(tmp_path), pytest.raises(StoreError, match="in use by another sweep"):
        Store(tmp_path)
    with Store(tmp_path):
        pass


def test_a_full_disk_leaves_only_whole_lines(tmp_path, monkeypatch):
    real = os.write

    def full(file, data):
        real(file, bytes(data[:10]))
        raise OSError(28, "No space left on device")

    with Store(tmp_path) as store:
        store.append(row("a"))
        monkeypatch.setattr(os, "write", full)
        with pytest.raises(StoreError, match="No space left on device"):
            store.append(row("b"))
        monkeypatch.undo()
        store.append(row("c"))
    with Store(tmp_path) as store:
        assert set(store.done()) == {"a", "c"}


def test_a_place_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="cannot be opened"):
        Store(tmp_path / "file" / "store")
