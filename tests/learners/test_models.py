"""Models: reading inputs, scores, norms and factored gradients, against dense linear algebra."""

import numpy as np
import pytest
import scipy.sparse as sp

import osp_core as osp

LINEAR, FEATURES = osp.LinearModel(4), osp.FeatureModel(4)


def inputs(model, rng):
    """The same input, dense and in every sparse form."""
    shape = (4,) if model is LINEAR else (3, 4)
    dense = rng.standard_normal(shape) * (rng.random(shape) < 0.6)
    matrix = np.atleast_2d(dense)
    return [dense, *(kind(matrix) for kind in (sp.csr_array, sp.csc_array, sp.coo_array, sp.csr_matrix))]


@pytest.mark.parametrize("model", [LINEAR, FEATURES], ids=repr)
def test_every_form_of_an_input_gives_the_same_scores_norm_and_gradient(model, rng):
    for _ in range(20):
        W = rng.standard_normal(model.shape(3))
        residual = rng.standard_normal(3)
        dense, *sparse = inputs(model, rng)
        scores = W @ dense if model is LINEAR else dense @ W
        gradient = np.outer(residual, dense) if model is LINEAR else dense.T @ residual
        norm = np.linalg.norm(dense) if model is LINEAR else np.linalg.norm(dense, 2)
        for x in (dense, *sparse):
            read = model.read(x, 3)
            assert np.allclose(model.scores(W, read), scores)
            assert model.size(read) == pytest.approx(norm, abs=1e-12)
            factored = model.gradient(residual, read)
            assert np.allclose(factored.dense(), gradient)
            assert factored.squared_norm == pytest.approx((gradient**2).sum())
            assert factored.inner(W) == pytest.approx((gradient * W).sum())
            for order in "FC":
                moved = np.array(W, order=order)
                factored.add_to(moved, -0.3)
                assert np.allclose(moved, W - 0.3 * gradient)


@pytest.mark.parametrize("model", [LINEAR, FEATURES], ids=repr)
def test_the_gradient_is_that_of_the_loss(model, rng):
    space = osp.make_space("simplex", d=3)
    loss, W = osp.FenchelYoungLoss(space, 1.7), rng.standard_normal(model.shape(3))
    x = model.read(inputs(model, rng)[0], 3)
    _, residual = loss.value_and_gradient(model.scores(W, x), 1)
    gradient = model.gradient(residual, x).dense()
    direction, h = rng.standard_normal(W.shape), 1e-6
    slope = (
        loss.value(model.scores(W + h * direction, x), 1) - loss.value(model.scores(W - h * direction, x), 1)
    ) / (2 * h)
    assert slope == pytest.approx(float((gradient * direction).sum()), rel=1e-6, abs=1e-9)


def test_a_sparse_row_may_be_given_with_duplicates_and_as_a_vector():
    doubled = sp.coo_array(([1.0, 2.0, 4.0], ([0, 0, 0], [1, 1, 3])), shape=(1, 4))
    values, columns = LINEAR.read(doubled, 3)
    assert (values.tolist(), columns.tolist()) == ([3.0, 4.0], [1, 3])
    vector = sp.coo_array(np.array([0.0, 3.0, 0.0, 4.0]))
    assert LINEAR.size(LINEAR.read(vector, 3)) == pytest.approx(5.0)


def test_a_read_input_does_not_follow_the_caller_s_buffer():
    buffer = np.ones(4)
    values, _ = LINEAR.read(buffer, 3)
    buffer[:] = 7.0
    assert values.tolist() == [1.0] * 4


@pytest.mark.parametrize(
    ("model", "x"),
    [
        (LINEAR, np.ones(3)),
        (LINEAR, np.ones((1, 4))),
        (LINEAR, [1.0, np.nan, 0.0, 0.0]),
        (LINEAR, [1.0, np.inf, 0.0, 0.0]),
        (LINEAR, "abcd"),
        (LINEAR, sp.csr_array(np.ones((2, 4)))),
        (LINEAR, sp.csr_array(np.array([[np.nan, 1.0, 0.0, 0.0]]))),
        (FEATURES, np.ones((4, 3))),
        (FEATURES, np.full((3, 4), np.nan)),
        (FEATURES, [["a"] * 4] * 3),
        (FEATURES, sp.csr_array(np.full((3, 4), np.inf))),
    ],
)
def test_bad_inputs_are_refused(model, x):
    with pytest.raises(osp.InvalidInputError):
        model.read(x, 3)


@pytest.mark.parametrize("count", [0, -1, 1.5, True])
def test_the_number_of_features_must_be_a_count(count):
    for model in (osp.LinearModel, osp.FeatureModel):
        with pytest.raises(osp.InvalidInputError):
            model(count)
