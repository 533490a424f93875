"""The premises of a target: 0 at the truth, never negative, γ large enough; refused where they are false."""

import itertools

import numpy as np
import pytest

import osp_core as osp
from osp_core.targets import NormalizedGain, RoundLoss
from osp_core.targets.premises import examine, fitting_targets

PAIRS = osp.Vertices([[1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 0, 1]])
LARGE = osp.make_space("k_subsets", d=40, k=10)  # too many outputs to look at all


def as_before(loss):
    """The same formula without what is known of it by form."""
    return lambda y: loss.cost(y), lambda y: loss.constant(y)


SHIFTED = (lambda y: 1.0 - y, lambda y: 0.25)
NEGATIVE = (lambda y: -y - 2 * np.eye(y.size)[0], lambda y: float(y @ y + 2 * y[0]))
FALSE = {
    "not zero at the truth": (SHIFTED, "instead of 0"),
    "below zero at the truth": ((lambda y: 1.0 - y, lambda y: -0.25), "instead of 0"),
    "negative elsewhere": (NEGATIVE, "negative"),
    "NaN": ((lambda y: np.full(y.size, np.nan), lambda y: 0.0), "finite"),
    "an infinite constant": ((lambda y: 0.0 * y, lambda y: np.inf), "finite"),
    "too short": ((lambda y: y[:-1], lambda y: 0.0), "length"),
    "a matrix": ((lambda y: np.outer(y, y), lambda y: 0.0), "length"),
    "no number": ((lambda y: None, lambda y: 0.0), "cost"),
    "an error of its own": ((lambda y: 1 / 0, lambda y: 0.0), "division by zero"),
}


@pytest.mark.parametrize("space", [PAIRS, LARGE], ids=["all outputs", "some outputs"])
@pytest.mark.parametrize("name", FALSE)
@pytest.mark.parametrize("gamma", [None, 30.0])
def test_a_target_whose_premises_are_false_is_refused_before_anything_is_certified(space, name, gamma):
    functions, words = FALSE[name]
    target = osp.AffineLoss(*functions, gamma=gamma, name="mine")
    for make in (
        lambda: osp.surrogate_gap(space, target),
        lambda: osp.OnlinePredictor(space, 2, target=target),
    ):
        with pytest.raises(osp.GuaranteeError, match=words) as refused:
            make()
        assert "mine" in str(refused.value)
        assert repr(space) in str(refused.value)


@pytest.mark.parametrize("gamma", [-1.0, np.nan, np.inf, "large", 1e101])
def test_gamma_is_a_finite_number_that_is_not_negative(gamma):
    makers = (
        lambda: osp.AffineLoss(*SHIFTED, gamma=gamma),
        lambda: osp.AffineLoss.bilinear(np.eye(2), gamma=gamma),
        lambda: osp.table([[0.0, 1.0], [1.0, 0.0]], gamma=gamma),
        lambda: osp.decision_regret(PAIRS, gamma=gamma),
    )
    for make in makers:
        with pytest.raises(osp.InvalidInputError, match="gamma"):
            make()


@pytest.mark.parametrize("space", [PAIRS, LARGE], ids=["all outputs", "some outputs"])
def test_a_stated_gamma_that_an_output_exceeds_is_refused_with_the_slope_that_was_seen(space):
    functions = as_before(osp.hamming)
    with pytest.raises(osp.GuaranteeError, match=r"gamma = 0\.0001 .* times"):
        osp.surrogate_gap(space, osp.AffineLoss(*functions, gamma=1e-4))
    assert osp.surrogate_gap(space, osp.AffineLoss(*functions, gamma=1.0)).certified


class OwnGamma(osp.AffineLoss):
    """A stranger's target, which knows its γ better, and is wrong."""

    def gamma(self, space):
        return 0.0


def test_a_gamma_method_of_ones_own_is_checked_as_a_stated_number_is():
    for space in (PAIRS, LARGE):
        with pytest.raises(osp.GuaranteeError, match="gamma = 0"):
            osp.surrogate_gap(space, OwnGamma(*as_before(osp.hamming)))


