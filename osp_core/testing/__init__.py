"""The conformance kit: one line checks a space, a learner or a target against what the theory asks of it.

    from osp_core.testing import check_space

    def test_my_space():
        check_space(MySpace())

`check_space` runs every ``check_*`` function on the space and reports all failures at once. Each of them
may also be called alone with a space and a generator: it raises AssertionError when the property does not
hold, and `NotApplicable` when there is nothing to check. Only numpy and scipy are needed.
"""

from osp_core.testing.loss_checks import check_loss, examine_loss
from osp_core.testing.report import CheckResult, ConformanceError, NotApplicable, Report
from osp_core.testing.space_checks import SPACE_CHECKS, check_space, examine_space

__all__ = [
    "SPACE_CHECKS",
    "CheckResult",
    "ConformanceError",
    "NotApplicable",
    "Report",
    "check_loss",
    "check_space",
    "examine_loss",
    "examine_space",
]
