"""The protocol: rounds, delays, streams, and what happens when a round is bad."""

import copy

import numpy as np
import pytest
from scipy import sparse

import osp_core as osp


def stream(space, rounds=60, n_features=4, seed=0):
    return osp.make_stream("linear_teacher", space=space, rounds=rounds, n_features=n_features, seed=seed)


def fingerprint(predictor):
    """Everything that later rounds depend on."""
    return (
        predictor.learner.weights.tobytes(),
        predictor.learner.average_weights.tobytes(),
        predictor.learner.rounds,
        str(predictor.rng.bit_generator.state),
        predictor.summary(),
    )


@pytest.fixture
def simplex():
    return osp.make_space("simplex", classes=["a", "b", "c"])


def test_the_first_round_plays_at_zero_weights(simplex):
    predictor = osp.OnlinePredictor(simplex, 4, seed=0)
    record = predictor.step(np.array([1.0, 0, 0, 0]), "b")
    assert record.surrogate_loss == pytest.approx(np.log2(3))
    assert record.expected_loss == pytest.approx(2 / 3)
    assert record.p == 1.0


def test_a_step_descends_the_loss_by_hand(simplex):
    predictor = osp.OnlinePredictor(simplex, 2, seed=0)
    x = np.array([0.6, 0.8])
    predictor.step(x, "a")
    scale, eta = predictor.loss.scale, predictor.learner.eta
    by_hand = -eta * scale * np.outer(np.array([1 / 3 - 1, 1 / 3, 1 / 3]), x)
    np.testing.assert_allclose(predictor.learner.weights, by_hand)


def test_the_average_is_over_the_iterates_that_played(simplex):
    predictor = osp.OnlinePredictor(simplex, 4, seed=0)
    seen = []
    for x, y in stream(simplex):
        seen.append(predictor.learner.weights.copy())
        predictor.step(x, y)
    np.testing.assert_allclose(predictor.average_weights, np.mean(seen, axis=0), atol=1e-12)


def test_the_regret_stays_below_the_bound(simplex):
    data = stream(simplex, rounds=400)
    predictor = osp.OnlinePredictor(simplex, 4, seed=0)
    trace = osp.run(predictor, data)
    comparator = osp.best_comparator(simplex, *data.arrays(), predictor.certificate)
    bound = predictor.guarantee(norm_U=float(np.linalg.norm(comparator.weights)))
    assert bound.value == pytest.approx(comparator.bound.value)
    assert trace.regret(comparator) <= bound.value
    ratio = predictor.certificate.ratio / predictor.loss.scale
    assert (trace.expected_loss <= ratio * trace.surrogate_loss * (1 + 1e-9)).all()  # Lemma 4, every round


def test_same_seed_same_run(simplex):
    traces = [osp.run(osp.OnlinePredictor(simplex, 4, seed=7), stream(simplex)) for _ in range(2)]
    np.testing.assert_array_equal(traces[0].target_loss, traces[1].target_loss)
    other = osp.run(osp.OnlinePredictor(simplex, 4, seed=8), stream(simplex))
    assert (other.target_loss != traces[0].target_loss).any()


def test_arrays_generators_and_sparse_rows_give_the_same_run(simplex):
    X, Y = stream(simplex).arrays()
    labels = [simplex.to_label(y) for y in Y]
    traces = [
        osp.run(osp.OnlinePredictor(simplex, 4, seed=1), X, Y),
        osp.run(osp.OnlinePredictor(simplex, 4, seed=1), X, labels),
        osp.run(osp.OnlinePredictor(simplex, 4, seed=1), ((x, y) for x, y in zip(X, labels, strict=True))),
        osp.run(osp.OnlinePredictor(simplex, 4, seed=1), sparse.csr_array(X), Y),
        osp.run(osp.OnlinePredictor(simplex, 4, seed=1), sparse.csr_matrix(X), Y),
    ]
    for trace in traces[1:]:
        np.testing.assert_allclose(trace.surrogate_loss, traces[0].surrogate_loss, atol=1e-12)
        np.testing.assert_array_equal(trace.target_loss, traces[0].target_loss)


def test_predict_is_deterministic_and_changes_nothing(simplex):
    predictor = osp.OnlinePredictor(simplex, 4, seed=0)
    osp.run(predictor, stream(simplex))
    before = fingerprint(predictor)
    assert len({predictor.predict([0.5, 0.5, 0.5, 0.5]) for _ in range(5)}) == 1
    assert fingerprint(predictor) == before


def test_feedback_may_come_late_and_only_once(simplex):
    predictor = osp.OnlinePredictor(simplex, 2, seed=0)
    plays = [predictor.play([1.0, 0.0]) for _ in range(3)]
    for play in reversed(plays):
        predictor.learn(play, "a")
    assert predictor.summary().delay == 2
    with pytest.raises(osp.InvalidInputError, match="waits for no feedback"):
        predictor.learn(plays[0], "a")


