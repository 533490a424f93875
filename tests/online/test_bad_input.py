"""Bad input anywhere: an error of ours that says what was given, and no state changed."""

import numpy as np
import pytest

import osp_core as osp

SIMPLEX = osp.make_space("simplex", d=3)
CUBE = osp.make_space("hypercube", d=3)

MISTAKES = {
    "a negative size": (lambda: osp.make_space("simplex", d=-1), "d must be at least 1, got -1"),
    "an unknown space": (lambda: osp.make_space("simplx"), "Did you mean 'simplex'"),
    "a name that is no text": (lambda: osp.make_space(3), "no space called 3"),
    "an unknown parameter": (lambda: osp.make_space("simplex", foo=3), "'foo'; it takes d, classes"),
    "a negative scale": (
        lambda: osp.FenchelYoungLoss(SIMPLEX, scale=-1),
        "scale of the loss must be positive",
    ),
    "no space": (lambda: osp.OnlinePredictor("simplex", 3), "see make_space"),
    "no learner": (lambda: osp.OnlinePredictor(SIMPLEX, 3, learner="ogd"), "see make_learner"),
    "a bad seed": (lambda: osp.OnlinePredictor(SIMPLEX, 3, seed=-3), "seed must be"),
    "a norm that is none": (lambda: osp.make_space("simplex", d=3, norm=0.5), "order p ≥ 1"),
    "a norm that is text": (lambda: osp.make_space("simplex", d=3, norm="two"), "order p ≥ 1"),
    "a regularizer that is text": (
        lambda: osp.make_space("simplex", d=3, psi="entropy"),
        "must be a Regularizer",
    ),
    "scores of the wrong length": (lambda: SIMPLEX.predict([1, 2]), "length 3"),
    "scores with NaN": (lambda: SIMPLEX.predict([np.nan, 0, 0]), "got nan at index 0"),
    "complex scores": (lambda: SIMPLEX.predict(np.array([1j, 0, 0])), "of numbers"),
    "scores that overflow": (lambda: SIMPLEX.predict([1e308, -1e308, 0]), "at most 1e"),
    "a batch with an infinity": (lambda: CUBE.predict_many([[0, 0, np.inf]]), "row 0, column 2"),
    "a list for a class": (
        lambda: osp.FenchelYoungLoss(SIMPLEX).value([1, 2, 3], [1, 0, 0]),
        "not one of the 3",
    ),
    "vertices of text": (lambda: osp.vertices("abc"), "vertices needs"),
    "losses of two lengths": (lambda: osp.hamming.loss(np.zeros(2), np.zeros(3)), "length 2"),
    "fewer labels than inputs": (
        lambda: osp.run(osp.OnlinePredictor(SIMPLEX, 2), np.zeros((3, 2)), [0, 1]),
        "Y ends before X",
    ),
    "more labels than inputs": (
        lambda: osp.run(osp.OnlinePredictor(SIMPLEX, 2), iter(np.zeros((1, 2))), iter([0, 1])),
        "X ends before Y",
    ),
    "a number for a stream": (lambda: osp.run(osp.OnlinePredictor(SIMPLEX, 2), 5, [0]), "iterable of inputs"),
    "a comparator of nothing": (
        lambda: osp.best_comparator(SIMPLEX, np.zeros((0, 2)), [], osp.surrogate_gap(SIMPLEX)),
        "not empty",
    ),
    "a negative norm of U": (lambda: osp.surrogate_gap(SIMPLEX).expected_bound(-1), "non-negative"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_answered_with_what_was_expected(name):
    act, message = MISTAKES[name]
    with pytest.raises(osp.OspError, match=message):
        act()


def test_a_run_saves_its_checkpoints(tmp_path):
    path = tmp_path / "run.ckpt"
    seen = []
    stream = osp.make_stream("linear_teacher", space=SIMPLEX, rounds=25, n_features=2)
    predictor = osp.OnlinePredictor(SIMPLEX, 2, seed=0)
    osp.run(
        predictor,
        stream,
        checkpoint=path,
        checkpoint_every=10,
        callback=lambda t, _: seen.append(path.exists() and osp.OnlinePredictor.load(path).learner.rounds),
    )
    assert seen[9] is False
    assert (seen[10], seen[20]) == (10, 20)
    assert osp.OnlinePredictor.load(path).learner.rounds == 25