def test_the_premises_are_those_of_brute_force_on_small_spaces(rng):
    """An oracle over all pairs, for random bilinear losses that are mostly no losses at all."""
    spaces = (PAIRS, osp.make_space("k_subsets", d=4, k=2), osp.make_space("ordinal", d=3))
    verdicts = []
    for space, _ in itertools.product(spaces, range(40)):
        # c(y) = −⟨y, Vy⟩ makes it 0 at the truth; it is non-negative where each y is best for its own cost.
        V = np.eye(space.dim) * rng.uniform(-2, 0.2) + 0.4 * rng.standard_normal((space.dim, space.dim))
        target = osp.AffineLoss.bilinear(V, 0.0, lambda y, V=V: -float(y @ V @ y))
        outputs = space.vertices()
        least = min(float(u @ V @ y - y @ V @ y) for u in outputs for y in outputs)
        try:
            examine(target, space)
            verdicts.append(True)
        except osp.GuaranteeError:
            verdicts.append(False)
        assert verdicts[-1] == (least >= -1e-12)
    assert 10 < sum(verdicts) < len(verdicts) - 10


FIT = {
    "simplex": (lambda: osp.make_space("simplex", d=5), "zero_one hamming absolute mismatch alignment"),
    "hypercube": (lambda: osp.make_space("hypercube", d=5), "hamming absolute"),
    "ordinal": (lambda: osp.make_space("ordinal", d=5), "hamming absolute"),
    "k_subsets": (
        lambda: osp.make_space("k_subsets", d=5, k=2),
        "zero_one hamming absolute mismatch alignment",
    ),
    "permutahedron": (lambda: osp.make_space("permutahedron", d=5), "alignment"),
    "birkhoff": (
        lambda: osp.make_space("birkhoff", n=3),
        "zero_one hamming absolute mismatch alignment ndcg",
    ),
    "large permutahedron": (lambda: osp.make_space("permutahedron", d=500), "alignment"),
    "unequal norms": (lambda: osp.vertices([[3.0, 0.0], [1.0, 2.0], [0.0, 3.0]]), ""),
}


@pytest.mark.parametrize("name", FIT)
def test_exactly_the_named_targets_that_fit_a_space_are_accepted(name):
    make, names = FIT[name]
    space, fitting = make(), set(names.split())
    for target in ("zero_one", "hamming", "absolute", "mismatch", "alignment", "ndcg"):
        if target in fitting:
            assert osp.surrogate_gap(space, getattr(osp, target)).a is not None
            continue
        with pytest.raises(osp.GuaranteeError) as refused:
            osp.OnlinePredictor(space, 2, target=getattr(osp, target))
        message = str(refused.value)
        assert target in message
        assert all(other in message for other in fitting)
    assert set(fitting_targets(space)) == fitting


def test_a_product_is_offered_its_own_target():
    space = osp.product([osp.make_space("permutahedron", d=3), osp.make_space("simplex", d=2)])
    with pytest.raises(osp.GuaranteeError, match="sum of alignment, zero_one"):
        osp.surrogate_gap(space, osp.hamming)
    assert osp.surrogate_gap(space).certified


def test_a_table_of_another_size_is_refused_in_words():
    with pytest.raises(osp.GuaranteeError, match=r"3×3 .* length 4"):
        osp.surrogate_gap(osp.make_space("simplex", d=4), osp.table(np.ones((3, 3)) - np.eye(3)))
    with pytest.raises(osp.InvalidInputError, match="b must"):
        osp.AffineLoss.bilinear(np.eye(3), [1.0, 2.0])
    with pytest.raises(osp.InvalidInputError, match="c must"):
        osp.AffineLoss.bilinear(np.eye(3), 0.0, np.nan)
    with pytest.raises(osp.InvalidInputError, match="function"):
        osp.AffineLoss(np.zeros(3), lambda y: 0.0)