def test_delays_make_the_theorem_ask_for_a_shorter_step(simplex):
    predictor = osp.OnlinePredictor(simplex, 2, seed=0)
    plays = [predictor.play([1.0, 0.0]) for _ in range(3)]
    for play in plays:
        predictor.learn(play, "a")
    with pytest.raises(osp.GuaranteeError, match=r"OGD\(step_size="):
        predictor.guarantee()
    gap = osp.surrogate_gap(simplex)
    short = osp.OnlinePredictor(simplex, 2, learner=osp.OGD(gap.step_size / 5), seed=0)
    plays = [short.play([1.0, 0.0]) for _ in range(3)]
    for play in plays:
        short.learn(play, "a")
    assert short.guarantee().value == pytest.approx(5 * gap.coefficient)


def test_learning_late_equals_learning_at_once_when_nothing_is_played_between(simplex):
    together, apart = osp.OnlinePredictor(simplex, 4, seed=3), osp.OnlinePredictor(simplex, 4, seed=3)
    for x, y in stream(simplex, rounds=20):
        together.step(x, y)
        apart.learn(apart.play(x), y)
    assert fingerprint(together) == fingerprint(apart)


BAD_ROUNDS = {
    "x too long": (np.array([2.0, 0, 0, 0]), "a", "feature bound"),
    "x with NaN": (np.array([np.nan, 0, 0, 0]), "a", "finite"),
    "x of the wrong length": (np.ones(3), "a", "length 4"),
    "an unknown label": (np.array([0.1, 0, 0, 0]), "z", "not one of the 3 classes"),
    "y that is no vertex": (np.array([0.1, 0, 0, 0]), np.array([0.5, 0.5, 0]), "not an output"),
    "y of the wrong length": (np.array([0.1, 0, 0, 0]), np.array([1.0, 0]), "length 3"),
    "y missing": (np.array([0.1, 0, 0, 0]), None, "not one of the 3 classes"),
}


@pytest.mark.parametrize("name", BAD_ROUNDS)
def test_a_bad_round_is_named_and_leaves_the_predictor_as_it_was(name, simplex):
    x, y, message = BAD_ROUNDS[name]
    pairs = list(stream(simplex, rounds=16))
    predictor, twin = osp.OnlinePredictor(simplex, 4, seed=0), osp.OnlinePredictor(simplex, 4, seed=0)
    osp.run(twin, pairs)
    with pytest.raises(osp.OspError, match=rf"Round 17: .*{message}"):
        osp.run(predictor, [*pairs, (x, y)])
    assert fingerprint(predictor) == fingerprint(twin)


def test_late_feedback_that_is_bad_can_be_given_again(simplex):
    predictor = osp.OnlinePredictor(simplex, 4, seed=0)
    play = predictor.play([0.1, 0, 0, 0])
    before = fingerprint(predictor)
    with pytest.raises(osp.NotAVertexError):
        predictor.learn(play, "z")
    assert fingerprint(predictor) == before
    predictor.learn(play, "a")


def test_the_weights_cannot_be_written_to_from_outside(simplex):
    predictor = osp.OnlinePredictor(simplex, 4, seed=0)
    with pytest.raises(ValueError, match="read-only"):
        predictor.learner.weights[0, 0] = 1.0


def test_without_a_surrogate_gap_it_learns_but_states_no_bound():
    space = osp.make_space("hypercube", d=4)
    loss = osp.FenchelYoungLoss(space)
    predictor = osp.OnlinePredictor(space, 4, loss=loss, decoder=osp.RandomizedDecoder(space), seed=0)
    trace = osp.run(predictor, stream(space, rounds=200))
    assert trace.target_loss[-50:].mean() < trace.target_loss[:50].mean()
    with pytest.raises(osp.GuaranteeError, match="scale=4"):
        predictor.guarantee()
    with pytest.raises(osp.InvalidInputError, match="kind"):
        predictor.guarantee("astrological")


def test_an_uncertified_round_forbids_the_bound():
    corners = np.array([[0.0, 0.0], [4.0, 0.0], [0.0, 1.0]])
    space = osp.space_from_lmo(
        lambda cost: corners[np.argmin(corners @ cost)],
        2,
        zero_one=False,
        target=osp.AffineLoss(lambda y: -y, lambda y: float(y @ y), gamma=5.0),
    )
    predictor = osp.OnlinePredictor(space, 1, seed=0)
    predictor.step([1.0], corners[1])
    with pytest.raises(osp.GuaranteeError, match="nu="):
        predictor.guarantee()


def test_feature_models_share_their_weights_over_the_coordinates(rng):
    space = osp.make_space("simplex", d=3)
    predictor = osp.OnlinePredictor(space, 2, model=osp.FeatureModel(2), feature_bound=2.0, seed=0)
    teacher = np.array([1.0, -1.0])
    errors = []
    for _ in range(300):
        features = rng.uniform(-1, 1, size=(3, 2)) * 0.8
        errors.append(predictor.step(features, int(np.argmax(features @ teacher))).expected_loss)
    assert np.mean(errors[-100:]) < 0.7 * np.mean(errors[:100])
    direction = predictor.learner.weights / np.linalg.norm(predictor.learner.weights)
    assert direction @ teacher / np.sqrt(2) > 0.95


