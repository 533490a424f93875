"""The kit names spaces that lose digits, or their certificate, beside a large common offset of the scores."""

import numpy as np
import pytest

import osp_core as osp
from osp_core.testing import ConformanceError, NotApplicable, check_common_offset, check_space


class Classes(osp.ZeroOneSpace):
    """Three classes with the softmax, and nothing wrong."""

    dim = 3
    psi = osp.NegativeEntropy(1.0)

    def lmo(self, cost):
        return np.eye(3)[np.argmin(cost)]

    def kl_project(self, log_weights):
        weights = np.exp(log_weights - log_weights.max())
        return osp.Prediction(weights / weights.sum())


class Unshifted(Classes):
    """As far from the simplex as the rounding of log Z, and its loss is computed from scores as they are."""

    def centred(self, theta):
        return theta

    def kl_project(self, log_weights):
        return osp.Prediction(np.exp(log_weights - np.logaddexp.reduce(log_weights)))


class SinglePrecision(Classes):
    def predict(self, theta):
        single = np.asarray(theta, dtype=np.float32).astype(float)
        return self.kl_project(single - single.mean())


class CarelessGap(Classes):
    """A point that is nearly right, with a certificate from scores that were not centred."""

    def predict(self, theta):
        point = np.exp(theta - np.logaddexp.reduce(theta))
        slope = np.log(point) - theta
        return osp.Prediction(point, None, abs(float(slope @ (point - self.lmo(slope)))))


class HalfWay(Classes):
    """A solver that gives up on large scores, and says nothing of it."""

    def predict(self, theta):
        return self.kl_project(theta if np.abs(theta).max() < 1e6 else 0.999 * (theta - theta.max()))


def message_of(space):
    with pytest.raises(AssertionError) as caught:
        check_common_offset(space, np.random.default_rng(0))
    return str(caught.value)


def test_the_space_without_a_fault_passes():
    check_space(Classes())


@pytest.mark.parametrize(
    ("space", "fault"),
    [
        (Unshifted, "S(θ; y) changes"),
        (SinglePrecision, "ŷ moves by"),
        (CarelessGap, "the gap rises"),
        (HalfWay, "ŷ moves by"),
    ],
)
def test_a_space_that_suffers_from_an_offset_is_named(space, fault):
    message = message_of(space())
    assert fault in message
    assert "67108864 added to every score" in message
    with pytest.raises(ConformanceError, match="FAILED common_offset"):
        check_space(space())


def test_spaces_whose_masses_differ_need_not_care():
    with pytest.raises(NotApplicable, match="different masses"):
        check_common_offset(osp.make_space("hypercube", d=3), np.random.default_rng(0))