def test_an_unknown_constant_does_not_refuse_learning():
    plain = osp.AffineLoss(*as_before(osp.hamming))
    predictor = osp.OnlinePredictor(LARGE, 2, target=plain, seed=0)
    predictor.step(np.array([0.5, 0.5]), LARGE.lmo(np.arange(40.0)))
    with pytest.raises(osp.GuaranteeError, match="not known"):
        predictor.guarantee()


def test_bounds_say_how_the_premises_of_the_target_are_known():
    def stated(space, target):
        return str(osp.surrogate_gap(space, target).expected_bound(1.0))

    by_enumeration = osp.AffineLoss(*as_before(osp.hamming), gamma=1.0)
    assert "follows from its form" in stated(LARGE, osp.hamming)
    assert "checked for all 3 outputs" in stated(PAIRS, by_enumeration)
    text = stated(LARGE, by_enumeration)
    assert "outputs and for that of every round" in text
    assert "checked for all" not in text


class Fickle(osp.AffineLoss):
    """Right for as long as it is examined."""

    wrong = False

    def __init__(self, cost, constant):
        super().__init__(
            lambda y: (cost if self.wrong else osp.mismatch.cost)(y),
            lambda y: (constant if self.wrong else osp.mismatch.constant)(y),
            gamma=1.0,
            name="fickle",
        )


ROUNDS = {
    "truth": ((lambda y: 1.0 - y, lambda y: -0.25), "instead of 0"),
    "elsewhere": (NEGATIVE, "negative"),
    "NaN": ((lambda y: np.full(y.size, np.nan), lambda y: 0.0), "finite"),
    "length": ((lambda y: np.ones(y.size + 1), lambda y: 0.0), "length"),
}


@pytest.mark.parametrize("late", [False, True], ids=["step", "play and learn"])
@pytest.mark.parametrize("name", ROUNDS)
def test_a_round_that_reveals_a_false_premise_is_refused_and_changes_nothing(name, late):
    functions, words = ROUNDS[name]
    target, x, y = Fickle(*functions), np.array([0.5, -0.5]), LARGE.lmo(-np.arange(40.0))
    predictor = osp.OnlinePredictor(LARGE, 2, target=target, seed=3)
    for _ in range(3):
        predictor.step(x, y)
    play = predictor.play(x) if late else None
    before = {key: np.copy(value) for key, value in predictor.learner.state().items()}
    numbers = predictor.state()["rng"], predictor.state()["plays"]
    target.wrong = True
    with pytest.raises(osp.GuaranteeError, match=words):
        predictor.learn(play, y) if late else predictor.step(x, y)
    after = predictor.learner.state()
    assert all(np.array_equal(before[key], after[key]) for key in before)
    assert numbers == (predictor.state()["rng"], predictor.state()["plays"])
    target.wrong = False
    predictor.learn(play, y) if late else predictor.step(x, y)


@pytest.mark.parametrize("name", ["step", "run"])
def test_a_fault_that_the_sample_missed_is_found_in_its_round(name):
    """Also in compiled rounds, where there are some: those before it are learned from, it is not."""
    d, bad = 60, 41
    V = 1.0 - np.eye(d)
    V[7, bad] = -0.5
    space = osp.make_space("simplex", d=d)
    target = osp.AffineLoss.bilinear(V, gamma=1.0, name="mostly right")
    predictor = osp.OnlinePredictor(space, 2, target=target, seed=0)
    X, Y = np.full((6, 2), 0.5), [3, 1, 4, 1, bad, 9]
    with pytest.raises(osp.GuaranteeError, match=r"mostly right.*-0\.5") as refused:
        osp.run(predictor, X, Y) if name == "run" else [
            predictor.step(x, y) for x, y in zip(X, Y, strict=True)
        ]
    assert "negative" in str(refused.value)
    assert predictor.learner.rounds == 4
    assert predictor.state()["plays"] == 4


