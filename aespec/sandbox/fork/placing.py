"""COPY and ADD in a slot, after BuildKit's `fsutil/copy`: where each file goes, whose it is, what is made."""

from __future__ import annotations

import contextlib
import io
import lzma
import posixpath
import tarfile
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import IO, Protocol

from aespec.sandbox.api import SandboxError
from aespec.sandbox.contexts import Item, SourceError, has_wildcards, match_below
from aespec.sandbox.dockerfiles import UnsupportedError
from aespec.sandbox.fork.accounts import find_account, find_group
from aespec.sandbox.fork.build import BUILD_LIMITS, account_files
from aespec.sandbox.fork.slot import ForkSlot
from aespec.sandbox.tars import FIXED_TIME

_PORTION_BYTES = 32 << 20
_LARGEST_BYTES = 2 << 30
_TYPES = {"file": tarfile.REGTYPE, "folder": tarfile.DIRTYPE, "link": tarfile.SYMTYPE}
_ZSTD = b"\x28\xb5\x2f\xfd"


class Tree(Protocol):
    """Where COPY takes from: a context, or a stage."""

    def find(self, source: str) -> list[str]:
        """What a source names; see `aespec.sandbox.contexts.Context`."""
        ...

    def items(self, name: str) -> Iterator[Item]:
        """A source, and all that is below it."""
        ...


@dataclass(frozen=True, slots=True)
class Wish:
    """How COPY is to place: `destination` absolute, with a slash at its end where it must be a folder.

    `owner` is `user[:group]`, "" for that of the source; `mode` None for that of the source. `unpacks` is
    ADD's way with archives.
    """

    destination: str
    owner: str = ""
    mode: int | None = None
    unpacks: bool = False


def owner_of(slot: ForkSlot, owner: str) -> tuple[int, int]:
    """The numbers of `user[:group]` by the slot's own files; as BuildKit, 0 for a name that isn't there."""
    files = account_files(slot)
    passwd, groups = (files[path][1] if path in files else "" for path in ("/etc/passwd", "/etc/group"))
    user, sign, group = owner.partition(":")
    if user.isdigit():
        uid = gid = int(user)
    else:
        found = find_account(user, passwd, "") if user else None
        uid, gid = (found.uid, found.gid) if found else (0, 0)
    if sign:
        gid = find_group(group, groups) or 0
    return uid, gid


def place(slot: ForkSlot, tree: Tree, sources: Sequence[str], wish: Wish) -> None:
    """Copy the sources, one after the other. Raises SandboxError."""
    owner = owner_of(slot, wish.owner) if wish.owner else None
    names = [name for source in sources for name in tree.find(source)]
    for name in names:
        if not (wish.unpacks and _unpacked(slot, tree, name, wish, owner)):
            _place_one(slot, tree, name, wish, owner)


def make_folder(slot: ForkSlot, path: str, owner: str) -> None:
    """What WORKDIR makes: the folder and its missing parents, the user's."""
    with _Portions(slot) as portions:
        portions.folders([path], owner_of(slot, owner) if owner else (0, 0), 0o755)


def _place_one(slot: ForkSlot, tree: Tree, name: str, wish: Wish, owner: tuple[int, int] | None) -> None:
    items = tree.items(name)
    top = next(items, None)
    if top is None:
        raise SourceError(f"{name!r} is neither a file nor a folder")
    found = slot.look([wish.destination])[0]
    target = found.real
    if top.kind != "folder" and (wish.destination.endswith("/") or found.kind == "folder"):
        target = posixpath.join(target, posixpath.basename(name))
    made_owner, made_mode = owner or (0, 0), 0o755 if wish.mode is None else wish.mode
    with _Portions(slot) as portions:
        if top.kind == "folder":
            portions.folders([target], made_owner, made_mode)
        else:
            portions.folders([posixpath.dirname(target)], made_owner, made_mode)
            items = iter([top])
        for part in _chunks(items):
            paths = [posixpath.join(target, item.name) if item.name else target for item in part]
            for item, path, there in zip(part, paths, slot.look(paths), strict=True):
                if there.kind == "folder":
                    if item.kind == "folder" and (not item.name or there.real != path):
                        continue  # the destination itself, and what a link leads to, stay as they are
                    if item.kind == "file":
                        raise SourceError(f"the folder {path} stands in the place of a file")
                portions.add(_entry(item, path, owner, wish.mode), item.open if item.kind == "file" else None)


