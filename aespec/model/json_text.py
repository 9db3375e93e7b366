"""JSON as aespec writes it: one form to be hashed, one to be kept in files."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from math import isfinite
from typing import Any

from aespec.model.expressions import Json


def canonical_json(value: object) -> bytes:
    """JSON with sorted keys, no spaces, ASCII only: equal values give equal bytes on every machine."""
    return json.dumps(
        value, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False
    ).encode()


def json_digest(value: object) -> str:
    """The hex SHA-256 of a value's canonical JSON."""
    return hashlib.sha256(canonical_json(value)).hexdigest()


def write_json(value: Json) -> bytes:
    """JSON as it stands in files: sorted keys, two spaces, LF, one final newline, UTF-8, finite numbers.

    Raises ValueError for a number that isn't finite, TypeError for what JSON can't hold. The bytes are those
    of the standard library's encoder, which takes up to three times as long: with indentation it runs as
    Python, through a generator for each depth.
    """
    return _text(value).encode()


def write_json_of_names(value: Json) -> bytes:
    """As `write_json`, for what holds names of files: such as are no text are escaped, and read back.

    Such a name has lone surrogates (PEP 383), which UTF-8 refuses and JSON's own escapes can hold.
    """
    return _text(value).encode("utf-8", "backslashreplace")


def _text(value: Json) -> str:
    parts: list[str] = []
    _write(value, "\n", parts.append)
    parts.append("\n")
    return "".join(parts)


def _write(value: object, line: str, put: Callable[[str], object]) -> None:
    """Put the texts of a value; `line` is the line end with the indentation of what holds it."""
    scalar = _SCALARS.get(type(value))
    if scalar is not None:
        put(scalar(value))
    elif isinstance(value, dict):
        _write_object(value, line, put)
    elif isinstance(value, list | tuple):
        _write_list(value, line, put)
    else:
        put(_write_other(value))


def _write_object(value: dict[str, object], line: str, put: Callable[[str], object]) -> None:
    deeper = f"{line}  "
    lead = f"{{{deeper}"
    for key in sorted(value):
        item = value[key]
        scalar = _SCALARS.get(type(item))
        if scalar is not None:
            put(f"{lead}{_write_text(key)}: {scalar(item)}")
        else:
            put(f"{lead}{_write_text(key)}: ")
            _write(item, deeper, put)
        lead = f",{deeper}"
    put(f"{line}}}" if value else "{}")


def _write_list(value: Sequence[object], line: str, put: Callable[[str], object]) -> None:
    deeper = f"{line}  "
    lead = f"[{deeper}"
    for item in value:
        scalar = _SCALARS.get(type(item))
        if scalar is not None:
            put(f"{lead}{scalar(item)}")
        else:
            put(lead)
            _write(item, deeper, put)
        lead = f",{deeper}"
    put(f"{line}]" if value else "[]")


def _write_float(value: float) -> str:
    if not isfinite(value):
        raise ValueError(f"{value!r} is not JSON compliant")
    return float.__repr__(value)


def _write_other(value: object) -> str:
    """Subclasses are written as what they are derived from."""
    if isinstance(value, str):
        return _write_text(value)
    if isinstance(value, int):
        return int.__repr__(value)
    if isinstance(value, float):
        return _write_float(value)
    raise TypeError(f"JSON can't hold a {type(value).__name__}")


_write_text = json.encoder.encode_basestring  # the C one where there is one

_SCALARS: dict[type, Callable[[Any], str]] = {
    str: _write_text,
    int: int.__repr__,
    float: _write_float,
    bool: {True: "true", False: "false"}.__getitem__,
    type(None): lambda _: "null",
}
