"""The default method projects: right, certified, and with few atoms, at every scale."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from osp_core.frank_wolfe import MinNormPoint, Quadratic, Status, minimize

SCALES = [1e-8, 1e-4, 0.1, 1.0, 30.0, 1e4, 1e8]


def check_projection(fw, result, dim, expected):
    fw.check_result(result)
    assert result.status is Status.OPTIMAL
    assert len(result.combination) <= dim + 1
    assert np.abs(result.point - expected).max(initial=0.0) <= 1e-6


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 30), st.sampled_from(SCALES))
def test_projections_on_the_hypercube_are_clipped_centres(fw, seed, dim, scale):
    centre = scale * np.random.default_rng(seed).normal(size=dim)
    check_projection(fw, minimize(fw.hypercube, Quadratic(centre)), dim, np.clip(centre, 0, 1))


@settings(max_examples=60, deadline=None)
@given(
    st.integers(0, 2**32 - 1), st.integers(1, 40), st.sampled_from(SCALES), st.sampled_from([0.0, 1.0, 1e6])
)
def test_projections_on_k_subsets_equal_a_bisection(fw, seed, dim, scale, shift):
    rng = np.random.default_rng(seed)
    centre, k = shift + scale * rng.normal(size=dim), int(rng.integers(1, dim + 1))
    result = minimize(fw.k_subsets(k), Quadratic(centre))
    check_projection(fw, result, dim, fw.project_k_subsets(centre - shift, k))


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from(SCALES))
def test_projections_on_hulls_of_awkward_vertices_equal_brute_force(fw, seed, scale):
    rng = np.random.default_rng(seed)
    dim, count = int(rng.integers(1, 5)), int(rng.integers(1, 5))
    base = rng.normal(size=(count, dim)) * rng.choice([0.1, 1.0, 10.0])
    repeated, collinear, nearly = (
        base[:1],
        base.mean(axis=0, keepdims=True),
        base[:2] + 1e-7 * rng.normal(size=dim),
    )
    vertices = np.vstack([base, repeated, collinear, nearly])
    centre = scale * rng.normal(size=dim)
    result = minimize(fw.vertex_list(vertices), Quadratic(centre))
    check_projection(fw, result, dim, fw.project_hull(vertices, centre))


@pytest.mark.parametrize("offset", [1e3, 1e6])
def test_vertices_far_from_the_origin_lose_no_accuracy(fw, offset):
    rng = np.random.default_rng(3)
    for _ in range(10):
        vertices, centre = rng.normal(size=(6, 3)), rng.normal(size=3)
        near = minimize(fw.vertex_list(vertices), Quadratic(centre))
        far = minimize(fw.vertex_list(vertices + offset), Quadratic(centre + offset))
        assert np.abs(far.point - offset - near.point).max() <= 1e-6


def all_vertices(name, fw):
    if name == "birkhoff":
        return fw.birkhoff(4), np.array(
            [np.eye(4)[list(p)].ravel() for p in itertools.permutations(range(4))]
        )
    edges = fw.complete_graph(4)
    lmo = fw.spanning_trees(4, edges)
    subsets = [np.isin(range(6), chosen).astype(float) for chosen in itertools.combinations(range(6), 3)]
    return lmo, np.array([tree for tree in subsets if np.array_equal(lmo(1 - 2 * tree), tree)])


@pytest.mark.parametrize("name", ["birkhoff", "spanning trees"])
@pytest.mark.parametrize("scale", SCALES)
def test_the_variational_inequality_holds_against_every_vertex(fw, name, scale):
    lmo, vertices = all_vertices(name, fw)
    assert len(vertices) == {"birkhoff": 24, "spanning trees": 16}[name]
    for seed in range(6):
        centre = scale * np.random.default_rng(seed).normal(size=vertices.shape[1])
        result = minimize(lmo, Quadratic(centre))
        check_projection(fw, result, vertices.shape[1], result.point)
        gap = ((result.point - centre) * (result.point - vertices)).sum(axis=1).max()
        # ‖point − projection‖² ≤ gap, so this is an accuracy of 1e−6 wherever rounding permits.
        assert gap <= 1e-12 * (1 + result.point @ result.point) + 1e-14 * scale


@pytest.mark.parametrize("n", [1, 2, 5, 10, 20])
@pytest.mark.parametrize("scale", [0.01, 0.3, 1.0])
def test_projections_on_birkhoff_polytopes_satisfy_the_dual_equations(fw, n, scale):
    centre = scale * np.random.default_rng(n).normal(size=(n, n))
    result = minimize(fw.birkhoff(n), Quadratic(centre.ravel()))
    check_projection(fw, result, n * n, result.point)
    # Slow twin: Dykstra's alternating projections on rows, columns and the non-negative orthant.
    point, corrections = centre.copy(), np.zeros_like(centre)
    for _ in range(20_000):
        before = point
        point = point - (point.sum(axis=1, keepdims=True) - 1) / n
        point = point - (point.sum(axis=0, keepdims=True) - 1) / n
        candidate = point + corrections
        point = np.maximum(candidate, 0)
        corrections = candidate - point
        if np.abs(point - before).max() < 1e-13:
            break
    assert np.abs(result.point.reshape(n, n) - point).max() < 1e-6


def test_a_single_vertex_is_its_own_projection(fw):
    vertex = np.array([2.0, -1.0])
    result = minimize(fw.vertex_list([vertex]), Quadratic([5.0, 5.0]))
    assert result.status is Status.OPTIMAL
    assert result.point.tolist() == vertex.tolist()
    assert result.lmo_calls == 2


def test_a_capped_run_gives_way_to_blended_pairwise_and_still_converges(fw):
    centre = np.random.default_rng(0).normal(size=100) * 0.3
    exact = minimize(fw.birkhoff(10), Quadratic(centre))
    capped = minimize(fw.birkhoff(10), Quadratic(centre), method=MinNormPoint(max_major=5), tol=1e-10)
    check_projection(fw, capped, 100, capped.point)
    assert np.abs(capped.point - exact.point).max() < 1e-4


def test_runs_are_reproducible_to_the_last_bit(fw):
    centre = np.random.default_rng(0).normal(size=144) * 0.2
    first, second = (minimize(fw.birkhoff(12), Quadratic(centre)) for _ in range(2))
    assert first.point.tobytes() == second.point.tobytes()
    assert first.combination.weights.tobytes() == second.combination.weights.tobytes()


# LMO calls of a fully corrective method on these problems, means over random centres.
REFERENCE = [
    ("birkhoff", 10, 0.3, 39),
    ("birkhoff", 10, 1.0, 17),
    ("birkhoff", 30, 0.05, 338),
    ("birkhoff", 30, 0.3, 152),
    ("birkhoff", 30, 1.0, 72),
    ("hypercube", 100, 1.0, 29),
    ("10-subsets", 100, 0.1, 60),
    ("50-subsets", 100, 0.3, 57),
]


@pytest.mark.parametrize(("family", "size", "scale", "calls"), REFERENCE)
def test_the_default_method_needs_few_oracle_calls(fw, family, size, scale, calls):
    lmo = {
        "birkhoff": fw.birkhoff(size),
        "hypercube": fw.hypercube,
        "10-subsets": fw.k_subsets(10),
        "50-subsets": fw.k_subsets(50),
    }[family]
    dim = size**2 if family == "birkhoff" else size
    counts = []
    for seed in range(3):
        centre = np.random.default_rng(seed).normal(0, scale, dim)
        result = minimize(lmo, Quadratic(centre), tol=1e-7)
        assert result.gap <= 1e-6 * (1 + 0.05 * (result.point @ result.point))
        counts.append(result.lmo_calls)
    assert np.mean(counts) <= 1.3 * calls
