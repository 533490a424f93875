"""Decoders: their laws, their expected losses, and the lemma they obey."""

import itertools

import numpy as np
import pytest

import osp_core as osp
from osp_core.geometry.predictions import Prediction
from osp_core.surrogates.decoders import default_decoder


def law_by_enumeration(space, decoder, prediction, rng, draws=20_000):
    law = decoder.law(prediction)
    plays = np.array([law.sample(rng) for _ in range(draws)])
    return law, plays.mean(axis=0), 4 * np.sqrt(0.25 / draws) * max(1.0, space.max_entry)


@pytest.mark.parametrize(
    ("space", "decoder"),
    [
        (osp.make_space("simplex", d=4), osp.RandomizedDecoder),
        (osp.make_space("hypercube", d=3), osp.RandomizedDecoder),
        (osp.make_space("hypercube", d=3), osp.BlockwiseDecoder),
        (osp.vertices([[0.0, 0.0], [4.0, 0.0], [0.0, 1.0]]), osp.RandomizedDecoder),
        (osp.vertices([[0.0, 0.0], [4.0, 0.0], [0.0, 1.0]]), osp.SamplingDecoder),
        (osp.vertices([[0.0, 0.0], [4.0, 0.0], [0.0, 1.0]]), osp.NearestDecoder),
    ],
)
def test_the_mean_of_the_law_is_that_of_its_samples(space, decoder, rng):
    prediction = space.predict(rng.standard_normal(space.dim) * 0.4)
    law, mean, tolerance = law_by_enumeration(space, decoder(space), prediction, rng)
    assert np.abs(mean - law.mean).max() <= tolerance


@pytest.mark.parametrize("scale", [0.0, 0.5, 2.0, 10.0])
@pytest.mark.parametrize(
    "space",
    [
        osp.make_space("simplex", d=4),
        osp.make_space("hypercube", d=3),
        osp.make_space("birkhoff", n=4),
        osp.make_space("permutahedron", d=4),
    ],
    ids=repr,
)
def test_a_play_is_the_same_whether_the_nearest_output_is_needed_or_not(space, scale, rng):
    decoder = osp.RandomizedDecoder(space)
    for seed, theta in enumerate(rng.standard_normal((30, space.dim)) * scale):
        slow = decoder.law(space.predict(theta)).sample(np.random.default_rng(seed))
        assert np.array_equal(decoder.decode(theta, np.random.default_rng(seed)), slow)


def test_far_from_every_output_the_nearest_is_not_looked_for(monkeypatch, rng):
    space = osp.make_space("birkhoff", n=4)
    monkeypatch.setattr(type(space), "nearest_vertex", None)
    assert space.is_vertex(osp.RandomizedDecoder(space).decode(np.zeros(16), rng))


def test_on_the_simplex_p_is_twice_the_missing_confidence():
    space = osp.make_space("simplex", d=3)
    law = osp.RandomizedDecoder(space).law(Prediction(np.array([0.7, 0.2, 0.1])))
    assert law.p == pytest.approx(2 * (1 - 0.7))
    assert law.distance == pytest.approx(2 * (1 - 0.7))
    assert law.certified
    unsure = osp.RandomizedDecoder(space).law(Prediction(np.array([0.4, 0.3, 0.3])))
    assert unsure.p == 1.0


def test_the_expected_loss_mixes_the_nearest_output_and_the_prediction(rng):
    space = osp.make_space("hypercube", d=4)
    law = osp.RandomizedDecoder(space).law(Prediction(np.array([0.9, 0.1, 0.0, 1.0])))
    for y in space.vertices():
        by_hand = (1 - law.p) * osp.hamming.loss(law.nearest, y) + law.p * osp.hamming.loss(
            law.prediction.point, y
        )
        assert law.expected_loss(osp.hamming, y) == pytest.approx(by_hand)


def test_a_confident_prediction_is_played_without_randomness():
    space = osp.make_space("simplex", d=3)
    law = osp.RandomizedDecoder(space).law(Prediction(np.array([0.0, 1.0, 0.0])))
    assert law.p == 0.0
    rng = np.random.default_rng(0)
    before = rng.bit_generator.state
    np.testing.assert_array_equal(law.sample(rng), [0, 1, 0])
    assert rng.bit_generator.state == before


def test_a_prediction_with_a_combination_is_sampled_from_it():
    space = osp.vertices([[0.0], [1.0], [0.5]])
    mixed = osp.ConvexCombination(np.array([[0.5]]), np.array([1.0]))
    law = osp.SamplingDecoder(space).law(Prediction(np.array([0.5]), mixed))
    assert {float(law.sample(np.random.default_rng(seed))[0]) for seed in range(20)} == {0.5}


