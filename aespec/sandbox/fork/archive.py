"""Tars into and out of a root file system, by a child whose root that is, so that no link leads out.

Standard library only, and no name service: after chroot, `pwd` would load libraries of the sandbox.
"""

from __future__ import annotations

import io
import os
import stat
import tarfile
from collections.abc import Iterator, Sequence
from typing import BinaryIO

_CHUNK_BYTES = 1 << 20


class ArchiveError(Exception):
    """The archive or the wish can't be carried out; the message is for the user."""


def inner_path(name: str) -> str:
    """`name` as an absolute normal path; raises ArchiveError for one that climbs."""
    parts = [part for part in name.split("/") if part not in ("", ".")]
    if ".." in parts or "\0" in name:
        raise ArchiveError(f"the path {name!r} climbs out of its root")
    return "/" + "/".join(parts)


def unpack(
    source: BinaryIO, *, sets_owners: bool, clean: Sequence[str] = (), skips_devices: bool = False
) -> int:
    """Unpack a plain tar below the process's own root; the number of entries.

    `clean` is removed first. What stands in the way of an entry is replaced, a folder under a folder is kept.
    Names are all judged before anything is written where the source can be read twice.
    """
    doomed = [inner_path(path) for path in clean]
    if "/" in doomed:
        raise ArchiveError("the root itself can't be removed")
    if source.seekable() and not source.seek(0, os.SEEK_END):  # nothing to bring, only to remove
        for path in doomed:
            remove(path)
        return 0
    source.seek(0) if source.seekable() else None
    with tarfile.open(fileobj=source, mode="r:" if source.seekable() else "r|") as archive:
        if source.seekable():
            for entry in archive.getmembers():
                _refuse_odd_entry(entry, skips_devices=skips_devices)
        for path in doomed:
            remove(path)
        folders: list[tuple[str, tarfile.TarInfo]] = []
        count = 0
        for entry in archive:
            _refuse_odd_entry(entry, skips_devices=skips_devices)
            if entry.ischr() or entry.isblk():
                continue
            path = inner_path(entry.name)
            _unpack_entry(archive, entry, path, sets_owners=sets_owners)
            count += 1
            if entry.isdir():
                folders.append((path, entry))
        # Last and deepest first: filling a folder changes its time, and its mode may forbid filling it.
        for path, entry in reversed(folders):
            _set_metadata(path, entry, sets_owners=sets_owners)
        return count


def _refuse_odd_entry(entry: tarfile.TarInfo, *, skips_devices: bool) -> None:
    inner_path(entry.name)
    if entry.islnk():
        inner_path(entry.linkname)
    if (entry.ischr() or entry.isblk()) and not skips_devices:
        raise ArchiveError(f"{entry.name!r} is a device, which no archive may bring")


def _unpack_entry(archive: tarfile.TarFile, entry: tarfile.TarInfo, path: str, *, sets_owners: bool) -> None:
    if entry.isdir():
        make_folders(path)
        return
    make_folders(os.path.dirname(path))
    remove(path)
    if entry.issym():
        os.symlink(entry.linkname, path)
        if sets_owners:
            os.lchown(path, _owner(entry.uid), _owner(entry.gid))
        os.utime(path, (entry.mtime, entry.mtime), follow_symlinks=False)
        return
    if entry.islnk():
        os.link(inner_path(entry.linkname), path, follow_symlinks=False)
        return
    if entry.isfifo():
        os.mkfifo(path)
    elif entry.isreg():
        content = archive.extractfile(entry)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
        with open(os.open(path, flags, 0o600), "wb", buffering=0) as file:
            while content and (chunk := content.read(_CHUNK_BYTES)):
                _write_all(file, chunk)
    else:
        raise ArchiveError(f"{entry.name!r} is of a kind that can't be unpacked")
    _set_metadata(path, entry, sets_owners=sets_owners)


def _write_all(file: io.RawIOBase | io.FileIO, chunk: bytes) -> None:
    view = memoryview(chunk)
    while view:
        view = view[file.write(view) or 0 :]


def _owner(number: int) -> int:
    # A namespace holds 65536 ids; what an archive of a large site has above them belongs to nobody.
    return number if 0 <= number < 65536 else 65534


