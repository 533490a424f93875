"""Text from files: one way to write every name, and nothing that could not be written again."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from osp_core.errors import InvalidInputError

LONGEST_LABEL = 2**17
"""Characters of a text in a label, at most: what the reader of CSV files allows."""


def clean_text(text: str) -> str:
    """A name without the spaces around it, its letters composed (Unicode's form NFC).

    Two names that look the same are then the same, whichever system wrote them.
    """
    clean = text.strip()
    if clean.isascii():
        return clean
    try:
        clean.encode()
    except UnicodeEncodeError:
        raise InvalidInputError(
            f"holds {shown(text)}, which has half a character (a lone surrogate) in it"
        ) from None
    return unicodedata.normalize("NFC", clean)


def clean_names(value: Any, what: str) -> Any:
    """The same with all text in it clean, or an error about `what`: a parameter, which may list names."""
    try:
        return _cleaned(value, lambda part: clean_text(part) if isinstance(part, str) else part)
    except InvalidInputError as error:
        raise InvalidInputError(f"{what} {error}") from None


def clean_label(label: Any) -> Any:
    """A label with clean text in it; InvalidInputError, to follow the name of a column, for what is none.

    Text, numbers, true and false are labels, and so are lists, sets and objects of them. Bytes are text where
    they are UTF-8. A date is no label: which of the many ways to write it as text is anybody's choice.
    """
    return _cleaned(label, _clean_part)


def shown(value: Any) -> str:
    """A value as an error message shows it: on one line, and not too long."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}…"


def _cleaned(value: Any, part: Callable[[Any], Any]) -> Any:
    if isinstance(value, Mapping):
        found = {_cleaned(key, part): _cleaned(item, part) for key, item in value.items()}
        if len(found) < len(value):
            raise InvalidInputError(f"holds two keys that look the same: {shown(list(value))}")
        return found
    if isinstance(value, list | tuple | set | frozenset):
        kind = next(kind for kind in (list, tuple, frozenset, set) if isinstance(value, kind))
        return kind(_cleaned(item, part) for item in value)
    return part(value)


def _clean_part(value: Any) -> Any:
    if isinstance(value, bytes):
        try:
            value = value.decode()
        except UnicodeDecodeError:
            raise InvalidInputError(f"has bytes that are no UTF-8 text, {shown(value)}") from None
    if isinstance(value, str):
        if len(value) > LONGEST_LABEL:
            raise InvalidInputError(
                f"has text of {len(value)} characters, more than {LONGEST_LABEL}; is this the right column?"
            )
        return clean_text(value)
    if value is None or isinstance(value, bool | int | float | np.generic | np.ndarray):
        return value
    raise InvalidInputError(
        f"is a {type(value).__name__}, {str(value)[:60]}; labels are text or numbers: write it as text, or "
        "name another column"
    )
