"""The checkpoint file: an npz archive with a sealed JSON header, written atomically, read with suspicion.

Layout, schema 1:

    header.json     schema, versions, everything that is not an array, and the shape, dtype and SHA-256
                    of every array; sealed by a SHA-256 of its own
    NAME.npy        an array in numpy's format, little-endian, row by row

Nothing in it is code: loading never unpickles and never imports what the file names. The format is described
in docs/reference/checkpoint_format.md.
"""

from __future__ import annotations

import hashlib
import io
import json
import math
import os
import struct
import tokenize
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from osp_core.errors import Array, InvalidInputError, OspError
from osp_core.persistence.atomic import read_json, whole_file

SCHEMA = 1
_DTYPES = {"float64": "<f8", "int64": "<i8", "bool": "|b1"}
_LARGEST_HEADER = 16 * 2**20
_END = struct.Struct("<4s4H2LH")  # the last record of a zip archive without a comment
_MOST_MEMBERS = 1000
_NPY_HEADER = 1024  # what numpy writes before the entries of an array is far shorter
# What zipfile, json and numpy raise for bytes that make no sense to them.
_DAMAGE = (
    zipfile.BadZipFile,
    OSError,
    ValueError,
    LookupError,
    RuntimeError,
    EOFError,
    TypeError,
    MemoryError,
    OverflowError,
    SyntaxError,
    struct.error,
    tokenize.TokenError,
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
        Names (letters, digits, ``_``, ``.``) → float64, int64 or bool arrays, all finite.

    Raises
    ------
    CheckpointError
        When the header or an array cannot be stored, or the disk is full or read-only; what was at `path`
        is then untouched.
    """
    contents = {name: _encode(name, array) for name, array in arrays.items()}
    described = {name: description for name, (description, _) in contents.items()}
    members = {"header.json": _seal({"schema": SCHEMA, **header, "arrays": described})}
    members |= {f"{name}.npy": data for name, (_, data) in contents.items()}
    try:
        _write(Path(path), members)
    except InvalidInputError as error:
        raise CheckpointError(f"{error} What was there before is untouched.") from error.__cause__


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
        _check_directory_size(path, size)
        with zipfile.ZipFile(path) as archive:
            header = _unseal(_member(archive, "header.json", min(size, _LARGEST_HEADER)))
            described = _described(header)
            expected = ["header.json", *(f"{name}.npy" for name in described)]
            if sorted(archive.namelist()) != sorted(expected):
                raise CheckpointError("its members are not those that its header describes")
            arrays = {name: _decode(archive, name, entry, size) for name, entry in described.items()}
    except FileNotFoundError as error:
        raise CheckpointError(f"There is no checkpoint at {os.fspath(path)!r}.") from error
    except CheckpointError as error:
        raise CheckpointError(f"{os.fspath(path)!r} cannot be used: {error}") from error
    except _DAMAGE as error:
        raise CheckpointError(f"{os.fspath(path)!r} is no checkpoint, or damaged: {error}") from error
    return header, arrays


def _check_directory_size(path: str | os.PathLike[str], size: int) -> None:
    """Refuse an archive with so many members that merely listing them would take long."""
    with open(path, "rb") as file:
        file.seek(max(0, size - _END.size))
        end = file.read()
    if len(end) < _END.size or not end.startswith(b"PK\5\6"):
        raise CheckpointError("it is no archive, or its end is missing")
    if (members := _END.unpack(end)[4]) > _MOST_MEMBERS:
        raise CheckpointError(f"it has {members} members")


def _write(target: Path, members: Mapping[str, bytes]) -> None:
    with whole_file(target, "wb") as file, zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        for name, data in members.items():
            # A fixed date: equal states give equal files, whatever the clock says.
            archive.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), data)


def _encode(name: str, array: Array) -> tuple[dict[str, Any], bytes]:
    values = np.asarray(array)
    if values.dtype.name not in _DTYPES or not name.replace("_", "").replace(".", "").isalnum():
        raise CheckpointError(f"Array {name!r} of dtype {values.dtype} cannot be stored.")
    _refuse_wild(name, values)
    buffer = io.BytesIO()
    plain = np.ascontiguousarray(values, dtype=_DTYPES[values.dtype.name]).reshape(values.shape)
    np.lib.format.write_array(buffer, plain, version=(1, 0), allow_pickle=False)
    data = buffer.getvalue()
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
    if not isinstance(shape, list) or not all(type(n) is int and 0 <= n <= file_size for n in shape):
        raise CheckpointError(f"the array {name!r} has the shape {shape}")
    expected = dtype.itemsize * math.prod(shape)
    data = _member(archive, f"{name}.npy", min(expected + _NPY_HEADER, file_size))
    if hashlib.sha256(data).hexdigest() != entry.get("sha256"):
        raise CheckpointError(f"the array {name!r} does not match its checksum")
    # Not read_array, which would believe the size that the array itself states.
    buffer = io.BytesIO(data)
    if np.lib.format.read_magic(buffer) != (1, 0):
        raise CheckpointError(f"the array {name!r} is in another format")
    described = np.lib.format.read_array_header_1_0(buffer, max_header_size=_NPY_HEADER)
    if described != (tuple(shape), False, dtype) or len(data) - buffer.tell() != expected:
        raise CheckpointError(f"the array {name!r} is not as the header describes it")
    values = np.frombuffer(data, dtype, offset=buffer.tell()).reshape(shape).astype(entry["dtype"])
    _refuse_wild(name, values)
    return values


def _refuse_wild(name: str, values: Array) -> None:
    """Refuse numbers that are none, written or read: no run goes on from them, whatever the checksums say."""
    if values.dtype.kind != "f" or np.isfinite(values).all():
        return
    where = np.argwhere(~np.isfinite(values))[0].tolist()
    raise CheckpointError(f"Array {name!r} has the entry {values[tuple(where)]} at {where}")


def _member(archive: zipfile.ZipFile, name: str, most: int) -> bytes:
    info = archive.getinfo(name)
    # Stored, not compressed: a member can be no larger than the file, so nothing can blow up in memory.
    if info.compress_type != zipfile.ZIP_STORED or info.file_size > most:
        raise CheckpointError(f"{name} is compressed or larger than it may be")
    return archive.read(info)


def _seal(header: Mapping[str, Any]) -> bytes:
    try:
        body = json.dumps(header, sort_keys=True, allow_nan=False, ensure_ascii=False).encode()
    except (TypeError, ValueError) as error:
        raise CheckpointError(f"The header of a checkpoint must be plain JSON: {error}") from error
    if len(body) > _LARGEST_HEADER - 1024:
        raise CheckpointError(f"The header of a checkpoint is limited to {_LARGEST_HEADER} bytes.")
    return b"".join([b'{"sha256": "', hashlib.sha256(body).hexdigest().encode(), b'", "body": ', body, b"}"])


def _unseal(data: bytes) -> dict[str, Any]:
    sealed = read_json(data)
    if not isinstance(sealed, dict) or not isinstance(sealed.get("body"), dict):
        raise CheckpointError("it has no header")
    body: dict[str, Any] = sealed["body"]
    schema = body.get("schema")
    if type(schema) is not int or not 1 <= schema <= SCHEMA:
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
