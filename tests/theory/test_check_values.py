"""The constants of every example of the paper, as printed, corrected and sharpened."""

import math

import numpy as np
import pytest

import osp_core as osp


def gap(space, scale=1.0, **options):
    return osp.surrogate_gap(space, loss=osp.FenchelYoungLoss(space, scale), **options)


def test_multiclass():
    space = osp.make_space("simplex", d=7)
    assert (space.nu, space.lam, space.kappa) == (2.0, 1.0, 1.0)
    assert osp.zero_one.gamma(space) == pytest.approx(0.5)
    flat = osp.make_space("simplex", d=7, psi=osp.SquaredNorm(1.0), norm=2)
    assert flat.nu == pytest.approx(math.sqrt(2))
    assert osp.zero_one.gamma(flat) == pytest.approx(math.sqrt(6 / 7))


@pytest.mark.parametrize("d", [4, 14, 16, 17, 30])
def test_multilabel(d):
    space = osp.make_space("hypercube", d=d)
    assert (space.nu, space.lam) == (1.0, 1.0)
    assert osp.hamming.gamma(space) == pytest.approx(1 / math.sqrt(d))
    # The paper needs more than 16 labels at scale 1; label by label, more than 4 are enough.
    assert (gap(space, constants="paper").a > 1e-12) == (d > 16)
    assert (gap(space).a > 1e-12) == (d > 4)
    assert gap(space).a == pytest.approx(1 - 4 / d)


@pytest.mark.parametrize("mu", [0.5, 1.9, 2.0, 3.0])
def test_ranking(mu):
    n = 5
    space = osp.make_space("birkhoff", n=n, psi=osp.NegativeEntropy(1 / mu))
    assert space.nu == 4.0
    assert space.lam == pytest.approx(1 / (n * mu))
    assert osp.mismatch.gamma(space) == pytest.approx(1 / (2 * n))
    paper = gap(space, constants="paper")
    assert paper.a == pytest.approx(1 - mu / 2)
    # b may use ℓ2 whatever norm a uses: a factor n.
    assert paper.b == pytest.approx(2 * n * mu)
    assert gap(space).b == pytest.approx(2 * mu)


def test_the_default_scale_gives_a_gap_of_one_half_where_the_paper_has_none():
    space = osp.make_space("birkhoff", n=4, psi=osp.NegativeEntropy(1 / 3))
    default = osp.surrogate_gap(space)
    assert default.a == pytest.approx(0.5)
    assert default.loss.scale == pytest.approx(osp.scale_for_gap(space))


@pytest.mark.parametrize("d", [3, 4, 5, 9])
def test_permutations(d):
    space = osp.make_space("permutahedron", d=d)
    assert space.nu == pytest.approx(math.sqrt(2))
    assert space.diameter2 == pytest.approx(math.sqrt(d * (d * d - 1) / 3))
    assert osp.alignment.gamma(space) == pytest.approx(math.sqrt(3 / (d * (d * d - 1))))
    a = gap(space).a
    assert (a > 1e-9) == (d >= 4)
    if d == 3:
        assert a == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("d", [1, 4, 20])
def test_ordinal(d):
    space = osp.make_space("ordinal", d=d)
    assert (space.nu, space.lam) == (1.0, 1.0)
    assert osp.absolute.gamma(space) == pytest.approx(1 / math.sqrt(d))


def test_matroids():
    subsets = osp.make_space("k_subsets", d=9, k=4)
    assert subsets.nu == pytest.approx(math.sqrt(2))
    assert subsets.target_loss().gamma(subsets) == pytest.approx(math.sqrt(5 / 36))
    edges = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]
    trees = osp.make_space("graphic_matroid", edges=edges)
    assert trees.target_loss().gamma(trees) == pytest.approx(math.sqrt((6 - 3) / (6 * 3)))
    parts = osp.make_space("partition_matroid", blocks=[[0, 1, 2], [3, 4]], capacities=[1, 1])
    expected = math.sqrt(1 * 2 / 3 + 1 * 1 / 2) / 2
    assert parts.target_loss().gamma(parts) == pytest.approx(expected)


def test_crf_strong_convexity_is_four_over_the_squared_diameter():
    space = osp.make_space("ordinal", d=6, psi=osp.GibbsEntropy(1.0))
    assert space.lam == pytest.approx(4 / 6)
    assert space.lam > 1 / 6**2  # the paper's 1/max‖y‖₁²
    cube = osp.make_space("hypercube", d=5, psi=osp.GibbsEntropy(1.0))
    assert cube.lam2 == pytest.approx(4.0)


def test_the_deterministic_counterexample_leaves_no_gap():
    space = osp.make_space("simplex", d=2)
    loss = osp.FenchelYoungLoss(space, 1 / math.log(2))
    for eps in (1e-6, 1e-3, 0.1):
        theta = np.array([1.0, 1.0 + math.log(2 ** (1 + eps) - 1)])
        law = osp.NearestDecoder(space).law(space.predict(theta))
        assert loss.value(theta, 0) == pytest.approx(1 + eps)
        assert law.expected_loss(osp.zero_one, space.unit(0)) == 1.0


def test_the_tightness_example_has_its_printed_law():
    space, eps = osp.make_space("simplex", d=2), 0.3
    theta = np.array([1.0, 1.0 + math.log(2 ** (1 + eps) - 1)])
    law = osp.RandomizedDecoder(space).law(space.predict(theta))
    assert law.prediction.point[0] == pytest.approx(2 ** -(1 + eps))
    assert law.p == pytest.approx(2**-eps)
    assert law.expected_loss(osp.zero_one, space.unit(0)) == pytest.approx(1 - 2 ** -(1 + 2 * eps))


def test_the_largest_ratio_of_the_paper_s_example_is_not_at_its_limit():
    eps = np.linspace(1e-6, 1, 200_001)
    needed = 4 * (1 - 2 ** -(1 + 2 * eps)) / ((1 + eps) * math.log(2))
    assert needed[0] == pytest.approx(2 / math.log(2), abs=1e-5)
    assert needed.max() == pytest.approx(2.98692, abs=1e-5)
    assert eps[needed.argmax()] == pytest.approx(0.2107, abs=1e-3)


def test_the_logistic_loss_is_not_always_above_the_smooth_hinge_loss():
    """[SBTO24, Sec. 4] at a margin of 0.3: 0.7998 against max(1 − 0.3², 0) = 0.91."""
    space = osp.make_space("simplex", d=2)
    logistic = osp.FenchelYoungLoss(space, 1 / math.log(2)).value([0.3, 0.0], 0)
    assert logistic == pytest.approx(0.7998, abs=5e-5)
    assert logistic < max(1 - 0.3**2, 0.0) == pytest.approx(0.91)


def test_the_sharp_multiclass_suprema_are_those_of_one_variable():
    s = np.linspace(1e-6, 1 - 1e-9, 1_000_001)
    # s of the true class. Up to one half another class may be nearest, and p ≥ 2s; beyond, it is the nearest.
    decoding = np.where(s <= 0.5, 1 - 2 * s**2, 2 * (1 - s) ** 2) / -np.log(s)
    gradient = (1 - s) ** 2 / -np.log(s)
    assert decoding.max() == pytest.approx(0.7467292, abs=1e-7)
    assert s[decoding.argmax()] == pytest.approx(0.432067, abs=1e-5)
    assert gradient.max() == pytest.approx(0.4072644, abs=1e-7)
    space = osp.make_space("simplex", d=9)
    assert space.decoding_ratio(osp.zero_one) == pytest.approx(decoding.max(), abs=2e-7)
