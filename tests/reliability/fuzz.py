"""Fuzz what reads files: tables, run files, checkpoints, recipes and labels.

Every input must be refused with an error of ours, or be accepted and mean what an independent reading says.

python tests/reliability/fuzz.py --runs 1000000                 mutations, everywhere
python tests/reliability/fuzz.py --engine atheris --target csv --runs 200000
"""

import argparse
import contextlib
import csv
import functools
import io
import json
import math
import os
import random
import subprocess
import sys
import tempfile
import time
import unicodedata
import warnings
import zipfile
from pathlib import Path

import numpy as np

CORPUS = Path(__file__).parent / "corpus"
SECONDS = 5.0
"""No input may take longer."""


# --- what is fuzzed: functions of bytes that raise when something is wrong -------------------------------


def csv_table(data, place):
    path = written(place / "table.csv", data)
    rows = table_rows(path)
    if rows is None:
        return "refused"
    text = data.decode("utf-8-sig")
    cells = [line for line in csv.reader(io.StringIO(text, newline=""), strict=True) if line]
    names = [tidy(name) for name in cells[0]]
    assert names.count("y") == 1
    assert len(rows) == len(cells) - 1
    for row, line in zip(rows, cells[1:], strict=True):
        given = {name: cell.strip() for name, cell in zip(names, line, strict=True)}
        assert row.label == tidy(given.pop("y"))
        assert row.x.tolist() == [float(cell) for cell in given.values()]
    return "accepted"


def json_table(data, place):
    path = written(place / "table.jsonl", data)
    rows = table_rows(path)
    if rows is None:
        return "refused"
    texts = [line for line in data.decode("utf-8-sig").split("\n") if line.strip()]
    lines = [{tidy(key): value for key, value in json.loads(text).items()} for text in texts]
    assert len(rows) == len(lines)
    for row, record, text in zip(rows, lines, texts, strict=True):
        assert len(record) == len(json.loads(text, object_pairs_hook=list))
        assert row.label == tidy(record.pop("y"))
        values = record["x"] if isinstance(record.get("x"), list) else [record[key] for key in lines[0]]
        assert row.x.tolist() == [float(value) for value in values]
    return "accepted"


def npz_table(data, place):
    path = written(place / "table.npz", data)
    rows = table_rows(path)
    if rows is None:
        return "refused"
    with zipfile.ZipFile(io.BytesIO(data)) as archive, archive.open("X.npy") as member:
        expected = np.lib.format.read_array(member, allow_pickle=False).astype(float)
    assert np.array_equal(expected, np.array([row.x for row in rows]).reshape(expected.shape))
    return "accepted"


def table_rows(path):
    """The rows of a sound table; None where it is refused, with and without the bad rows skipped."""
    from osp_core.errors import OspError
    from osp_core.runs.data import open_table

    try:
        table = open_table(path, "y")
        skipping = list(table.rows(skip_bad=True))
        bad = table.bad_rows
    except OspError:
        return None
    for row in skipping:
        assert row.x.dtype == np.float64
        assert row.x.shape == (len(table.columns),)
        assert np.isfinite(row.x).all()
        assert row.label is not None
    try:
        strict = list(table.rows())
    except OspError:
        assert bad > 0
        return None
    assert bad == 0
    assert len(strict) == len(skipping)
    return strict


def tidy(value):
    """A label or a name as we read it."""
    if isinstance(value, str):
        value.encode()  # it must be text
        return unicodedata.normalize("NFC", value.strip())
    if isinstance(value, list):
        return [tidy(item) for item in value]
    return {tidy(key): tidy(item) for key, item in value.items()} if isinstance(value, dict) else value


def resumed(data, place):
    """A table in the place of one whose first rows were learned: it must begin with the same rows."""
    from osp_core.errors import OspError
    from osp_core.persistence.directory import Checkpoints
    from osp_core.runs import RunConfig
    from osp_core.runs.prepare import prepare
    from osp_core.runs.resume import begin, continued

    out = Path(learned_run().name) / "out"
    config = RunConfig(space="simplex", data=str(written(place / "again.csv", data)), label="y")
    try:
        prepared = prepare(continued(config, out))
        assert begin(prepared, Checkpoints(out / "checkpoints", every=1), print).done == LEARNED
    except OspError:
        return "refused"
    cells = [line for line in csv.reader(io.StringIO(data.decode("utf-8-sig"), newline="")) if line]
    names = [tidy(name) for name in cells[0]]
    rows = [dict(zip(names, line, strict=True)) for line in cells[1 : LEARNED + 1]]
    found = [(float(row["a"].strip()), float(row["b"].strip()), tidy(row["y"])) for row in rows]
    assert found == [(1.0, 2.0, "u"), (3.0, 4.5, "v"), (-1.0, 0.5, "u")]
    return "accepted"


