"""Decoders, targets and regularizers by name, as a command or a run file has them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from osp_core import regularizers
from osp_core.errors import InvalidInputError
from osp_core.registry.registry import make_on, make_space
from osp_core.spaces import OutputSpace

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


def make_part(kind: str, name: str | None, space: OutputSpace, params: Mapping[str, Any]) -> Any:
    """Make the "decoder" or the "target" of a run; None, for the default of the space, without a name."""
    if name is None:
        if params:
            raise InvalidInputError(f"Parameters of a {kind} were given, but no {kind}.")
        return None
    if "space" in params:
        raise InvalidInputError(f"The space of the {kind} {name!r} is that of the run; leave it out.")
    return make_on(kind, name, space, params)
