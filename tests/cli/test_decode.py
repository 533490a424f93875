"""``osp decode``: scores or rows in, outputs out, on the screen or in a file."""

import csv
import json

import numpy as np
import pytest

import osp_core as osp
from osp_core.runs import RunConfig, execute, load_model


@pytest.fixture
def model(tmp_path):
    """A run on a small table, and its directory."""
    rng = np.random.default_rng(0)
    rows = [f"{i},{a:.4f},{b:.4f},{'warm' if a > b else 'cold'}" for i, (a, b) in
            enumerate(rng.normal(12.0, 4.0, size=(150, 2)))]  # fmt: skip
    (tmp_path / "train.csv").write_text("id,in,out,kind\n" + "\n".join(rows) + "\n")
    config = RunConfig(space="simplex", data=str(tmp_path / "train.csv"), label="kind", drop=("id",))
    execute(config, tmp_path / "run")
    return tmp_path / "run"


def lines(result):
    assert result.exit_code == 0, result.stderr
    return [json.loads(line) for line in result.stdout.splitlines()]


def test_scores_on_standard_input_become_outputs(osp_command):
    result = osp_command(
        "decode", "--space", "simplex", "-p", "d=3", "--deterministic", input="1,2,0\n\n[5, 1, 1]\n"
    )
    assert lines(result) == [{"line": 1, "output": 1}, {"line": 3, "output": 0}]


@pytest.mark.parametrize(
    ("space", "scores", "output"),
    [
        (["simplex", "-p", 'classes=["cat","dog"]'], "0,9", "dog"),
        (["hypercube", "-p", 'labels=["a","b","c"]'], "9,-9,9", ["a", "c"]),
        (["ordinal", "-p", 'categories=["low","mid","high"]'], "9,-9", "mid"),
        (["permutahedron", "-p", 'items=["a","b","c"]'], "1,90,30", ["b", "c", "a"]),
        (
            ["graphic_matroid", "-p", 'edges=[["a","b"],["b","c"],["a","c"]]'],
            "9,9,0",
            [["a", "b"], ["b", "c"]],
        ),
        (["assignment", "-p", "m=1", "-p", "n=2"], "0,9", {"0": 1}),
    ],
)
def test_every_kind_of_output_is_json(osp_command, space, scores, output):
    result = osp_command("decode", "--space", *space, "--deterministic", "--json", input=scores + "\n")
    assert lines(result)[0]["output"] == output


def test_the_law_is_that_of_the_decoder(osp_command):
    space = osp.make_space("simplex", d=3)
    law = osp.RandomizedDecoder(space).law(space.predict(np.array([0.3, 0.2, 0.1])))
    result = osp_command("decode", "--space", "simplex", "-p", "d=3", "--law", input="0.3,0.2,0.1\n")
    answer = lines(result)[0]
    assert answer["p"] == law.p
    assert answer["mean"] == law.mean.tolist()
    assert (answer["nearest"], answer["certified"]) == (0, True)
    blocks = osp_command("decode", "--space", "hypercube", "-p", "d=2", "--law", input="0.3,0.9\n")
    assert len(lines(blocks)[0]["p"]) == 2
    whole = osp_command(
        "decode", "--space", "hypercube", "-p", "d=2", "--law", "--decoder", "randomized", input="0.3,0.9\n"
    )
    assert isinstance(lines(whole)[0]["p"], float)


def test_random_outputs_follow_the_seed(osp_command):
    def outputs(seed):
        flat = "0,0,0\n" * 50
        result = osp_command("decode", "--space", "simplex", "-p", "d=3", "--seed", seed, input=flat)
        return [answer["output"] for answer in lines(result)]

    assert outputs("1") == outputs("1") != outputs("2")
    assert set(outputs("1")) == {0, 1, 2}


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".jsonl", ".npz", ".txt"])
def test_scores_are_read_from_files(osp_command, tmp_path, ending):
    scores = np.array([[1.0, 2.0], [4.0, 3.0]])
    path = tmp_path / f"scores{ending}"
    if ending == ".npz":
        np.savez(path, X=scores)
    elif ending == ".jsonl":
        path.write_text("\n".join(json.dumps(row) for row in scores.tolist()))
    else:
        separator = "\t" if ending == ".tsv" else ","
        path.write_text("\n".join(separator.join(map(str, row)) for row in scores))
    result = osp_command("decode", "--space", "simplex", "-p", "d=2", "--file", str(path), "--deterministic")
    assert [answer["output"] for answer in lines(result)] == [1, 0]