LEARNED = 3
LEARNED_ROWS = b"a,b,y\n1,2,u\n3,4.5,v\n-1,0.5,u\n2,2,v\n"


@functools.cache
def learned_run():
    """A directory with a run that has learned the first rows."""
    from osp_core.runs import RunConfig, execute

    folder = scratch()
    data = written(Path(folder.name) / "table.csv", LEARNED_ROWS)
    config = RunConfig(space="simplex", data=str(data), label="y", rounds=LEARNED, feature_bound=1e3)
    execute(config, Path(folder.name) / "out")
    return folder


def store(data, place):
    """A store of results: whole lines, each of which any reader of JSON understands in the same way."""
    from osp_core.sweeps import Store, StoreError

    written(place / "results.jsonl", data)
    try:
        with Store(place) as opened:
            done = opened.done()
    except StoreError:
        assert (place / "results.jsonl").read_bytes() == data
        return "refused"
    left = (place / "results.jsonl").read_bytes()
    assert data.startswith(left)
    rows = [json.loads(line) for line in left.splitlines(keepends=True)]
    last = {row["key"]: row for row in rows}
    assert done == {key: row for key, row in last.items() if row["status"] == "done"}
    return "accepted" if left == data else "refused"


def run_file(data, place):
    from osp_core.errors import OspError
    from osp_core.runs import RunConfig

    try:
        config = RunConfig.from_toml(written(place / "run.toml", data))
        text = config.to_toml()
    except OspError:
        return "refused"
    again = RunConfig.from_toml(written(place / "again.toml", text.encode()))
    assert again.to_toml() == text
    return "accepted"


def checkpoint(data, place):
    """The bytes of a file: accepted only where nothing of its contents was changed."""
    from osp_core.persistence.archive import CheckpointError, read_checkpoint

    try:
        header, arrays = read_checkpoint(written(place / "run.ckpt", data))
    except CheckpointError:
        return "refused"
    body = json.dumps(header, sort_keys=True) + repr({key: value.tobytes() for key, value in arrays.items()})
    assert body in known_contents(), "an altered checkpoint was accepted"
    return "accepted"


def header(data, place):
    """The header of a file, with checksums that are right: what somebody may forge."""
    from osp_core import OnlinePredictor, OspError
    from osp_core.persistence.archive import write_checkpoint

    try:
        body = json.loads(data)
        body.pop("arrays", None)
        rows = {f"learner.{key}": np.array(body["learner_state"].pop(key)) for key in ("core", "residue")}
        rows["learner.numbers"] = np.array(body["learner_state"].pop("numbers"))
        write_checkpoint(place / "run.ckpt", body, rows)
    except (OspError, ValueError, LookupError, TypeError, AttributeError, RecursionError, OverflowError):
        return "refused"
    try:
        predictor = OnlinePredictor.load(place / "run.ckpt")
        predictor.predict(np.full(predictor.model.n_features, 1e-3))
    except OspError:
        return "refused"
    assert np.isfinite(predictor.learner.weights).all()
    assert np.isfinite(predictor.average_weights).all()
    return "accepted"


def recipe(data, place):
    from osp_core.errors import OspError
    from osp_core.persistence.json_values import decode, encode, largest_number

    try:
        value = json.loads(data)
        if largest_number(value) > 10**4:
            return "refused"
    except (ValueError, RecursionError):
        return "refused"
    try:
        made = decode(value)
    except (OspError, ValueError, LookupError, TypeError, AttributeError, ArithmeticError, RecursionError):
        return "refused"
    with contextlib.suppress(OspError):
        encoded = encode(made)  # sorted where it is a set
        assert repr(encode(decode(encoded))) == repr(encoded)
    return "accepted"


