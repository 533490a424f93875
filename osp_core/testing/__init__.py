"""The conformance kit: one line checks a space, a learner or a target against what the theory asks of it.

    from osp_core.testing import check_space

    def test_my_space():
        check_space(MySpace())

`check_space` runs every ``check_*`` function on the space and reports all failures at once. Each of them
may also be called alone with a space and a generator: it raises AssertionError when the property does not
hold, and `NotApplicable` when there is nothing to check. Only numpy and scipy are needed.
"""

from osp_core.testing.constant_checks import (
    check_diameter,
    check_kappa,
    check_lam,
    check_lam2,
    check_nu,
    check_project_direction,
    check_ranges,
)
from osp_core.testing.interface_checks import (
    check_blocks,
    check_inputs_are_validated,
    check_labels_round_trip,
    check_many_equals_one,
)
from osp_core.testing.learner_checks import LEARNER_CHECKS, check_learner, examine_learner
from osp_core.testing.loss_checks import LOSS_CHECKS, check_gamma, check_loss, check_target, examine_loss
from osp_core.testing.oracle_checks import (
    check_enumeration,
    check_equal_vertices_have_equal_bytes,
    check_lmo_is_optimal,
    check_lmo_is_pure,
    check_lmo_returns_vertices,
    check_membership,
    check_nearest_vertex_is_not_beaten,
    check_vertex_is_its_own_nearest,
)
from osp_core.testing.prediction_checks import (
    check_common_offset,
    check_fenchel_young_gradient,
    check_fenchel_young_value,
    check_large_scores,
    check_prediction_is_feasible,
    check_prediction_is_optimal,
    check_prediction_matches_brute_force,
)
from osp_core.testing.registered import SpaceExample, learner_factories, space_examples
from osp_core.testing.report import CheckResult, ConformanceError, NotApplicable, Report
from osp_core.testing.round_checks import check_compiled_parts, check_compiled_rounds
from osp_core.testing.sampling_checks import (
    check_blockwise_decoding,
    check_decoding_ratio,
    check_decomposition,
    check_gradient_ratio,
    check_lemma_4,
    check_prediction_combination,
    check_sampling_is_reproducible,
    check_sampling_is_unbiased,
)
from osp_core.testing.space_checks import SPACE_CHECKS, check_space, examine_space

__all__ = [
    "LEARNER_CHECKS",
    "LOSS_CHECKS",
    "SPACE_CHECKS",
    "CheckResult",
    "ConformanceError",
    "NotApplicable",
    "Report",
    "SpaceExample",
    "check_blocks",
    "check_blockwise_decoding",
    "check_common_offset",
    "check_compiled_parts",
    "check_compiled_rounds",
    "check_decoding_ratio",
    "check_decomposition",
    "check_diameter",
    "check_enumeration",
    "check_equal_vertices_have_equal_bytes",
    "check_fenchel_young_gradient",
    "check_fenchel_young_value",
    "check_gamma",
    "check_gradient_ratio",
    "check_inputs_are_validated",
    "check_kappa",
    "check_labels_round_trip",
    "check_lam",
    "check_lam2",
    "check_large_scores",
    "check_learner",
    "check_lemma_4",
    "check_lmo_is_optimal",
    "check_lmo_is_pure",
    "check_lmo_returns_vertices",
    "check_loss",
    "check_many_equals_one",
    "check_membership",
    "check_nearest_vertex_is_not_beaten",
    "check_nu",
    "check_prediction_combination",
    "check_prediction_is_feasible",
    "check_prediction_is_optimal",
    "check_prediction_matches_brute_force",
    "check_project_direction",
    "check_ranges",
    "check_sampling_is_reproducible",
    "check_sampling_is_unbiased",
    "check_space",
    "check_target",
    "check_vertex_is_its_own_nearest",
    "examine_learner",
    "examine_loss",
    "examine_space",
    "learner_factories",
    "space_examples",
]
