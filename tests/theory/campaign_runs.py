"""Bounds against runs: streams that look at the law, every learner, late feedback, several comparators."""

from dataclasses import dataclass, field

import numpy as np
from theory.campaign_rounds import losses_of
from theory.campaign_spaces import is_supported, random_mask
from theory.campaign_targets import decoders_of, named_targets, truths_of

import osp_core as osp
from osp_core.errors import OspError
from osp_core.learners import OGD, AdaptiveOGD, ParameterFree, PolyakOGD
from osp_core.testing import learner_factories

FEATURES = 3
DELAYS = (1, 5, 20, 50)
STREAMS = ("worst", "regret", "alternate", "random", "teacher", "same input")


@dataclass
class Run:
    """A predictor, its stream, and the rounds that were: (space, x, y, E L)."""

    predictor: osp.OnlinePredictor
    ys: np.ndarray
    kind: str
    rng: np.random.Generator
    masks: bool = False
    rounds: list = field(default_factory=list)

    def __post_init__(self):
        shape = self.predictor.model.shape(self.predictor.space.dim)
        self.teacher = 10.0 ** self.rng.uniform(-1, 1.5) * self.rng.standard_normal(shape)
        self.only_x = self._draw_x()

    def _draw_x(self):
        bound, dim = self.predictor.certificate.feature_bound, self.predictor.space.dim
        if isinstance(self.predictor.model, osp.FeatureModel):
            x = self.rng.standard_normal((dim, FEATURES))
            return bound * x / np.linalg.norm(x, ord=2)
        x = self.rng.standard_normal(FEATURES) * (self.rng.random(FEATURES) < 0.7)
        size = np.linalg.norm(x)
        return bound * x / size if size > 0 else np.zeros(FEATURES)

    def next_input(self):
        """An input of the greatest allowed norm, and the context of the round."""
        x = self.only_x if self.kind == "same input" else self._draw_x()
        if not self.masks or self.rng.random() < 0.5:
            return x, None
        context = random_mask(self.predictor.space, self.rng)
        # An entropy may refuse a mask that it cannot reach.
        return x, context if is_supported(self.predictor.space.at(context)) else None

    def choose(self, x, context):
        """The output that this stream answers with, which may look at the law of the coming play."""
        predictor, space = self.predictor, self.predictor.space.at(context)
        ys = np.array([y for y in self.ys if space.is_vertex(y)]) if context else self.ys
        number = len(self.rounds)
        if self.kind == "random":
            return ys[self.rng.integers(len(ys))]
        if self.kind == "teacher":
            return space.lmo(-predictor.model.scores(self.teacher, predictor.model.read(x, space.dim)))
        mean = predictor.law(x, context=context).mean
        expected = np.array([predictor.target.at(y)(mean) for y in ys])
        if self.kind == "regret":
            theta = predictor.model.scores(self.teacher, predictor.model.read(x, space.dim))
            expected -= predictor.loss.scale * losses_of(space, theta, space.predict(theta), ys)
        if self.kind == "alternate" and number % 2:
            return ys[int(np.argmin(expected))]
        return ys[int(np.argmax(expected))]

    def step(self):
        x, context = self.next_input()
        y = self.choose(x, context)
        record = self.predictor.step(x, y, context=context)
        self.rounds.append((self.predictor.space.at(context), x, y, record.expected_loss))

    def late_steps(self, count, delay):
        """Play `count` rounds with feedback at most `delay` rounds late, in no particular order."""
        waiting = []
        for number in range(count):
            x, context = self.next_input()
            y = self.choose(x, context)
            waiting.append((number, self.predictor.play(x, context=context), x, y, context))
            while waiting and (number - waiting[0][0] >= delay or self.rng.random() < 0.02):
                self._learn(waiting.pop(0 if number - waiting[0][0] >= delay else -1))
        while waiting:
            self._learn(waiting.pop(self.rng.integers(len(waiting))))

    def _learn(self, waited):
        _, play, x, y, context = waited
        record = self.predictor.learn(play, y)
        self.rounds.append((self.predictor.space.at(context), x, y, record.expected_loss))

    def surrogate_losses(self, U):
        """S_t(U) of every round, never below the exact value: the gap of an inexact ŷ is added."""
        model, scale, found = self.predictor.model, self.predictor.loss.scale, []
        for space, x, y, _ in self.rounds:
            theta = model.scores(U, model.read(x, space.dim))
            prediction = space.predict(theta)
            found.append(scale * (float(space.psi.loss(space, theta, y, prediction)) + prediction.gap))
        return np.array(found)


def examine_run(case, ledger, number=0, rounds=36):
    """A run of a random kind on a space, compared with its bound for several comparators."""
    rng = ledger.rng("run", case, number)
    try:
        run, delay = draw_run(case, rng, ledger)
        if run is not None:
            play_and_compare(case, ledger, run, delay, rounds)
    except (OspError, ArithmeticError) as error:
        ledger.violate(case, f"run {number} raises {type(error).__name__}: {error}")


