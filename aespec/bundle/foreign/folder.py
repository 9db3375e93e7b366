"""A folder that somebody else made, listed and read within limits: nothing in it is followed out of it."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from aespec.bundle.foreign.task import Fault
from aespec.runtime.memory import Node

ENTRIES_LIMIT = 50_000
BYTES_LIMIT = 1024**3
LEVELS_LIMIT = 64
"""What a task's folder may hold; more is taken for a trap. The largest public tasks hold a tenth of it."""

TEXT_LIMIT_BYTES = 1024**2
"""How long a file may be that is read as text: an instruction, a Dockerfile, a script."""

_CHUNK_BYTES = 1024**2


class FaultError(Exception):
    """What is wrong with a task's folder ends its reading."""

    def __init__(self, fault: Fault) -> None:
        """`fault` says what."""
        super().__init__(fault.message)
        self.fault = fault


@dataclass(frozen=True, slots=True)
class Entry:
    """What lies at a path: `kind` is file, folder or link; `target` is a link's."""

    kind: str
    size_bytes: int = 0
    mode: int = 0o644
    target: str = ""


@dataclass
class Folder:
    """One task's folder. What it may hold is counted over all that is listed of it.

    Paths are relative to it, with `/`, "" for the folder itself.
    """

    root: Path
    _entries: int = field(default=ENTRIES_LIMIT, repr=False)
    _bytes: int = field(default=BYTES_LIMIT, repr=False)
    _counted: set[str] = field(default_factory=set, repr=False)

    def kind(self, path: str) -> str | None:
        """What stands at the path in the end: file, folder, other; None where nothing does.

        A link is followed where it stays in the folder; raises `FaultError` where it doesn't.
        """
        place = self._place(path)
        try:
            mode = place.stat().st_mode if place is not None else 0
        except OSError:
            return None
        if stat.S_ISREG(mode):
            return "file"
        return "folder" if stat.S_ISDIR(mode) else "other" if mode else None

    def text(self, path: str, limit_bytes: int = TEXT_LIMIT_BYTES) -> str:
        """A file's text. Raises `FaultError` where it is too long, no UTF-8 or can't be read."""
        data = self.data(path, limit_bytes)
        try:
            return data.decode("utf-8")
        except UnicodeDecodeError as error:
            raise FaultError(
                Fault(
                    "not-utf-8",
                    f"{path} is no UTF-8 from byte {error.start} on",
                    "Write the file as UTF-8.",
                )
            ) from None

    def data(self, path: str, limit_bytes: int) -> bytes:
        """A file's bytes. Raises `FaultError` where it is too long or can't be read."""
        place = self._place(path)
        if place is None:
            raise FaultError(Fault("file-missing", f"there is no {path}"))
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
        try:
            with open(os.open(place, flags), "rb") as stream:  # noqa: PTH123 - the flags are the point
                found = os.fstat(stream.fileno())
                if not stat.S_ISREG(found.st_mode):
                    raise FaultError(_special(path))
                data = stream.read(limit_bytes + 1)
        except OSError as error:
            raise FaultError(_unreadable(path, error)) from None
        if len(data) > limit_bytes:
            raise FaultError(
                Fault(
                    "task-too-large",
                    f"{path} is longer than {limit_bytes >> 10} KiB, which no such file needs to be",
                    "Keep data in files of their own in environment/ or tests/.",
                )
            )
        return data

    def below(self, top: str, is_left_out: Callable[[str, bool], bool] | None = None) -> dict[str, Entry]:
        """All below folder `top`, sorted by path; links are told and not followed.

        `is_left_out` gets a path and whether it is a folder; what is left out is not listed nor what is below
        it. Raises `FaultError` for FIFOs, sockets and devices, and above the limits.
        """
        found: dict[str, Entry] = {}
        waiting = [top]
        while waiting:
            folder = waiting.pop()
            if folder.count("/") > LEVELS_LIMIT:
                raise FaultError(
                    Fault("task-too-deep", f"{folder[:60]}… lies more than {LEVELS_LIMIT} folders deep")
                )
            for path, entry in self._scan(folder):
                if is_left_out is not None and is_left_out(path, entry.kind == "folder"):
                    continue
                self._count(path, entry)
                found[path] = entry
                if entry.kind == "folder":
                    waiting.append(path)
        return dict(sorted(found.items()))

    def check_links(self, entries: Mapping[str, Entry], top: str) -> None:
        """Raises `FaultError` for a link below `top` that leads out of the folder, or round in a circle.

        `entries` are all that is known of the folder. Harbor 0.26 refuses the same in `tests/` and
        `solution/`; elsewhere links are put into the image as they are.
        """
        inside: dict[str, list[str]] = {}
        for path, entry in entries.items():
            is_meant = path.startswith(f"{top}/")
            if entry.kind == "folder":
                inside.setdefault(path.rpartition("/")[0], []).append(path)
            elif entry.kind == "link" and (is_meant or self._is_inside(path)):
                place = self._place(path)
                if place is not None and place.is_dir():
                    target = place.relative_to(self.root).as_posix()
                    inside.setdefault(path.rpartition("/")[0], []).append("" if target == "." else target)
        if round_trip := _circle(inside, top):
            raise FaultError(
                Fault(
                    "link-cycle",
                    f"links lead round in a circle at {round_trip}",
                    "Remove the link: a copy of the folder would never end.",
                )
            )

    def _is_inside(self, path: str) -> bool:
        try:
            return (self.root / path).resolve().is_relative_to(self.root)
        except (OSError, RuntimeError, ValueError):
            return False

    def nodes(self, entries: Mapping[str, Entry], top: str, limit_bytes: int) -> dict[str, Node]:
        """The entries with their bytes, by their paths relative to `top`.

        Raises `FaultError` for what can't be read, and where all of it is more than `limit_bytes`.
        """
        made: dict[str, Node] = {}
        left = limit_bytes
        start = len(top) + 1 if top else 0
        for path, entry in entries.items():
            data = self.data(path, left) if entry.kind == "file" else b""
            left -= len(data)
            made[path[start:]] = Node(entry.kind, data, entry.mode, entry.target)
        return made

    def digest(self, entries: Mapping[str, Entry]) -> str:
        """The hex SHA-256 of paths, kinds, executable bits, links' targets and bytes."""
        total = hashlib.sha256()
        for path, entry in sorted(entries.items()):
            name, target = os.fsencode(path), os.fsencode(entry.target)
            is_executable = entry.kind == "file" and bool(entry.mode & 0o111)
            head = f"{entry.kind} {is_executable:d} {len(name)} {len(target)} {entry.size_bytes} "
            total.update(head.encode() + name + target)
            if entry.kind == "file":
                self._update(total, path, entry.size_bytes)
        return total.hexdigest()

    def _update(self, total: hashlib._Hash, path: str, size: int) -> None:
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
        place = self._place(path)
        try:
            if place is None:
                raise FileNotFoundError(2, "gone")
            with open(os.open(place, flags), "rb") as stream:  # noqa: PTH123 - the flags are the point
                if not stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
                    raise FaultError(_special(path))
                # No more than stood there at first, or a growing file would never end.
                while size > 0 and (data := stream.read(min(_CHUNK_BYTES, size))):
                    total.update(data)
                    size -= len(data)
        except OSError as error:
            raise FaultError(_unreadable(path, error)) from None

    def _place(self, path: str) -> Path | None:
        """Where the path leads in the end, within the folder; None where that is nothing."""
        start = self.root / path
        try:
            place = start.resolve(strict=True)
        except FileNotFoundError:
            if start.is_symlink() and not start.resolve().is_relative_to(self.root):
                raise FaultError(_leaving(path)) from None
            return None
        except (OSError, RuntimeError, ValueError) as error:
            if start.is_symlink():
                raise FaultError(
                    Fault("link-cycle", f"{path} is a link that leads to itself", "Remove the link.")
                ) from None
            raise FaultError(_unreadable(path, error)) from None
        if not place.is_relative_to(self.root):
            raise FaultError(_leaving(path))
        return place

    def _scan(self, folder: str) -> list[tuple[str, Entry]]:
        """What lies directly in a folder, at most one entry more than may still be counted."""
        found: list[tuple[str, Entry]] = []
        try:
            with os.scandir(self.root / folder) as entries:
                for item in entries:
                    path = f"{folder}/{item.name}" if folder else item.name
                    found.append((path, _entry(path, item)))
                    if len(found) > self._entries:
                        break
        except OSError as error:
            raise FaultError(_unreadable(folder, error)) from None
        return found

    def _count(self, path: str, entry: Entry) -> None:
        if path in self._counted:
            return
        self._counted.add(path)
        self._entries -= 1
        self._bytes -= entry.size_bytes
        if self._entries < 0:
            raise FaultError(
                Fault(
                    "task-too-large",
                    f"the task's folder holds more than {ENTRIES_LIMIT} files",
                    "Keep only what the task needs, or make it in the image.",
                )
            )
        if self._bytes < 0:
            raise FaultError(
                Fault(
                    "task-too-large",
                    f"the task's folder holds more than {BYTES_LIMIT >> 30} GiB ({path})",
                    "Keep only what the task needs, or make it in the image.",
                )
            )


