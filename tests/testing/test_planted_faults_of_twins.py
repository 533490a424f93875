"""Faults that show only after `with_psi` or `accurate_to`: the kit must find them in a stranger's space."""

import copy

import numpy as np
import pytest

import osp_core as osp
from osp_core.testing import check_space, examine_space
from osp_core.testing.sample import Sample

SWITCH = osp.vertices([[0.0], [1.0]])


def failures(space):
    Sample._latest = None
    return {result.name: result.message for result in examine_space(space).failures}


class Pair(osp.OutputSpace):
    """Two switches side by side, each a space of its own: a sound wrapper."""

    dim, zero_one = 2, True

    def __init__(self, **params):
        super().__init__(**params)
        self.inner = SWITCH.with_psi(self.psi)

    def with_psi(self, psi):
        return type(self)(psi=psi, norm=self.norm).accurate_to(self.accuracy)

    def lmo(self, cost):
        return np.concatenate([self.inner.lmo(cost[:1]), self.inner.lmo(cost[1:])])

    def vertices(self):
        return np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])

    def predict(self, theta):
        return osp.Prediction(np.concatenate([self.inner.predict(part[None]).point for part in theta]))

    def blocks(self):
        return [osp.Block(self.inner, np.array([[0], [1]]))]

    def target_loss(self):
        return osp.hamming


def test_the_wrapper_without_a_fault_passes():
    check_space(Pair())


class KeepsThePsiInside(Pair):
    with_psi = osp.OutputSpace.with_psi


def test_a_wrapper_that_keeps_its_old_psi_inside_is_caught():
    assert "still has another Ψ" in failures(KeepsThePsiInside())["with_psi"]


class KeepsThePsiOfItsBlocks(Pair):
    def predict(self, theta):
        return osp.Prediction(np.clip(theta / self.psi.scale, 0.0, 1.0))

    def with_psi(self, psi):
        twin = super().with_psi(psi)
        twin.inner = self.inner
        return twin


def test_blocks_that_keep_the_old_psi_are_caught():
    assert "a block of the space" in failures(KeepsThePsiOfItsBlocks())["with_psi"]


class KeepsItsConstants(Pair):
    def with_psi(self, psi):
        twin = super().with_psi(psi)
        twin.lam = self.lam
        return twin


def test_a_constant_that_outlives_its_psi_is_caught():
    assert "lam = 1" in failures(KeepsItsConstants())["with_psi"]


class ChangesItself(Pair):
    def with_psi(self, psi):
        twin = super().with_psi(psi)
        self.inner = self.inner.with_psi(psi)
        return twin


def test_a_space_that_with_psi_changes_is_caught():
    assert "with_psi" in failures(ChangesItself())


class IgnoresTheNewPsi(Pair):
    def with_psi(self, psi):
        return copy.copy(self)


def test_a_psi_that_is_ignored_is_caught():
    assert "has the Ψ" in failures(IgnoresTheNewPsi())["with_psi"]


class TooCoarse(osp.ZeroOneSpace):
    """Pairs of six elements, predicted by the engine to an accuracy in the units of the Ψ it began with."""

    dim, nu1 = 6, 2.0

    def lmo(self, cost):
        vertex = np.zeros(6)
        vertex[np.argsort(cost, kind="stable")[:2]] = 1.0
        return vertex

    def accurate_to(self, gap):
        twin = super().accurate_to(gap)
        twin.accuracy = gap and 1e3 * gap
        return twin

    def project(self, point):
        exact = super().project(point)
        if self.accuracy is None:
            return exact
        vertex = self.lmo(-point)
        slope = vertex - point
        return osp.Prediction(
            vertex, gap=float(slope @ (vertex - self.lmo(slope))), status=osp.Status.OPTIMAL
        )


def test_predictions_that_stop_earlier_than_asked_are_caught():
    assert "predicts with the gap" in failures(TooCoarse())["accurate_to"]


class FalseGap(TooCoarse):
    def project(self, point):
        if self.accuracy is None:
            return super().project(point)
        return osp.Prediction(self.lmo(-point), gap=0.01, status=osp.Status.OPTIMAL)


def test_a_gap_that_is_only_stated_is_caught():
    assert "one oracle call shows" in failures(FalseGap())["accurate_to"]


@pytest.mark.parametrize("fault", [KeepsThePsiInside, KeepsThePsiOfItsBlocks, KeepsItsConstants])
def test_the_checks_name_nothing_else(fault):
    assert "with_psi" in failures(fault())
    assert set(failures(fault())) <= {"with_psi", "accurate_to"}