def label(data, place):
    from osp_core.errors import OspError
    from osp_core.runs.labels import read_label

    if not data:
        return "refused"
    space, text = label_spaces()[data[0] % len(label_spaces())], data[1:].decode(errors="surrogateescape")
    found = "refused"
    for given in (text, *parsed(text)):
        try:
            y = read_label(space, given)
        except OspError:
            continue
        found = "accepted"
        assert y.dtype == np.float64
        assert space.is_vertex(y)
        assert np.array_equal(space.from_label(space.to_label(y)), y)
    return found


def parsed(text):
    try:
        return [json.loads(text)]
    except (ValueError, RecursionError):
        return []


TARGETS = {
    one.__name__: one
    for one in (
        csv_table,
        json_table,
        npz_table,
        resumed,
        store,
        run_file,
        checkpoint,
        header,
        recipe,
        label,
    )
}


# --- where it starts -------------------------------------------------------------------------------------


@functools.cache
def seeds(target):
    """Sound inputs to begin with, and whatever was a problem once."""
    kept = sorted((CORPUS / target).glob("*"))
    return [*SEEDS.get(target, list)(), *(path.read_bytes() for path in kept)]


def table_seeds():
    return [
        b"a,b,y\n1,2,u\n3,4.5,v\n",
        b'\xef\xbb\xbf"a","y"\r\n-1e-3,"u;v"\r\n\r\n 7 ,"x, ""q"""\r\n',
        "α,y\n0.1,日本\n1e100,β\n".encode(),
        b"a,a,y\n1,2,u\n",
        b"a,y\nnan,u\ninf,v\n1_0,w\n,x\n",
        "e\u0301,y\n1,e\u0301\n2,\u00e9 \n3,\u0001\n".encode(),
        b"1,2,y\n3,4,u\n",
    ]


def json_seeds():
    return [
        b'{"a": 1, "b": 2.5, "y": "u"}\n{"a": -3e2, "b": 4, "y": ["u", "v"]}\n',
        b'{"x": [1, 2], "y": 3}\n\n{"x": [0, -1e-9], "y": 4}\n',
        b'{"a": true, "y": "t"}\n{"a": null, "y": "f"}\n',
        b'{"a": 1e400, "y": NaN}\n{"a": "5", "y": {"k": [[]]}}\n',
        b'{"a": 1, "y": "u", "a": 2}\n{"a": 1, "y": "\\ud800"}\n',
        '{"e\u0301": 1, "y": " e\u0301"}\n{"\u00e9": 2, "y": "\\u0000"}\n'.encode(),
    ]


def resumed_seeds():
    swapped = b"y,b,a\nu,2,1\nv,4.5,3\nu,0.5,-1\nv,9,9\n"
    return [LEARNED_ROWS, swapped, LEARNED_ROWS.replace(b"\n", b"\r\n"), LEARNED_ROWS + b"5,5,u\n"]


def store_seeds():
    rows = [{"schema": 1, "key": key, "status": "done", "config": {"data": "ü"}} for key in "ab"]
    lines = b"".join(json.dumps(row).encode() + b"\n" for row in rows)
    return [lines, lines + b'{"schema": 1, "key"', lines.replace(b'"key"', b'"schema": 1, "key"', 1), b""]


def npz_seeds():
    found = []
    for labels in (np.array(["u", "v"]), np.array([0, 1])):
        for X in (np.array([[1.0, 2.0], [3.0, 4.5]]), np.asfortranarray([[1, 2], [3, 4]])):
            buffer = io.BytesIO()
            np.savez(buffer, X=X, y=labels)
            found.append(buffer.getvalue())
    buffer = io.BytesIO()
    np.savez_compressed(buffer, X=np.eye(2), y=np.array([0, 1]))
    return [*found, buffer.getvalue()]


def run_seeds():
    return [
        b'space = "simplex"\nstream = "linear_teacher"\nrounds = 10\nseed = 3\n[params]\nd = 3\n',
        b'space = "hypercube"\ndata = "d.csv"\nlabel = "tags"\nintercept = false\non_error = "skip"\n'
        b'[params]\nlabels = ["a", "b"]\n[learner_params]\nstep_size = 0.5\n',
        'space = "vertices"\nstream = "x"\nfeature_bound = 1e3\n[params]\narray = [[0, 1], [1, 0]]\n'
        'name = "ä\\u0000"\n"quoted key" = {a = 1, b = [inf, -0.0]}\nwhen = 1979-05-27\n'.encode(),
    ]