def test_a_model_finds_its_features_by_name_whatever_their_order(osp_command, model, tmp_path):
    (tmp_path / "new.csv").write_text("note,out,in\nx,5,30\ny,30,5\n")
    answers = lines(
        osp_command("decode", "--model", str(model), "--file", str(tmp_path / "new.csv"), "--deterministic")
    )
    assert [answer["output"] for answer in answers] == ["warm", "cold"]
    text = '{"out": 5, "in": 30}\n[5, 30]\n30, 5\n'
    answers = lines(osp_command("decode", "--model", str(model), "--deterministic", input=text))
    assert [answer["output"] for answer in answers] == ["warm", "cold", "warm"]


def test_a_model_says_what_its_predictor_says(model):
    saved = load_model(model)
    assert saved.columns == ("in", "out")
    newest = max((model / "checkpoints").iterdir())
    predictor = osp.OnlinePredictor.load(newest)
    raw = np.array([18.0, 6.0])
    x = np.append((raw - saved.centre) / np.array(saved.spread), 1.0)
    np.testing.assert_array_equal(saved.law(raw).mean, predictor.law(x).mean)
    assert load_model(newest).law(raw).p == saved.law(raw).p
    far = saved.law(np.array([1e6, 0.0]))  # beyond the bound of the run
    assert predictor.space.to_label(far.nearest) == "warm"


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".jsonl"])
def test_labelled_rows_are_written_with_what_the_rows_had(osp_command, model, tmp_path, ending):
    (tmp_path / "new.csv").write_text('note,in,out\n"a, b",30,5\n,5.50,30\n')
    output = tmp_path / f"labelled{ending}"
    arguments = ["decode", "--model", str(model), "--file", str(tmp_path / "new.csv"), "--deterministic"]
    result = osp_command(*arguments, "--output", str(output))
    assert (result.exit_code, result.stdout) == (0, ""), result.stderr
    if ending == ".jsonl":
        rows = [json.loads(line) for line in output.read_text().splitlines()]
        expected = [30.0, 5.5]
    else:
        with open(output, newline="") as file:
            rows = list(csv.DictReader(file, delimiter="\t" if ending == ".tsv" else ","))
        expected = ["30", "5.50"]
    assert [row["note"] for row in rows] == ["a, b", ""]
    assert [row["in"] for row in rows] == expected
    assert [row["prediction"] for row in rows] == ["warm", "cold"]
    again = osp_command(*arguments, "--output", str(output))
    assert again.exit_code == 2
    assert "exists already" in again.stderr
    assert osp_command(*arguments, "--output", str(output), "--overwrite").exit_code == 0


def test_a_labelled_file_can_be_learned_from(osp_command, tmp_path):
    scores = "3,1,2\n1,2,3\n2,3,1\n"
    osp_command(
        "decode", "--space", "permutahedron", "-p", 'items=["a","b","c"]', "--deterministic",
        "--output", str(tmp_path / "ranked.csv"), input=scores,
    )  # fmt: skip
    assert (tmp_path / "ranked.csv").read_text().splitlines()[1] == "1,a>c>b"
    data = ["--data", str(tmp_path / "ranked.csv"), "--label", "prediction"]
    result = osp_command(
        "run", "--space", "permutahedron", *data, "--out", str(tmp_path / "o"), "--no-report"
    )
    assert result.exit_code == 0, result.stderr


def test_an_error_in_the_middle_leaves_the_old_file_and_nothing_else(osp_command, model, tmp_path):
    (tmp_path / "new.csv").write_text("in,out\n1,2\n1,oops\n")
    output = tmp_path / "labelled.csv"
    output.write_text("precious")
    before = sorted(path.name for path in tmp_path.iterdir())
    arguments = ["decode", "--model", str(model), "--file", str(tmp_path / "new.csv")]
    result = osp_command(*arguments, "--output", str(output), "--overwrite")
    assert result.exit_code == 2
    assert "new.csv:3: column 'out' must be a number" in result.stderr
    assert output.read_text() == "precious"
    assert sorted(path.name for path in tmp_path.iterdir()) == before
    result = osp_command(*arguments, "--output", str(output), "--overwrite", "--on-error", "skip")
    assert result.exit_code == 0
    assert len(output.read_text().splitlines()) == 2


