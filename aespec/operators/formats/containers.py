"""Archives and office documents: their members, read within limits, and the container packed again.

A container may claim or hold far more than its own size; nothing is unpacked beyond the limits, and one that
goes beyond them is taken for a plain binary.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import tarfile
import zipfile
import zlib
from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

LIMIT_BYTES = 16 * 1024 * 1024
MEMBERS_LIMIT = 2_000
STREAMS_LIMIT = 100


class Member(NamedTuple):
    """One member: `data` is None for a folder or a link; `header` is the format's own description of it."""

    name: str
    data: bytes | None
    header: Any


class Container(NamedTuple):
    """What a container holds, in its order. `form` is zip, tar, tar.gz, tar.bz2, tar.xz, gz, bz2 or xz.

    The last three hold one nameless member.
    """

    form: str
    members: tuple[Member, ...]


_UNPACKERS: dict[str, Callable[[], Any]] = {
    "gz": lambda: zlib.decompressobj(wbits=31),
    "bz2": bz2.BZ2Decompressor,
    "xz": lambda: lzma.LZMADecompressor(memlimit=8 * LIMIT_BYTES),
}
_MAGICS = {b"\x1f\x8b": "gz", b"BZh": "bz2", b"\xfd7zXZ\0": "xz"}
_FAULTS = (
    zipfile.BadZipFile,
    tarfile.TarError,
    zlib.error,
    lzma.LZMAError,
    OSError,
    EOFError,
    ValueError,
    KeyError,
    IndexError,
    NotImplementedError,
    RuntimeError,
    OverflowError,
)


@lru_cache(maxsize=8)
def read_container(data: bytes) -> Container | None:
    """The container, or None where it is damaged, encrypted or beyond the limits."""
    try:
        if data.startswith(b"PK"):
            return Container("zip", _zip_members(data))
        packing = next((name for magic, name in _MAGICS.items() if data.startswith(magic)), "")
        inner = _unpacked(data, packing) if packing else data
        if inner[257:262] == b"ustar":
            return Container(f"tar.{packing}" if packing else "tar", _tar_members(inner))
        return Container(packing, (Member("", inner, None),)) if packing else None
    except _FAULTS:
        return None


def pack_container(
    container: Container, members: tuple[Member, ...] | None = None, *, level: int = 6
) -> bytes:
    """The container with these members in place of its own; `level` is that of compression, 0 to 9."""
    kept = container.members if members is None else members
    if container.form == "zip":
        return _packed_zip(kept, level)
    form, _, packing = container.form.rpartition(".")
    if container.form.startswith("tar"):
        packing = packing if form else ""
        inner = _packed_tar(kept)
    else:
        inner = kept[0].data or b""
    if packing == "gz":
        return gzip.compress(inner, level, mtime=0)
    if packing == "bz2":
        return bz2.compress(inner, max(level, 1))
    return lzma.compress(inner, preset=level) if packing == "xz" else inner


def _unpacked(data: bytes, packing: str) -> bytes:
    """The whole content, which may stand in several streams one after the other."""
    pieces: list[bytes] = []
    left = LIMIT_BYTES
    while data:
        if len(pieces) >= STREAMS_LIMIT:
            raise ValueError("more streams than are read")
        stream = _UNPACKERS[packing]()
        piece = stream.decompress(data, left + 1)
        left -= len(piece)
        if left < 0 or not stream.eof:
            raise ValueError("more than is read, or torn")
        pieces.append(piece)
        data = stream.unused_data.lstrip(b"\0")
    return b"".join(pieces)


def _zip_members(data: bytes) -> tuple[Member, ...]:
    found: list[Member] = []
    left = LIMIT_BYTES
    with zipfile.ZipFile(io.BytesIO(data)) as container:
        entries = container.infolist()
        if len(entries) > MEMBERS_LIMIT:
            raise ValueError("more members than are read")
        for entry in entries:
            content = None
            if not entry.is_dir():
                with container.open(entry) as stream:
                    content = stream.read(left + 1)
                left -= len(content)
                if left < 0:
                    raise ValueError("more than is read")
            found.append(Member(entry.filename, content, entry))
    return tuple(found)


def _packed_zip(members: tuple[Member, ...], level: int) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as container:
        for member in members:
            old: zipfile.ZipInfo = member.header
            entry = zipfile.ZipInfo(member.name, old.date_time)
            entry.external_attr, entry.create_system, entry.comment = (
                old.external_attr,
                old.create_system,
                old.comment,
            )
            is_stored = level == 0 or old.compress_type == zipfile.ZIP_STORED
            kind = zipfile.ZIP_STORED if is_stored else zipfile.ZIP_DEFLATED
            container.NameToInfo.pop(entry.filename, None)  # an archive may hold a name twice: no warning
            container.writestr(entry, member.data or b"", compress_type=kind, compresslevel=level)
    return stream.getvalue()


def _tar_members(data: bytes) -> tuple[Member, ...]:
    found: list[Member] = []
    with tarfile.open(fileobj=io.BytesIO(data), mode="r:") as container:
        for entry in container:
            if len(found) >= MEMBERS_LIMIT or (entry.isreg() and entry.size > len(data)):
                # A sparse member may claim any size; what has no bytes of its own is no content to change.
                raise ValueError("more members than are read, or larger than the archive")
            stream = container.extractfile(entry) if entry.isreg() else None
            found.append(Member(entry.name, stream.read() if stream is not None else None, entry))
    return tuple(found)


def _packed_tar(members: tuple[Member, ...]) -> bytes:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w", format=tarfile.PAX_FORMAT) as container:
        for member in members:
            old: tarfile.TarInfo = member.header
            entry = tarfile.TarInfo(member.name)
            entry.mode, entry.mtime, entry.type, entry.linkname = old.mode, old.mtime, old.type, old.linkname
            entry.uid, entry.gid, entry.uname, entry.gname = old.uid, old.gid, old.uname, old.gname
            if member.data is not None:
                entry.type, entry.size = tarfile.REGTYPE, len(member.data)
            container.addfile(entry, io.BytesIO(member.data or b"") if member.data is not None else None)
    return stream.getvalue()
