"""Constants, labels, oracles and refusals of `birkhoff` and `assignment`."""

import itertools

import numpy as np
import pytest

import osp_core as osp
from osp_core.geometry.directions import discover_span

SMALL = [("birkhoff", {"n": n}) for n in (1, 2, 3, 4)] + [
    ("assignment", {"m": m, "n": n}) for m, n in ((1, 1), (1, 3), (2, 2), (2, 3), (2, 4), (3, 4))
]


@pytest.mark.parametrize(("name", "params"), SMALL)
def test_constants_match_enumeration(name, params):
    space = osp.make_space(name, **params)
    vertices = space.vertices()
    assert len(np.unique(vertices, axis=0)) == len(vertices)
    distances = [np.abs(a - b).sum() for a, b in itertools.combinations(vertices, 2)]
    assert space.diameter1 == max(distances, default=0.0)
    if distances:
        assert space.nu1 == min(distances)
    direction = np.random.default_rng(0).standard_normal(space.dim)
    span = discover_span(space.lmo, space.dim)
    assert np.abs(space.project_direction(direction) - span.project(direction)).max() <= 1e-13
    cost = np.random.default_rng(1).standard_normal(space.dim)
    assert space.lmo(cost) @ cost == pytest.approx((vertices @ cost).min(), abs=1e-12)


def test_the_constants_of_the_paper():
    n, mu = 7, 1.5
    space = osp.make_space("birkhoff", n=n, psi=osp.NegativeEntropy(1.0 / mu))
    assert (space.norm, space.nu, space.diameter, space.max_mass) == (1.0, 4.0, 2.0 * n, float(n))
    assert space.target_loss().gamma(space) == pytest.approx(1 / (2 * n))
    assert space.lam == pytest.approx(1 / (n * mu))
    assert osp.surrogate_gap(space, loss=osp.FenchelYoungLoss(space)).a == pytest.approx(1 - mu / 2)
    euclidean = osp.make_space("birkhoff", n=n, psi=osp.SquaredNorm(), norm=2)
    assert euclidean.nu == 2.0
    assert euclidean.diameter == pytest.approx(np.sqrt(2 * n))
    assert euclidean.target_loss().gamma(euclidean) == pytest.approx(np.sqrt(n - 1) / n)


def test_ndcg_is_a_target_whose_gamma_holds():
    space = osp.make_space("birkhoff", n=4)
    vertices = space.vertices()
    gamma = osp.ndcg.gamma(space)
    for y in vertices[::5]:
        for other in vertices:
            assert osp.ndcg.loss(other, y) <= gamma * np.abs(other - y).sum() + 1e-12
    assert osp.ndcg.loss(vertices[3], vertices[3]) == pytest.approx(0.0, abs=1e-12)


def test_the_nearest_vertex_is_never_beaten():
    rng = np.random.default_rng(0)
    for norm in (1, 1.5, 2, 3):
        space = osp.make_space("birkhoff", n=4, norm=norm)
        for _ in range(20):
            point = space.predict(2.0 * rng.standard_normal(16)).point
            distances = space.distance(space.vertices(), point)
            assert space.distance(space.nearest_vertex(point), point) <= distances.min() + 1e-12


def test_rankings_dicts_and_matrices_are_one_label():
    space = osp.make_space("birkhoff", items=["salt", "oil", "bread"])
    vertex = space.from_label(["bread", "salt", "oil"])
    assert vertex.tolist() == [0, 1, 0, 0, 0, 1, 1, 0, 0]
    assert np.array_equal(space.from_label({"bread": 0, "salt": 1, "oil": 2}), vertex)
    assert np.array_equal(space.from_label(vertex.reshape(3, 3)), vertex)
    assert np.array_equal(space.from_label(vertex), vertex)
    assert space.to_label(vertex) == ("bread", "salt", "oil")


