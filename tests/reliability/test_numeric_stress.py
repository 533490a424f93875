"""Scores and inputs of all sizes and layouts: correct, or an error of ours; never NaN, never a warning."""

import functools

import numpy as np
import pytest

import osp_core as osp
from osp_core.testing import learner_factories, space_examples

SIZES = (5e-324, 1e-300, 1e-162, 1e-155, 1e-100, 1e-8, 1.0, 1e8, 1e20, 1e60, 9e99, 1e101, 1e200, 1e300)
CERTAIN = 1e8  # up to here nothing may be refused
OTHERWISE = osp.AffineLoss(lambda y: -y, lambda y: float(y @ y), gamma=4.0)


def names():
    return [record.name for record in osp.list_spaces() if record.available]


@functools.cache
def one_of_each_regularizer(name):
    """The first example with two outputs for every Ψ, on the first back end."""
    found = {}
    for example in space_examples(name):
        space = example.make()
        if space.diameter2 > 0:
            found.setdefault(type(space.psi).__name__, (example, space))
    return found


def usual(name):
    return next(iter(one_of_each_regularizer(name).values()))[1]


def cases():
    return [
        pytest.param(space, id=f"{example}-{psi}")
        for name in names()
        for psi, (example, space) in one_of_each_regularizer(name).items()
    ]


def all_examples():
    return [pytest.param(example, id=str(example)) for name in names() for example in space_examples(name)]


def thetas(dim, size):
    """Scores of a size: generic, with ties, all equal, a single one, and beside small ones."""
    rng = np.random.default_rng(0)
    yield size * np.clip(rng.standard_normal(dim), -1.0, 1.0)
    yield size * rng.integers(-1, 2, size=dim).astype(float)
    yield np.full(dim, size)
    yield -size * np.eye(dim)[-1]
    yield np.where(np.arange(dim) % 2 == 0, size, rng.standard_normal(dim))


def assert_answers(space, theta, rng):
    """Everything asked of a space in a round, finite and right as far as one can tell without an oracle."""
    cheapest = space.lmo(theta)
    assert space.is_vertex(cheapest)
    prediction = space.predict(theta)
    point, largest = prediction.point, float(np.abs(theta).max(initial=0.0))
    assert np.isfinite(point).all()
    assert 0.0 <= prediction.gap < np.inf
    assert point.min() >= space.min_entry - 1e-7
    assert point.max() <= space.max_entry + 1e-7
    # ⟨θ, v − ŷ⟩ ≤ Ψ(v) − Ψ(ŷ) + gap for every output v.
    room = 10.0 * space.psi.scale * (1.0 + space.max_square + space.dim)
    short = float(theta @ space.lmo(-theta)) - float(theta @ point)
    assert short <= room + prediction.gap + 1e-9 * largest * max(1.0, space.max_mass)
    value, gradient = osp.FenchelYoungLoss(space).value_and_gradient(theta, cheapest)
    assert np.isfinite(gradient).all()
    assert -1e-6 * (1.0 + largest) <= value < np.inf
    law = osp.RandomizedDecoder(space).law(prediction)
    assert 0.0 <= law.p <= 1.0
    assert space.is_vertex(law.sample(rng))


def answer_or_refuse(size, act):
    """Whether `act` was carried through; an error of ours is fine, but not for moderate sizes."""
    try:
        act()
    except osp.OspError:
        assert size > CERTAIN
        return False
    return True


def assert_space_survives(space, sizes, rng):
    for size in sizes:
        for theta in thetas(space.dim, size):
            answered = answer_or_refuse(size, lambda theta=theta: assert_answers(space, theta, rng))
            assert answered or size > CERTAIN


@pytest.mark.parametrize("space", cases())
def test_scores_of_every_size_are_answered_or_refused(space, rng):
    slow = type(space).__name__ == "ZeroOneHull"
    assert_space_survives(space, SIZES[3::5] if slow else SIZES[::2] + SIZES[-3:], rng)


@pytest.mark.soak
@pytest.mark.parametrize("example", all_examples())
def test_scores_of_every_size_are_answered_or_refused_by_every_example(example, rng):
    assert_space_survives(example.make(), SIZES, rng)


def assert_learns(space, learner, norm, bound):
    """A few rounds with inputs of a norm, one of them zero, two the same: all finite, or nothing changed."""
    rng = np.random.default_rng(0)
    try:
        target = space.target_loss()
    except osp.OspError:
        target = OTHERWISE
    predictor = osp.OnlinePredictor(space, 3, learner=learner(), target=target, feature_bound=bound, seed=0)
    for number in range(6):
        direction = rng.standard_normal(3)
        x = norm * (0.9 * direction / np.abs(direction).sum()) if number != 3 else np.zeros(3)
        y = space.lmo(rng.standard_normal(space.dim))
        for _ in range(1 + (number == 1)):
            before = str(predictor.state())
            try:
                record = predictor.step(x, y)
            except osp.OspError:
                assert str(predictor.state()) == before
                raise
            numbers = [
                getattr(record, name) for name in ("target_loss", "expected_loss", "surrogate_loss", "gap")
            ]
            assert np.isfinite(numbers).all()
            assert np.isfinite(predictor.learner.weights).all()
            assert np.isfinite(predictor.average_weights).all()


