"""Uniform exploration: its law, and the inequality that defines it, checked rather than remembered."""

import numpy as np
import pytest

import osp_core as osp

SPACES = [
    osp.make_space("simplex", d=2),
    osp.make_space("simplex", d=3),
    osp.make_space("simplex", d=20),
    osp.make_space("simplex", d=4, psi=osp.SquaredNorm(1.0), norm=2),
    osp.make_space("hypercube", d=4),
    osp.make_space("hypercube", d=3, psi=osp.BinaryEntropy(1.0)),
    osp.vertices([[1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 0, 1]]),
]


def rounds(space, count=140):
    """Scores at many scales with every true output, near ties included."""
    rng = np.random.default_rng(0)
    for scale in 10.0 ** np.linspace(-3, 3, 7):
        for theta in scale * rng.standard_normal((count // 7, space.dim)):
            yield theta
    yield np.zeros(space.dim)
    for near in np.linspace(-2, 2, 41):
        theta = np.zeros(space.dim)
        theta[0] = near
        yield theta


@pytest.mark.parametrize("space", SPACES, ids=repr)
def test_the_defining_inequality_holds_for_the_step_it_allows(space):
    """(1 − p)·L(y*; y) + p·mean L + (η/2)‖∇S‖² ≤ S with η = 2·min(1/2, a)/b."""
    gap = osp.surrogate_gap(space, decoder=osp.UniformExploration(space))
    eta, outputs, target = gap.step_size, space.vertices(), gap.target
    for theta in rounds(space):
        law = gap.decoder.law(space.predict(theta))
        for y in outputs:
            value, gradient = gap.loss.at(theta, law.prediction, y)
            uniform = np.mean([target.loss(output, y) for output in outputs])
            expected = (1 - law.p) * target.loss(law.nearest, y) + law.p * uniform
            assert law.expected_loss(target, y) == pytest.approx(expected, abs=1e-12)
            assert expected + eta / 2 * (gradient @ gradient) <= value * (1 + 1e-9) + 1e-12


@pytest.mark.parametrize("d", [2, 5, 50])
def test_its_gap_on_the_simplex_shrinks_with_the_number_of_classes(d):
    space = osp.make_space("simplex", d=d)
    gap = osp.surrogate_gap(space, decoder=osp.UniformExploration(space))
    assert gap.a == pytest.approx(1 / (2 * d))
    # The ratio is reached: half of ŷ on the true class, half on another.
    theta = np.full(space.dim, -1e3)
    theta[:2] = [1e-9, 0.0]
    law = gap.decoder.law(space.predict(theta))
    value, _ = gap.loss.at(theta, law.prediction, space.unit(1))
    assert law.expected_loss(gap.target, space.unit(1)) / value == pytest.approx(1 - gap.a, rel=1e-6)


@pytest.mark.parametrize("space", SPACES, ids=repr)
def test_samples_have_the_mean_of_the_law(space):
    rng, decoder = np.random.default_rng(1), osp.UniformExploration(space)
    law = decoder.law(space.predict(np.linspace(0.1, 0.3, space.dim)))
    draws = np.array([law.sample(rng) for _ in range(4000)])
    assert np.abs(draws.mean(axis=0) - law.mean).max() < 5 * 0.5 / np.sqrt(4000)
    assert law.certified


def test_a_target_other_than_zero_one_has_a_valid_ratio_too():
    space = osp.make_space("simplex", d=3)
    target = osp.table([[0, 1, 3], [2, 0, 1], [5, 1, 0]])
    decoder = osp.UniformExploration(space)
    ratio, loss = decoder.ratio(target), osp.FenchelYoungLoss(space)
    for theta in rounds(space):
        law = decoder.law(space.predict(theta))
        for y in space.vertices():
            assert law.expected_loss(target, y) <= ratio * loss.value(theta, y) * (1 + 1e-9) + 1e-12


def test_a_space_with_too_many_outputs_is_refused():
    with pytest.raises(osp.UnsupportedError):
        osp.UniformExploration(osp.make_space("hypercube", d=30))