def _chunks(items: Iterator[Item]) -> Iterator[list[Item]]:
    part: list[Item] = []
    for item in items:
        part.append(item)
        if len(part) == 2000:
            yield part
            part = []
    if part:
        yield part


def _entry(item: Item, path: str, owner: tuple[int, int] | None, mode: int | None) -> tarfile.TarInfo:
    entry = tarfile.TarInfo(path.lstrip("/"))
    entry.type = _TYPES[item.kind]
    entry.size, entry.linkname, entry.mtime = item.size, item.target, item.mtime
    entry.mode = item.mode if mode is None or item.kind == "link" else mode
    entry.uid, entry.gid = owner if owner is not None else (item.uid, item.gid)
    return entry


def _unpacked(slot: ForkSlot, tree: Tree, name: str, wish: Wish, owner: tuple[int, int] | None) -> bool:
    """Unpack a source that is an archive; False for another."""
    top = next(tree.items(name), None)
    if top is None or top.kind != "file":
        return False
    with contextlib.ExitStack() as stack:
        file = stack.enter_context(top.open())
        if file.read(len(_ZSTD)) == _ZSTD:
            raise UnsupportedError(f"{name!r} is compressed with zstd")
        file.seek(0)
        try:
            archive = stack.enter_context(tarfile.open(fileobj=file, mode="r:*"))
        except (tarfile.TarError, EOFError, OSError, ValueError):
            return False
        if archive.next() is None:
            return False
        portions = stack.enter_context(_Portions(slot))
        target = slot.look([wish.destination])[0].real
        portions.folders([target], owner or (0, 0), 0o755)
        try:
            for entry in archive:
                _add_packed(portions, archive, entry, target, owner)
        except (tarfile.TarError, EOFError, zlib.error, lzma.LZMAError) as error:
            raise SourceError(f"the archive {name!r} is damaged: {error}") from None
    return True


def _add_packed(
    portions: _Portions,
    archive: tarfile.TarFile,
    entry: tarfile.TarInfo,
    target: str,
    owner: tuple[int, int] | None,
) -> None:
    if entry.isdev() and not entry.isfifo():
        return
    names = [entry.name, entry.linkname] if entry.islnk() else [entry.name]
    if any(".." in name.split("/") for name in names):
        raise SourceError(f"the archive's {entry.name!r} climbs out of its folder")
    made = tarfile.TarInfo(posixpath.join(target, entry.name.strip("/")).lstrip("/"))
    made.type = tarfile.REGTYPE if entry.isreg() else entry.type
    made.size = entry.size if entry.isreg() else 0
    made.mode, made.mtime = entry.mode, int(entry.mtime)
    made.linkname = entry.linkname
    if entry.islnk():
        made.linkname = posixpath.join(target, entry.linkname.strip("/")).lstrip("/")
    made.uid, made.gid = owner if owner is not None else (entry.uid, entry.gid)
    portions.add(made, _opener(archive, entry) if entry.isreg() else None)


def _opener(archive: tarfile.TarFile, entry: tarfile.TarInfo) -> Callable[[], IO[bytes]]:
    def opened() -> IO[bytes]:
        file = archive.extractfile(entry)
        assert file is not None
        return file

    return opened


