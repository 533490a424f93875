"""`check_space`: all checks of an output space."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

import numpy as np

from osp_core.spaces import OutputSpace
from osp_core.testing import (
    constant_checks,
    interface_checks,
    loss_checks,
    oracle_checks,
    prediction_checks,
    round_checks,
    sampling_checks,
    twin_checks,
)
from osp_core.testing.report import Report, examine

SpaceCheck = Callable[[OutputSpace, np.random.Generator], None]

SPACE_CHECKS: tuple[SpaceCheck, ...] = (
    oracle_checks.check_lmo_returns_vertices,
    oracle_checks.check_lmo_is_optimal,
    oracle_checks.check_lmo_is_pure,
    oracle_checks.check_equal_vertices_have_equal_bytes,
    oracle_checks.check_enumeration,
    oracle_checks.check_membership,
    oracle_checks.check_vertex_is_its_own_nearest,
    oracle_checks.check_nearest_vertex_is_not_beaten,
    constant_checks.check_nu,
    constant_checks.check_diameter,
    constant_checks.check_kappa,
    constant_checks.check_lam,
    constant_checks.check_lam2,
    constant_checks.check_ranges,
    constant_checks.check_project_direction,
    loss_checks.check_target,
    loss_checks.check_gamma,
    prediction_checks.check_prediction_is_feasible,
    prediction_checks.check_prediction_is_optimal,
    prediction_checks.check_prediction_matches_brute_force,
    prediction_checks.check_fenchel_young_gradient,
    prediction_checks.check_fenchel_young_value,
    prediction_checks.check_large_scores,
    prediction_checks.check_common_offset,
    sampling_checks.check_decomposition,
    sampling_checks.check_prediction_combination,
    sampling_checks.check_sampling_is_unbiased,
    sampling_checks.check_sampling_is_reproducible,
    sampling_checks.check_lemma_4,
    sampling_checks.check_decoding_ratio,
    sampling_checks.check_blockwise_decoding,
    sampling_checks.check_gradient_ratio,
    interface_checks.check_blocks,
    interface_checks.check_many_equals_one,
    interface_checks.check_labels_round_trip,
    interface_checks.check_inputs_are_validated,
    round_checks.check_compiled_parts,
    round_checks.check_compiled_rounds,
    twin_checks.check_with_psi,
    twin_checks.check_accurate_to,
)
"""Every check of a space, in the order of the report."""


def check_space(
    space: OutputSpace,
    *,
    expected_failures: Mapping[str, str] | Iterable[str] = (),
    seed: int = 0,
) -> None:
    """Run all checks on a space and raise one error that lists every failure.

    Parameters
    ----------
    space : OutputSpace
        A small instance: with up to a few hundred outputs the checks take about a second.
    expected_failures : mapping or iterable of str
        Names of checks that are known to fail → why. One that passes after all is reported too.
    seed : int
        Of everything that is drawn; equal seeds check the same points.

    Raises
    ------
    ConformanceError
        When a check failed. It is an AssertionError, so one line makes a test.

    Examples
    --------
    >>> import numpy as np, osp_core as osp
    >>> from osp_core.testing import check_space
    >>> check_space(osp.space_from_lmo(lambda cost: np.eye(3)[np.argmin(cost)], 3))
    """
    examine_space(space, expected_failures=expected_failures, seed=seed).raise_failures()


def examine_space(
    space: OutputSpace,
    *,
    expected_failures: Mapping[str, str] | Iterable[str] = (),
    seed: int = 0,
) -> Report:
    """Run all checks on a space and report what each found; see `check_space`."""
    checks = [
        # Equal generators for all, so that they look at the same predictions.
        (name_of(check), lambda check=check: check(space, np.random.default_rng(seed)))
        for check in SPACE_CHECKS
    ]
    return examine(f"{space!r} with {space.psi!r}, norm {space.norm:g}", checks, expected_failures)


def name_of(check: Callable[..., None]) -> str:
    """The name of a check in reports and in `expected_failures`."""
    return check.__name__.removeprefix("check_")
