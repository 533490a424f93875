"""The quick version of every experiment: whatever inequality it checks must hold."""

import math

import pytest

import osp_core as osp
from osp_core import experiments

RESULTS = {}


def result(name):
    if name not in RESULTS:
        RESULTS[name] = experiments.run(name, quick=True)
    return RESULTS[name]


@pytest.mark.parametrize("name", experiments.list_experiments())
def test_everything_that_is_checked_holds(name):
    assert result(name).holds, result(name).table()
    assert any("holds" in row for row in result(name).rows)


def test_an_experiment_repeats_itself():
    again = experiments.run("learners_compared", quick=True)
    assert again.rows == result("learners_compared").rows


def test_every_example_of_the_paper_is_measured():
    spaces = {row["space"] for row in result("regret_vs_bound").rows}
    assert {"multiclass", "multilabel", "ranking", "ordinal", "permutations"} <= spaces
    assert {"subsets", "spanning trees"} <= spaces


def test_exploration_pays_for_every_class_and_randomized_decoding_does_not():
    rows = result("exploration_gap").rows
    of = {(row["decoder"], row["classes"]): row["coefficient"] for row in rows}
    assert of["RandomizedDecoder", 32] == pytest.approx(of["RandomizedDecoder", 2])
    assert of["UniformExploration", 32] == pytest.approx(16 * of["UniformExploration", 2])


def test_either_half_of_the_decoder_fails_alone():
    rows = result("why_mix").rows

    def worst(example, decoder):
        return max(row["ratio"] for row in rows if (row["example"], row["decoder"]) == (example, decoder))

    # Nearest-only: nothing of the gap is left with the logistic loss, twice too much with the Euclidean.
    assert worst("logistic", "NearestDecoder") > 0.9998
    assert worst("euclidean", "NearestDecoder") == pytest.approx(8.0, rel=1e-4)
    # Random-only: unbounded where the loss is quadratic.
    assert worst("euclidean", "SamplingDecoder") > 1000
    assert worst("logistic", "RandomizedDecoder") <= math.log(2)
    assert worst("euclidean", "RandomizedDecoder") == pytest.approx(4.0)


def test_the_constant_four_is_reached_and_the_papers_example_needs_2_98692():
    rows = result("tightness").rows
    worst = {}
    for row in rows:
        worst[row["example"]] = max(worst.get(row["example"], 0.0), row["constant"])
    assert worst["{0, 1}, Euclidean"] == pytest.approx(4.0, rel=1e-12)
    assert worst["two classes, logistic"] == pytest.approx(2.98692, abs=5e-6)
    for space in ("multilabel", "ordinal", "permutations", "subsets", "spanning trees"):
        assert worst[f"{space}, searched"] > 3.9


def test_the_risk_of_separable_data_falls_with_the_rounds():
    risks = [row["risk"] for row in result("online_to_batch").rows if row["stream"] == "separable"]
    assert risks == sorted(risks, reverse=True)


def test_the_printed_floor_is_above_the_true_one_for_two_classes():
    row = next(row for row in result("lower_bound").rows if row["classes"] == 2)
    assert row["floor"] < row["regret"] < row["claimed_floor"]


def test_tables_are_written(tmp_path):
    written = result("lower_bound").save(tmp_path / "out")
    assert {"lower_bound.csv", "lower_bound.md"} <= {path.name for path in written}
    table = (tmp_path / "out" / "lower_bound.md").read_text(encoding="utf-8")
    assert "| classes |" in table
    assert "yes" in table
    assert (tmp_path / "out" / "lower_bound.csv").read_text(encoding="utf-8").count("\n") == 3


def test_an_unknown_experiment_lists_the_known_ones():
    with pytest.raises(osp.UnknownNameError, match="regret_vs_bound"):
        experiments.run("regrets")
