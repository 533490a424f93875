"""What compiled rounds must not take: it is left to the general code, which answers or says what is wrong."""

import copy
import dataclasses

import numpy as np
import pytest
import scipy.sparse as sp
from compiled_twins import SPACES, outcome, plain_rounds, predictor, same_bits, stream

import osp_core as osp
from osp_core import kernels
from osp_core.errors import OspError
from osp_core.models.feature_bound import ROOM
from osp_core.targets import RoundLoss

X0 = np.full(6, 0.3)


def cost(y):
    return 1.0 - y


def nothing(y):
    return 0.0


UNSOUND = {
    "a cost that is too short": (np.ones(2), 0.0),
    "a cost that is too long": (np.ones(9), 0.0),
    "a cost that is a number": (1.0, 0.0),
    "a cost that is a matrix": (np.ones((4, 1)), 0.0),
    "a cost with NaN": (np.array([1, 1, 0, np.nan]), 0.0),
    "an infinite cost": (np.array([1, 1, 0, np.inf]), 0.0),
    "a constant that is NaN": (np.array([1.0, 1, 0, 1]), np.nan),
    "an infinite constant": (np.array([1.0, 1, 0, 1]), np.inf),
    "a negative loss": (np.array([1.0, -3, 0, 1]), 0.0),
    "a loss at the truth": (np.array([1.0, 1, 0, 1]), 0.5),
    "a gain at the truth": (np.array([1.0, 1, 0, 1]), -0.5),
    "a function that fails": (ZeroDivisionError("no cost for class 2"), 0.0),
}


class Turning:
    """Costs that are sound while a predictor is made, and others for class 2 from then on."""

    def __init__(self, case):
        self.case, self.turned = UNSOUND[case], False

    def predictor(self):
        self.turned = False
        made = predictor(SPACES["softmax"](), target=osp.AffineLoss(self.cost, self.constant, gamma=1.0))
        self.turned = True
        return made

    def cost(self, y):
        if not self.turned or not y[2]:
            return 1.0 - y
        if isinstance(self.case[0], Exception):
            raise self.case[0]
        return self.case[0]

    def constant(self, y):
        return self.case[1] if self.turned and y[2] else 0.0


@pytest.mark.parametrize("form", [list, np.array], ids=["list", "array"])
@pytest.mark.parametrize("case", UNSOUND)
def test_an_unsound_target_is_refused_as_in_the_general_code_and_the_rounds_before_are_kept(case, form):
    target = Turning(case)
    compiled, general, steps = (target.predictor() for _ in range(3))
    X, Y = stream(compiled.space, rounds=30)
    Y = [label if label != 2 else 1 for label in Y]
    Y[17] = 2

    def run(subject):
        return osp.run(subject, X, form(Y))

    with kernels.use("numpy"):
        expected = outcome(general, run)
    assert outcome(compiled, run) == expected
    assert compiled.compiled is not None
    assert issubclass(expected[0], ZeroDivisionError if "fails" in case else osp.GuaranteeError)
    error, text = outcome(steps, lambda subject: [subject.step(x, y) for x, y in zip(X, Y, strict=True)])
    assert (error, expected[1].removeprefix("Round 18: ")) == (expected[0], text)
    assert compiled.learner.rounds == 17
    same_bits(compiled, steps)
    np.testing.assert_allclose(compiled.learner.weights, general.learner.weights, atol=1e-9)


# --- whoever overrides something gets it called -------------------------------------------------------


class Told(Exception):
    """Raised by every override below: the proof that it was called."""


def telling(*args, **kwargs):
    raise Told


