"""Copying and removing folders that a solver filled: links stay links, sizes are bounded."""

from __future__ import annotations

import errno
import os
import stat as stats
from typing import List, NamedTuple, Optional, Tuple

from aespec.runtime.state import Missing, Trouble

ENTRIES_LIMIT = 200_000
BYTES_LIMIT = 2 * 1024 * 1024 * 1024
LEVELS_LIMIT = 100
"""What a folder may hold to be copied for a program; more is taken for a trap."""

CHUNK_BYTES = 1024 * 1024


class Owner(NamedTuple):
    """Numeric account and group."""

    uid: int
    gid: int


class _Budget:
    """What is left of the limits while a folder is copied."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.entries = ENTRIES_LIMIT
        self.bytes = BYTES_LIMIT

    def spend(self, entries: int, size: int) -> None:
        self.entries -= entries
        self.bytes -= size
        if self.entries < 0 or self.bytes < 0:
            raise Missing(f"{self.path} holds more than can be copied for a program")


def copy_below(
    source: str,
    target: str,
    *,
    owner: Optional[Owner] = None,
    mtime_s: Optional[int] = None,
    is_reversed: bool = False,
) -> None:
    """Copy what is below folder `source` into the existing folder `target`.

    Modes, times and owners are kept, or `owner` and `mtime_s` (seconds since 1970) set in place of them;
    set-uid bits are dropped. Sockets and devices are left out. `is_reversed` makes the entries in the reverse
    order, which on some file systems reverses the order in which a folder lists them. Raises `Missing` above
    the limits.
    """
    budget = _Budget(source)
    folders: List[Tuple[str, str, int]] = [(source, target, 0)]
    made: List[Tuple[str, os.stat_result]] = []
    while folders:
        here, there, level = folders.pop()
        if level > LEVELS_LIMIT:
            raise Missing(f"{source} is nested too deeply to be copied for a program")
        for name in sorted(os.listdir(here), reverse=is_reversed):
            path, place = os.path.join(here, name), os.path.join(there, name)
            found = os.lstat(path)
            budget.spend(1, 0)
            if stats.S_ISDIR(found.st_mode):
                os.mkdir(place, 0o700)
                folders.append((path, place, level + 1))
                made.append((place, found))
            elif _copy_entry(path, place, found, budget):
                _dress(place, found, owner, mtime_s)
    # Children change their folder's times, so folders come last and the deepest first.
    for place, found in reversed(made):
        _dress(place, found, owner, mtime_s)


def _copy_entry(path: str, place: str, found: os.stat_result, budget: _Budget) -> bool:
    if stats.S_ISLNK(found.st_mode):
        os.symlink(os.readlink(path), place)
    elif stats.S_ISFIFO(found.st_mode):
        os.mkfifo(place)
    elif stats.S_ISREG(found.st_mode):
        _copy_file(path, place, budget)
    else:
        return False
    return True


def _copy_file(path: str, place: str, budget: _Budget) -> None:
    source = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        target = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        try:
            while True:
                data = os.read(source, CHUNK_BYTES)
                if not data:
                    return
                budget.spend(0, len(data))
                view = memoryview(data)
                while view:
                    view = view[os.write(target, view) :]
        finally:
            os.close(target)
    finally:
        os.close(source)


def _dress(place: str, found: os.stat_result, owner: Optional[Owner], mtime_s: Optional[int]) -> None:
    """Owner first, since changing it drops mode bits; times last. A link's own mode means nothing."""
    if os.geteuid() == 0:
        wanted = owner or Owner(found.st_uid, found.st_gid)
        os.chown(place, wanted.uid, wanted.gid, follow_symlinks=False)
    if not stats.S_ISLNK(found.st_mode):
        os.chmod(place, found.st_mode & 0o1777)
    time_ns = found.st_mtime_ns if mtime_s is None else mtime_s * 1_000_000_000
    os.utime(place, ns=(time_ns, time_ns), follow_symlinks=False)


def empty_folder(path: str) -> None:
    """Remove everything below a folder, however deeply nested, following no link.

    Deep chains are flattened: a folder's folders are moved up beside it, so no path ever gets long and no
    recursion deep. Raises `Trouble` where something can't be removed.
    """
    top = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    count = 0
    try:
        pending = os.listdir(top)
        while pending:
            name = pending.pop()
            if _unlinked(name, top):
                continue
            os.chmod(name, 0o700, dir_fd=top)
            below = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=top)
            try:
                for child in os.listdir(below):
                    if _unlinked(child, below):
                        continue
                    os.chmod(child, 0o700, dir_fd=below)
                    count += 1
                    moved = f".aespec-{os.getpid()}-{count}"
                    if _is_moved(child, below, moved, top):
                        pending.append(moved)
            finally:
                os.close(below)
            os.rmdir(name, dir_fd=top)
    except OSError as error:
        raise Trouble(f"{path} can't be emptied: {error.strerror}") from None
    finally:
        os.close(top)


def _unlinked(name: str, folder: int) -> bool:
    """Whether the entry was no folder and is gone."""
    found = os.stat(name, dir_fd=folder, follow_symlinks=False)
    if stats.S_ISDIR(found.st_mode):
        return False
    os.unlink(name, dir_fd=folder)
    return True


def _is_moved(child: str, below: int, moved: str, top: int) -> bool:
    """Move a folder up; where the file system can't (overlay's lower layers), empty it in place instead."""
    try:
        os.rename(child, moved, src_dir_fd=below, dst_dir_fd=top)
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        empty_folder(f"/proc/self/fd/{below}/{child}")
        os.rmdir(child, dir_fd=below)
        return False
    return True
