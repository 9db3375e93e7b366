"""Archives made of what is known: equal entries give equal bytes."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Iterable
from dataclasses import dataclass, field

FIXED_TIME = 1704067200
"""2024-01-01, the time of what has none of its own: an archive must not tell when it was made."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One thing to pack: a file, a folder where `data` is None, or a link to `target` where that is given.

    `path` is taken from the root, `uid` and `gid` are numbers, `mtime` is in seconds since 1970.
    """

    path: str
    data: bytes | None = field(default=None, repr=False)
    mode: int = 0o644
    uid: int = 0
    gid: int = 0
    mtime: int = FIXED_TIME
    target: str = ""


def pack(entries: Iterable[Entry]) -> bytes:
    """A tar of the entries in their order, names relative to `/`."""
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w", format=tarfile.PAX_FORMAT) as tar:
        add_entries(tar, entries)
    return stream.getvalue()


def add_entries(tar: tarfile.TarFile, entries: Iterable[Entry]) -> None:
    """Add the entries to an archive that is being written."""
    for entry in entries:
        told = tarfile.TarInfo(entry.path.lstrip("/"))
        told.mode, told.uid, told.gid, told.mtime = entry.mode, entry.uid, entry.gid, entry.mtime
        if entry.target:
            told.type, told.linkname = tarfile.SYMTYPE, entry.target
        elif entry.data is None:
            told.type = tarfile.DIRTYPE
        else:
            told.size = len(entry.data)
        tar.addfile(told, io.BytesIO(entry.data) if told.isreg() and entry.data else None)