def test_an_array_of_items_is_a_ranking():
    space = osp.make_space("birkhoff", n=3)
    assert space.to_label(space.from_label(np.array([2, 0, 1]))) == (2, 0, 1)


@pytest.mark.parametrize(
    "label",
    [
        ["salt", "oil"],
        ["salt", "oil", "oil"],
        ["salt", "oil", "wine"],
        "salt",
        7,
        {"salt": 0, "oil": 0, "bread": 1},
        {"salt": 1, "oil": 2, "bread": 3},
        {"salt": 0, "oil": 1},
        np.ones((3, 3)),
        np.ones((2, 2)),
    ],
)
def test_what_is_no_ranking_is_refused(label):
    with pytest.raises(osp.NotAVertexError):
        osp.make_space("birkhoff", items=["salt", "oil", "bread"]).from_label(label)


def test_assignments_are_dicts_or_sequences_of_columns():
    space = osp.make_space("assignment", rows=["ann", "bob"], columns=["early", "late", "night"])
    vertex = space.from_label({"bob": "early", "ann": "night"})
    assert vertex.tolist() == [0, 0, 1, 1, 0, 0]
    assert np.array_equal(space.from_label(["night", "early"]), vertex)
    assert space.to_label(vertex) == {"ann": "night", "bob": "early"}
    for wrong in (["night"], ["night", "night"], {"ann": "night"}, {"eve": "late", "ann": "night"}, "no", 3):
        with pytest.raises(osp.NotAVertexError):
            space.from_label(wrong)


@pytest.mark.parametrize(
    ("name", "params", "message"),
    [
        ("birkhoff", {}, "either n"),
        ("birkhoff", {"n": 0}, "at least 1"),
        ("birkhoff", {"n": 2.5}, "whole number"),
        ("birkhoff", {"items": ["a", "a"]}, "distinct"),
        ("birkhoff", {"n": 3, "backend": "magic"}, "back end 'magic'"),
        ("assignment", {"m": 4, "n": 3}, "at least as many columns"),
        ("assignment", {"m": 2}, "either n"),
        ("assignment", {"m": 2, "columns": ["x", "x"]}, "distinct"),
    ],
)
def test_bad_parameters_say_what_is_wrong(name, params, message):
    with pytest.raises(osp.InvalidInputError, match=message):
        osp.make_space(name, **params)


def test_gibbs_is_refused_where_it_needs_a_large_permanent():
    small = osp.make_space("birkhoff", n=4, psi=osp.GibbsEntropy())
    theta = np.random.default_rng(0).standard_normal(16)
    weights = np.exp(small.vertices() @ theta)
    assert np.allclose(small.predict(theta).point, weights @ small.vertices() / weights.sum())
    large = osp.make_space("birkhoff", n=12, psi=osp.GibbsEntropy())
    with pytest.raises(osp.UnsupportedError, match="permanent"):
        large.predict(np.zeros(144))


def test_ties_are_broken_the_same_way_every_time():
    space = osp.make_space("birkhoff", n=6)
    cost = np.zeros(36)
    first = space.lmo(cost)
    assert np.array_equal(first.reshape(6, 6), np.eye(6))
    assert all(space.lmo(cost).tobytes() == first.tobytes() for _ in range(3))
    assert np.array_equal(space.lmo_many(np.zeros((2, 36))), np.stack([first, first]))


def test_learning_a_ranking_from_a_teacher():
    rng = np.random.default_rng(0)
    space = osp.make_space("birkhoff", n=4)
    teacher = rng.standard_normal((16, 3))
    predictor = osp.OnlinePredictor(space, n_features=3, seed=0)
    losses = []
    for _ in range(300):
        x = rng.standard_normal(3)
        x /= np.linalg.norm(x)
        losses.append(predictor.step(x, space.to_label(space.lmo(-teacher @ x))).expected_loss)
    assert np.mean(losses[-100:]) < 0.6 * np.mean(losses[:20])
