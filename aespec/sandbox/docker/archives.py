"""The engine's archives in the contract's form: several paths in one, names from the root, sorted."""

from __future__ import annotations

import io
import posixpath
import tarfile
from collections.abc import Iterable, Iterator, Sequence

from aespec.sandbox.api import SandboxError, UncarriableError


def normal_path(path: str) -> str:
    """An absolute normal path; raises SandboxError for one that climbs."""
    parts = [part for part in path.split("/") if part not in ("", ".")]
    if ".." in parts or "\0" in path:
        raise SandboxError(f"the path {path!r} climbs out of its root", boundary="spec")
    return "/" + "/".join(parts)


def check_archive(archive: bytes) -> None:
    """Raise SandboxError for a tar whose names climb, or which brings a device."""
    try:
        with tarfile.open(fileobj=io.BytesIO(archive), mode="r:") as tar:
            for entry in tar:
                normal_path(entry.name)
                if entry.islnk():
                    normal_path(entry.linkname)
                if entry.ischr() or entry.isblk():
                    raise SandboxError(
                        f"{entry.name!r} is a device, which no archive may bring", boundary="spec"
                    )
    except tarfile.TarError as error:
        raise SandboxError(f"the archive can't be read: {error}", boundary="spec") from None


def join_chunks(chunks: Iterable[bytes], limit_bytes: int) -> bytes:
    """All of a stream; raises UncarriableError above the limit."""
    parts: list[bytes] = []
    size = 0
    for chunk in chunks:
        size += len(chunk)
        if size > limit_bytes:
            message = f"what was asked for is larger than {limit_bytes} bytes"
            raise UncarriableError(message, boundary="spec")
        parts.append(chunk)
    return b"".join(parts)


def merge_archives(archives: Sequence[tuple[str, bytes]]) -> bytes:
    """One tar of the engine's `(path, tar)` pairs.

    The engine names entries from the last part of the path; here they start at the root. Devices, sockets and
    FIFOs are left out, and a hard link becomes a file of its own.
    """
    found: dict[str, tuple[tarfile.TarInfo, bytes]] = {}
    for path, archive in archives:
        with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
            for entry, content in _contents(tar):
                name = (
                    posixpath.join(posixpath.dirname(path), entry.name).strip("/")
                    if path != "/"
                    else entry.name
                )
                entry.name = posixpath.normpath(name.strip("/") or ".")
                found[entry.name] = (entry, content)
    target = io.BytesIO()
    with tarfile.open(fileobj=target, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for _, (entry, content) in sorted(found.items(), key=lambda item: "/" + item[0]):
            tar.addfile(_plain(entry, len(content)), io.BytesIO(content))
    return target.getvalue()


def _contents(tar: tarfile.TarFile) -> Iterator[tuple[tarfile.TarInfo, bytes]]:
    for entry in tar:
        if entry.isreg() or entry.islnk():
            file = tar.extractfile(entry)
            yield entry, file.read() if file else b""
        elif entry.isdir() or entry.issym():
            yield entry, b""


def _plain(entry: tarfile.TarInfo, size: int) -> tarfile.TarInfo:
    plain = tarfile.TarInfo(entry.name)
    plain.mode, plain.uid, plain.gid = entry.mode & 0o7777, entry.uid, entry.gid
    plain.mtime = int(entry.mtime)
    if entry.isdir():
        plain.type = tarfile.DIRTYPE
    elif entry.issym():
        plain.type, plain.linkname = tarfile.SYMTYPE, entry.linkname
    else:
        plain.size = size
    return plain
