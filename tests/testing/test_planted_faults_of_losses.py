"""Faults planted in sound targets: the kit names each."""

import numpy as np
import pytest

import osp_core as osp
from osp_core.testing import ConformanceError, check_loss, examine_loss

SPACE = osp.Vertices([[1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 0, 1]])
CUBE = osp.make_space("hypercube", d=4)


def hamming(*, cost=lambda c: c, constant=lambda c: c, part=None, **options):
    """The Hamming loss with something done to its numbers."""

    class Planted(osp.AffineLoss):
        def on_block(self, space, block):
            return part

    return Planted(
        lambda y: cost(osp.hamming.cost(y)), lambda y: constant(osp.hamming.constant(y)), **options
    )


class Gamma(osp.AffineLoss):
    def __init__(self, value):
        super().__init__(osp.hamming.cost, osp.hamming.constant, name=f"gamma {value}")
        self.value = value

    def gamma(self, space):
        return self.value


FAULTS = {
    "shifted up": (hamming(constant=lambda c: c + 0.25), "loss_is_zero_at_the_truth", "instead of 0"),
    "shifted down": (hamming(constant=lambda c: c - 0.25), "loss_is_nonnegative", "is negative"),
    "tiny and shifted": (
        hamming(cost=lambda c: 1e-12 * c, constant=lambda c: 1e-12 * (c + 1e-3)),
        "loss_is_zero_at_the_truth",
        "instead of 0",
    ),
    "tiny and negative": (
        osp.AffineLoss(lambda y: 1e-12 * (y - 0.5), lambda y: -1e-12 * float(y @ (y - 0.5))),
        "loss_is_nonnegative",
        "is negative",
    ),
    "too short": (hamming(cost=lambda c: c[:-1]), "loss_has_a_cost_per_coordinate", "shape (3,)"),
    "too long": (hamming(cost=lambda c: np.append(c, 0)), "loss_has_a_cost_per_coordinate", "shape (5,)"),
    "a matrix": (hamming(cost=lambda c: np.outer(c, c)), "loss_has_a_cost_per_coordinate", "shape (4, 4)"),
    "NaN": (hamming(cost=lambda c: c / np.nan), "loss_has_a_cost_per_coordinate", "not finite"),
    "infinite": (hamming(constant=lambda c: np.inf), "loss_has_a_cost_per_coordinate", "not finite"),
    "negative gamma": (Gamma(-1.0), "loss_gamma", "is negative"),
    "gamma that is no number": (Gamma(np.nan), "loss_gamma", "not finite"),
    "infinite gamma": (Gamma(np.inf), "loss_gamma", "not finite"),
    "small gamma": (Gamma(0.1), "loss_gamma", "gamma = 0.1 is too small"),
    "small stated gamma": (hamming(gamma=0.1), "loss_gamma", "gamma = 0.1 is too small"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_in_a_target_is_found_and_named(name):
    target, check, words = FAULTS[name]
    assert words in examine_loss(target, SPACE).named(check).message
    with pytest.raises(ConformanceError) as failed:
        check_loss(target, SPACE)
    assert words in str(failed.value)


PART = (lambda y: (1 - 2 * y) / 4, lambda y: float(y.sum()) / 4)
PARTS = {
    "half of it": (osp.AffineLoss(lambda y: PART[0](y) / 2, lambda y: PART[1](y) / 2), "add up to"),
    "nothing": (osp.AffineLoss(lambda y: 0 * y, lambda y: 0.0), "add up to"),
    "shifted": (osp.AffineLoss(PART[0], lambda y: PART[1](y) + 0.1), "add up to"),
    "shifted to and fro": (
        osp.AffineLoss(lambda y: PART[0](y) + 0.5, lambda y: PART[1](y) - 0.25),
        "add up to",
    ),
    "right, with a small gamma": (osp.AffineLoss(*PART, gamma=0.1), "gamma = 0.1 is too small"),
}


@pytest.mark.parametrize("name", PARTS)
def test_parts_on_blocks_that_are_not_what_the_loss_is_made_of_are_found(name):
    part, words = PARTS[name]
    assert words in examine_loss(hamming(part=part), CUBE).named("loss_parts").message


def test_parts_that_sum_to_the_loss_without_being_losses_are_found():
    """One block takes from the other what it should pay."""

    class Unfair(osp.AffineLoss):
        def on_block(self, space, block):
            sign = 1.0 if block.coordinates[0, 0] == 0 else -1.0
            return osp.AffineLoss(lambda y: (1 - y) / 1.0, lambda y: 0.1 * sign)

    pair = osp.product([osp.Vertices(np.eye(2)), osp.Vertices(np.eye(2))])
    unfair = Unfair(osp.zero_one.cost, osp.zero_one.constant)
    message = examine_loss(unfair, pair).named("loss_parts").message
    assert "instead of 0" in message or "negative" in message


def test_sound_parts_pass_and_targets_without_any_are_not_applicable():
    sound = osp.AffineLoss(*PART, gamma=0.25)
    assert examine_loss(hamming(part=sound), CUBE).named("loss_parts").outcome == "passed"
    assert examine_loss(osp.hamming, CUBE).named("loss_parts").outcome == "passed"
    assert examine_loss(hamming(), CUBE).named("loss_parts").outcome == "not applicable"
    assert examine_loss(osp.hamming, SPACE).named("loss_parts").outcome == "not applicable"
    for target in (osp.hamming, hamming(part=sound)):
        check_loss(target, CUBE)