def test_blocks_are_decoded_with_their_own_probabilities():
    space = osp.make_space("hypercube", d=3)
    law = osp.BlockwiseDecoder(space).law(Prediction(np.array([0.9, 0.5, 0.0])))
    np.testing.assert_allclose(law.p, [0.2, 1.0, 0.0])
    np.testing.assert_allclose(law.mean, [0.8 * 1 + 0.2 * 0.9, 0.5, 0.0])


def test_blockwise_decoding_needs_blocks():
    with pytest.raises(osp.InvalidInputError, match="RandomizedDecoder"):
        osp.BlockwiseDecoder(osp.make_space("simplex", d=3))


def test_the_blockwise_ratio_of_the_hypercube_is_four_over_d():
    space = osp.make_space("hypercube", d=8)
    assert osp.BlockwiseDecoder(space).ratio(osp.hamming) == pytest.approx(4 / 8)
    assert osp.RandomizedDecoder(space).ratio(osp.hamming) == pytest.approx(4 / np.sqrt(8))


def test_the_default_decoder_goes_by_blocks_only_where_the_target_does():
    cube = osp.make_space("hypercube", d=3)
    assert isinstance(default_decoder(cube, osp.hamming), osp.BlockwiseDecoder)
    other = osp.AffineLoss(lambda y: 1 - 2 * y, lambda y: float(y.sum()))
    assert isinstance(default_decoder(cube, other), osp.RandomizedDecoder)
    assert isinstance(default_decoder(osp.make_space("simplex", d=3), osp.zero_one), osp.RandomizedDecoder)


@pytest.mark.parametrize("decoder", [osp.RandomizedDecoder, osp.BlockwiseDecoder])
@pytest.mark.parametrize("scale", [1e-3, 0.1, 1.0, 10.0, 1e3])
def test_lemma_4_holds_on_the_hypercube_for_every_output(decoder, scale, rng):
    space = osp.make_space("hypercube", d=5)
    rule, loss = decoder(space), osp.FenchelYoungLoss(space)
    for _ in range(60):
        theta = scale * rng.standard_normal(5)
        law = rule.law(space.predict(theta))
        for y in space.vertices():
            value, _ = loss.at(theta, law.prediction, y)
            assert law.expected_loss(osp.hamming, y) <= rule.ratio(osp.hamming) * value * (1 + 1e-9) + 1e-12


def test_the_constant_four_is_tight_on_the_unit_interval():
    space = osp.make_space("hypercube", d=1)
    for theta in (0.01, 0.2, 0.49):
        law = osp.RandomizedDecoder(space).law(space.predict([theta]))
        value = osp.FenchelYoungLoss(space).value([theta], np.zeros(1))
        assert law.expected_loss(osp.hamming, np.zeros(1)) / value == pytest.approx(4.0)


def test_without_nu_every_play_is_random_and_nothing_is_certified():
    triangle = np.array([[0.0, 0.0], [4.0, 0.0], [0.0, 1.0]])
    space = osp.space_from_lmo(lambda cost: triangle[np.argmin(triangle @ cost)], 2, zero_one=False)
    law = osp.RandomizedDecoder(space).law(space.predict([1.5, 0.05]))
    assert law.p == 1.0
    assert not law.certified


def test_a_candidate_vertex_is_certified_when_it_is_within_half_of_nu():
    triangle = np.array([[0.0, 0.0], [4.0, 0.0], [0.0, 1.0]])
    space = osp.space_from_lmo(lambda cost: triangle[np.argmin(triangle @ cost)], 2, zero_one=False, nu=1.0)
    near = osp.RandomizedDecoder(space).law(space.predict([3.9, 0.0]))
    assert near.certified
    np.testing.assert_array_equal(near.nearest, [4, 0])
    far = osp.RandomizedDecoder(space).law(space.predict([1.5, 0.05]))  # the oracle's candidate is (4, 0)
    assert far.p == 1.0
    assert not far.certified


def test_nearest_only_and_random_only_have_no_ratio():
    space = osp.make_space("simplex", d=2)
    for decoder in (osp.NearestDecoder(space), osp.SamplingDecoder(space)):
        with pytest.raises(osp.MissingConstantError, match="RandomizedDecoder"):
            decoder.ratio(osp.zero_one)


def test_decoding_refuses_bad_scores():
    decoder = osp.RandomizedDecoder(osp.make_space("simplex", d=3))
    for theta in ([1.0, 2.0], [np.nan, 0, 0], "abc"):
        with pytest.raises(osp.InvalidInputError):
            decoder.decode(theta, np.random.default_rng(0))


def test_all_orders_of_a_product_are_decoded_factor_by_factor(rng):
    switch, corner = osp.make_space("hypercube", d=1), osp.make_space("simplex", d=3)
    for factors in itertools.permutations([switch, corner]):
        space = osp.product(factors)
        rule = default_decoder(space, space.target_loss())
        assert isinstance(rule, osp.BlockwiseDecoder)
        law = rule.law(space.predict(rng.standard_normal(4)))
        assert len(law.p) == 2
        assert space.is_vertex(law.sample(rng))