@functools.cache
def checkpoint_seeds():
    import osp_core as osp

    found = []
    with tempfile.TemporaryDirectory() as folder:
        for space in (osp.make_space("simplex", d=3), osp.make_space("hypercube", labels=["a", "b"])):
            for learner in (osp.OGD(), osp.ParameterFree()):
                predictor = osp.OnlinePredictor(space, 2, learner=learner, seed=0)
                predictor.step([0.1, 0.2], space.lmo(np.ones(space.dim)))
                predictor.save(Path(folder) / "x.ckpt", extra={"note": "✓"})
                found.append((Path(folder) / "x.ckpt").read_bytes())
    return found


@functools.cache
def known_contents():
    from osp_core.persistence.archive import read_checkpoint

    found = set()
    with tempfile.TemporaryDirectory() as folder:
        for data in checkpoint_seeds():
            head, arrays = read_checkpoint(written(Path(folder) / "x.ckpt", data))
            found.add(
                json.dumps(head, sort_keys=True) + repr({key: a.tobytes() for key, a in arrays.items()})
            )
    return found


def header_seeds():
    found = []
    for data in checkpoint_seeds():
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            body = json.loads(archive.read("header.json"))["body"]
            for name in ("core", "residue", "numbers"):
                with archive.open(f"learner.{name}.npy") as member:
                    body["learner_state"][name] = np.lib.format.read_array(member).tolist()
        found.append(json.dumps(body).encode())
    return found


def recipe_seeds():
    from osp_core.persistence.json_values import encode

    values = [
        {"d": 3},
        (1, "b"),
        {"a", "b"},
        {1: (2.5, [None, True])},
        np.eye(2),
        np.array([np.inf]),
        -np.inf,
    ]
    made = [json.dumps(encode(value)).encode() for value in values]
    return [*made, b'{"space": {"name": "simplex", "params": {"d": 3}}}', b'{"psi": ["SquaredNorm", 0.5]}']


@functools.cache
def label_spaces():
    from osp_core import make_space

    return [
        make_space("simplex", classes=["cat", "dog", "1"]),
        make_space("simplex", d=3),
        make_space("hypercube", labels=["a", "b", "c"]),
        make_space("ordinal", categories=["low", "mid", "high"]),
        make_space("permutahedron", d=3),
        make_space("k_subsets", d=4, k=2),
        make_space("birkhoff", n=3),
        make_space("graphic_matroid", edges=[("u", "v"), ("v", "w"), ("u", "w")]),
        make_space("vertices", array=np.eye(3)),
        make_space("partition_matroid", blocks=[[0, 1], [2, 3]], capacities=[1, 1]),
    ]


def label_seeds():
    texts = [
        "cat",
        "1",
        "a;c",
        "",
        "low",
        "2>0>1",
        "0;3",
        "u-v;v-w",
        "[[0, 1, 0]]",
        "[1, 0, 0]",
        "0-1;1-0;2-2",
    ]
    texts += ['{"a": 1}', "1e999", "[[]]", "true", '["u--v"]', "-0", "9" * 400]
    return [bytes([i]) + text.encode() for i in range(10) for text in texts]


SEEDS = {
    "csv_table": table_seeds,
    "json_table": json_seeds,
    "npz_table": npz_seeds,
    "resumed": resumed_seeds,
    "store": store_seeds,
    "run_file": run_seeds,
    "checkpoint": checkpoint_seeds,
    "header": header_seeds,
    "recipe": recipe_seeds,
    "label": label_seeds,
}
_WORDS = "nan inf -inf 1e999 -0 0 1 -1 1e-320 9999999999 null true [] {} [[ }} \" ' , ; : > - float64 "
_WORDS += '"sha256" "schema" "shape" "dtype" "d" "n_features"'
_BYTES = (
    b"\\ud800",
    "e\u0301".encode(),
    b"\x01",
    b"\0",
    b"\xff",
    b"\n",
    b"\r\n",
    b"\t",
    b"\xef\xbb\xbf",
    b"PK\x05\x06",
    b"\x93NUMPY",
    b"1" * 400,
)
TOKENS = [*_WORDS.encode().split(), *_BYTES, "\u2028é".encode(), b"[" * 3000]


