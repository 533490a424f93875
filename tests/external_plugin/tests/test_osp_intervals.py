"""What the author of a plugin tests: the kit does most of it."""

import itertools
import json

import numpy as np
import pytest
from click.testing import CliRunner
from osp_intervals.learner import ConservativeOGD
from osp_intervals.space import Intervals

import osp_core as osp
from osp_core.cli import main
from osp_core.report import Example, draw_output
from osp_core.report.figures import Words
from osp_core.runs import RunConfig, execute, load_model
from osp_core.testing import check_learner, check_space


def by_name(records):
    return {record.name: record for record in records}


@pytest.mark.parametrize("space", Intervals.examples(), ids=repr)
def test_the_space_conforms(space):
    check_space(space)


def test_the_learner_conforms():
    check_learner(ConservativeOGD)


def test_the_plugin_is_found_through_its_entry_point():
    assert by_name(osp.list_spaces())["intervals"].plugin == "intervals"
    assert by_name(osp.list_learners())["conservative_ogd"].available
    assert by_name(osp.list_streams())["moving_interval"].available
    assert by_name(osp.list_decoders())["doubtful"].available
    assert by_name(osp.list_targets())["missed_cells"].available
    assert by_name(osp.list_formats())["intervals"].available
    assert osp.make_space("intervals", n=5).dim == 5


def test_the_command_checks_the_space():
    result = CliRunner().invoke(main, ["check", "intervals"])
    assert result.exit_code == 0, result.output


@pytest.mark.parametrize("n", [1, 2, 5, 7])
def test_the_oracle_agrees_with_trying_all_intervals(n):
    space, rng = Intervals(n), np.random.default_rng(n)
    for _ in range(50):
        cost = rng.standard_normal(n) * 10.0 ** rng.integers(-8, 9)
        cheapest = min(
            [0.0, *(cost[i:j].sum() for i, j in itertools.combinations(range(n + 1), 2))],
        )
        assert space.lmo(cost) @ cost == pytest.approx(cheapest, abs=1e-9 * np.abs(cost).sum())


def test_labels_are_pairs_or_empty():
    space = Intervals(4)
    assert space.from_label((1, 2)).tolist() == [0, 1, 1, 0]
    assert space.to_label(np.array([0.0, 0, 0, 1])) == (3, 3)
    assert space.to_label(space.from_label(())) == ()
    for wrong in ((2, 1), (0, 4), (-1, 2), (1,), "12", None):
        with pytest.raises(osp.NotAVertexError):
            space.from_label(wrong)


def test_the_number_of_cells_is_found_in_the_labels_of_a_file(tmp_path):
    rows = "".join(f"{i},{-i},{label}\n" for i, label in enumerate(["0-1", "2-4", "3-3"]))
    (tmp_path / "d.csv").write_text("f,g,label\n" + rows)
    result = execute(RunConfig(space="intervals", data=str(tmp_path / "d.csv")), tmp_path / "out")
    assert result.prepared.config.params == {"n": 5}
    assert result.summary["rounds"] == 3


def test_a_report_draws_the_cells_by_name():
    space = Intervals(3)
    y = space.from_label((1, 2))
    words = {shape.text for shape in draw_output(space, Example(y, y, y)).shapes if isinstance(shape, Words)}
    assert words == {"cell 0 0.00", "cell 1 1.00", "cell 2 1.00"}


def test_a_stream_is_learned_within_the_bound_of_the_learner():
    space = osp.make_space("intervals", n=5)
    stream = osp.make_stream("moving_interval", space=space, rounds=300, seed=1)
    predictor = osp.OnlinePredictor(
        space, stream.n_features, learner=osp.make_learner("conservative_ogd"), seed=2
    )
    trace = osp.run(predictor, stream)
    X, Y = stream.arrays()
    comparator = osp.best_comparator(space, X, Y, predictor.certificate)
    bound = predictor.guarantee(norm_U=float(np.linalg.norm(comparator.weights)))
    assert trace.regret(comparator) <= bound.value
    assert "no update in rounds without expected loss" in bound.premises
    assert trace.expected_loss[150:].sum() < trace.expected_loss[:150].sum()


