"""What a container's files differ by from its image's: by two exports, as an engine itself looks at times."""

from __future__ import annotations

import contextlib
import hashlib
import io
import posixpath
import tarfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import IO, TYPE_CHECKING, Any

from aespec.sandbox.api import Difference, SandboxError, UncarriableError
from aespec.sandbox.docker import engine

if TYPE_CHECKING:
    import docker
    from docker.models.containers import Container

_CHUNK_BYTES = 1 << 20
_ENTRY_BYTES = 1024
_COMPARED_BYTES = 16 << 20
_OWN = (
    *("/dev", "/proc", "/sys", "/.dockerenv"),
    *("/etc/hosts", "/etc/hostname", "/etc/resolv.conf", "/etc/mtab"),
)
"""What the engine makes anew in each container."""

_LONGEST_PATH = 4095
_INIT = "docker-init"
_INIT_FOLDERS = ("/sbin", "/usr/sbin", "/usr", "/etc")
"""The engine mounts its init, and files of the network, in these: their times are nobody's change."""

_KINDS = {
    tarfile.REGTYPE: "file",
    tarfile.AREGTYPE: "file",
    tarfile.DIRTYPE: "folder",
    tarfile.SYMTYPE: "link",
}


@dataclass(frozen=True, slots=True)
class Trait:
    """What makes a file the same: `content` is the digest of a file's bytes, or where a link leads."""

    kind: str
    mode: int
    uid: int
    gid: int
    mtime: int
    size: int
    content: str


Index = Mapping[str, Trait]


class _Stream(io.RawIOBase):
    """Chunks as a file."""

    def __init__(self, chunks: Iterable[bytes]) -> None:
        self._chunks = iter(chunks)
        self._rest = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._rest:
            try:
                self._rest = next(self._chunks)
            except StopIteration:
                return 0
        size = min(len(buffer), len(self._rest))
        buffer[:size] = self._rest[:size]
        self._rest = self._rest[size:]
        return size


def index_image(client: docker.DockerClient, reference: str) -> Index:
    """All files of an image."""
    image = engine.find_image(client, reference)
    if image is None:
        raise SandboxError(f"the engine no longer has the image {reference}")
    found: dict[str, Trait] = {}
    with contextlib.closing(engine.export_image(client, image)) as chunks:
        for path, entry, file, first in _walk(chunks):
            if first:
                found[path] = found.get(first) or _trait(entry, "")
            elif entry.type in _KINDS:
                found[path] = _trait(entry, _digest(file) if file else entry.linkname)
    return found


def _walk(
    chunks: Iterable[bytes],
) -> Iterator[tuple[str, tarfile.TarInfo, IO[bytes] | None, str]]:
    """The entries of an export but the engine's own: path, entry, its bytes, and whose second name it is."""
    with tarfile.open(fileobj=io.BufferedReader(_Stream(chunks), _CHUNK_BYTES), mode="r|") as tar:
        for entry in tar:
            path = "/" + entry.name.removeprefix("./").strip("/")
            is_own = any(path == own or path.startswith(f"{own}/") for own in _OWN)
            if path == "/" or is_own or (posixpath.basename(path) == _INIT and not entry.size):
                continue
            first = "/" + entry.linkname.removeprefix("./").strip("/") if entry.islnk() else ""
            yield path, entry, tar.extractfile(entry) if entry.isreg() else None, first
            tar.members = []  # type: ignore[attr-defined]  # all entries of a large image are not kept


def _digest(file: IO[bytes]) -> str:
    digest = hashlib.sha256()
    while chunk := file.read(_CHUNK_BYTES):
        digest.update(chunk)
    return digest.hexdigest()


def _trait(entry: tarfile.TarInfo, content: str) -> Trait:
    kind = _KINDS.get(entry.type, "file")
    size = entry.size if kind == "file" else 0
    return Trait(kind, entry.mode & 0o7777, entry.uid, entry.gid, int(entry.mtime), size, content)


@dataclass(slots=True)
class _Changed:
    """`content` None is still to be fetched; `first` is the name that the content lies under."""

    entry: tarfile.TarInfo
    content: bytes | None = field(default=b"", repr=False)
    first: str = ""


