"""JSON as aespec writes it: one form to be hashed, one to be kept in files."""

from __future__ import annotations

import hashlib
import json

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
    """JSON as it stands in files: sorted keys, two spaces, LF, one final newline, UTF-8, finite numbers."""
    text = json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False, allow_nan=False)
    return f"{text}\n".encode()
