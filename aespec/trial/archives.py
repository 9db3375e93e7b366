"""Archives that cross between sandboxes, read and made without trusting what is in them."""

from __future__ import annotations

import hashlib
import io
import tarfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from aespec.model.json_text import json_digest
from aespec.runtime.memory import Node
from aespec.sandbox.tars import Entry, add_entries


def pack_folder(folder: Path, target: str) -> list[Entry]:
    """The regular files of a folder of a bundle as entries below `target`; modes as on disk, owner root."""
    entries = [Entry(target, None, 0o755)]
    for path in sorted(folder.rglob("*")):
        place = f"{target}/{path.relative_to(folder).as_posix()}"
        if path.is_symlink():
            continue
        if path.is_dir():
            entries.append(Entry(place, None, 0o755))
        elif path.is_file():
            executable = path.stat().st_mode & 0o100
            entries.append(Entry(place, path.read_bytes(), 0o755 if executable else 0o644))
    return entries


def iterate_members(archive: bytes) -> Iterator[tuple[tarfile.TarInfo, bytes]]:
    """The members of a tar with their data (empty for what isn't a regular file), bad tails left out."""
    try:
        with tarfile.open(fileobj=io.BytesIO(archive), mode="r:") as tar:
            for member in tar:
                stream = tar.extractfile(member) if member.isreg() else None
                yield member, stream.read() if stream is not None else b""
    except tarfile.TarError:
        return


def cross(archive: bytes, more: Iterable[Entry] = (), *, is_reversed: bool = False) -> bytes:
    """The archive as the verifier's container gets it, after Harbor: owner root, special files dropped.

    `more` is put behind it. `is_reversed` turns the order around in which the files of the archive are made
    (folders stay first).
    """
    kept: list[tuple[tarfile.TarInfo, bytes]] = []
    for member, data in iterate_members(archive):
        if not (member.isreg() or member.isdir() or member.issym()):
            if not member.islnk():
                continue
            data = _linked(member, kept)
            member.type, member.linkname, member.size = tarfile.REGTYPE, "", len(data)
        member.uid = member.gid = 0
        member.uname = member.gname = ""
        member.pax_headers = {}
        kept.append((member, data))
    if is_reversed:
        folders = [item for item in kept if item[0].isdir()]
        kept = folders + [item for item in reversed(kept) if not item[0].isdir()]
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for member, data in kept:
            tar.addfile(member, io.BytesIO(data) if member.isreg() else None)
        add_entries(tar, more)
    return stream.getvalue()


def _linked(member: tarfile.TarInfo, kept: Iterable[tuple[tarfile.TarInfo, bytes]]) -> bytes:
    return next((data for other, data in kept if other.name == member.linkname), b"")


def read_files(archive: bytes) -> dict[str, bytes]:
    """The regular files of a tar by absolute path."""
    return {_absolute(member.name): data for member, data in iterate_members(archive) if member.isreg()}


def read_nodes(archive: bytes) -> dict[str, Node]:
    """The files, folders and links of a tar by absolute path; of two names of one file each has its bytes."""
    found: dict[str, Node] = {}
    for member, data in iterate_members(archive):
        path, owner = _absolute(member.name), (member.uid, member.gid)
        if member.isreg():
            found[path] = Node("file", data, member.mode, "", *owner)
        elif member.isdir():
            found[path] = Node("folder", b"", member.mode, "", *owner)
        elif member.issym():
            found[path] = Node("link", b"", member.mode, member.linkname, *owner)
        elif member.islnk() and (other := found.get(_absolute(member.linkname))) is not None:
            found[path] = other
    return found


def digest_of(archive: bytes) -> str:
    """The hex SHA-256 of what an archive holds: paths, kinds, permission bits, bytes; no owners, no times."""
    content = sorted(
        (
            _absolute(member.name),
            member.type.decode("latin-1"),
            member.mode & 0o7777,
            member.linkname,
            hashlib.sha256(data).hexdigest(),
        )
        for member, data in iterate_members(archive)
    )
    return json_digest(content)


def _absolute(name: str) -> str:
    return "/" + name.removeprefix("./").strip("/")


def files_below(files: Mapping[str, bytes], folder: str) -> dict[str, bytes]:
    """The files below an absolute folder, by their relative path."""
    head = folder.rstrip("/") + "/"
    return {path.removeprefix(head): data for path, data in files.items() if path.startswith(head)}