class _Comparison:
    """One pass over a container's export."""

    def __init__(self, below: Index, limit_bytes: int) -> None:
        self._below = below
        self._limit_bytes = limit_bytes
        self._room = limit_bytes
        self.seen: dict[str, Trait] = {}
        self.left_out: set[str] = set()
        self.changed: dict[str, _Changed] = {}

    def spend(self, size: int, path: str) -> None:
        """Count what is carried. Raises UncarriableError above the limit."""
        self._room -= size
        if self._room < 0:
            message = f"what was changed is larger than {self._limit_bytes} bytes, at {path}"
            raise UncarriableError(message, boundary="spec")

    def look(self, path: str, entry: tarfile.TarInfo, file: IO[bytes] | None, first: str) -> None:
        """Take one entry in, with its bytes where it differs."""
        if len(path) > _LONGEST_PATH:
            raise UncarriableError(f"a path is too deep to be named: {path[:60]}…", boundary="spec")
        if not first and entry.type not in _KINDS:
            self.left_out.add(path)
            return
        if first:
            if first in self.seen:
                self.seen[path] = self.seen[first]
                if self._below.get(path) != self.seen[path]:
                    self.spend(_ENTRY_BYTES, path)
                    self.changed[path] = _Changed(_plain(entry, path, self.seen[path]), first=first)
            return
        content: bytes | None = b""
        digest = entry.linkname
        if file is not None:
            content, digest = self._read(file, entry, path)
        trait = self.seen[path] = _trait(entry, digest)
        if self._differs(path, trait):
            self.spend(_ENTRY_BYTES + trait.size, path)
            self.changed[path] = _Changed(_plain(entry, path, trait), content)

    def _read(self, file: IO[bytes], entry: tarfile.TarInfo, path: str) -> tuple[bytes | None, str]:
        """A file's bytes and their digest; no bytes of a large one that perhaps is the one below."""
        before = self._below.get(path)
        if before is None or before.size != entry.size:
            self.spend(0 if entry.size <= self._room else entry.size, path)  # not even read when too large
        elif entry.size > _COMPARED_BYTES:
            return None, _digest(file)
        content = file.read()
        return content, hashlib.sha256(content).hexdigest()

    def _differs(self, path: str, trait: Trait) -> bool:
        before = self._below.get(path)
        if before is None or trait.kind != "folder" or path not in _INIT_FOLDERS:
            return before != trait
        return (before.kind, before.mode, before.uid, before.gid) != (
            trait.kind,
            trait.mode,
            trait.uid,
            trait.gid,
        )

    def deleted(self) -> tuple[str, ...]:
        """What is gone, the topmost of it, and what has made room for a folder or stood in place of one."""
        gone = set()
        for path, before in self._below.items():
            now = self.seen.get(path)
            if now is None or (now.kind == "folder") != (before.kind == "folder"):
                gone.add(path)
        top = {path for path in gone if not any(way in gone for way in _parents(path))}
        return tuple(sorted(top))


def _parents(path: str) -> Iterator[str]:
    while path := path.rpartition("/")[0]:
        yield path


def _plain(entry: tarfile.TarInfo, path: str, trait: Trait) -> tarfile.TarInfo:
    plain = tarfile.TarInfo(path.lstrip("/"))
    plain.mode, plain.uid, plain.gid, plain.mtime = trait.mode, trait.uid, trait.gid, trait.mtime
    if trait.kind == "folder":
        plain.type = tarfile.DIRTYPE
    elif trait.kind == "link":
        plain.type, plain.linkname = tarfile.SYMTYPE, trait.content
    else:
        plain.size = trait.size
    return plain


def compare(container: Container, below: Index, limit_bytes: int) -> Difference:
    """What the container has that its image has not. Raises UncarriableError above the limit."""
    comparison = _Comparison(below, limit_bytes)
    with engine.told("the container could not be exported"):
        chunks: Any = container.export(chunk_size=_CHUNK_BYTES)  # its types say str
        with contextlib.closing(chunks):
            for part in _walk(chunks):
                comparison.look(*part)
        for path, item in comparison.changed.items():
            if item.first and item.first not in comparison.changed:  # another name of what is as it was
                item.first, item.content = "", None
                comparison.spend(item.entry.size, path)
            if item.content is None:
                item.content = _fetched(container, path)
    return Difference(_packed(comparison.changed), comparison.deleted())


def _fetched(container: Container, path: str) -> bytes:
    chunks, _ = container.get_archive(path)
    with tarfile.open(fileobj=io.BytesIO(b"".join(chunks))) as tar:
        entry = tar.next()
        file = tar.extractfile(entry) if entry is not None and entry.isreg() else None
        return file.read() if file is not None else b""


def _packed(changed: Mapping[str, _Changed]) -> bytes:
    """The tar, sorted; of several names of a file the first has the bytes."""
    named: dict[str, str] = {}
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for path, item in sorted(changed.items()):
            entry, group = item.entry, item.first or path
            if not entry.isreg():
                tar.addfile(entry)
            elif group in named:
                entry.type, entry.linkname, entry.size = tarfile.LNKTYPE, named[group].lstrip("/"), 0
                tar.addfile(entry)
            else:
                named[group] = path
                tar.addfile(entry, io.BytesIO(changed[group].content or b""))
    return stream.getvalue()
