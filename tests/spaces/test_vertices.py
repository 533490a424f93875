"""Spaces given as lists."""

import itertools

import numpy as np
import pytest

import osp_core as osp


def test_constants_are_those_of_all_pairs(rng):
    rows = rng.integers(-3, 4, size=(12, 3)).astype(float)
    for norm in (1, 2, 3, np.inf):
        space = osp.vertices(rows, norm=norm)
        distances = [np.linalg.norm(a - b, norm) for a, b in itertools.combinations(space.vertices(), 2)]
        assert space.nu == pytest.approx(min(distances))
        assert space.diameter == pytest.approx(max(distances))
        assert space.nearest_is_exact


def test_repeated_rows_are_merged_and_order_is_kept():
    space = osp.vertices([[1, 0], [0, 1], [1, 0], [-0.0, 1]])
    np.testing.assert_array_equal(space.vertices(), [[1, 0], [0, 1]])


def test_points_that_are_not_extreme_are_removed_on_request():
    square = [[0, 0], [2, 0], [0, 2], [2, 2], [1, 1], [1, 0]]
    assert len(osp.vertices(square).vertices()) == 6
    kept = osp.vertices(square, extreme_only=True, labels=list("abcdef"))
    np.testing.assert_array_equal(kept.vertices(), square[:4])
    assert [kept.to_label(y) for y in kept.vertices()] == list("abcd")


def test_labels_go_both_ways():
    space = osp.vertices([[1, 1, 0], [0, 1, 1]], labels=["left", "right"])
    np.testing.assert_array_equal(space.from_label("right"), [0, 1, 1])
    assert space.to_label(np.array([1.0, 1, 0])) == "left"
    with pytest.raises(osp.NotAVertexError, match="'left', 'right'"):
        space.from_label("up")
    with pytest.raises(osp.NotAVertexError):
        space.to_label(np.zeros(3))


def test_marginals_are_those_of_the_gibbs_distribution(rng):
    space = osp.vertices(rng.standard_normal((5, 3)), psi=osp.GibbsEntropy())
    theta = rng.standard_normal(3)
    weights = np.exp(space.vertices() @ theta)
    np.testing.assert_allclose(space.marginals(theta), weights @ space.vertices() / weights.sum())
    assert space.log_partition(theta) == pytest.approx(np.log(weights.sum()))


def test_the_vertices_cannot_be_changed_from_outside():
    space = osp.vertices([[1.0, 0.0], [0.0, 1.0]])
    with pytest.raises(ValueError, match="read-only"):
        space.vertices()[0, 0] = 9
    space.lmo(np.zeros(2))[:] = 9
    np.testing.assert_array_equal(space.lmo(np.zeros(2)), [1, 0])


def test_one_output_is_a_space_too():
    space = osp.vertices([[2.0, 3.0]])
    np.testing.assert_allclose(space.predict([1e8, -5.0]).point, [2, 3])
    assert space.diameter == 0
    assert space.nu == np.inf


@pytest.mark.parametrize("rows", [[], [1, 2], [[np.nan, 1]], np.zeros((0, 3))])
def test_rubbish_is_refused(rows):
    with pytest.raises(osp.InvalidInputError, match="vertices needs"):
        osp.vertices(rows)


def test_labels_must_be_distinct_and_complete():
    with pytest.raises(osp.InvalidInputError, match="'a' is given twice"):
        osp.vertices([[1], [2]], labels=["a", "a"])
