"""What a report knows of a run."""

import dataclasses

import numpy as np
import pytest

import osp_core as osp
from osp_core.online.trace import Trace
from osp_core.report import evidence as module
from osp_core.report import gather
from osp_core.testing import learner_factories


def test_the_comparator_is_judged_round_by_round(evidence):
    run = evidence(rounds=50)
    space = run.predictor.space
    stream = osp.make_stream("linear_teacher", space=space, rounds=50, n_features=3, seed=0)
    X, Y = stream.arrays()
    best = osp.best_comparator(space, X, Y, run.predictor.certificate)
    assert run.hindsight.losses[-1] == pytest.approx(best.surrogate_loss, rel=1e-3)
    assert run.hindsight.norm == pytest.approx(np.linalg.norm(best.weights), rel=1e-3)
    assert run.regret[-1] == pytest.approx(run.trace.regret(best), abs=0.05)
    assert (np.diff(run.hindsight.losses) >= 0).all()
    assert len(run.regret) == len(run.trace) == 50


def test_the_bound_is_that_of_the_predictor_for_this_comparator(evidence):
    run = evidence()
    expected = run.predictor.guarantee(norm_U=run.hindsight.norm)
    assert run.bound == expected
    assert run.regret_holds is True
    assert run.lemma_holds is True


def test_a_refused_bound_leaves_its_reason(evidence):
    statements = {one.kind: one for one in evidence().statements}
    assert statements["nonstationary"].bound is None
    assert "OGD" in statements["nonstationary"].reason


def test_a_violation_is_seen(evidence):
    run = evidence()
    rows = np.column_stack([getattr(run.trace, name) for name in ("target_loss", "expected_loss")])
    rows = np.column_stack([rows, run.trace.surrogate_loss, run.trace.p, run.trace.gap])
    rows[7, 1] += 2 * rows[7, 2] + 1.0  # one round breaks Lemma 4
    assert dataclasses.replace(run, trace=Trace.of(rows)).lemma_holds is False
    rows[7, 1] += run.bound.value + run.hindsight.losses[7]
    assert dataclasses.replace(run, trace=Trace.of(rows)).regret_holds is False


@pytest.mark.parametrize("name", [record.name for record in osp.list_learners()])
def test_there_is_evidence_with_every_learner(evidence, name):
    assert evidence(learner=learner_factories(name)[0](), rounds=10).hindsight is not None


def test_the_comparator_of_a_bounded_learner_lies_in_its_ball(evidence):
    run = evidence(learner=osp.make_learner("adaptive_ogd", diameter=0.5))
    assert run.hindsight.norm == pytest.approx(0.25)
    assert run.bound is not None
    ball = evidence(learner=osp.make_learner("ogd", radius=0.125))
    assert ball.hindsight.norm == pytest.approx(0.125)


def test_a_fit_to_a_part_of_the_rounds_is_judged_on_all(evidence, monkeypatch):
    whole = evidence(rounds=120)
    monkeypatch.setattr(module, "FITTED_ROUNDS", 30)
    part = evidence(rounds=120)
    assert len(part.hindsight.losses) == 120
    right = [run.hindsight.losses[-1] + run.bound.value for run in (whole, part)]
    assert right[0] <= right[1] <= 1.2 * right[0]  # the best one is best, the other one good


def test_without_time_the_curve_ends_early_and_is_true(evidence, monkeypatch):
    monkeypatch.setattr(module, "CHUNK", 10)
    run = evidence(rounds=60, time_limit=-1.0)
    assert len(run.hindsight.losses) == len(run.regret) == 10
    assert run.regret_holds is True
    assert len(run.watched) == 1


def test_a_stream_that_cannot_be_read_again_has_no_comparator(evidence):
    run = evidence()

    def gone():
        raise osp.OspError("the file has gone")

    again = gather(run.predictor, run.trace, gone)
    assert again.hindsight is None
    assert again.regret is None
    assert again.regret_holds is None
    assert "the file has gone" in again.reason


def test_no_rounds_are_no_failure():
    space = osp.make_space("simplex", d=3)
    run = gather(osp.OnlinePredictor(space, 2), Trace(), lambda: iter(()))
    assert run.hindsight is None
    assert run.reason == "No round was played."


def test_the_draws_have_the_mean_of_their_law(evidence):
    run = evidence("k_subsets", params={"d": 5, "k": 2}, rounds=100)
    law, played = (np.array([getattr(one, name) for one in run.watched]) for name in ("law", "mean_played"))
    means = np.array([one.mean for one in law])
    # 100 inputs with 10 draws each: the standard error of an entry is at most 0.5/√1000.
    assert np.abs(means.mean(axis=0) - played.mean(axis=0)).max() < 5 * 0.5 / np.sqrt(1000)


def test_sparse_inputs_are_read(rng):
    from scipy.sparse import csr_matrix

    space = osp.make_space("simplex", d=3)
    X = csr_matrix(rng.random((20, 4)) * (rng.random((20, 4)) < 0.5) / 2)
    pairs = [(X[i : i + 1], int(rng.integers(3))) for i in range(20)]
    predictor = osp.OnlinePredictor(space, 4)
    trace = osp.run(predictor, pairs)
    run = gather(predictor, trace, lambda: iter(pairs))
    assert len(run.regret) == 20
    assert run.regret_holds is True