SIMPLEX, CUBE = type(SPACES["softmax"]()), type(SPACES["clip"]())
OVERRIDDEN = {
    "psi.predict": lambda: predictor(SIMPLEX(4, psi=_sub(osp.NegativeEntropy, "predict")())),
    "psi.loss": lambda: predictor(SIMPLEX(4, psi=_sub(osp.NegativeEntropy, "loss")())),
    "Gibbs psi.predict": lambda: predictor(SIMPLEX(4, psi=_sub(osp.GibbsEntropy, "predict")())),
    "squared psi.predict": lambda: predictor(SIMPLEX(4, psi=_sub(osp.SquaredNorm, "predict")())),
    "clip psi.predict": lambda: predictor(CUBE(4, psi=_sub(osp.SquaredNorm, "predict")())),
    "binary psi.loss": lambda: predictor(CUBE(4, psi=_sub(osp.BinaryEntropy, "loss")())),
    "space.predict": lambda: predictor(_sub(SIMPLEX, "predict")(4)),
    "space.kl_project": lambda: predictor(_sub(SIMPLEX, "kl_project")(4)),
    "space.nearest_vertex": lambda: predictor(_sub(SIMPLEX, "nearest_vertex")(4)),
    "space.sample_vertex": lambda: predictor(_sub(SIMPLEX, "sample_vertex")(4)),
    "space.as_vertex": lambda: predictor(_sub(SIMPLEX, "as_vertex")(4)),
    "cube.project": lambda: predictor(_sub(CUBE, "project")(4)),
    "loss.at": lambda: _with(SIMPLEX(4), lambda space: {"loss": _sub(osp.FenchelYoungLoss, "at")(space)}),
    "decoder.law": lambda: _with(
        SIMPLEX(4), lambda space: {"decoder": _sub(osp.RandomizedDecoder, "law")(space)}
    ),
    "block decoder.law": lambda: _with(
        CUBE(4), lambda space: {"decoder": _sub(osp.BlockwiseDecoder, "law")(space)}
    ),
    "learner.update": lambda: predictor(SIMPLEX(4), learner=_sub(osp.OGD, "update")()),
    "learner.admit": lambda: predictor(SIMPLEX(4), learner=_sub(osp.PolyakOGD, "admit")(3.0)),
    "learner.scores": lambda: predictor(SIMPLEX(4), learner=_sub(osp.ParameterFree, "scores")()),
    "learner with a rule and update": lambda: predictor(
        SIMPLEX(4), learner=_sub(osp.OGD, "update", rule=osp.OGD.rule)()
    ),
    "model.read": lambda: predictor(SIMPLEX(4), model=_sub(osp.LinearModel, "read")(6)),
    "model.size": lambda: predictor(SIMPLEX(4), model=_sub(osp.LinearModel, "size")(6)),
    "model.scores": lambda: predictor(SIMPLEX(4), model=_sub(osp.LinearModel, "scores")(6)),
    "target.at": lambda: _later(predictor(SIMPLEX(4)), "at"),
    "target.reveal": lambda: _later(predictor(SIMPLEX(4)), "reveal"),
    "an instance's space.nearest_vertex": lambda: _patched(predictor(SIMPLEX(4)), "space", "nearest_vertex"),
    "an instance's space.distance": lambda: _patched(predictor(SIMPLEX(4)), "space", "distance"),
    "an instance's learner.update": lambda: _patched(predictor(SIMPLEX(4)), "learner", "update"),
    "an instance's loss.at": lambda: _patched(predictor(SIMPLEX(4)), "loss", "at"),
    "an instance's decoder.law": lambda: _patched(predictor(SIMPLEX(4)), "decoder", "law"),
    "an instance's target.at": lambda: _patched(
        predictor(SIMPLEX(4), target=osp.AffineLoss(cost, nothing, gamma=1.0)), "target", "at"
    ),
}


def _sub(kind, name, **more):
    """A subclass whose method of this name tells that it was called, but not before the first round."""
    return type("Sub", (kind,), {name: telling, **more})


def _with(space, options):
    return predictor(space, **options(space))


def _later(subject, name):
    subject.target = _sub(osp.AffineLoss, name)(cost, nothing)
    return subject