def _set_metadata(path: str, entry: tarfile.TarInfo, *, sets_owners: bool) -> None:
    if sets_owners:
        os.lchown(path, _owner(entry.uid), _owner(entry.gid))
    os.chmod(path, entry.mode & 0o7777)  # after chown, which takes setuid bits off
    os.utime(path, (entry.mtime, entry.mtime))


def make_folders(path: str) -> None:
    """The folder `path` with its parents, 0755; a file in its place is replaced, a link to one serves."""
    if os.path.isdir(path):
        return
    parent = os.path.dirname(path)
    if parent and parent != path:
        make_folders(parent)
    if os.path.lexists(path):
        os.unlink(path)
    os.mkdir(path)
    os.chmod(path, 0o755)


def remove(path: str) -> None:
    """Remove `path`, if it is there, and what is below, whatever the modes. Links are not followed."""
    try:
        is_folder = stat.S_ISDIR(os.lstat(path).st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return
    if not is_folder:
        os.unlink(path)
        return
    # Without recursion: what a program left may be deeper than Python's stack.
    folders = [path]
    for folder in folders:
        with os.scandir(_opened_up(folder)) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    folders.append(entry.path)
                else:
                    os.unlink(entry.path)
    for folder in reversed(folders):
        os.rmdir(folder)


def _opened_up(path: str) -> str:
    if not os.access(path, os.R_OK | os.W_OK | os.X_OK):
        os.chmod(path, 0o700)
    return path


def pack(paths: Sequence[str], target: BinaryIO, *, limit_bytes: int) -> None:
    """Write a tar of `paths` and what is below them to `target`, sorted by name, names relative to `/`.

    Devices, sockets and FIFOs are left out; two names of one file become two files; times are whole seconds.
    Raises ArchiveError above the limit.
    """
    wanted = sorted({inner_path(path) for path in paths})
    seen: set[str] = set()
    room = limit_bytes
    with tarfile.open(fileobj=target, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for path in sorted({found for start in wanted for found in _walk(start)}):
            status = os.lstat(path)
            entry = describe(path, status)
            if entry is None or path in seen:
                continue
            seen.add(path)
            room -= 1024 + entry.size
            if room < 0:
                raise ArchiveError(f"what was asked for is larger than {limit_bytes} bytes, at {path}")
            if entry.isreg():
                with open(os.open(path, os.O_RDONLY | os.O_NOFOLLOW), "rb") as file:
                    archive.addfile(entry, file)
            else:
                archive.addfile(entry)


def _walk(start: str) -> Iterator[str]:
    try:
        status = os.lstat(start)
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return
    except OSError as error:
        if error.errno in (36, 40):  # a name too long, a circle of links: nothing is there
            return
        raise
    waiting = [start]
    is_folder = stat.S_ISDIR(status.st_mode)
    while waiting:
        path = waiting.pop()
        yield path
        if path != start or is_folder:
            with os.scandir(path) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
                    else:
                        yield entry.path


def look(path: str, *, lists: bool) -> tuple[str, str, list[tuple[str, bool]]]:
    """What a path leads to by its links: `folder`, `file`, `other` or "" for nothing; where that really lies.

    Where it `lists`, a folder's names too, each with whether it is a folder itself.
    """
    real = os.path.realpath(inner_path(path))
    try:
        mode = os.lstat(real).st_mode
    except OSError:
        return "", real, []
    if not stat.S_ISDIR(mode):
        return "file" if stat.S_ISREG(mode) else "other", real, []
    if not lists:
        return "folder", real, []
    with os.scandir(real) as entries:
        return "folder", real, [(entry.name, entry.is_dir(follow_symlinks=False)) for entry in entries]


def describe(path: str, status: os.stat_result, *, root: str = "") -> tarfile.TarInfo | None:
    """The head of the entry for an absolute path, whose file lies below `root`; None for what is left out."""
    entry = tarfile.TarInfo(path.lstrip("/") or ".")
    entry.mode = stat.S_IMODE(status.st_mode)
    entry.uid, entry.gid = status.st_uid, status.st_gid
    entry.mtime = int(status.st_mtime)
    if stat.S_ISREG(status.st_mode):
        entry.size = status.st_size
    elif stat.S_ISDIR(status.st_mode):
        entry.type = tarfile.DIRTYPE
    elif stat.S_ISLNK(status.st_mode):
        entry.type = tarfile.SYMTYPE
        entry.linkname = os.readlink(f"{root}{path}")
    else:
        return None
    return entry
