"""The Birkhoff family: entropic and Euclidean predictions, the oracle, decompositions and samples.

Every contestant starts from the same numpy matrix of scores. What jax compiles, the problem that cvxpy
parses and the factor pattern of PIQP are made beforehand; our calls include their certificate.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from harness import BEST, Case, Fact, Row, seconds_of
from numpy.typing import NDArray

import osp_core as osp

Array = NDArray[np.float64]
Peer = Callable[[Array], Any]
Makers = dict[str, Callable[[int], Peer]]
INSTANCES = 10
MODULES = {"POT": "ot", "ott-jax": "ott", "lapx": "lap", "PIQP": "piqp", "PyPI birkhoff": "birkhoff"}


def cases(short: bool) -> Iterator[Case]:
    """Yield the cases of this family, few sizes only when `short`."""
    for sharpness in (1.0, 10.0):
        for n in (5, 30, 100) if short else (5, 10, 30, 100, 300):
            yield _entropic(n, sharpness, short)
    for n in (10, 100):
        yield _entropic(n, 1500.0, short)
    for n in (20, 50) if short else (5, 10, 20, 50, 100):
        yield _euclidean(n)
    for n in (30,) if short else (5, 10, 30, 100, 300):
        yield _oracle(n)
    for n in (10,) if short else (10, 30, 100):
        yield _decomposition(n)
    for n in (30,) if short else (10, 30, 100, 300):
        yield _sample(n)


def facts(rows: list[Row], short: bool) -> Iterator[Fact]:
    """What a decoding costs next to its prediction."""
    for n in (30,) if short else (10, 30, 100):
        space, rng = osp.make_space("birkhoff", n=n), np.random.default_rng(n)
        decoder, thetas = osp.RandomizedDecoder(space), rng.standard_normal((20, n * n))
        predict = seconds_of(partial(_each, space.predict, thetas), 15)
        decode = seconds_of(partial(_each, partial(decoder.decode, rng=rng), thetas), 15)
        goal = 3.0 if n == 30 else None
        yield Fact(f"randomized decoding, Birkhoff {n}", decode / predict, "× its prediction", at_most=goal)


def _each(function: Callable[[Array], Any], thetas: Array) -> None:
    for theta in thetas:
        function(theta)


def _instances(n: int, scale: float = 1.0, count: int = INSTANCES) -> list[tuple[Array]]:
    return [(scale * np.random.default_rng((n, seed)).standard_normal((n, n)),) for seed in range(count)]


def _peers(makers: Makers, n: int) -> dict[str, Peer | str]:
    """The peers that are installed, ready to be called; the reason for the others."""
    return {
        name: make(n) if importlib.util.find_spec(MODULES.get(name, name)) else "not installed"
        for name, make in makers.items()
    }


def _entropic(n: int, sharpness: float, short: bool) -> Case:
    space = osp.make_space("birkhoff", n=n)
    makers: Makers = {"POT": _pot, "ott-jax": _ott, "jaxopt": _jaxopt_entropic}
    peers = _peers(makers, n)
    if sharpness > 10.0:
        # Thousands of times the patience of a benchmark; POT is shown because it says NaN at once.
        peers |= {"ott-jax": "does not converge", "jaxopt": "does not converge"}
    elif sharpness > 1.0 and (short or n > 30):
        peers |= {"POT": "takes 0.1 to 100 s", "ott-jax": "takes 0.1 to 100 s"}
    return Case(
        f"birkhoff, entropic, scores × {sharpness:g}",
        n,
        lambda scores: space.predict(scores.ravel()),
        peers,
        _entropic_error,
        1e-8,
        {BEST: 2.0 if n <= 100 else 1.0},
        _instances(n, sharpness),
    )


def _entropic_error(answer: Any, scores: Array) -> float:
    """Error of the marginals; of our certified answers also the gap per row, found independently."""
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


def _pot(n: int) -> Peer:
    import warnings

    import ot

    ones = np.ones(n)

    def solve(scores: Array) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ot.sinkhorn(ones, ones, -scores, 1.0, stopThr=1e-9, numItermax=100_000, warn=False)

    return solve


def _ott(n: int) -> Peer:
    import jax
    from ott.geometry.geometry import Geometry
    from ott.solvers import linear

    jax.config.update("jax_enable_x64", True)
    ones = np.ones(n)
    solve = jax.jit(
        lambda s: (
            linear.solve(
                Geometry(cost_matrix=-s, epsilon=1.0), a=ones, b=ones, threshold=1e-9, max_iterations=100_000
            ).matrix
        )
    )
    return lambda scores: np.asarray(solve(scores))


def _jaxopt_entropic(n: int) -> Peer:
    import jax
    from jaxopt.projection import kl_projection_birkhoff

    jax.config.update("jax_enable_x64", True)
    # Its own tolerance of 1e-3 leaves marginals that are wrong in the fourth digit.
    solve = jax.jit(lambda scores: kl_projection_birkhoff(scores, make_solver=_lbfgs))
    return lambda scores: np.asarray(solve(scores))


def _lbfgs(objective: Any) -> Any:
    from jaxopt import LBFGS

    return LBFGS(fun=objective, tol=1e-9, maxiter=20_000, linesearch="zoom")


def _euclidean(n: int) -> Case:
    space = osp.make_space("birkhoff", n=n, psi=osp.SquaredNorm())
    makers: Makers = {
        "PIQP": _piqp,
        "jaxopt": _jaxopt_euclidean,
        "POT": _pot_smooth,
        "cvxpy": _cvxpy,
    }
    targets = {20: {"PIQP": 1.0, "cvxpy": 20.0}, 50: {"PIQP": 2.0, "cvxpy": 20.0}}
    instances = _instances(n)
    # Half the squared distance is 1-strongly convex: the gap bounds the error of any feasible answer.
    references = {id(scores): space.predict(scores.ravel()) for (scores,) in instances}
    assert all(reference.gap < 1e-12 * n for reference in references.values())

    def error(answer: Any, scores: Array) -> float:
        return float(np.abs(np.ravel(getattr(answer, "point", answer)) - references[id(scores)].point).max())

    return Case(
        "birkhoff, Euclidean",
        n,
        lambda scores: space.predict(scores.ravel()),
        _peers(makers, n),
        error,
        1e-2,
        targets.get(n, {}),
        instances,
    )


def _constraints(n: int) -> Array:
    """The 2n sums of a flattened n×n matrix; the last is implied by the others."""
    rows, columns = np.kron(np.eye(n), np.ones(n)), np.kron(np.ones(n), np.eye(n))
    return np.vstack([rows, columns[:-1]])


def _piqp(n: int) -> Peer:
    import piqp
    from scipy.sparse import csc_matrix, eye

    scores = np.zeros((n, n))
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

    def solve(scores: Array) -> Any:
        solver.update(c=-scores.ravel())
        solver.solve()
        return np.array(solver.result.x)

    return solve


def _jaxopt_euclidean(n: int) -> Peer:
    import jax
    from jaxopt.projection import projection_birkhoff

    jax.config.update("jax_enable_x64", True)
    solve = jax.jit(lambda scores: projection_birkhoff(scores, make_solver=_lbfgs))
    return lambda scores: np.asarray(solve(scores))


def _pot_smooth(n: int) -> Peer:
    from ot.smooth import smooth_ot_dual

    ones = np.ones(n)
    return lambda scores: smooth_ot_dual(ones, ones, -scores, reg=1.0, reg_type="l2", stopThr=1e-12)


def _cvxpy(n: int) -> Peer:
    import cvxpy as cp

    plan, target = cp.Variable((n, n), nonneg=True), cp.Parameter((n, n))
    ones = np.ones(n)
    problem = cp.Problem(
        cp.Minimize(0.5 * cp.sum_squares(plan - target)), [plan @ ones == 1, plan.T @ ones == 1]
    )

    def solve(scores: Array) -> Any:
        target.value = scores
        problem.solve(solver=cp.OSQP, warm_start=False)
        return plan.value

    return solve


def _oracle(n: int) -> Case:
    space = osp.make_space("birkhoff", n=n)
    makers: Makers = {"scipy": _scipy_assignment, "lapx": _lapx, "networkx": _networkx}
    solve = _scipy_assignment(n)

    def error(answer: Any, scores: Array) -> float:
        value = answer @ scores.ravel() if isinstance(answer, np.ndarray) else scores[answer].sum()
        return abs(float(value) - scores[solve(scores)].sum())

    return Case(
        "birkhoff, oracle",
        n,
        lambda scores: space.lmo(scores.ravel()),
        _peers(makers, n),
        error,
        1e-9,
        arguments=_instances(n),
    )


def _scipy_assignment(n: int) -> Peer:
    from scipy.optimize import linear_sum_assignment

    return lambda scores: linear_sum_assignment(scores)


def _lapx(n: int) -> Peer:
    import lap

    rows = np.arange(n)
    return lambda scores: (rows, lap.lapjv(scores)[1])


def _networkx(n: int) -> Peer:
    space = osp.make_space("birkhoff", n=n, backend="networkx")
    return lambda scores: space.lmo(scores.ravel())


def _doubly_stochastic(n: int, count: int) -> list[tuple[Array]]:
    space = osp.make_space("birkhoff", n=n)
    return [(space.predict(scores.ravel()).point,) for (scores,) in _instances(n, count=count)]


def _decomposition(n: int) -> Case:
    space = osp.make_space("birkhoff", n=n)
    peers = _peers({"PyPI birkhoff": _pypi_birkhoff}, n) if n < 100 else {"PyPI birkhoff": "takes a minute"}

    def error(answer: Any, point: Array) -> float:
        mean = answer.mean if hasattr(answer, "mean") else sum(weight * matrix for weight, matrix in answer)
        return float(np.abs(np.ravel(mean) - point).max())

    return Case(
        "birkhoff, decomposition",
        n,
        space.decompose,
        peers,
        error,
        1e-9,
        {"PyPI birkhoff": 15.0},
        _doubly_stochastic(n, 3),
    )


def _pypi_birkhoff(n: int) -> Peer:
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
    return lambda point: birkhoff.birkhoff_von_neumann_decomposition(point.reshape(n, n))


def _sample(n: int) -> Case:
    space, rng = osp.make_space("birkhoff", n=n), np.random.default_rng(0)
    peers: dict[str, Peer | str] = {}
    if n <= 30:
        peers["our decomposition"] = lambda point: space.decompose(point).sample(rng)
    return Case(
        "birkhoff, sample",
        n,
        lambda point: space.sample_vertex(point, rng),
        peers,
        lambda vertex, point: 0.0 if space.is_vertex(vertex) else np.inf,
        0.0,
        arguments=_doubly_stochastic(n, INSTANCES),
    )