def draw_run(case, rng, ledger):
    """A predictor with a random target, decoder, loss scale, model and learner, and its stream."""
    space = case.make()
    targets = named_targets(space, rng)
    if not targets:
        return None, 0
    target = targets[rng.integers(len(targets))]
    choices = list(decoders_of(space, target))
    decoder, ratio = choices[rng.integers(len(choices))]
    factor = float(rng.choice([1.02, 1.3, 2.0, 10.0]))  # a = 1 − 1/factor
    loss = osp.FenchelYoungLoss(space, factor * ratio) if ratio > 0 else None
    bound = float(rng.choice([0.1, 1.0, 10.0]))
    gap = osp.surrogate_gap(space, target, loss=loss, decoder=decoder, feature_bound=bound)
    delay = int(rng.choice(DELAYS)) if rng.random() < 0.3 else 0
    learner = draw_learner(gap, rng, delay)
    model = osp.FeatureModel(FEATURES) if rng.random() < 0.3 else osp.LinearModel(FEATURES)
    predictor = osp.OnlinePredictor(
        space,
        FEATURES,
        learner=learner,
        model=model,
        loss=loss,
        target=target,
        decoder=decoder,
        feature_bound=bound,
        inexactness=0.5 if rng.random() < 0.2 else None,
        verify=bool(rng.random() < 0.3),
        seed=int(rng.integers(2**31)),
    )
    kind = str(rng.choice(STREAMS))
    masks = case.title.endswith((" masked", " at"))
    for used in (kind, type(learner).__name__, f"delay {delay}", type(model).__name__, *["contexts"] * masks):
        ledger.exercised[used] += 1
    return Run(predictor, truths_of(space, rng), kind, rng, masks), delay


def draw_learner(gap, rng, delay):
    """Any learner; with late feedback one that keeps its bound: OGD with a step for b·(1 + 2·delay)."""
    step = gap.step_size
    if delay:
        return OGD(step_size=step / (1 + 2 * delay))
    size = 10.0 ** rng.uniform(-1, 1.5)
    made = [
        OGD(),
        OGD(step_size=step * float(rng.choice([0.01, 0.5, 0.999]))),
        OGD(radius=size),
        AdaptiveOGD(2 * size),
        ParameterFree(wealth=float(rng.choice([0.01, 1.0, 100.0]))),
        PolyakOGD(2 * size),
    ]
    made += [make() for record in osp.list_learners() for make in learner_factories(record.name)]
    return made[rng.integers(len(made))]


def play_and_compare(case, ledger, run, delay, rounds):
    """Play, and compare with the bound: once for late feedback, else at several times on the way."""
    if delay:
        run.late_steps(rounds + 2 * delay, delay)
        compare(case, ledger, run)
        return
    for _ in range(3):
        for _ in range(rounds // 3):
            run.step()
        compare(case, ledger, run)


def compare(case, ledger, run):
    """ΣE L ≤ factor·ΣS(U) + bound for U = 0, the best one, the learner's own, random ones and multiples."""
    if not run.predictor.summary().certified:
        ledger.exercised["uncertified"] += 1  # ν or y* is not known in every round, and no bound is stated
        return
    row, spent = ledger.row(case.family), sum(one[3] for one in run.rounds)
    radius = getattr(run.predictor.learner, "ball", np.inf)
    if isinstance(run.predictor.learner, ParameterFree):
        radius = np.inf  # the ball is that of the direction
    for U in comparators(run):
        length = float(np.linalg.norm(U))
        if length > radius:
            U, length = U * (radius / length), radius
        bound = run.predictor.guarantee(norm_U=length)
        most = bound.surrogate_factor * run.surrogate_losses(U).sum() + float(bound.value)
        row.comparisons += 1
        row.bound_share = max(row.bound_share, spent / max(most, 1e-12) if spent > 1e-9 else 0.0)
        if spent > most * (1 + 1e-9) + 1e-9:
            ledger.violate(
                case,
                f"ΣE L > {bound.surrogate_factor:.6g}·ΣS(U) + bound after {len(run.rounds)} rounds of "
                f"{run.kind!r} with {run.predictor.learner!r}, {run.predictor.certificate!r}",
                expected_loss=spent,
                promised=most,
                norm_U=length,
            )


def comparators(run):
    """Zero, the (nearly) best weights of hindsight and multiples, the learner's weights, random weights."""
    predictor = run.predictor
    shape = predictor.model.shape(predictor.space.dim)
    best = predictor.average_weights
    if not run.masks:
        X, Y = [one[1] for one in run.rounds], [one[2] for one in run.rounds]
        inputs = X if isinstance(predictor.model, osp.FeatureModel) else np.array(X)
        best = osp.best_comparator(
            predictor.space, inputs, Y, predictor.certificate, model=predictor.model, max_iter=8
        ).weights
    random = 10.0 ** run.rng.uniform(-2, 1.5) * run.rng.standard_normal(shape)
    return [np.zeros(shape), best, 0.5 * best, 3.0 * best, predictor.learner.weights, random, run.teacher]