def test_the_learner_rests_when_nothing_was_lost():
    learner = ConservativeOGD(step_size=1.0)
    learner.start((2, 1))
    gradient = osp.LinearModel(1).gradient(np.array([1.0, -1.0]), osp.LinearModel(1).read([1.0], 2))
    learner.update(gradient, loss=0.5, expected_loss=0.0)
    assert not learner.weights.any()
    assert learner.rounds == 1
    learner.update(gradient, loss=0.5, expected_loss=0.1)
    assert learner.weights.ravel().tolist() == [-1.0, 1.0]


def test_late_feedback_has_no_bound():
    space = Intervals(3)
    predictor = osp.OnlinePredictor(space, 1, learner=ConservativeOGD(), seed=0)
    first, second = predictor.play([1.0]), predictor.play([0.5])
    predictor.learn(first, (0, 1))
    predictor.learn(second, ())
    with pytest.raises(osp.GuaranteeError, match="late feedback"):
        predictor.guarantee()


@pytest.mark.parametrize("kind", ["high_probability", "online_to_batch", "nonstationary"])
def test_what_was_not_proved_is_not_promised(kind):
    predictor = osp.OnlinePredictor(Intervals(3), 1, learner=ConservativeOGD(), seed=0)
    predictor.step([1.0], (0, 1))
    with pytest.raises(osp.GuaranteeError, match=kind):
        predictor.guarantee(kind)


def test_the_stream_refuses_another_space():
    with pytest.raises(osp.InvalidInputError, match="intervals"):
        osp.make_stream("moving_interval", space=osp.make_space("simplex", d=3), rounds=2)


@pytest.fixture
def data(tmp_path):
    space = osp.make_space("intervals", n=5)
    stream = osp.make_stream("moving_interval", space=space, rounds=60, n_features=2, seed=1)
    lines = [f"{x[0]} {x[1]} | {y[0]} {y[1]}" for x, y in stream]
    (tmp_path / "d.intervals").write_text("a b | label\n" + "\n".join(lines) + "\n")
    return tmp_path / "d.intervals"


def test_a_run_of_foreign_parts_is_learned_reported_and_loaded_again(data, tmp_path):
    options = {
        "--space": "intervals", "-p": "n=5", "--data": data, "--learner": "conservative_ogd",
        "--learner-param": "step_size=0.25", "--decoder": "doubtful", "--decoder-param": "doubt=0.3",
        "--target": "missed_cells", "--target-param": "miss=3.0", "--out": tmp_path / "out",
    }  # fmt: skip
    words = [str(word) for pair in options.items() for word in pair]
    result = CliRunner().invoke(main, ["run", *words, "--json"])
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["decoder"] == "Doubtful"
    assert "missed_cells" in (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    predictor = load_model(tmp_path / "out").predictor
    assert (predictor.learner.step_size, predictor.decoder.doubt, predictor.target.miss) == (0.25, 0.3, 3.0)
    predictor.save(tmp_path / "again.ckpt")
    loaded = osp.OnlinePredictor.load(tmp_path / "again.ckpt")
    assert (loaded.learner.step_size, loaded.decoder.doubt, loaded.target.miss) == (0.25, 0.3, 3.0)
    assert loaded.learner.weights.tobytes() == predictor.learner.weights.tobytes()
    assert loaded.decoder.space is loaded.target.space is loaded.space


def test_a_bad_line_of_the_foreign_format_is_named(data, tmp_path):
    data.write_text("a b | label\n1 2 | 0 1\n1 2 | zero one\n")
    words = ["--space", "intervals", "-p", "n=5", "--data", str(data), "--out", str(tmp_path / "out")]
    result = CliRunner().invoke(main, ["run", *words])
    assert result.exit_code == 2
    assert "d.intervals:3: an interval is two whole numbers" in result.stderr
