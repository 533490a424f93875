"""The formulas behind the bounds that are more than one line."""

from __future__ import annotations

import math

import numpy as np

from osp_core.errors import InvalidInputError, as_count, as_positive

# −ln(1 − x) ≥ x + CURVATURE·x² on [−2, 2/3], where the ratio of two wealths 1 − cv stays; equality at −2.
CURVATURE = (2.0 - math.log(3.0)) / 4.0


def deviation_rate(factor: float) -> float:
    """Return τ > 0 with (e^τ − 1)/τ = factor.

    With K ≥ L and any τ > 0 fixed before the run, exp(τ/K·ΣL − (e^τ − 1)/K·ΣE_t L) is a supermartingale, so
    with probability 1 − δ, for all T at once and against any adversary,
    ΣL ≤ ((e^τ − 1)/τ)·ΣE_t L + (K/τ)·ln(1/δ).
    """
    if not 1.0 < factor < math.inf:
        raise InvalidInputError(f"The factor on ΣE L must be above 1 and finite, got {factor}.")
    return rate_of_excess(factor - 1.0)


def rate_of_excess(excess: float) -> float:
    """Return τ > 0 with (e^τ − 1)/τ = 1 + excess, and rather too small a τ than too large: that is safe."""
    if excess < 1e-5:
        # The left side is 1 + τ/2 + τ²/6 + …; its inverse alternates, so two terms are below it.
        return 2.0 * excess * (1.0 - 2.0 / 3.0 * excess)
    factor, logarithm = 1.0 + excess, math.log1p(excess)
    # Newton on a convex function from the right of its root: (e^τ − 1)/τ is at least e^{τ/2}, and at least
    # the factor at ln(factor) + 2·ln(1 + ln(factor)), which does not overflow.
    tau = min(2.0 * logarithm, logarithm + 2.0 * math.log1p(logarithm))
    for _ in range(100):
        step = (math.expm1(tau) - factor * tau) / (math.exp(tau) - factor)
        tau -= step
        if step <= 1e-15 * tau:
            break
    return tau


def sqrt_log_supremum(a: float, b: float, c: float) -> float:
    """Bound sup over x ≥ 0 of −ax + √(bx·ln(cx + 1)), the lemma of [SBTO24, App. D.2]."""
    a, b, c = as_positive(a, "a"), as_positive(b, "b"), as_positive(c, "c")
    return b / (2 * a) * (math.log(b / (2 * a**2) + 1) + math.log(c + 1)) + a


def parameter_free_regret(
    norm_U: float, squared_gradients: float, lipschitz: float, wealth: float = 1.0
) -> float:
    """Bound the regret Σ(S_t(W_t) − S_t(U)) of `ParameterFree` with explicit constants.

    One-dimensional coin betting by online Newton steps on ln(1 − cv) times an adaptive learner on the unit
    ball. The paper states this up to constants and omits the initial wealth, which remains at U = 0.

    Parameters
    ----------
    norm_U : float
        Frobenius norm of the comparator.
    squared_gradients : float
        Σ‖∇S_t(W_t)‖².
    lipschitz : float
        An upper bound of every ‖∇S_t‖.
    wealth : float
        The initial wealth ε.
    """
    return float(_regret(norm_U, np.array([squared_gradients / lipschitz**2]), wealth)[0] * lipschitz)


def parameter_free_supremum(
    a: float, b: float, norm_U: float, lipschitz: float, wealth: float = 1.0
) -> float:
    """Bound sup over x ≥ 0 of −ax + regret(bx): the surrogate regret of `ParameterFree`.

    The supremum is taken over a grid of V = bx/lipschitz². The regret grows with V, so its value at the right
    end of a cell and −aV at the left end bound the whole cell.
    """
    slope = a * lipschitz / b  # of V, in units of the Lipschitz constant
    last = 1.0
    while float(_regret(norm_U, np.array([2 * last]), wealth)[0]) > slope * last:
        last *= 2.0
        if last > 1e280:  # the squares of all that is admitted stay below
            raise InvalidInputError(
                f"The bound of ParameterFree overflows for ‖U‖ = {norm_U:g} and the Lipschitz constant "
                f"{lipschitz:g}. Scale the inputs."
            )
    grid = np.concatenate([[0.0], np.geomspace(1e-9 * last, last, 20_000)])
    cells = _regret(norm_U, grid[1:], wealth) - slope * grid[:-1]
    # Beyond the grid the regret, which grows slower than V, stays below the slope.
    return lipschitz * float(cells.max())


def _regret(norm_U: float, V: np.ndarray, wealth: float) -> np.ndarray:
    """The regret in units of the Lipschitz constant, for V = Σ‖g‖² of the scaled gradients."""
    if norm_U == 0:
        return np.full_like(V, wealth)
    # The online Newton step costs the wealth a factor exp(CURVATURE/4)·(1 + 4V)^(1/(4·CURVATURE)).
    log_left = math.log(wealth) - CURVATURE / 4 - np.log1p(4 * V) / (4 * CURVATURE)
    log_ratio = math.log(norm_U) - log_left
    with np.errstate(divide="ignore"):
        logarithm = np.logaddexp(0.0, np.log(2 * V) + 2 * log_ratio)
    betting = np.maximum(np.sqrt(2 * V * logarithm), 4 * (log_ratio + math.log(2)))
    return np.asarray(wealth + norm_U * (betting + 2 * math.sqrt(2) * np.sqrt(V)))


def multiclass_regret_floor(d: int, hard_rounds: int) -> float:
    """Return what every learner's expected regret exceeds on the repaired stream of [SBTO24, Thm 13].

    In each hard round the class is uniform, costing 1 − 1/d, while the comparator ln(2d)·e_y pays
    log₂(1 + ½(1 − 1/d)): together 0.178 a round for d = 2, 0.252 for d = 3. The paper bounds the logarithm by
    ½(1 − 1/d), which is false, and claims 1/4 for d = 2 as well.
    """
    right = 1.0 - 1.0 / as_count(d, "d", least=2)
    return as_count(hard_rounds, "hard_rounds", least=0) * (right - math.log2(1.0 + right / 2.0))
