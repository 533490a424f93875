"""Products of spaces, against the same outputs listed one by one."""

import numpy as np
import pytest

import osp_core as osp


@pytest.fixture
def space():
    return osp.product([osp.make_space("simplex", d=3), osp.make_space("hypercube", d=2)])


def test_the_vertices_are_all_pairs(space):
    assert len(space.vertices()) == 3 * 4
    assert all(space.is_vertex(y) for y in space.vertices())
    assert not space.is_vertex(np.zeros(5))


def test_oracles_agree_with_the_listed_product(space, rng):
    listed = osp.vertices(space.vertices())
    for _ in range(50):
        cost = rng.standard_normal(5)
        np.testing.assert_array_equal(space.lmo(cost), listed.lmo(cost))
        point = rng.dirichlet(np.ones(12)) @ space.vertices()
        nearest = space.nearest_vertex(point)
        assert np.linalg.norm(nearest - point) <= np.linalg.norm(listed.nearest_vertex(point) - point) + 1e-12


def test_every_factor_keeps_its_regularizer(space, rng):
    theta = rng.standard_normal(5)
    point = space.predict(theta).point
    np.testing.assert_allclose(point[:3], np.exp(theta[:3]) / np.exp(theta[:3]).sum())
    np.testing.assert_allclose(point[3:], np.clip(theta[3:], 0, 1))


def test_one_regularizer_for_all_coordinates_agrees_with_the_engine(rng):
    factors = [osp.make_space("simplex", d=3), osp.make_space("hypercube", d=2)]
    space = osp.product(factors, psi=osp.SquaredNorm(2.0))
    listed = osp.vertices(space.vertices(), psi=osp.SquaredNorm(2.0))
    for _ in range(20):
        theta = rng.standard_normal(5)
        np.testing.assert_allclose(space.predict(theta).point, listed.predict(theta).point, atol=1e-7)
    assert factors[0].psi == osp.NegativeEntropy(1.0)  # the caller's factors are left alone


def test_losses_add_up_over_factors(space, rng):
    theta, y = rng.standard_normal(5), space.vertices()[5]
    parts = [
        osp.FenchelYoungLoss(factor).value(scores, truth)
        for factor, scores, truth in zip(space.factors, space.split(theta), space.split(y), strict=True)
    ]
    assert osp.FenchelYoungLoss(space).value(theta, y) == pytest.approx(sum(parts))


def test_decompositions_couple_the_factors_in_few_terms(space, rng):
    for _ in range(30):
        point = rng.dirichlet(np.ones(12)) @ space.vertices()
        combination = space.decompose(point)
        np.testing.assert_allclose(combination.mean, point, atol=1e-12)
        assert len(combination) <= 3 + 3 - 1
        assert all(space.is_vertex(y) for y in combination.vertices)


def test_samples_are_unbiased(space, rng):
    point = rng.dirichlet(np.ones(12)) @ space.vertices()
    draws = np.array([space.sample_vertex(point, rng) for _ in range(5000)])
    assert np.abs(draws.mean(axis=0) - point).max() < 4 * np.sqrt(0.25 / 5000)


def test_constants_hold_over_all_pairs(space):
    vertices = space.vertices()
    for p in (1, 2):
        distances = np.linalg.norm(vertices[:, None] - vertices[None], ord=p, axis=2)
        assert space.nu_in(p) <= distances[distances > 0].min() + 1e-12
        assert space.diameter_in(p) >= distances.max() - 1e-12


def test_the_target_is_the_sum_of_the_factors_targets(space):
    y, played = space.from_label((2, {0})), space.from_label((1, {0, 1}))
    assert space.target_loss().loss(played, y) == pytest.approx(1.0 + 0.5)
    assert space.to_label(played) == (1, frozenset({0, 1}))


def test_the_blockwise_guarantee_is_that_of_the_worst_factor(space):
    gap = osp.surrogate_gap(space)
    ratios = [factor.decoding_ratio(factor.target_loss()) for factor in space.factors]
    assert gap.ratio == pytest.approx(max(ratios))


def test_gibbs_marginals_factorise(rng):
    factors = [osp.make_space("simplex", d=3), osp.make_space("hypercube", d=2)]
    space = osp.product(factors, psi=osp.GibbsEntropy(1.0))
    listed = osp.vertices(space.vertices())
    theta = rng.standard_normal(5)
    np.testing.assert_allclose(space.marginals(theta), listed.marginals(theta), atol=1e-12)
    assert space.log_partition(theta) == pytest.approx(listed.log_partition(theta))


def test_a_wrong_number_of_labels_is_refused(space):
    with pytest.raises(osp.NotAVertexError, match="2 labels"):
        space.from_label((1,))
    with pytest.raises(osp.InvalidInputError, match="non-empty"):
        osp.product([])
    with pytest.raises(osp.InvalidInputError, match="one context per factor"):
        space.at([None])
