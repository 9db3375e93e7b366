"""Messages between the backend and its supervisor: a JSON head and byte strings, over one stream socket.

Standard library only.
"""

from __future__ import annotations

import json
import os
import struct
from collections.abc import Sequence
from typing import Any

_LENGTH = struct.Struct("!I")
_CHUNK_BYTES = 1 << 20


class Hangup(Exception):
    """The other side is gone."""


def read_exactly(descriptor: int, size: int) -> bytes:
    """`size` bytes; raises Hangup when the stream ends before."""
    parts: list[bytes] = []
    while size:
        part = os.read(descriptor, min(size, _CHUNK_BYTES))
        if not part:
            raise Hangup
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def write_all(descriptor: int, content: bytes) -> None:
    """All of `content`; raises Hangup when nobody reads any more."""
    view = memoryview(content)
    try:
        while view:
            view = view[os.write(descriptor, view[:_CHUNK_BYTES]) :]
    except (BrokenPipeError, ConnectionResetError):
        raise Hangup from None


def send(descriptor: int, head: dict[str, Any], blobs: Sequence[bytes] = ()) -> None:
    """One message."""
    text = json.dumps({**head, "sizes": [len(blob) for blob in blobs]}).encode()
    write_all(descriptor, _LENGTH.pack(len(text)) + text)
    for blob in blobs:
        write_all(descriptor, blob)


def receive(descriptor: int) -> tuple[dict[str, Any], list[bytes]]:
    """The next message; raises Hangup at the end of the stream."""
    try:
        (length,) = _LENGTH.unpack(read_exactly(descriptor, _LENGTH.size))
        head: dict[str, Any] = json.loads(read_exactly(descriptor, length))
        return head, [read_exactly(descriptor, size) for size in head.pop("sizes")]
    except ConnectionResetError:
        raise Hangup from None