def assert_learner_survives(space, name, sizes):
    for learner in learner_factories(name):
        for size in sizes:
            act = functools.partial(assert_learns, space, learner, size, max(1.0, size))
            answer_or_refuse(size, act)


LEARNERS = [record.name for record in osp.list_learners() if record.available]


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("name", [name for name in names() if name != "polytope"])
def test_inputs_of_every_size_are_learned_from_or_refused(name, learner):
    assert_learner_survives(usual(name), learner, SIZES[1::3])


@pytest.mark.soak
@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("space", cases())
def test_inputs_of_every_size_are_learned_from_with_every_regularizer(space, learner):
    assert_learner_survives(space, learner, SIZES)


@pytest.mark.parametrize("bound", [0.0, 1e-200, 1e200, np.inf, np.nan])
def test_a_feature_bound_whose_square_is_no_number_is_refused(bound):
    with pytest.raises(osp.InvalidInputError, match="feature_bound"):
        osp.OnlinePredictor(osp.make_space("simplex", d=3), 2, feature_bound=bound)


LAYOUTS = {
    "float32": lambda v: v.astype(np.float32),
    "integers": lambda v: v.astype(np.int64),
    "small integers": lambda v: v.astype(np.int8),
    "booleans": lambda v: v.astype(bool),
    "every other entry": lambda v: np.repeat(v, 2)[::2],
    "backwards": lambda v: v[::-1].copy()[::-1],
    "a column": lambda v: np.column_stack([v, v])[:, 0],
    "big-endian": lambda v: v.astype(">f8"),
    "unaligned": lambda v: np.frombuffer(b"\0" + v.astype(float).tobytes(), dtype=np.uint8)[1:].view(float),
    "a list": lambda v: v.tolist(),
    "read-only": lambda v: _read_only(v),
}


def _read_only(values):
    values = values.copy()
    values.flags.writeable = False
    return values


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", names())
def test_the_layout_of_an_array_changes_nothing(name, layout):
    space = usual(name)
    theta = (np.arange(space.dim) % 2).astype(float)  # the same in every type, and full of ties
    given = LAYOUTS[layout](theta)
    kept = np.array(given)
    assert space.lmo(given).tobytes() == space.lmo(theta).tobytes()
    close = space.predict(given).point - space.predict(theta).point
    assert np.abs(close).max() <= 1e-9
    assert space.nearest_vertex(space.predict(given).point).dtype == np.float64
    assert np.array_equal(np.array(given), kept)


@pytest.mark.parametrize("layout", [layout for layout in LAYOUTS if layout != "booleans"])
def test_the_layout_of_an_input_changes_no_round(layout):
    weights = []
    for convert in (lambda v: v, LAYOUTS[layout]):
        space = osp.make_space("hypercube", d=3)
        predictor = osp.OnlinePredictor(space, 4, feature_bound=4.0, seed=0)
        for number in range(5):
            x = np.array([1.0, 0.0, float(number % 2), -1.0])
            predictor.step(convert(x), np.array([1.0, 0.0, 1.0]))
        weights.append(predictor.learner.weights)
    assert np.allclose(weights[0], weights[1], rtol=1e-14, atol=0.0)


NOTHING = (np.float64(1.0), np.array(1.0), [], np.zeros(0), np.zeros((3, 0)), None, "")


@pytest.mark.parametrize("name", names())
def test_scalars_and_empty_arrays_are_refused(name):
    space = usual(name)
    for act in (space.lmo, space.predict, space.nearest_vertex, space.decompose):
        for empty in NOTHING:
            if np.shape(empty) != (space.dim,):
                with pytest.raises(osp.OspError):
                    act(empty)


def test_scalars_and_empty_inputs_are_refused_and_change_nothing():
    predictor = osp.OnlinePredictor(osp.make_space("simplex", d=2), 2, seed=0)
    before = str(predictor.state())
    for empty in NOTHING:
        for act in (predictor.predict, predictor.play, predictor.law, lambda x: predictor.step(x, 0)):
            with pytest.raises(osp.OspError):
                act(empty)
    assert str(predictor.state()) == before


def test_a_repeated_row_is_learned_from_each_time_and_stays_finite():
    for record in osp.list_learners():
        for factory in learner_factories(record.name):
            predictor = osp.OnlinePredictor(osp.make_space("simplex", d=3), 2, learner=factory(), seed=0)
            for _ in range(400):
                predictor.step([0.6, 0.8], 2)
            assert np.isfinite(predictor.learner.weights).all()
            assert predictor.predict([0.6, 0.8]) == 2
