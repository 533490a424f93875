"""Plain values as TOML; the standard library only reads it."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from typing import Any

from osp_core.errors import InvalidInputError


def toml_text(values: Mapping[str, Any]) -> str:
    """Return a document with the tables of `values` after its plain values."""
    plain, tables = [], []
    for name, value in values.items():
        if isinstance(value, Mapping):
            if value:
                tables += [
                    "",
                    f"[{_key(name)}]",
                    *(f"{_key(str(k))} = {_value(v)}" for k, v in value.items()),
                ]
        else:
            plain.append(f"{_key(name)} = {_value(value)}")
    return "\n".join([*plain, *tables]) + "\n"


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else _string(name)


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return repr(value)
    if isinstance(value, float):
        return repr(value) if math.isfinite(value) else str(value).replace("+", "")
    if isinstance(value, str):
        return _string(value)
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_value(item) for item in value) + "]"
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_key(str(k))} = {_value(v)}" for k, v in value.items()) + "}"
    raise InvalidInputError(f"{value!r} cannot be written to a run file.")


def _string(text: str) -> str:
    # JSON's escapes are TOML's, but for DEL, which TOML wants escaped too.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
