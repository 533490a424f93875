"""Saving and loading predictors: continuing is the same as never having stopped."""

import itertools

import numpy as np
import pytest

import osp_core as osp
from osp_core.persistence.archive import CheckpointError, read_checkpoint
from osp_core.persistence.json_values import decode, encode, space_from_recipe, space_recipe

LEARNERS = {
    "ogd": {},
    "adaptive_ogd": {"diameter": 4.0},
    "parameter_free": {},
    "polyak_ogd": {"diameter": 4.0},
}
SPACES = {
    "simplex": lambda: osp.make_space("simplex", classes=["a", "b", "c"]),
    "hypercube": lambda: osp.make_space("hypercube", d=4, psi=osp.BinaryEntropy(2.0)),
    "vertices": lambda: osp.make_space("vertices", array=np.eye(4)[:, :3], norm=1),
    "product": lambda: osp.make_space(
        "product", spaces=[osp.make_space("simplex", d=2), osp.make_space("hypercube", d=2)]
    ),
}


def stream(space, rounds):
    return list(osp.make_stream("linear_teacher", space=space, rounds=rounds, n_features=3, seed=1))


@pytest.mark.parametrize(("space_name", "learner_name"), list(itertools.product(SPACES, LEARNERS)))
def test_a_loaded_predictor_continues_bit_for_bit(tmp_path, space_name, learner_name):
    space = SPACES[space_name]()
    target = (
        osp.AffineLoss(lambda y: -y, lambda y: float(y @ y), gamma=2.0) if space_name == "vertices" else None
    )
    pairs = stream(space, 60)
    learner = osp.make_learner(learner_name, **LEARNERS[learner_name])
    straight = osp.OnlinePredictor(space, 3, learner=learner, target=target, seed=5)
    osp.run(straight, pairs[:25])
    straight.save(tmp_path / "half.ckpt")
    given = {} if target is None else {"target": target}
    resumed = osp.OnlinePredictor.load(tmp_path / "half.ckpt", **given)
    traces = [osp.run(predictor, pairs[25:]) for predictor in (straight, resumed)]
    for column in ("target_loss", "expected_loss", "surrogate_loss", "p", "gap"):
        assert getattr(traces[0], column).tobytes() == getattr(traces[1], column).tobytes()
    assert straight.learner.weights.tobytes() == resumed.learner.weights.tobytes()
    assert straight.average_weights.tobytes() == resumed.average_weights.tobytes()
    assert str(straight.state()) == str(resumed.state())
    assert resumed.summary() == straight.summary()


def test_everything_the_guarantee_needs_survives(tmp_path):
    space = osp.make_space("hypercube", d=6)
    predictor = osp.OnlinePredictor(
        space, 3, decoder=osp.RandomizedDecoder(space), feature_bound=2.0, inexactness=0.5, seed=0
    )
    osp.run(predictor, stream(space, 10))
    predictor.save(tmp_path / "x.ckpt", extra={"note": "hello"})
    loaded = osp.OnlinePredictor.load(tmp_path / "x.ckpt")
    assert loaded.guarantee(norm_U=2.0) == predictor.guarantee(norm_U=2.0)
    assert loaded.inexactness == 0.5
    assert read_checkpoint(tmp_path / "x.ckpt")[0]["extra"] == {"note": "hello"}


def test_a_space_the_file_cannot_make_must_be_given(tmp_path):
    def corner(cost):
        return np.eye(3)[np.argmin(cost)]

    space = osp.space_from_lmo(corner, 3)
    predictor = osp.OnlinePredictor(space, 3, seed=0)
    osp.run(predictor, stream(space, 5))
    predictor.save(tmp_path / "x.ckpt")
    with pytest.raises(CheckpointError, match="space="):
        osp.OnlinePredictor.load(tmp_path / "x.ckpt")
    loaded = osp.OnlinePredictor.load(tmp_path / "x.ckpt", space=space)
    assert loaded.learner.weights.tobytes() == predictor.learner.weights.tobytes()
    with pytest.raises(CheckpointError, match="written for"):
        osp.OnlinePredictor.load(tmp_path / "x.ckpt", space=osp.space_from_lmo(corner, 4))


def test_plays_that_wait_are_not_forgotten_silently(tmp_path):
    predictor = osp.OnlinePredictor(osp.make_space("simplex", d=2), 1, seed=0)
    predictor.play([1.0])
    with pytest.raises(osp.InvalidInputError, match="1 plays wait"):
        predictor.save(tmp_path / "x.ckpt")
    predictor.save(tmp_path / "x.ckpt", forget_waiting=True)
    assert osp.OnlinePredictor.load(tmp_path / "x.ckpt").summary().rounds == 0


@pytest.mark.parametrize(
    "value",
    [
        None, True, 3, -2.5, np.inf, "ä", [1, [2.0]], (1, "b"), {"a", "b"}, {1: "x", "y": (2,)},
        np.arange(6).reshape(2, 3), np.array([np.inf, -0.0]), osp.NegativeEntropy(0.3),
    ],
)  # fmt: skip
def test_parameters_survive_the_way_through_json(value):
    found = decode(encode(value))
    if isinstance(value, np.ndarray):
        assert found.dtype == value.dtype
        assert found.tobytes() == value.tobytes()
    else:
        assert found == value
        assert isinstance(found, frozenset if isinstance(value, set) else type(value))


def test_recipes_name_registered_spaces_only():
    with pytest.raises(osp.UnknownNameError):
        space_from_recipe({"name": "os:system", "params": {}})
    for recipe in ({}, {"name": "simplex"}, {"name": "simplex", "params": {"d": {"what": 1}}}, []):
        with pytest.raises(osp.InvalidInputError):
            space_from_recipe(recipe)
    with pytest.raises(osp.UnsupportedError, match="not made with make_space"):
        space_recipe(osp.vertices(np.eye(2)))


def test_a_regularizer_changed_later_is_in_the_recipe():
    space = osp.make_space("simplex", d=3).with_psi(osp.SquaredNorm(2.0))
    assert space_from_recipe(space_recipe(space)).psi == osp.SquaredNorm(2.0)