class Forgetful(osp.Vertices):
    """An oracle that overlooks its last output when costs are revealed."""

    def lmo(self, cost):
        outputs = self.vertices()[:-1] if cost[0] == 7.0 else self.vertices()
        return np.array(outputs[np.argmin(outputs @ cost)])


def test_a_play_that_turns_out_to_cost_less_than_nothing_is_taken_back():
    """Decision regret trusts the oracle; only the play itself shows that it was wrong."""
    space = Forgetful(np.eye(3), psi=osp.GibbsEntropy(1.0))
    target = osp.decision_regret(space)
    predictor = osp.OnlinePredictor(space, 1, target=target, decoder=osp.SamplingDecoder(space), seed=1)
    refused = 0
    for _ in range(20):
        before = str(predictor.state())
        try:
            predictor.step([1.0], np.array([7.0, 1.0, 0.9]))
        except osp.GuaranteeError as error:
            assert "negative" in str(error)  # noqa: PT017 — only some of the plays are
            assert str(predictor.state()) == before
            refused += 1
            predictor.step([1.0], np.array([2.0, 1.0, 3.0]))  # draws the same again, at another price
    assert refused > 0


def test_a_loss_that_is_negative_beyond_rounding_is_not_called_zero():
    loss = RoundLoss(np.array([1e8, -1e8]), 0.0)
    assert loss(np.array([1.0, 1.0 + 1e-12])) == 0.0  # rounding, for numbers of this size
    for point in ([0.0, 1.0], [np.nan, 0.0]):
        with pytest.raises(osp.GuaranteeError, match="negative"):
            loss(np.array(point))
    with pytest.raises(osp.GuaranteeError, match="negative"):
        osp.zero_one.loss(np.array([1.0, 2.0]), np.array([1.0, 2.0]))


class Parts(osp.AffineLoss):
    """Hamming loss whose parts on blocks are given."""

    def __init__(self, part):
        super().__init__(osp.hamming.cost, osp.hamming.constant, gamma=1.0, name="parts")
        self.part = part

    def on_block(self, space, block):
        return self.part


@pytest.mark.parametrize(
    ("part", "words"),
    [
        (osp.AffineLoss(lambda y: 0.0 * y, lambda y: 0.0, name="nothing"), "do not add up"),
        (osp.AffineLoss(lambda y: (1 - 2 * y) / 8, lambda y: 0.5, name="shifted"), "instead of 0"),
    ],
)
def test_parts_on_blocks_that_are_not_parts_of_the_target_are_refused(part, words):
    space = osp.make_space("hypercube", d=8)
    with pytest.raises(osp.GuaranteeError, match=words):
        osp.surrogate_gap(space, Parts(part))
    right = osp.AffineLoss(lambda y: (1 - 2 * y) / 8, lambda y: float(y.sum()) / 8, gamma=1 / 8)
    assert osp.surrogate_gap(space, Parts(right)).a == pytest.approx(osp.surrogate_gap(space).a)


def test_looking_at_a_target_costs_few_oracle_calls_and_is_done_once():
    class Counting(osp.OutputSpace):
        dim, calls = 300, 0
        nu, diameter, diameter2 = 1.0, 300.0, 300.0
        zero_one = True

        def lmo(self, cost):
            type(self).calls += 1
            return (cost < 0).astype(np.float64)

    space = Counting()
    unknown = osp.AffineLoss(*as_before(osp.hamming), gamma=1.0)
    examine(unknown, space)
    assert Counting.calls <= 30
    osp.hamming.gamma(space)  # discovers the directions of the space, once
    before = Counting.calls
    examine(unknown, space)
    assert Counting.calls == before
    examine(osp.hamming, space)
    assert Counting.calls - before <= 10


def test_gains_for_other_numbers_of_items_are_refused():
    with pytest.raises(osp.GuaranteeError, match="gains"):
        osp.surrogate_gap(osp.make_space("birkhoff", n=3), NormalizedGain(gains=[2.0, 1.0]))
