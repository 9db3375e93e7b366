"""Where one program of the solver runs: what it may write is lent to it and put back afterwards."""

from __future__ import annotations

import contextlib
import os
import shutil
import stat as stats
import tempfile
from typing import Any, Dict, List, Optional, Sequence, Tuple

from aespec.runtime.runner import SYSTEM_FOLDERS, remaining_files, system_file
from aespec.runtime.state import Missing, Trouble
from aespec.runtime.tree import Owner, copy_below, empty_folder

COLLECT_BYTES = 64 * 1024 * 1024
COLLECT_FILES = 10_000
"""How much is brought back from one run."""

SWEPT = ("/tmp", "/var/tmp", "/dev/shm")
"""Folders that everyone may write; what a program leaves there is removed, so that no later run finds it."""


class Workplace:
    """The stage of one run, as a context.

    In place: each folder of `writes` is copied aside, and filled afresh with copies that belong to the
    program's account; on leaving it is emptied and filled from the copy. Absolute paths in the program keep
    their meaning that way, and nothing that it does outlives the run. Relocated: the folder is copied to
    another place and that copy is removed on leaving.
    """

    def __init__(
        self,
        state: Any,
        runner: Any,
        writes: Sequence[str],
        relocate: Optional[Tuple[str, str]],
        mtime_s: Optional[int],
    ) -> None:
        """`state` is the `DiskState`, `runner` the `Runner`; the rest as in `State.run`."""
        self._state = state
        self._account = runner.account
        self._writes = [] if relocate else list(writes)
        self._relocate = relocate
        self._mtime_s = mtime_s
        self._lent: List[Tuple[str, str, os.stat_result]] = []
        self._made: List[str] = []
        self._scratch = ""
        self.home = ""

    def __enter__(self) -> Workplace:  # noqa: PYI034 - Self is younger than Python 3.9
        self._scratch = tempfile.mkdtemp(prefix="aespec-")
        os.chmod(self._scratch, 0o711)
        self.home = os.path.join(self._scratch, "home")
        os.mkdir(self.home, 0o700)
        self._give(self.home)
        try:
            if self._relocate:
                self._move(*self._relocate)
            for path in self._writes:
                self._lend(path)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *details: object) -> None:
        for place, copy, found in reversed(self._lent):
            with contextlib.suppress(OSError):
                # Without root, a program that closed its folder would keep even its own account out.
                os.chmod(place, 0o700)
            empty_folder(place)
            copy_below(copy, place)
            _undress(place, found)
        for place in reversed(self._made):
            with contextlib.suppress(FileNotFoundError):
                empty_folder(place)
                os.rmdir(place)
        empty_folder(self._scratch)
        os.rmdir(self._scratch)
        if self._account.is_dedicated:
            for path in remaining_files(self._account, SWEPT):
                _remove(path)

    def path(self, path: str) -> str:
        """Where a path of the state is found during the run."""
        if self._relocate:
            folder, place = self._relocate
            if path == folder or path.startswith(folder.rstrip("/") + "/"):
                return str(self._state.host(place)) + path[len(folder.rstrip("/")) :]
        return str(self._state.host(path))

    def argument(self, argument: str) -> str:
        """An argument of the program: a path below a relocated folder follows it, all else stays as it is."""
        if not argument.startswith("/"):
            return argument
        moved = self.path(argument)
        return moved if moved != argument and os.path.lexists(moved) else argument

    def guard(self, program: str) -> Optional[str]:
        """A copy of a system's binary that can be started but not read, or None where that is no use.

        The kernel lets nobody but root look into a process whose file its own account can't read: neither
        trace it nor write its memory nor open its files. So what a hidden program starts can't change it.
        """
        place = system_file(program)
        is_noexec = os.statvfs(self._scratch).f_flag & os.ST_NOEXEC
        if place is None or is_noexec or not self._account.is_dedicated:
            return None
        place = os.path.realpath(place)
        copy = os.path.join(self._scratch, "guarded")
        with contextlib.suppress(OSError), open(place, "rb") as source:
            if place.startswith(SYSTEM_FOLDERS) and source.read(4) == b"\x7fELF":
                shutil.copyfile(place, copy)
                os.chmod(copy, 0o111)
                return copy
        return None

    def collect(self, paths: Sequence[str]) -> Dict[str, bytes]:
        """The regular files at and below the paths, by their path of the state; raises `Missing` above the
        limits.
        """
        found: Dict[str, bytes] = {}
        left = COLLECT_BYTES
        queue = list(paths)
        while queue:
            path = queue.pop()
            data = self._read(path, left, queue)
            if data is not None:
                found[path] = data
                left -= len(data)
            if left < 0 or len(found) + len(queue) > COLLECT_FILES:
                raise Missing(f"{path} and what else the program made is too much to be compared")
        return found

    def _read(self, path: str, left: int, queue: List[str]) -> Optional[bytes]:
        # A link may lead about the lent folder, but must not show what the program could not have made.
        place = os.path.realpath(self.path(path))
        base = self._base(path)
        if base is None:
            if place != self.path(path):
                return None
        elif place != base and not place.startswith(base + "/"):
            return None
        try:
            found = os.lstat(place)
            if stats.S_ISDIR(found.st_mode):
                queue.extend(f"{path.rstrip('/')}/{name}" for name in os.listdir(place))
                return None
            if not stats.S_ISREG(found.st_mode):
                return None
            descriptor = os.open(place, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        except OSError:
            return None
        with open(descriptor, "rb") as stream:
            return stream.read(left + 1)

    def _base(self, path: str) -> Optional[str]:
        """The real place of the folder that was lent or moved and that the path is in, or None."""
        for folder in [self._relocate[0]] if self._relocate else self._writes:
            if path == folder or path.startswith(folder.rstrip("/") + "/"):
                return os.path.realpath(self.path(folder))
        return None

    def _move(self, folder: str, place: str) -> None:
        source = self._state.host(self._state.resolve(folder))
        target = self._state.host(place)
        if os.path.lexists(target):
            raise Trouble(f"{place} is taken, so no copy of {folder} can be made there")
        missing = []
        while not os.path.lexists(target):
            missing.append(target)
            target = os.path.dirname(target)
        for path in reversed(missing):
            os.mkdir(path, 0o755)
            self._made.append(path)
        self._fill(source, missing[0], is_reversed=True)

    def _lend(self, path: str) -> None:
        place = self._state.host(self._state.resolve(path))
        found = os.lstat(place)
        if not stats.S_ISDIR(found.st_mode):
            raise Missing(f"there is no folder at {path}")
        copy = os.path.join(self._scratch, f"kept-{len(self._lent)}")
        os.mkdir(copy, 0o700)
        copy_below(place, copy)
        self._lent.append((place, copy, found))
        empty_folder(place)
        self._fill(copy, place)

    def _fill(self, source: str, target: str, *, is_reversed: bool = False) -> None:
        owner = Owner(self._account.uid, self._account.gid) if self._account.is_dedicated else None
        copy_below(source, target, owner=owner, mtime_s=self._mtime_s, is_reversed=is_reversed)
        self._give(target)
        os.chmod(target, 0o755)

    def _give(self, path: str) -> None:
        if self._account.is_dedicated:
            os.chown(path, self._account.uid, self._account.gid)


def _undress(place: str, found: os.stat_result) -> None:
    """Give a lent folder its own owner, mode and time back."""
    if os.geteuid() == 0:
        os.chown(place, found.st_uid, found.st_gid)
    os.chmod(place, stats.S_IMODE(found.st_mode))
    os.utime(place, ns=(found.st_atime_ns, found.st_mtime_ns))


def _remove(path: str) -> None:
    with contextlib.suppress(FileNotFoundError):
        if stats.S_ISDIR(os.lstat(path).st_mode):
            empty_folder(path)
            os.rmdir(path)
        else:
            os.unlink(path)
