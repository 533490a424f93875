"""The comparator minimises the right-hand side of the bound, and any other U is a valid but larger one."""

import numpy as np
import pytest
import scipy.sparse as sp

import osp_core as osp

SPACE = osp.make_space("simplex", d=3)
GAP = osp.surrogate_gap(SPACE)


def data(rounds=80):
    return osp.make_stream("linear_teacher", space=SPACE, rounds=rounds, n_features=3, seed=1).arrays()


def right_hand_side(U, X, Y):
    return sum(GAP.loss.value(U @ x, y) for x, y in zip(X, Y, strict=True)) + GAP.coefficient * (U**2).sum()


def test_no_other_weights_have_a_smaller_right_hand_side(rng):
    X, Y = data()
    best = osp.best_comparator(SPACE, X, Y, GAP)
    assert best.right_hand_side == pytest.approx(right_hand_side(best.weights, X, Y))
    assert best.bound.value == pytest.approx(GAP.coefficient * (best.weights**2).sum())
    for scale in (1e-3, 0.1, 1.0):
        for step in scale * rng.standard_normal((20, 3, 3)):
            assert right_hand_side(best.weights + step, X, Y) > best.right_hand_side
    assert right_hand_side(np.zeros((3, 3)), X, Y) > best.right_hand_side


def test_labels_and_sparse_inputs_give_the_same():
    X, Y = data()
    best = osp.best_comparator(SPACE, X, Y, GAP)
    again = osp.best_comparator(SPACE, sp.csr_array(X), [SPACE.to_label(y) for y in Y], GAP)
    assert np.allclose(best.weights, again.weights, atol=1e-5)


def test_a_feature_model_gives_the_same_as_the_linear_one_it_contains():
    X, Y = data(30)
    best = osp.best_comparator(SPACE, X, Y, GAP)
    # θ = Φw with Φ = I ⊗ xᵀ and w = vec(W).
    features = [np.kron(np.eye(3), x) for x in X]
    vector = osp.best_comparator(SPACE, features, Y, GAP, model=osp.FeatureModel(9))
    assert vector.right_hand_side == pytest.approx(best.right_hand_side, rel=1e-6)
    assert np.allclose(vector.weights.reshape(3, 3), best.weights, atol=1e-3)


def test_no_time_still_gives_a_valid_comparator():
    X, Y = data()
    hurried = osp.best_comparator(SPACE, X, Y, GAP, time_limit=1e-9)
    assert hurried.right_hand_side == pytest.approx(right_hand_side(hurried.weights, X, Y))
    assert hurried.right_hand_side <= right_hand_side(np.zeros((3, 3)), X, Y)


def test_what_cannot_be_compared_is_refused():
    X, Y = data()
    for bad in ((X, Y[:-1]), (X[:0], [])):
        with pytest.raises(osp.InvalidInputError, match="as long as"):
            osp.best_comparator(SPACE, *bad, GAP)
    with pytest.raises(osp.NotAVertexError):
        osp.best_comparator(SPACE, X, [*Y[:-1], 9], GAP)
    refused = osp.surrogate_gap(SPACE, loss=osp.FenchelYoungLoss(SPACE, 0.1))
    with pytest.raises(osp.GuaranteeError, match="scale"):
        osp.best_comparator(SPACE, X, Y, refused)