def _patched(subject, part, name):
    setattr(getattr(subject, part), name, telling)
    return subject


@pytest.mark.parametrize("case", OVERRIDDEN)
def test_whoever_overrides_a_method_gets_it_called(case):
    subject = OVERRIDDEN[case]()
    y = 1 if isinstance(subject.space, SIMPLEX) else {1}
    with pytest.raises(Told):
        subject.step(X0, y)
    with pytest.raises(Told):
        osp.run(subject, X0[np.newaxis], [y])
    assert subject.compiled is None


def test_what_is_not_overridden_is_compiled():
    for space in (SIMPLEX(4), CUBE(4)):
        assert predictor(space).compiled is not None
        assert predictor(space, verify=True).compiled is None
        assert predictor(space, decoder=osp.SamplingDecoder(space)).compiled is None
        with kernels.use("numpy"):
            assert predictor(space).compiled is None


def test_a_target_of_a_class_of_its_own_may_change_from_round_to_round():
    class Drifting(osp.AffineLoss):
        rounds = 0

        def reveal(self, space, feedback):
            y, loss = super().reveal(space, feedback)
            self.rounds += 1
            return y, RoundLoss(self.rounds * loss.cost, self.rounds * loss.constant)

    space = SPACES["softmax"]()
    X, Y = stream(space, rounds=12)
    subject = predictor(space, target=Drifting(lambda y: 1.0 - y, nothing, gamma=99.0))
    trace = osp.run(subject, X, Y)
    with kernels.use("numpy"):
        general = osp.run(predictor(space, target=Drifting(cost, nothing, gamma=99.0)), X, Y)
    np.testing.assert_allclose(trace.expected_loss, general.expected_loss, atol=1e-9)
    assert subject.target.rounds == 12


def test_a_subclass_that_declares_its_own_form_is_compiled_with_it():
    class Same(SIMPLEX):
        def compiled_parts(self):
            return dataclasses.replace(super().compiled_parts())

    class Rule(osp.OGD):
        rule = osp.OGD.rule

    assert predictor(Same(4)).compiled is not None
    assert predictor(SIMPLEX(4), learner=Rule()).compiled is not None


TARGETS = {
    "zero_one": lambda space: osp.zero_one,
    "hamming": lambda space: osp.hamming,
    "mismatch": lambda space: osp.mismatch,
    "table": lambda space: osp.table(1.0 - np.eye(4)),
    "bilinear": lambda space: osp.AffineLoss.bilinear(1.0 - np.eye(4)),
    "a function": lambda space: osp.AffineLoss(cost, nothing),
    "decision_regret": lambda space: osp.decision_regret(space, gamma=2.0),
}


@pytest.mark.parametrize("target", TARGETS)
def test_every_target_of_ours_is_compiled(target):
    space = SPACES["softmax"]()
    subject = predictor(space, target=TARGETS[target](space))
    X, Y = stream(space, rounds=10)
    Y = [1.0 - space.from_label(y) for y in Y] if target == "decision_regret" else Y
    with plain_rounds(subject) as taken:
        osp.run(subject, X, Y)
    assert subject.compiled is not None
    assert not taken


# --- coordinates that are not 0 or 1, or of unknown separation ----------------------------------------


class Signs(CUBE):
    """{−1, 1}^d, decoded by coordinate: not what compiled rounds by coordinate are made for."""

    zero_one = False

    def compiled_parts(self):
        return super().compiled_parts()

    def blocks(self):
        return [osp.Block(osp.Vertices([[-1.0], [1.0]]), np.arange(self.dim)[:, np.newaxis])]


def test_blocks_that_are_not_zero_and_one_are_not_drawn_as_if_they_were():
    space = Signs(3)
    subject = predictor(space, target=osp.decision_regret(space), decoder=osp.BlockwiseDecoder(space))
    assert subject.compiled is None