def _circle(inside: Mapping[str, list[str]], top: str) -> str | None:
    """A folder that is reached from itself, going down from `top`; None where there is none."""
    done: set[str] = set()
    on_the_way: dict[str, None] = {}
    waiting: list[tuple[str, bool]] = [(top, False)]
    while waiting:
        folder, is_left = waiting.pop()
        if is_left:
            on_the_way.pop(folder, None)
            done.add(folder)
        elif folder in on_the_way:
            return folder or "the task's folder"
        elif folder not in done:
            on_the_way[folder] = None
            waiting.append((folder, True))
            waiting += [(name, False) for name in inside.get(folder, ()) if name not in done]
    return None


def _entry(path: str, item: os.DirEntry[str]) -> Entry:
    found = item.stat(follow_symlinks=False)
    mode = stat.S_IMODE(found.st_mode)
    if stat.S_ISDIR(found.st_mode):
        return Entry("folder", mode=mode)
    if stat.S_ISLNK(found.st_mode):
        return Entry("link", mode=mode, target=str(Path(item.path).readlink()))
    if stat.S_ISREG(found.st_mode):
        return Entry("file", found.st_size, mode)
    raise FaultError(_special(path))


def _special(path: str) -> Fault:
    return Fault(
        "special-file",
        f"{path} is neither a file nor a folder nor a link",
        "Remove it: FIFOs, sockets and devices can't be copied into a container.",
    )


def _leaving(path: str) -> Fault:
    return Fault(
        "link-leaves-task",
        f"{path} is a link that leads out of the task's folder",
        "Put the file itself there: what lies outside is another one on every machine.",
    )


def _unreadable(path: str, error: Exception) -> Fault:
    words = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return Fault(
        "task-unreadable",
        f"{path or 'the folder'} can't be read: {words}",
        "Give the user that runs aespec the right to read the whole task.",
    )
