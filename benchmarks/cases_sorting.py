"""Spaces solved by sorting: ordinal, permutahedron and k-subsets, projections first.

Every contestant starts from the same numpy vector of scores. What jaxopt compiles and the factor of
lp-sparsemap are made beforehand. fast-soft-sort and lp-sparsemap install from their repositories only.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from harness import BEST, Case
from numpy.typing import NDArray

import osp_core as osp

Array = NDArray[np.float64]
Peer = Callable[[], Any]


def cases(short: bool) -> Iterator[Case]:
    """Yield the cases of this family, small sizes only when `short`."""
    for d in (10, 100, 1000) if short else (10, 20, 100, 1000, 10_000, 100_000):
        yield _permutahedron(d)
    for d in (10, 100, 1000) if short else (10, 100, 1000, 10_000):
        yield _permutahedron_entropic(d)
    for d in (20, 100, 1000) if short else (20, 100, 1000, 10_000, 100_000, 1_000_000):
        yield _k_subsets(d)
    for d in (10, 100, 1000) if short else (10, 100, 1000, 10_000, 100_000):
        yield _ordinal(d)
    for d in (100, 1000) if short else (100, 1000, 10_000, 100_000):
        yield from _samples(d)


def _permutahedron(d: int) -> Case:
    space = osp.make_space("permutahedron", d=d)
    theta = np.sqrt(d) * np.random.default_rng(d).standard_normal(d)
    makers = {
        "scipy": _pooling_with(_scipy_isotonic),
        "scikit-learn": _pooling_with(_sklearn_isotonic),
        "fast-soft-sort": _fast_soft_sort,
    }
    peers = {name: _installed(name) or make(theta) for name, make in makers.items()}
    reference = _pooled(theta, np.arange(d, 0, -1.0))
    goal = 3.0 if d <= 100 else 1.5 if d == 1000 else 1.0
    return Case(
        "permutahedron, projection",
        d,
        lambda: space.project(theta),
        peers,
        _distance(reference),
        1e-6,
        {BEST: goal},
        exponent=1.0,
    )


def _permutahedron_entropic(d: int) -> Case:
    space = osp.make_space("permutahedron", d=d)
    theta = np.random.default_rng(d).standard_normal(d)
    name = "fast-soft-sort"
    peers: dict[str, Peer | str] = {name: _installed(name) or _fast_soft_sort_entropic(theta)}

    def error(answer: Any) -> float:
        # The Frank–Wolfe gap of an average item.
        y = _point(answer)
        slope = np.log(y) - theta
        slope -= slope.mean()
        return float(slope @ y - np.sort(slope) @ np.arange(d, 0, -1.0)) / d

    return Case("permutahedron, entropic", d, lambda: space.kl_project(theta), peers, error, 1e-9)


def _k_subsets(d: int) -> Case:
    k = d // 4
    space = osp.make_space("k_subsets", d=d, k=k)
    theta = np.random.default_rng(d).standard_normal(d)
    makers = {"lp-sparsemap": _lp_sparsemap, "jaxopt": _jaxopt_capped_simplex}
    peers: dict[str, Peer | str] = {
        name: _installed(name) or (make(theta, k) if d <= 100_000 else "skipped at this size")
        for name, make in makers.items()
    }
    reference = np.clip(theta - _bisection(theta, k), 0.0, 1.0)
    return Case(
        "k-subsets, projection",
        d,
        lambda: space.project(theta),
        peers,
        _distance(reference),
        1e-4,
        {BEST: 1.0},
        exponent=1.0,
    )


def _ordinal(d: int) -> Case:
    space = osp.make_space("ordinal", d=d)
    theta = 0.5 + np.random.default_rng(d).standard_normal(d)
    peers: dict[str, Peer | str] = {
        "scipy": lambda: np.clip(_scipy_isotonic(theta), 0, 1),
        "scikit-learn": _installed("scikit-learn") or (lambda: np.clip(_sklearn_isotonic(theta), 0, 1)),
    }
    reference = np.clip(_scipy_isotonic(theta), 0, 1)
    return Case("ordinal, projection", d, lambda: space.project(theta), peers, _distance(reference), 1e-9)


def _samples(d: int) -> Iterator[Case]:
    """One random vertex of given mean; no peer has such a sampler."""
    rng = np.random.default_rng(d)
    permutahedron = osp.make_space("permutahedron", d=d)
    subsets = osp.make_space("k_subsets", d=d, k=d // 4)
    for name, space in (("permutahedron", permutahedron), ("k-subsets", subsets)):
        point = space.project(rng.standard_normal(d)).point
        yield Case(
            f"{name}, sample",
            d,
            lambda space=space, point=point: space.sample_vertex(point, rng),
            {},
            lambda vertex, space=space: float(not space.is_vertex(vertex)),
            0.0,
        )


# --- peers -------------------------------------------------------------------------------------------


def _scipy_isotonic(values: Array) -> Array:
    from scipy.optimize import isotonic_regression

    return isotonic_regression(values, increasing=False).x


def _sklearn_isotonic(values: Array) -> Array:
    from sklearn.isotonic import isotonic_regression

    return isotonic_regression(values, increasing=False)


def _pooling_with(isotonic: Callable[[Array], Array]) -> Callable[[Array], Peer]:
    def make(theta: Array) -> Peer:
        weights = np.arange(theta.size, 0, -1.0)

        def project() -> Array:
            order = np.argsort(-theta)
            ordered = theta[order]
            projected = np.empty(theta.size)
            projected[order] = ordered - isotonic(ordered - weights)
            return projected

        return project

    return make


def _fast_soft_sort(theta: Array) -> Peer:
    from fast_soft_sort.numpy_ops import Projection

    weights = np.arange(theta.size, 0, -1.0)
    return lambda: Projection(theta, weights).compute()


def _fast_soft_sort_entropic(theta: Array) -> Peer:
    from fast_soft_sort.numpy_ops import Projection

    log_weights = np.log(np.arange(theta.size, 0, -1.0))
    return lambda: np.exp(Projection(theta, log_weights, regularization="kl").compute())


def _jaxopt_capped_simplex(theta: Array, k: int) -> Peer:
    jax = _jax()
    from jaxopt.projection import projection_box_section

    ones = jax.numpy.ones(theta.size)
    project = jax.jit(
        lambda scores: projection_box_section(scores, (0.0, 1.0, ones, float(k)), check_feasible=False)
    )
    return lambda: np.asarray(project(theta))


def _lp_sparsemap(theta: Array, k: int) -> Peer:
    from lpsmap.ad3qp.factor_graph import PFactorGraph

    graph = PFactorGraph()
    # Its budget is "at most k": an offset that makes everything worth choosing turns that into "exactly k".
    scores = theta - theta.min() + 2.0
    variables = [graph.create_binary_variable() for _ in scores]
    factor = graph.create_factor_budget(variables, k)
    # The graph owns the factor, and must outlive it.
    return lambda _owner=graph: np.asarray(factor.solve_qp(scores, [])[0])


def _jax() -> Any:
    import jax

    jax.config.update("jax_enable_x64", True)
    return jax


_MODULES = {
    "scipy": "scipy",
    "scikit-learn": "sklearn",
    "fast-soft-sort": "fast_soft_sort",
    "jaxopt": "jaxopt",
    "lp-sparsemap": "lpsmap",
}


def _installed(name: str) -> str:
    """An empty string, or why the peer cannot run."""
    return "" if importlib.util.find_spec(_MODULES[name]) else "not installed"


# --- references --------------------------------------------------------------------------------------


def _pooled(theta: Array, weights: Array) -> Array:
    """The projection on the permutahedron through the least concave majorant of the running sums."""
    order = np.argsort(-theta, kind="stable")
    sums = np.concatenate([[0.0], np.cumsum(theta[order] - weights)])
    hull: list[int] = []
    for place, height in enumerate(sums):
        while len(hull) > 1 and (sums[hull[-1]] - sums[hull[-2]]) * (place - hull[-1]) <= (
            height - sums[hull[-1]]
        ) * (hull[-1] - hull[-2]):
            hull.pop()
        hull.append(place)
    slopes = np.diff(np.interp(np.arange(sums.size), hull, sums[hull]))
    projected = np.empty(theta.size)
    projected[order] = theta[order] - slopes
    return projected


def _bisection(theta: Array, k: int) -> float:
    """τ with Σ clip(θ − τ, 0, 1) = k."""
    low, high = theta.min() - 1.0, theta.max()
    for _ in range(100):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if np.clip(theta - middle, 0, 1).sum() > k else (low, middle)
    return float(low)


def _distance(reference: Array) -> Callable[[Any], float]:
    return lambda answer: float(np.abs(_point(answer) - reference).max())


def _point(answer: Any) -> Array:
    return np.asarray(getattr(answer, "point", answer), dtype=np.float64)
