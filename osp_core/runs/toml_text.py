"""Plain values from TOML and to it; the standard library only reads it."""

from __future__ import annotations

import json
import math
import os
import re
import tomllib
from collections.abc import Mapping
from typing import Any

from osp_core.errors import InvalidInputError


def read_toml(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Read a file, or raise an error with its name and the line that is wrong."""
    text, name = "", os.fspath(path)
    try:
        with open(path, encoding="utf-8-sig", newline="") as file:
            text = file.read()
        return tomllib.loads(text)
    except OSError as error:
        raise InvalidInputError(f"{name}: {error.strerror}.") from error
    except tomllib.TOMLDecodeError as error:
        place = re.search(r"\(at line (\d+),", str(error))
        line = text.split("\n")[int(place[1]) - 1].strip() if place else ""
        raise InvalidInputError(f"{name}: {error}{line and f': {line[:80]}'}.") from error
    except (UnicodeDecodeError, RecursionError) as error:
        raise InvalidInputError(f"{name}: {error}.") from error


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
    if not text.isascii() and any("\ud800" <= letter <= "\udfff" for letter in text):
        raise InvalidInputError(
            f"{text!r} cannot be written to a run file: it is no Unicode text. Rename it."
        )
    # JSON's escapes are TOML's, but for DEL, which TOML wants escaped too.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