# --- engines ---------------------------------------------------------------------------------------------


def mutated(draw, pool):
    """A new input from old ones: a few cuts, copies, flips and tokens."""
    data = bytearray(draw.choice(pool))
    for _ in range(1 + int(draw.expovariate(0.7))):
        kind, at = draw.randrange(7), draw.randrange(len(data) + 1)
        if kind == 0 and data:
            data[at % len(data)] ^= 1 << draw.randrange(8)
        elif kind == 1 and data:
            data[at % len(data)] = draw.randrange(256)
        elif kind == 2:
            data[at:at] = draw.choice(TOKENS)
        elif kind == 3:
            del data[at : at + draw.randrange(1, 9)]
        elif kind == 4:
            data[at:at] = data[at // 2 : at // 2 + draw.randrange(1, 64)]
        elif kind == 5:
            other = draw.choice(pool)
            begin = draw.randrange(len(other) + 1)
            data[at : at + draw.randrange(32)] = other[begin : begin + draw.randrange(64)]
        else:
            del data[at:]
    return bytes(data[:20_000])


def fuzz(target, runs, seed, place):
    """Mutate and examine; return how many inputs were accepted and refused."""
    draw, pool, counts = random.Random(seed), seeds(target), {"accepted": 0, "refused": 0}
    for data in pool:
        counts[examine(target, data, place)] += 1
    while sum(counts.values()) < runs:
        counts[examine(target, mutated(draw, pool), place)] += 1
    return counts


def examine(target, data, place):
    """Try one input; whatever goes wrong is kept beside the corpus to be looked at."""
    began = time.process_time()  # not disturbed by what else the machine does
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.filterwarnings("ignore", message=".*additional header parsing")  # of numpy, harmless
            found = TARGETS[target](data, place)
        assert time.process_time() - began < SECONDS, "this took too long"
    except BaseException:
        if os.environ.get("OSP_FUZZ_FINDINGS"):
            name = f"{target}-{abs(hash(data)) % 10**8}"
            (Path(os.environ["OSP_FUZZ_FINDINGS"]) / name).write_bytes(data)
        raise
    return found


def written(path, data):
    path.write_bytes(data)
    return path


def scratch():
    """A directory in memory, where there is one."""
    memory = Path("/dev/shm")
    return tempfile.TemporaryDirectory(dir=memory if os.access(memory, os.W_OK) else None)


def with_atheris(target, runs, seed):
    """Coverage-guided fuzzing of one target. Ends the process."""
    import atheris

    # Not what numba compiles: it does not know the counters that are put in.
    watched = ["runs", "checkpoint", "saving", "recipes", "registry", "requirements", "vertices", "spaces"]
    with atheris.instrument_imports(include=[f"osp_core.{part}" for part in watched]):
        import osp_core.runs  # noqa: F401 - imported to be instrumented
    with scratch() as folder, scratch() as pool:
        for number, data in enumerate(seeds(target)):
            (Path(pool) / str(number)).write_bytes(data)
        counts = {"accepted": 0, "refused": 0}

        def one(data):
            counts[examine(target, data, Path(folder))] += 1
            if sum(counts.values()) % 10_000 == 0:
                print(f"{target}: {counts}", flush=True)

        limits = [f"-timeout={math.ceil(2 * SECONDS)}", "-rss_limit_mb=2048", "-max_len=20000"]
        atheris.Setup([sys.argv[0], f"-runs={runs}", f"-seed={seed + 1}", *limits, "-verbosity=0", pool], one)
        atheris.Fuzz()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--engine", choices=["mutation", "atheris"], default="mutation")
    parser.add_argument("--target", choices=TARGETS, action="append")
    parser.add_argument("--runs", type=int, default=100_000, help="inputs for each target")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    for chosen in given.target or TARGETS:
        if given.engine == "mutation":
            with scratch() as folder:
                print(f"{chosen}: {fuzz(chosen, given.runs, given.seed, Path(folder))}", flush=True)
        elif given.target and len(given.target) == 1:
            with_atheris(chosen, given.runs, given.seed)
        else:
            arguments = ["--engine", "atheris", "--target", chosen, "--runs", str(given.runs)]
            subprocess.run([sys.executable, __file__, *arguments, "--seed", str(given.seed)], check=True)
