"""What a slot's writable layer changes of the layers below it, as a tar and a list of what is gone.

Standard library only: it runs in a child of the supervisor whose root holds both trees side by side.
"""

from __future__ import annotations

import errno
import os
import stat
import tarfile
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from typing import BinaryIO

from aespec.sandbox.fork import kernel
from aespec.sandbox.fork.archive import ArchiveError, describe

STATE = "state"
BELOW = "below"
_OPAQUE = "user.overlay.opaque"
_CHUNK_BYTES = 1 << 20
_NAME_BYTES = 256
"""What a name is counted as: its part of the tar, or of the list of what is gone."""


def show_layers(place: str, lowers: list[str], upper: str) -> None:
    """Mount the writable layer as it is, and the layers below it put together, in `place`, read-only."""
    for name in (STATE, BELOW):
        os.makedirs(f"{place}/{name}", exist_ok=True)
    kernel.bind(upper, f"{place}/{STATE}", is_read_only=False)
    if len(lowers) == 1:  # an overlay wants two, or one to write to
        kernel.bind(lowers[0], f"{place}/{BELOW}", is_read_only=False)
    else:
        options = f"lowerdir={':'.join(lowers)},userxattr"
        kernel.mount("below", f"{place}/{BELOW}", "overlay", kernel.MS_RDONLY | kernel.MS_NODEV, options)


def hide_layers(place: str) -> None:
    """Take apart what `show_layers` put together, as far as it came."""
    for name in (STATE, BELOW):
        try:
            kernel.unmount(f"{place}/{name}")
        except OSError as error:
            if error.errno not in (errno.EINVAL, errno.ENOENT):  # not mounted, not made
                raise


@dataclass(slots=True)
class _Found:
    changed: list[tuple[str, os.stat_result]] = field(default_factory=list)
    deleted: list[str] = field(default_factory=list)
    room: int = 0

    def spend(self, size: int, path: str) -> None:
        self.room -= size
        if self.room < 0:
            raise ArchiveError(f"what was changed is larger than the limit, at {path}")


def pack_difference(target: BinaryIO, *, limit_bytes: int, shown: Collection[str] = ()) -> list[str]:
    """Write what is new or changed as a tar, sorted; the paths that are gone, sorted.

    A file that was only opened for writing, or whose change was taken back, is no difference. A second name
    of a file becomes a link to the first. `shown` are folders where something of the host is mounted: they
    are made for that and are nobody's change. Raises ArchiveError above the limit.
    """
    found = _Found(room=limit_bytes)
    for path, status, below in _walk(found):
        kind = stat.S_IFMT(status.st_mode)
        if kind not in (stat.S_IFREG, stat.S_IFDIR, stat.S_IFLNK):
            if below is not None:
                found.deleted.append(path)
            continue
        if below is not None and stat.S_ISDIR(below.st_mode) != (kind == stat.S_IFDIR):
            found.deleted.append(path)
        is_place = below is None and path in shown
        if not is_place and (below is None or _differs(path, status, below)):
            found.spend(_NAME_BYTES, path)
            found.changed.append((path, status))
    _pack(found, target)
    for path in found.deleted:
        found.spend(_NAME_BYTES + len(path), path)
    return sorted(found.deleted)


def _walk(found: _Found) -> Iterator[tuple[str, os.stat_result, os.stat_result | None]]:
    """Everything in the writable layer but its marks, with what lies below at the same path.

    Below is looked at only where all folders on the way are folders there too: no link is followed.
    """
    waiting = [("", True)]
    while waiting:
        folder, is_folder_below = waiting.pop()
        with os.scandir(f"/{STATE}{folder}") as entries:
            statuses = {entry.name: entry.stat(follow_symlinks=False) for entry in entries}
        for name, status in statuses.items():
            path = f"{folder}/{name}"
            below = _status(f"/{BELOW}{path}") if is_folder_below else None
            if stat.S_ISCHR(status.st_mode) and status.st_rdev == 0:
                if below is not None:
                    found.deleted.append(path)
                continue
            yield path, status, below
            if stat.S_ISDIR(status.st_mode):
                waiting.append((path, below is not None and stat.S_ISDIR(below.st_mode)))
        if is_folder_below and _is_opaque(f"/{STATE}{folder}"):
            found.deleted += [
                f"{folder}/{name}" for name in os.listdir(f"/{BELOW}{folder}") if name not in statuses
            ]


def _status(path: str) -> os.stat_result | None:
    try:
        return os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return None


def _is_opaque(path: str) -> bool:
    try:
        return os.getxattr(path, _OPAQUE, follow_symlinks=False) == b"y"
    except OSError as error:
        if error.errno in (errno.ENODATA, errno.ENOTSUP):
            return False
        raise


def _differs(path: str, status: os.stat_result, below: os.stat_result) -> bool:
    if _traits(status) != _traits(below):
        return True
    if stat.S_ISLNK(status.st_mode):
        return os.readlink(f"/{STATE}{path}") != os.readlink(f"/{BELOW}{path}")
    if not stat.S_ISREG(status.st_mode):
        return False
    if status.st_size != below.st_size:
        return True
    with _opened(f"/{STATE}{path}") as one, _opened(f"/{BELOW}{path}") as other:
        while chunk := one.read(_CHUNK_BYTES):
            if chunk != other.read(_CHUNK_BYTES):
                return True
    return False


def _traits(status: os.stat_result) -> tuple[int, int, int, int]:
    return status.st_mode, status.st_uid, status.st_gid, int(status.st_mtime)


def _opened(path: str) -> BinaryIO:
    return open(os.open(path, os.O_RDONLY | os.O_NOFOLLOW), "rb", buffering=0)


def _pack(found: _Found, target: BinaryIO) -> None:
    first_names: dict[int, str] = {}
    with tarfile.open(fileobj=target, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for path, status in sorted(found.changed):
            entry = describe(path, status, root=f"/{STATE}")
            assert entry is not None
            is_file = entry.isreg()
            if is_file and status.st_nlink > 1:
                first = first_names.setdefault(status.st_ino, entry.name)
                if first != entry.name:
                    entry.type, entry.linkname, entry.size = tarfile.LNKTYPE, first, 0
                    is_file = False
            found.spend(1024 - _NAME_BYTES + entry.size, path)
            if is_file:
                with _opened(f"/{STATE}{path}") as file:
                    archive.addfile(entry, file)
            else:
                archive.addfile(entry)