@pytest.mark.parametrize(
    ("arguments", "text", "message"),
    [
        (["--space", "simplex", "-p", "d=3"], "1,2\n", "standard input:1: expected 3 numbers, got 2."),
        (
            ["--space", "simplex", "-p", "d=2"],
            "1,x\n",
            "standard input:1: expected 2 numbers separated by commas, got '1,x'.",
        ),
        (["--space", "simplex", "-p", "d=2"], "1,2\n1,NaN\n", "standard input:2: expected finite numbers"),
        (["--space", "simplex", "-p", "d=2"], '{"a": 1}\n', "standard input:1: expected a list of 2 numbers"),
        (["--space", "simplex", "-p", "d=2"], "[[1], [2]]\n", "standard input:1: expected 2 numbers"),
        (["--space", "simplex", "--file", "none.csv"], "", "none.csv: there is no such file."),
        (["--model", "nowhere"], "", "There is no checkpoint at 'nowhere'."),
        (["--model", "m", "--decoder", "nearest"], "", "A model has its space and its decoder"),
        (["--space", "simplex", "--model", "m"], "", "Give either --space"),
        (
            ["--space", "simplex", "-p", "d=2", "--output", "x.pdf"],
            "1,2\n",
            "x.pdf: the name must end in one of",
        ),
    ],
)
def test_mistakes_are_one_line_and_exit_code_2(osp_command, arguments, text, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    if "none.csv" in arguments:
        arguments = [*arguments, "-p", "d=2"]
    result = osp_command("decode", *arguments, input=text)
    assert result.exit_code == 2
    assert result.stderr.startswith(f"Error: {message}")
    assert result.stderr.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_a_model_says_which_features_are_missing(osp_command, model, tmp_path):
    (tmp_path / "new.csv").write_text("in,outside\n1,2\n")
    result = osp_command("decode", "--model", str(model), "--file", str(tmp_path / "new.csv"))
    assert result.exit_code == 2
    assert "new.csv:1: there is no column 'out'; the columns are 'in', 'outside'." in result.stderr


def test_a_damaged_checkpoint_is_passed_over_for_the_one_before(model, tmp_path):
    config = RunConfig.from_toml(model / "run.toml")
    execute(config, tmp_path / "more", resume=False)
    place = tmp_path / "more" / "checkpoints"
    sound = max(place.iterdir())
    (place / "round-000000009999.ckpt").write_bytes(b"junk")
    assert (
        load_model(tmp_path / "more").law(np.array([1.0, 2.0])).p
        == load_model(sound).law(np.array([1.0, 2.0])).p
    )
    sound.unlink()
    with pytest.raises(osp.CheckpointError):
        load_model(tmp_path / "more")


@pytest.mark.parametrize("ending", [".csv", ".jsonl", ".npz"])
def test_models_of_files_without_names_take_features_in_their_order(osp_command, tmp_path, ending):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 2))
    labels = np.where(X[:, 0] > X[:, 1], "u", "v")
    new = np.array([[2.0, -2.0], [-2.0, 2.0]])
    train, fresh = tmp_path / f"train{ending}", tmp_path / f"new{ending}"
    if ending == ".csv":
        train.write_text("".join(f"{y},{a},{b}\n" for y, (a, b) in zip(labels, X, strict=True)))
        fresh.write_text("2,-2\n-2,2\n")
    elif ending == ".jsonl":
        lines_of = [{"x": x, "0": y} for x, y in zip(X.tolist(), labels.tolist(), strict=True)]
        train.write_text("\n".join(map(json.dumps, lines_of)))
        fresh.write_text("\n".join(json.dumps({"x": x}) for x in new.tolist()))
    else:
        np.savez(train, **{"X": X, "0": labels})
        np.savez(fresh, X=new)
    options = ["--space", "simplex", "--data", str(train), "--label", "0", "--no-report"]
    assert osp_command("run", *options, "--out", str(tmp_path / "out")).exit_code == 0
    for file in (fresh, train) if ending == ".csv" else (fresh,):
        arguments = ["decode", "--model", str(tmp_path / "out"), "--file", str(file), "--deterministic"]
        answers = lines(osp_command(*arguments))
        expected = ["u", "v"] if file == fresh else labels.tolist()
        found = [answer["output"] for answer in answers]
        assert np.mean([a == b for a, b in zip(found, expected, strict=True)]) > 0.9