@dataclass
class _Portions(contextlib.AbstractContextManager["_Portions"]):
    """Entries on their way into a slot, so many bytes at a time."""

    slot: ForkSlot
    _stream: io.BytesIO = field(default_factory=io.BytesIO)
    _tar: tarfile.TarFile | None = None
    _total: int = 0

    def folders(self, paths: Sequence[str], owner: tuple[int, int], mode: int) -> None:
        """Make folders with their parents, as far as they are missing."""
        wanted = sorted({part for path in paths for part in _ways(path)}, key=len)
        for path, found in zip(wanted, self.slot.look(wanted), strict=True):
            if found.kind not in ("", "folder"):
                raise SourceError(f"{path} is no folder")
            if not found.kind:
                entry = tarfile.TarInfo(path.lstrip("/"))
                entry.type, entry.mode, entry.mtime = tarfile.DIRTYPE, mode, FIXED_TIME
                entry.uid, entry.gid = owner
                self.add(entry, None)
        self.flush()

    def add(self, entry: tarfile.TarInfo, opened: Callable[[], IO[bytes]] | None) -> None:
        """One more entry; `opened` gives a file's bytes."""
        self._total += 1024 + entry.size
        if entry.size > _LARGEST_BYTES or self._total > BUILD_LIMITS.disk_bytes:
            raise SandboxError(f"{entry.name} makes the copy larger than a build may be", boundary="image")
        if self._tar is None:
            self._tar = tarfile.TarFile(fileobj=self._stream, mode="w", format=tarfile.PAX_FORMAT)
        if opened is None:
            self._tar.addfile(entry)
        else:
            with opened() as file:
                self._tar.addfile(entry, file)
        if self._stream.tell() > _PORTION_BYTES:
            self.flush()

    def flush(self) -> None:
        """Put what is waiting."""
        if self._tar is not None:
            self._tar.close()
            self.slot.put(self._stream.getvalue())
            self._stream, self._tar = io.BytesIO(), None

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is None:
            self.flush()


def _ways(path: str) -> list[str]:
    parts = [part for part in path.split("/") if part]
    return ["/" + "/".join(parts[: at + 1]) for at in range(len(parts))]


class StageTree:
    """A stage's files, as a source for COPY."""

    def __init__(self, slot: ForkSlot) -> None:
        """`slot` is one over the stage's layers."""
        self._slot = slot

    def find(self, source: str) -> list[str]:
        """See `aespec.sandbox.contexts.Context`."""
        name = posixpath.normpath("/" + source).lstrip("/")
        if has_wildcards(name):
            return sorted(
                match_below(name, lambda folder: self._slot.look([f"/{folder}"], lists=True)[0].names)
            )
        if not self._slot.look([f"/{name}"])[0].kind:
            raise SourceError(f"the stage has no /{name}")
        return [name]

    def items(self, name: str) -> Iterator[Item]:
        """See `aespec.sandbox.contexts.Context`."""
        real = self._slot.look([f"/{name}"])[0].real
        content = io.BytesIO(self._slot.get([real], limit_bytes=_LARGEST_BYTES))
        tar = tarfile.TarFile(fileobj=content)  # left open: files are read when all are known
        for entry in tar:
            below = posixpath.relpath("/" + entry.name, real)
            yield Item(
                "" if below == "." else below,
                next(kind for kind, code in _TYPES.items() if entry.type == code),
                entry.mode,
                entry.size,
                int(entry.mtime),
                _opener(tar, entry),
                entry.linkname,
                entry.uid,
                entry.gid,
            )


class DocumentTree:
    """The heredocs of a COPY, as the files that they stand for."""

    def __init__(self, documents: Mapping[str, str]) -> None:
        """Name to content."""
        self._documents = documents

    def find(self, source: str) -> list[str]:
        """See `aespec.sandbox.contexts.Context`."""
        return [source]

    def items(self, name: str) -> Iterator[Item]:
        """See `aespec.sandbox.contexts.Context`."""
        content = self._documents[name].encode("utf-8", "surrogateescape")
        yield Item("", "file", 0o644, len(content), FIXED_TIME, lambda: io.BytesIO(content))
