"""The campaign refutes nothing that is true, and would refute what is not."""

import numpy as np
import pytest
from theory.campaign import campaign, full_plan, quick_plan
from theory.campaign_chance import check_frequency
from theory.campaign_ledger import Ledger
from theory.campaign_rounds import examine_rounds
from theory.campaign_runs import STREAMS, examine_run
from theory.campaign_spaces import WRAPPERS, Case

import osp_core as osp
from osp_core.guarantees import Bound
from osp_core.registry import load_factory

SHARDS = 8


@pytest.fixture(scope="module")
def quick():
    return campaign(quick_plan)


def test_a_short_campaign_refutes_nothing(quick):
    quick.assert_nothing_is_refuted()


def test_a_short_campaign_tries_something_of_every_kind(quick):
    assert {record.name for record in osp.list_spaces() if record.available} <= set(quick.rows)
    for name in (*WRAPPERS, "RandomizedDecoder", "BlockwiseDecoder", "decision_regret", "batch repetitions"):
        assert quick.exercised[name] > 0, name
    assert quick.evaluations > 50_000
    assert quick.comparisons > 200


def test_equal_seeds_try_the_same_and_others_something_else():
    tables = [campaign(quick_plan, seed=seed, only="ordinal").table() for seed in (1, 1, 2)]
    assert tables[0] == tables[1]
    assert tables[0].split("seed")[0] != tables[2].split("seed")[0]


@pytest.mark.soak
@pytest.mark.parametrize("shard", range(SHARDS))
def test_a_long_campaign_refutes_nothing(shard):
    ledger = campaign(full_plan, shard=shard, shards=SHARDS)
    print(f"\nshard {shard} of {SHARDS}\n{ledger.table()}")
    ledger.assert_nothing_is_refuted()
    assert ledger.evaluations >= 1_000_000 / SHARDS
    assert ledger.comparisons >= 10_000 / SHARDS
    assert all(ledger.exercised[kind] for kind in STREAMS)


# --- planted faults: what the campaign is there to find ------------------------------------------------


def found_on(space):
    """The violations that the round certificates of a space show."""
    ledger = Ledger(3)
    examine_rounds(Case("planted", "planted", lambda: space), ledger)
    return "\n".join(ledger.violations)


class Corners(osp.ZeroOneSpace):
    """Ordinal outputs, on which Lemma 4 is tight."""

    dim = 3
    nu1 = 1.0

    def lmo(self, cost):
        return (np.arange(3) < np.argmin(np.concatenate([[0.0], np.cumsum(cost)]))).astype(float)


def test_a_sound_space_is_not_refuted():
    assert found_on(Corners()) == ""


@pytest.mark.parametrize(("name", "value"), [("nu", 1.3), ("lam", 1.3)])
def test_a_constant_that_is_too_large_is_found(name, value):
    space = Corners()
    setattr(space, name, value)
    assert "E L > ratio·(S + gap)" in found_on(space)


def test_a_gradient_ratio_that_is_too_small_is_found():
    class Steep(Corners):
        def gradient_ratio(self):
            return 1.5  # it is 2

    assert "‖ŷ − y‖² > ratio·(S + gap) in ℓ2" in found_on(Steep())


def test_a_prediction_for_another_regularizer_is_found():
    class Stale(Corners):
        def project(self, point):
            return super().project(point / 2.0)  # that of SquaredNorm(2)

    assert "a point beats ŷ by more than the gap" in found_on(Stale())


def test_a_block_that_keeps_an_old_regularizer_is_found():
    hypercube = load_factory("space", "hypercube")

    class Forgetful(hypercube):
        def blocks(self):
            return hypercube(self.dim, psi=osp.SquaredNorm(1.0)).blocks()

    found = found_on(Forgetful(3, psi=osp.SquaredNorm(0.05)))
    assert "E L > ratio·(S + gap) for BlockwiseDecoder and hamming" in found


def test_a_learner_that_promises_too_much_is_found(monkeypatch):
    monkeypatch.setattr(osp.OGD, "bound", lambda self, gap, run, norm_U: Bound(0.0, (), surrogate_factor=0.0))
    ledger, case = Ledger(3), Case("planted", "planted", lambda: osp.make_space("simplex", d=4))
    for number in range(8):
        examine_run(case, ledger, number)
    assert any("ΣE L > 0·ΣS(U) + bound" in text for text in ledger.violations)


def test_a_bound_that_fails_more_often_than_it_may_is_found():
    ledger = Ledger(0)
    check_frequency("planted", ledger, "a bound", 30, 200, 0.1)  # 20 are expected, 30 are chance
    assert not ledger.violations
    check_frequency("planted", ledger, "a bound", 60, 200, 0.1)
    assert len(ledger.violations) == 1


def test_a_violation_is_told_with_its_seed_and_all_digits():
    ledger = Ledger(77)
    ledger.violate("some case", "something is wrong", theta=np.array([1 / 3, 1e-9]))
    with pytest.raises(AssertionError, match=r"seed 77(.|\n)*some case(.|\n)*0.3333333333333333"):
        ledger.assert_nothing_is_refuted()
