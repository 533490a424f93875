"""The records of a round: its instance, what was played, and what it cost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from osp_core.decoding import Decoder, Law
from osp_core.errors import Array
from osp_core.losses import FenchelYoungLoss
from osp_core.models import Gradient
from osp_core.spaces import OutputSpace


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

    label: Any
    vertex: Array
    law: Law
    theta: Array
    x: Any
    number: int
    instance: Instance


@dataclass(frozen=True, eq=False)
class Round:
    """What a round was and what it cost; see `Trace` for the numbers."""

    label: Any
    vertex: Array
    y: Array
    law: Law
    target_loss: float
    expected_loss: float
    surrogate_loss: float
    p: float
    gap: float


@dataclass(frozen=True, eq=False)
class Assessment:
    """A round judged, before anything is changed."""

    expected_loss: float
    surrogate_loss: float
    gradient: Gradient
    gap: float
