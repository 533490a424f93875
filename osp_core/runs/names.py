"""Decoders, targets and regularizers by name, as a command or a run file has them."""

from __future__ import annotations

import difflib
import inspect
import re
from collections.abc import Callable, Mapping
from typing import Any

from osp_core import regularizers, targets
from osp_core.errors import InvalidInputError, UnknownNameError
from osp_core.registry.registry import make_space
from osp_core.spaces import OutputSpace
from osp_core.surrogates import decoders
from osp_core.surrogates.decoders import Decoder, UniformExploration
from osp_core.targets import AffineLoss

DECODERS: dict[str, type[Decoder]] = {
    "randomized": decoders.RandomizedDecoder,
    "blockwise": decoders.BlockwiseDecoder,
    "nearest": decoders.NearestDecoder,
    "sampling": decoders.SamplingDecoder,
    "uniform": UniformExploration,
}
TARGETS: dict[str, Callable[..., AffineLoss]] = {
    "zero_one": lambda: targets.zero_one,
    "hamming": lambda: targets.hamming,
    "absolute": lambda: targets.absolute,
    "mismatch": lambda: targets.mismatch,
    "alignment": lambda: targets.alignment,
    "ndcg": targets.NormalizedGain,
    "table": targets.table,
    "decision_regret": targets.decision_regret,
}
PSI = ("SquaredNorm", "NegativeEntropy", "BinaryEntropy", "GibbsEntropy")


def make_named_space(name: str, params: Mapping[str, Any]) -> OutputSpace:
    """Make a space whose psi may be written as text, such as "SquaredNorm(0.5)"."""
    psi = params.get("psi")
    read = {**params, "psi": make_psi(psi)} if isinstance(psi, str) else dict(params)
    space: OutputSpace = make_space(name, **read)
    return space


def make_psi(text: str) -> regularizers.Regularizer:
    """Read a regularizer: its name and, in parentheses, its scale."""
    match = re.fullmatch(r"\s*(\w+)\s*(?:\(\s*(?:scale\s*=\s*)?([^()\s]+)\s*\))?\s*", text)
    if match is None or match[1] not in PSI:
        raise InvalidInputError(f"psi must be one of {', '.join(PSI)} with a scale, as in {PSI[0]}(0.5).")
    kind: type[regularizers.Regularizer] = getattr(regularizers, match[1])
    try:
        scale = 1.0 if match[2] is None else float(match[2])
    except ValueError:
        raise InvalidInputError(f"The scale of psi must be a number, got {match[2]!r}.") from None
    return kind(scale)


def make_decoder(name: str | None, space: OutputSpace) -> Decoder | None:
    """Make a decoder by name; None, for the default of space and target, where there is no name."""
    return None if name is None else _find("decoder", DECODERS, name)(space)


def make_target(name: str | None, space: OutputSpace, params: Mapping[str, Any]) -> AffineLoss | None:
    """Make a target by name; None, for the usual one of the space, where there is no name."""
    if name is None:
        if params:
            raise InvalidInputError("Parameters of a target were given, but no target.")
        return None
    factory = _find("target", TARGETS, name)
    takes = inspect.signature(factory).parameters
    if unknown := [param for param in params if param not in takes or param == "space"]:
        known = ", ".join(param for param in takes if param != "space") or "none"
        raise InvalidInputError(
            f"The target {name!r} has no parameter {unknown[0]!r}; its parameters: {known}."
        )
    try:
        made: AffineLoss = factory(*([space] if "space" in takes else []), **params)
    except TypeError as error:
        raise InvalidInputError(f"The target {name!r}: {error}.") from error
    return made


def _find(kind: str, known: Mapping[str, Any], name: str) -> Any:
    if name in known:
        return known[name]
    close = difflib.get_close_matches(name, known, n=1)
    hint = f" Did you mean {close[0]!r}?" if close else ""
    raise UnknownNameError(f"There is no {kind} called {name!r}.{hint} There are: {', '.join(known)}.")
