"""The checkpoint file: one zip of a JSON header and plain arrays, written atomically, read with suspicion.

Layout, schema 1:

    header.json     schema, versions, everything that is not an array, and the shape, dtype and SHA-256
                    of every array; sealed by a SHA-256 of its own
    arrays/NAME     the raw bytes of an array, little-endian, row by row

Nothing in it is code: loading never unpickles and never imports what the file names.
"""

from __future__ import annotations

import hashlib
import json
import os
import struct
import tempfile
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from osp_core.errors import Array, OspError

SCHEMA = 1
_DTYPES = {"float64": "<f8", "int64": "<i8", "bool": "|b1"}
_LARGEST_HEADER = 16 * 2**20
# What zipfile, json and numpy raise for bytes that make no sense to them.
_DAMAGE = (
    zipfile.BadZipFile,
    OSError,
    ValueError,
    LookupError,
    RuntimeError,
    EOFError,
    TypeError,
    struct.error,
)


class CheckpointError(OspError, ValueError):
    """A checkpoint cannot be written, or the file is not a sound checkpoint."""


def write_checkpoint(
    path: str | os.PathLike[str], header: Mapping[str, Any], arrays: Mapping[str, Array]
) -> None:
    """Write a checkpoint so that `path` is at every moment either the old file or the new one, whole.

    Parameters
    ----------
    path : path
    header : mapping
        JSON values. Not-a-number and infinities are refused: they would not survive.
    arrays : mapping
        Names (letters, digits, ``_``, ``.``) → float64, int64 or bool arrays.
    """
    target = Path(path)
    contents = {name: _encode(name, array) for name, array in arrays.items()}
    described = {name: description for name, (description, _) in contents.items()}
    sealed = _seal({"schema": SCHEMA, **header, "arrays": described})
    handle, temporary = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
                archive.writestr("header.json", sealed)
                for name, (_, data) in contents.items():
                    archive.writestr(f"arrays/{name}", data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, target)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
    _sync_directory(target.parent)


def read_checkpoint(path: str | os.PathLike[str]) -> tuple[dict[str, Any], dict[str, Array]]:
    """Read a checkpoint after checking all of it; return the header and the arrays.

    Raises
    ------
    CheckpointError
        When the file is missing, truncated, altered, of a newer schema, or no checkpoint at all. Memory stays
        bounded by what the header says and the size of the file.
    """
    try:
        size = os.path.getsize(path)
        with zipfile.ZipFile(path) as archive:
            header = _unseal(_member(archive, "header.json", min(size, _LARGEST_HEADER)))
            described = _described(header)
            arrays = {name: _decode(archive, name, entry, size) for name, entry in described.items()}
            extra = set(archive.namelist()) - {"header.json", *(f"arrays/{name}" for name in described)}
    except FileNotFoundError as error:
        raise CheckpointError(f"There is no checkpoint at {os.fspath(path)!r}.") from error
    except CheckpointError as error:
        raise CheckpointError(f"{os.fspath(path)!r} cannot be used: {error}") from error
    except _DAMAGE as error:
        raise CheckpointError(f"{os.fspath(path)!r} is no checkpoint, or damaged: {error}") from error
    if extra:
        raise CheckpointError(f"{os.fspath(path)!r} holds {sorted(extra)[0]!r}, which no checkpoint does.")
    return header, arrays


def _encode(name: str, array: Array) -> tuple[dict[str, Any], bytes]:
    values = np.asarray(array)
    if values.dtype.name not in _DTYPES or not name.replace("_", "").replace(".", "").isalnum():
        raise CheckpointError(f"Array {name!r} of dtype {values.dtype} cannot be stored.")
    data = np.ascontiguousarray(values, dtype=_DTYPES[values.dtype.name]).tobytes()
    entry = {
        "shape": list(values.shape),
        "dtype": values.dtype.name,
        "sha256": hashlib.sha256(data).hexdigest(),
    }
    return entry, data


def _decode(archive: zipfile.ZipFile, name: str, entry: Any, file_size: int) -> Array:
    if not isinstance(entry, dict) or entry.get("dtype") not in _DTYPES:
        raise CheckpointError(f"the array {name!r} is not described")
    shape, dtype = entry["shape"], np.dtype(_DTYPES[entry["dtype"]])
    if not isinstance(shape, list) or not all(isinstance(n, int) and 0 <= n <= file_size for n in shape):
        raise CheckpointError(f"the array {name!r} has the shape {shape}")
    expected = dtype.itemsize
    for length in shape:
        expected *= length
    data = _member(archive, f"arrays/{name}", min(expected, file_size))
    if len(data) != expected or hashlib.sha256(data).hexdigest() != entry.get("sha256"):
        raise CheckpointError(f"the array {name!r} does not match its checksum")
    return np.frombuffer(data, dtype=dtype).reshape(shape).astype(entry["dtype"])


def _member(archive: zipfile.ZipFile, name: str, most: int) -> bytes:
    info = archive.getinfo(name)
    # Stored, not compressed: a member can be no larger than the file, so nothing can blow up in memory.
    if info.compress_type != zipfile.ZIP_STORED or info.file_size > most:
        raise CheckpointError(f"{name} is compressed or larger than it may be")
    return archive.read(info)


def _seal(header: Mapping[str, Any]) -> bytes:
    try:
        body = json.dumps(header, sort_keys=True, allow_nan=False, ensure_ascii=False)
    except (TypeError, ValueError) as error:
        raise CheckpointError(f"The header of a checkpoint must be plain JSON: {error}") from error
    return f'{{"sha256": "{hashlib.sha256(body.encode()).hexdigest()}", "body": {body}}}'.encode()


def _unseal(data: bytes) -> dict[str, Any]:
    sealed = json.loads(data)
    if not isinstance(sealed, dict) or not isinstance(sealed.get("body"), dict):
        raise CheckpointError("it has no header")
    body: dict[str, Any] = sealed["body"]
    schema = body.get("schema")
    if not isinstance(schema, int) or schema > SCHEMA:
        raise CheckpointError(
            f"it has schema {schema!r}; this version reads up to {SCHEMA}. Update the package"
        )
    canonical = json.dumps(body, sort_keys=True, allow_nan=False, ensure_ascii=False)
    if hashlib.sha256(canonical.encode()).hexdigest() != sealed.get("sha256"):
        raise CheckpointError("its header does not match its checksum")
    return body


def _described(header: dict[str, Any]) -> dict[str, Any]:
    described = header.get("arrays")
    if not isinstance(described, dict):
        raise CheckpointError("it describes no arrays")
    return described


def _sync_directory(directory: Path) -> None:
    """Make the rename itself durable, where the system can."""
    try:
        handle = os.open(directory, os.O_RDONLY)
    except OSError:
        return
    try:
        os.fsync(handle)
    except OSError:
        pass
    finally:
        os.close(handle)