def test_blocks_of_unknown_separation_are_left_to_the_general_code():
    class Unknown(CUBE):
        def compiled_parts(self):
            return super().compiled_parts()

        def blocks(self):
            coordinate = osp.space_from_lmo(lambda cost: (cost < 0).astype(float), 1, zero_one=False)
            return [osp.Block(coordinate, np.arange(self.dim)[:, np.newaxis])]

    space = Unknown(3)
    subject = predictor(space, decoder=osp.BlockwiseDecoder(space))
    subject.step(X0, {1})
    assert subject.compiled is None


# --- inputs -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("bound", [1.0, 3.7, 1e-8, 1e8])
def test_the_feature_bound_ends_where_that_of_the_general_code_ends(bound):
    space = SPACES["softmax"]()
    compiled = predictor(space, feature_bound=bound)
    general = copy.deepcopy(compiled)
    direction = np.random.default_rng(0).standard_normal(6)
    direction /= np.linalg.norm(direction)
    edge = bound * (1 + ROOM)
    for share in 1.0 + np.arange(-8, 9) * 1e-16:
        x = edge * share * direction
        with kernels.use("numpy"):
            expected = outcome(general, lambda subject: subject.step(x, 0).expected_loss)  # noqa: B023
        found = outcome(compiled, lambda subject: subject.step(x, 0).expected_loss)  # noqa: B023
        assert (found == expected) if isinstance(expected, tuple) else found == pytest.approx(expected)


def test_scores_beyond_what_is_finite_are_refused_as_in_the_general_code():
    space, x = SPACES["softmax"](), 1e10 * X0
    compiled = predictor(space, learner=osp.OGD(step_size=1e100), feature_bound=1e10)
    general = copy.deepcopy(compiled)
    with kernels.use("numpy"):
        general.step(x, 0)
        expected, text = outcome(general, lambda subject: subject.step(x, 1))
    compiled.step(x, 0)
    kept = copy.deepcopy(compiled)
    assert issubclass(expected, OspError)
    for act in (lambda subject: subject.step(x, 1), lambda subject: subject.predict(x)):
        error, message = outcome(compiled, act)
        assert error is expected
        assert message.split(" got ")[0] == text.split(" got ")[0]  # the number differs in its last digits
    same_bits(compiled, kept)


@pytest.mark.parametrize("column", [6, 2**40, -1, -7])
def test_sparse_rows_with_columns_outside_the_weights_never_reach_compiled_code(column):
    X = sp.csr_array((np.array([0.5, 0.5]), np.array([0, 1]), np.array([0, 1, 2])), shape=(2, 6))
    X.indices = np.array([0, column])
    row = sp.csr_array(X[:1])
    row.indices = np.array([column])
    subject = predictor(SPACES["softmax"]())
    assert len(subject.learn_many(X, [0, 1])) == 1
    with plain_rounds(subject) as taken:
        outcome(subject, lambda subject: subject.step(row, 1))
    assert taken == [1]


def test_as_many_outputs_as_inputs_are_asked_for():
    space = SPACES["softmax"]()
    X, Y = stream(space, rounds=10)
    subject = predictor(space)
    with pytest.raises(OspError, match="one y for every x"):
        subject.learn_many(X[:4], Y)
    same_bits(subject, predictor(space))


def test_masked_inputs_are_not_read_behind_their_mask():
    space = SPACES["softmax"]()
    X, Y = stream(space, rounds=6)
    masked = np.ma.masked_greater(X, 0.2)
    subject, general = predictor(space), predictor(space)
    assert subject.compiled is not None
    assert len(subject.learn_many(masked, Y)) == 0
    with kernels.use("numpy"):
        expected = outcome(general, lambda one: osp.run(one, masked, Y).expected_loss)
    found = outcome(subject, lambda one: osp.run(one, masked, Y).expected_loss)
    if isinstance(expected, tuple):
        assert found == expected
    else:
        np.testing.assert_allclose(found, expected, atol=1e-9)
