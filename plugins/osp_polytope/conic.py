"""Predictions by conic solvers: a compiled cvxpy problem, polished and certified by the oracle."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np

from osp_core.errors import Array, InvalidInputError, MissingDependencyError
from osp_core.frank_wolfe import Status
from osp_core.geometry.predictions import Prediction
from osp_polytope.canonical import StandardForm
from osp_polytope.entropic_polytope import certified
from osp_polytope.entropies import Entropy
from osp_polytope.relative_interior import relative_interior

SOLVERS = {"highs": "", "clarabel": "CLARABEL", "scs": "SCS", "osqp": "OSQP"}
_EXTRA = "online-structured-prediction[cvxpy]"
_ACTIVE = (1e-7, 1e-5, 1e-3)  # distances from a bound at which a column is taken to be at it, tried in turn
_ENOUGH = 1e-9  # the relative gap an answer must have; beyond it the engine takes over
_MOST = 1500  # columns and rows up to which faces are polished


def check_solver(name: str) -> None:
    """Raise an error unless the solver exists and is installed."""
    if not isinstance(name, str) or name not in SOLVERS:
        raise InvalidInputError(f"There is no solver {name!r}; there are: {', '.join(SOLVERS)}.")
    if name != "highs" and importlib.util.find_spec(name) is None:
        raise MissingDependencyError(
            f"solver={name!r} needs {name}: pip install {name} (or '{_EXTRA}', which brings the default "
            "solvers)."
        )


class ConicSolver:
    """Two problems compiled once, with the scores as their parameter.

    Attributes
    ----------
    name : str
        The solver.
    failures : int
        Answers that were not good enough; the caller then uses another method.
    """

    def __init__(self, form: StandardForm, name: str) -> None:
        self.form, self.name = form, name
        self.failures = 0

    def __getstate__(self) -> dict[str, object]:
        return {
            "form": self.form,
            "name": self.name,
            "failures": self.failures,
        }  # compiled problems cannot be copied

    def project(self, point: Array, lmo: Callable[[Array], Array]) -> Prediction | None:
        """Return the Euclidean projection, or None when the solver's answer cannot be certified."""
        x = self._solve(self._quadratic, point)
        candidates = [] if x is None else [self._polish(x, point, width) for width in _ACTIVE]
        for candidate in candidates:
            if candidate is None:
                continue
            y = self.form.outputs @ candidate + self.form.offset
            gap = max(0.0, float((y - point) @ (y - lmo(y - point))))
            if gap <= _ENOUGH * (1.0 + 0.5 * float(y @ y)):
                return Prediction(y, None, gap, Status.OPTIMAL, 1)
        self.failures += 1
        return None

    def entropic(self, entropy: Entropy, weights: Array, lmo: Callable[[Array], Array]) -> Prediction | None:
        """Return the entropic prediction, or None when the solver's answer cannot be certified."""
        if self.name == "osqp":
            raise InvalidInputError(
                "osqp solves quadratic problems only; use solver='clarabel', 'scs' or 'highs' for entropies."
            )
        x = self._solve(self._entropies[entropy.binary], weights)
        if x is not None:
            x = self._feasible(x)
            for _ in range(8):
                x = self._newton(x, entropy, weights)
            y = np.maximum(self.form.outputs @ x + self.form.offset, 0.0)
            inside = (y > 0) & (y < entropy.high)
            if self.form.violation(x) <= 1e-11 * (1.0 + np.abs(x).max()):
                answer = certified(entropy, weights, y, inside, lmo)
                if (
                    answer.gap <= _ENOUGH * (1.0 + float(np.abs(weights).max()))
                    and inside[self._moving].all()
                ):
                    return answer
        self.failures += 1
        return None

    def _solve(self, problem: tuple[Any, Any, Any], scores: Array) -> Array | None:
        import warnings

        import cvxpy as cp

        compiled, parameter, x = problem
        parameter.value = scores
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # an inaccurate answer is polished, or refused
                compiled.solve(solver=SOLVERS[self.name], warm_start=False)
        except (cp.error.SolverError, ArithmeticError, ValueError):
            return None
        return (
            None
            if x.value is None or not np.isfinite(x.value).all()
            else np.asarray(x.value, dtype=np.float64)
        )

    def _columns(self) -> tuple[Any, Any, list[Any]]:
        import cvxpy as cp

        form, x = self.form, cp.Variable(len(self.form.low))
        rows = [form.matrix @ x == form.rhs] if len(form.rhs) else []
        low, high = np.flatnonzero(np.isfinite(form.low)), np.flatnonzero(np.isfinite(form.high))
        rows += [x[low] >= form.low[low]] if len(low) else []
        rows += [x[high] <= form.high[high]] if len(high) else []
        return x, form.outputs @ x + form.offset, rows

    @cached_property
    def _quadratic(self) -> tuple[Any, Any, Any]:
        import cvxpy as cp

        x, y, rows = self._columns()
        centre = cp.Parameter(self.form.dim)
        return cp.Problem(cp.Minimize(0.5 * cp.sum_squares(y) - centre @ y), rows), centre, x

    @cached_property
    def _entropies(self) -> dict[bool, tuple[Any, Any, Any]]:
        return {binary: self._entropic_problem(binary) for binary in (False, True)}

    def _entropic_problem(self, binary: bool) -> tuple[Any, Any, Any]:
        import cvxpy as cp

        x, y, rows = self._columns()
        weights = cp.Parameter(self.form.dim)
        entropy = cp.sum(cp.entr(y)) + (cp.sum(cp.entr(1 - y)) if binary else 0.0)
        return cp.Problem(cp.Minimize(-entropy - weights @ y), rows), weights, x

    # --- polishing -----------------------------------------------------------------------------------

    @cached_property
    def _interior(self) -> Any:
        return relative_interior(self.form)

    @cached_property
    def _moving(self) -> Any:
        y = self.form.outputs @ self._interior.point + self.form.offset
        return y > 1e-9

    def _polish(self, x: Array, centre: Array, width: float) -> Array | None:
        """The exact projection on the face that the solver's answer suggests; None if it leaves the set."""
        form = self.form
        if len(form.low) + len(form.rhs) > _MOST:
            return self._feasible(x)
        exact = np.where(x <= form.low + width, form.low, np.where(x >= form.high - width, form.high, 0.0))
        free = (x > form.low + width) & (x < form.high - width)
        if free.any():
            M, A = form.outputs[:, free].toarray(), form.matrix[:, free].toarray()
            target = centre - form.offset - form.outputs @ exact
            system = np.block([[M.T @ M, A.T], [A, np.zeros((len(A), len(A)))]])
            rhs = np.concatenate([M.T @ target, form.rhs - form.matrix @ exact])
            exact[free] = np.linalg.lstsq(system, rhs, rcond=1e-13)[0][: int(free.sum())]
        return exact if form.violation(exact) <= 1e-11 * (1.0 + np.abs(exact).max(initial=0.0)) else None

    def _feasible(self, x: Array) -> Array:
        """Bring a point that misses the constraints slightly into the relative interior."""
        form, interior = self.form, self._interior
        point = np.where(interior.free, x, interior.point)
        free = interior.free
        correction = np.linalg.lstsq(
            interior.matrix, interior.matrix @ (interior.point - point)[free], rcond=None
        )[0]
        point[free] += correction
        room = np.minimum(interior.point - form.low, form.high - interior.point)[free]
        lack = np.maximum(form.low - point, point - form.high)[free] + 1e-12
        share = float(np.clip((lack / (lack + room)).max(initial=0.0), 0.0, 1.0))
        return (1.0 - share) * point + share * interior.point

    def _newton(self, x: Array, entropy: Entropy, weights: Array) -> Array:
        """A Newton step for the entropy on the columns that are off their bounds."""
        form, interior = self.form, self._interior
        outputs = form.outputs[self._moving]
        y = outputs @ x + form.offset[self._moving]
        free = interior.free & (x > form.low + 1e-10) & (x < form.high - 1e-10)
        if not free.any() or (y <= 0).any() or (y >= entropy.high).any():
            return x
        M, A = outputs[:, free].toarray(), form.matrix[:, free].toarray()
        gradient = M.T @ (entropy.slope(y, 1.0 - y) - weights[self._moving])
        hessian = (M.T * entropy.curvature(y, 1.0 - y)) @ M
        system = np.block([[hessian, A.T], [A, np.zeros((len(A), len(A)))]])
        rhs = np.concatenate([-gradient, form.rhs - form.matrix @ x])
        size = 1.0 / np.sqrt(np.maximum(np.abs(np.diag(system)), 1e-12))
        step = np.zeros(len(x))
        step[free] = (size * np.linalg.lstsq(system * size * size[:, None], size * rhs, rcond=1e-14)[0])[
            : int(free.sum())
        ]
        shrink = step < 0
        room = np.concatenate(
            [((x - form.low)[shrink] / -step[shrink]), ((form.high - x)[step > 0] / step[step > 0])]
        )
        moves = outputs @ step
        room = np.concatenate([room, y[moves < 0] / -moves[moves < 0]])
        return x + min(1.0, 0.9 * float(room.min(initial=np.inf))) * step