def test_decision_regret_learns_from_costs(rng):
    paths = np.array([[1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 0, 1]], dtype=float)
    space = osp.vertices(paths)
    target = osp.decision_regret(space, gamma=4.0)
    predictor = osp.OnlinePredictor(space, 3, target=target, seed=0)
    teacher = rng.standard_normal((4, 3))
    losses = []
    for _ in range(400):
        x = rng.standard_normal(3)
        x /= np.linalg.norm(x)
        losses.append(predictor.step(x, teacher @ x).expected_loss)
    assert np.mean(losses[-100:]) < 0.5 * np.mean(losses[:100])
    assert predictor.guarantee().value > 0


def test_a_callback_sees_every_round(simplex):
    seen = []
    osp.run(
        osp.OnlinePredictor(simplex, 4, seed=0), stream(simplex), callback=lambda t, r: seen.append((t, r.p))
    )
    assert [number for number, _ in seen] == list(range(1, 61))


def test_the_comparator_is_a_minimiser(simplex):
    X, Y = stream(simplex, rounds=80).arrays()
    gap = osp.surrogate_gap(simplex)
    comparator = osp.best_comparator(simplex, X, Y, gap)

    def right_hand_side(U):
        values, _ = gap.loss.values_and_gradients(X @ U.T, np.array(Y))
        return values.sum() + gap.coefficient * np.square(U).sum()

    best = right_hand_side(comparator.weights)
    assert best == pytest.approx(comparator.right_hand_side)
    rng = np.random.default_rng(0)
    for _ in range(20):
        assert right_hand_side(comparator.weights + 0.01 * rng.standard_normal((3, 4))) >= best - 1e-6


def test_parts_of_another_space_are_refused(simplex):
    other = osp.make_space("simplex", d=3)
    with pytest.raises(osp.InvalidInputError, match="another space"):
        osp.OnlinePredictor(simplex, 4, loss=osp.FenchelYoungLoss(other))
    with pytest.raises(osp.InvalidInputError, match="another space"):
        osp.OnlinePredictor(simplex, 4, decoder=osp.RandomizedDecoder(other))


def test_a_copied_predictor_goes_its_own_way(simplex):
    predictor = osp.OnlinePredictor(simplex, 4, seed=0)
    osp.run(predictor, stream(simplex, rounds=10))
    twin = copy.deepcopy(predictor)
    before = fingerprint(twin)
    predictor.step([0.1, 0, 0, 0], "a")
    assert fingerprint(twin) == before


class Menus(osp.OutputSpace):
    """One of the items on the menu of the day: the context is the menu."""

    dim = 3
    nu = np.sqrt(2)
    zero_one = equal_norm = True

    def __init__(self, menu=(0, 1, 2)):
        super().__init__()
        self.menu = list(menu)

    def lmo(self, cost):
        return np.eye(3)[min(self.menu, key=lambda item: (cost[item], item))]

    def at(self, context):
        return self if context is None else Menus(context)

    def target_loss(self):
        return osp.zero_one


def test_the_instance_of_a_round_is_given_by_its_context(rng):
    space = Menus()
    predictor = osp.OnlinePredictor(space, 2, seed=0)
    teacher = rng.standard_normal((3, 2))
    menus = [[0, 1], [1, 2], [0, 2], [0, 1, 2]]
    for t in range(200):
        x = rng.standard_normal(2)
        x /= np.linalg.norm(x)
        menu = menus[t % 4]
        record = predictor.step(x, space.at(menu).lmo(-teacher @ x), context=menu)
        assert int(np.argmax(record.vertex)) in menu
        assert int(np.argmax(predictor.predict(x, context=menu))) in menu
    assert predictor.guarantee().value > 0
    with pytest.raises(osp.NotAVertexError):
        predictor.step(x, np.eye(3)[2], context=[0, 1])  # not on the menu of that round


def test_inexact_predictions_add_no_more_than_was_allowed():
    def cheapest(cost):
        chosen = np.zeros(12)
        chosen[np.argsort(cost, kind="stable")[:4]] = 1.0
        return chosen

    space = osp.space_from_lmo(cheapest, 12, target=osp.mismatch)
    data = stream(space, rounds=80)
    exact, coarse = (
        osp.OnlinePredictor(space, 4, seed=0),
        osp.OnlinePredictor(space, 4, inexactness=2.0, seed=0),
    )
    osp.run(exact, data)
    trace = osp.run(coarse, data)
    rounds = np.arange(1, 81)
    assert (trace.gap <= 2.0 / (rounds * (rounds + 1)) * (1 + 1e-9)).all()
    assert 1e-3 < coarse.summary().total_gap <= 2.0
    surplus = coarse.guarantee(norm_U=3.0).value - exact.guarantee(norm_U=3.0).value
    assert 0 < surplus <= 2.0
    comparator = osp.best_comparator(space, *data.arrays(), coarse.gap)
    assert (
        trace.regret(comparator) <= coarse.guarantee(norm_U=float(np.linalg.norm(comparator.weights))).value
    )