FORMULAS = ["=cmd|' /C calc'!A0", "+1+1", "-2+3", "@SUM(A1)", "＝1+1"]
PLAIN = ["-1.5", "+3", "1e5", "a=b", "'x", ""]


@pytest.fixture
def spreadsheet(tmp_path):
    """Rows whose cells a spreadsheet would compute, and the scores of two classes of that kind."""
    rows = [["note", "=name()", "s0", "s1"]]
    rows += [[cell, cell, str(i % 2), "-0.5"] for i, cell in enumerate([*FORMULAS, *PLAIN])]
    with open(tmp_path / "train.csv", "w", newline="") as file:
        csv.writer(file).writerows(
            [[*row, "y"] if i == 0 else [*row, f"=class{i % 2}"] for i, row in enumerate(rows)]
        )
    config = RunConfig(space="simplex", data=str(tmp_path / "train.csv"), label="y", features=("s0", "s1"))
    execute(config, tmp_path / "run")
    return [
        "decode",
        "--model",
        str(tmp_path / "run"),
        "--file",
        str(tmp_path / "train.csv"),
        "--deterministic",
    ]


@pytest.mark.parametrize("ending", ["csv", "tsv"])
def test_what_a_spreadsheet_would_compute_is_written_as_text(osp_command, spreadsheet, tmp_path, ending):
    output = tmp_path / f"o.{ending}"
    assert osp_command(*spreadsheet, "--output", str(output)).exit_code == 0
    with open(output, newline="") as file:
        header, *rows = csv.reader(file, delimiter="\t" if ending == "tsv" else ",")
    assert header == ["note", "'=name()", "s0", "s1", "y", "prediction"]
    assert [row[0] for row in rows] == [*(f"'{cell}" for cell in FORMULAS), *PLAIN]
    assert {row[3] for row in rows} == {"-0.5"}
    assert {row[5] for row in rows} <= {"'=class0", "'=class1"}


def test_rows_are_written_as_they_are_on_request_and_where_nothing_is_computed(
    osp_command, spreadsheet, tmp_path
):
    assert osp_command(*spreadsheet, "--output", str(tmp_path / "o.csv"), "--raw").exit_code == 0
    with open(tmp_path / "o.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["note"] for row in rows] == [row["=name()"] for row in rows] == [*FORMULAS, *PLAIN]
    assert osp_command(*spreadsheet, "--output", str(tmp_path / "o.jsonl")).exit_code == 0
    written = [json.loads(line) for line in (tmp_path / "o.jsonl").read_text().splitlines()]
    assert [row["note"] for row in written] == [*FORMULAS, *PLAIN]
    refused = osp_command(*spreadsheet, "--raw")
    assert (refused.exit_code, "--raw" in refused.stderr) == (2, True)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"in": 1, "in": 2, "out": 3}\n', "standard input:1: the key 'in' is there twice"),
        ('{"in": 1, "out": 3, "note": "\\ud800"}\n', "standard input:1: column 'note'"),
    ],
)
def test_ambiguous_and_unwritable_lines_are_refused(osp_command, model, text, message):
    result = osp_command("decode", "--model", str(model), input=text)
    assert (result.exit_code, message in result.stderr) == (2, True), result.stderr


def test_a_parameter_with_a_key_that_is_there_twice_is_refused(osp_command):
    result = osp_command("decode", "--space", "simplex", "-p", 'd={"a": 1, "a": 2}', input="1,2\n")
    assert (result.exit_code, "d: the key 'a' is there twice" in result.stderr) == (2, True), result.stderr
