"""The records of a round: its instance, what was played, and what it cost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from osp_core.errors import Array
from osp_core.geometry.predictions import Prediction
from osp_core.models import Gradient
from osp_core.spaces import OutputSpace
from osp_core.surrogates.decoders import Decoder
from osp_core.surrogates.fenchel_young import FenchelYoungLoss
from osp_core.surrogates.laws import Law


@dataclass(frozen=True, eq=False)
class Instance:
    """The space of a round, with the loss and the decoder on it."""

    space: OutputSpace
    loss: FenchelYoungLoss
    decoder: Decoder
    covered: bool
    """Whether its constants are no worse than those the guarantee was computed with."""


@dataclass(frozen=True, eq=False)
class Play:
    """What was played for an input, kept until its feedback comes."""

    vertex: Array
    law: Law
    theta: Array
    x: Any
    number: int
    instance: Instance
    rounds: int
    """How many rounds had been learned from: what the scores depend on."""
    mark: str
    """Tells the play from those that other predictors gave the same number, also in copies and pickles."""

    @property
    def label(self) -> Any:
        """What was played, as a person would write it."""
        return self.instance.space.to_label(self.vertex)


@dataclass(slots=True, eq=False)
class LawToCome:
    """The law of a round that few ask for: compiled rounds leave it to be made then."""

    decoder: Decoder
    y_hat: Array

    def make(self) -> Law:
        return self.decoder.law(Prediction(self.y_hat))


@dataclass(slots=True, eq=False)
class Round:
    """What a round was and what it cost; see `Trace` for the numbers.

    Attributes
    ----------
    vertex, y, nearest : array
        What was played, the truth, and y*, which `predict` would have answered: each a copy of its own.
    label, predicted : object
        What was played, and y*, as a person would write them.
    law : Law
        The distribution it was drawn from.
    target_loss, expected_loss, surrogate_loss, p, gap : float
        A row of the trace.
    """

    space: OutputSpace
    vertex: Array
    y: Array
    nearest: Array
    target_loss: float
    expected_loss: float
    surrogate_loss: float
    p: float
    gap: float
    _law: Law | LawToCome

    @property
    def label(self) -> Any:
        return self.space.to_label(self.vertex)

    @property
    def predicted(self) -> Any:
        return self.space.to_label(self.nearest)

    @property
    def law(self) -> Law:
        law = self._law
        if isinstance(law, LawToCome):
            law = self._law = law.make()
        return law


@dataclass(frozen=True, eq=False)
class Assessment:
    """A round judged, before anything is changed."""

    expected_loss: float
    surrogate_loss: float
    gradient: Gradient
    gap: float
