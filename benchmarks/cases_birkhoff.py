"""The Birkhoff family: entropic and Euclidean predictions, the oracle, decompositions and samples.

Every contestant starts from the same numpy matrix of scores. What jax compiles, the problem that cvxpy
parses and the factor pattern of PIQP are made beforehand; our calls include their certificate.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from harness import Case
from numpy.typing import NDArray

import osp_core as osp

Array = NDArray[np.float64]
Peer = Callable[[], Any]
Makers = dict[str, Callable[[Array], Peer]]
MODULES = {"POT": "ot", "ott-jax": "ott", "lapx": "lap", "PIQP": "piqp", "PyPI birkhoff": "birkhoff"}


def cases(quick: bool) -> Iterator[Case]:
    """Yield the cases of this family, small sizes only when `quick`."""
    for sharpness in (1.0, 10.0):
        for n in (5, 10, 30) if quick else (5, 10, 30, 100, 300):
            yield _entropic(n, sharpness)
    for n in (10, 30) if quick else (10, 30, 100):
        yield _entropic(n, 1500.0)
    for n in (5, 10, 20) if quick else (5, 10, 20, 50, 100):
        yield _euclidean(n)
    for n in (5, 30) if quick else (5, 10, 30, 100, 300):
        yield _oracle(n)
    for n in (10,) if quick else (10, 30, 100):
        yield _decomposition(n)
    for n in (10, 30) if quick else (10, 30, 100, 300):
        yield _sample(n)


def _scores(n: int, scale: float = 1.0) -> Array:
    return scale * np.random.default_rng(n).standard_normal((n, n))


def _peers(makers: Makers, scores: Array) -> dict[str, Peer | str]:
    """The peers that are installed, ready to be called; the reason for the others."""
    return {
        name: make(scores) if importlib.util.find_spec(MODULES.get(name, name)) else "not installed"
        for name, make in makers.items()
    }


def _entropic(n: int, sharpness: float) -> Case:
    space, scores = osp.make_space("birkhoff", n=n), _scores(n, sharpness)
    theta = scores.ravel()
    makers: Makers = {"POT": _pot, "ott-jax": _ott, "jaxopt": _jaxopt_entropic}
    title = f"birkhoff, entropic, scores × {sharpness:g}"
    error = _entropic_error(scores)
    return Case(title, n, lambda: space.kl_project(theta), _peers(makers, scores), error, 1e-8)


def _entropic_error(scores: Array) -> Callable[[Any], float]:
    """Error of the marginals; of our certified answers also the gap per row, found independently."""

    def error(answer: Any) -> float:
        point = np.asarray(getattr(answer, "point", answer)).reshape(scores.shape)
        if not np.isfinite(point).all():
            return np.inf
        marginal = max(np.abs(point.sum(axis=axis) - 1.0).max() for axis in (0, 1))
        if not hasattr(answer, "gap"):
            return float(marginal)
        from scipy.optimize import linear_sum_assignment

        gradient = np.log(point) - scores
        chosen = linear_sum_assignment(gradient)
        return float(max(marginal, ((gradient * point).sum() - gradient[chosen].sum()) / len(point)))

    return error


def _pot(scores: Array) -> Peer:
    import warnings

    import ot

    ones = np.ones(len(scores))

    def solve() -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ot.sinkhorn(ones, ones, -scores, 1.0, stopThr=1e-9, numItermax=100_000, warn=False)

    return solve


def _ott(scores: Array) -> Peer:
    import jax
    from ott.geometry.geometry import Geometry
    from ott.solvers import linear

    jax.config.update("jax_enable_x64", True)
    ones = np.ones(len(scores))
    solve = jax.jit(
        lambda s: (
            linear.solve(
                Geometry(cost_matrix=-s, epsilon=1.0), a=ones, b=ones, threshold=1e-9, max_iterations=100_000
            ).matrix
        )
    )
    return lambda: np.asarray(solve(scores))


def _jaxopt_entropic(scores: Array) -> Peer:
    import jax
    from jaxopt.projection import kl_projection_birkhoff

    jax.config.update("jax_enable_x64", True)
    solve = jax.jit(kl_projection_birkhoff)
    return lambda: np.asarray(solve(scores))


def _euclidean(n: int) -> Case:
    space, scores = osp.make_space("birkhoff", n=n), _scores(n)
    theta = scores.ravel()
    makers: Makers = {
        "PIQP": _piqp,
        "jaxopt": _jaxopt_euclidean,
        "POT": _pot_smooth,
        "cvxpy": _cvxpy,
    }
    # Half the squared distance is 1-strongly convex: the gap bounds the error of any feasible answer.
    reference = space.project(theta)
    assert reference.gap < 1e-12 * n

    def error(answer: Any) -> float:
        return float(np.abs(np.ravel(getattr(answer, "point", answer)) - reference.point).max())

    return Case("birkhoff, Euclidean", n, lambda: space.project(theta), _peers(makers, scores), error, 1e-2)


def _constraints(n: int) -> Array:
    """The 2n sums of a flattened n×n matrix; the last is implied by the others."""
    rows, columns = np.kron(np.eye(n), np.ones(n)), np.kron(np.ones(n), np.eye(n))
    return np.vstack([rows, columns[:-1]])


def _piqp(scores: Array) -> Peer:
    import piqp
    from scipy.sparse import csc_matrix, eye

    n = len(scores)
    solver = piqp.SparseSolver()
    solver.settings.verbose = False
    sums = csc_matrix(_constraints(n))
    empty = {"G": csc_matrix((0, n * n)), "h_u": np.zeros(0)}
    quadratic = csc_matrix(eye(n * n))
    try:
        solver.setup(quadratic, -scores.ravel(), sums, np.ones(2 * n - 1), x_l=np.zeros(n * n))
    except TypeError:  # versions before 0.6
        solver.setup(
            quadratic, -scores.ravel(), sums, np.ones(2 * n - 1), empty["G"], empty["h_u"], np.zeros(n * n)
        )

    def solve() -> Any:
        solver.update(c=-scores.ravel())
        solver.solve()
        return np.array(solver.result.x)

    return solve


def _jaxopt_euclidean(scores: Array) -> Peer:
    import jax
    from jaxopt.projection import projection_birkhoff

    jax.config.update("jax_enable_x64", True)
    solve = jax.jit(projection_birkhoff)
    return lambda: np.asarray(solve(scores))


def _pot_smooth(scores: Array) -> Peer:
    from ot.smooth import smooth_ot_dual

    ones = np.ones(len(scores))
    return lambda: smooth_ot_dual(ones, ones, -scores, reg=1.0, reg_type="l2", stopThr=1e-12)


def _cvxpy(scores: Array) -> Peer:
    import cvxpy as cp

    plan, target = cp.Variable(scores.shape, nonneg=True), cp.Parameter(scores.shape)
    ones = np.ones(len(scores))
    problem = cp.Problem(
        cp.Minimize(0.5 * cp.sum_squares(plan - target)), [plan @ ones == 1, plan.T @ ones == 1]
    )

    def solve() -> Any:
        target.value = scores
        problem.solve(solver=cp.OSQP, warm_start=False)
        return plan.value

    return solve


def _oracle(n: int) -> Case:
    space, scores = osp.make_space("birkhoff", n=n), _scores(n)
    cost = scores.ravel()
    makers: Makers = {"scipy": _scipy_assignment, "lapx": _lapx, "networkx": _networkx}
    best = scores[_scipy_assignment(scores)()].sum()

    def error(answer: Any) -> float:
        value = answer @ cost if isinstance(answer, np.ndarray) else scores[answer].sum()
        return abs(float(value) - best)

    return Case("birkhoff, oracle", n, lambda: space.lmo(cost), _peers(makers, scores), error, 1e-9)


def _scipy_assignment(scores: Array) -> Peer:
    from scipy.optimize import linear_sum_assignment

    return lambda: linear_sum_assignment(scores)


def _lapx(scores: Array) -> Peer:
    import lap

    rows = np.arange(len(scores))
    return lambda: (rows, lap.lapjv(scores)[1])


def _networkx(scores: Array) -> Peer:
    space = osp.make_space("birkhoff", n=len(scores), backend="networkx")
    cost = scores.ravel()
    return lambda: space.lmo(cost)


def _doubly_stochastic(n: int) -> Array:
    return np.asarray(osp.make_space("birkhoff", n=n).kl_project(_scores(n).ravel()).point)


def _decomposition(n: int) -> Case:
    space, point = osp.make_space("birkhoff", n=n), _doubly_stochastic(n)
    # The peer takes more than a minute at n = 100.
    peers = _peers({"PyPI birkhoff": _pypi_birkhoff}, point.reshape(n, n)) if n < 100 else {}

    def error(answer: Any) -> float:
        mean = answer.mean if hasattr(answer, "mean") else sum(weight * matrix for weight, matrix in answer)
        return float(np.abs(np.ravel(mean) - point).max())

    return Case("birkhoff, decomposition", n, lambda: space.decompose(point), peers, error, 1e-9)


def _pypi_birkhoff(matrix: Array) -> Peer:
    """The package is written for networkx 1 and numpy 1: give it back what it misses."""
    import networkx
    from networkx.algorithms import bipartite

    def from_numpy_matrix(array: Any) -> Any:
        return networkx.from_numpy_array(np.asarray(array))

    def to_permutation_matrix(matches: dict[int, int]) -> Array:
        permutation = np.zeros((len(matches), len(matches)))
        permutation[list(matches), list(matches.values())] = 1.0
        return permutation

    networkx.from_numpy_matrix = from_numpy_matrix
    networkx.bipartite = bipartite
    vars(np)["float"] = float
    import birkhoff

    birkhoff.to_permutation_matrix = to_permutation_matrix
    return lambda: birkhoff.birkhoff_von_neumann_decomposition(matrix)


def _sample(n: int) -> Case:
    space, point = osp.make_space("birkhoff", n=n), _doubly_stochastic(n)
    rng = np.random.default_rng(0)
    peers: dict[str, Peer | str] = {}
    if n <= 30:
        peers["our decomposition"] = lambda: space.decompose(point).sample(rng)

    def error(answer: Any) -> float:
        return 0.0 if space.is_vertex(answer) else np.inf

    return Case("birkhoff, sample", n, lambda: space.sample_vertex(point, rng), peers, error, 0.0)
