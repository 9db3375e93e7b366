"""An end state on disk: read component by component, so that no link leads where it must not."""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat as stats
from typing import Any, Dict, Iterator, List, Mapping, Optional, Sequence, Tuple

from aespec.runtime.memory import LINKS_LIMIT, baseline_below
from aespec.runtime.state import Finished, Missing, Stat, Trouble

NEVER = ("/tests", "/logs/verifier", "/proc", "/sys", "/dev")
"""No predicate reads below these: the verifier's own, and what is no file."""

NEVER_BY_LINK = (*NEVER, "/logs", "/root")
"""Where a link of the solver's must not lead either; a spec may still name a path there itself."""

CACHED_FILE_BYTES = 16 * 1024 * 1024
CACHE_BYTES = 256 * 1024 * 1024
"""Files are read once, so that all predicates see the same content; larger ones are read again."""

CHUNK_BYTES = 1024 * 1024


class DiskState:
    """A `State` on the file system below `root` (`/` in a bundle; another folder in tests of the checker)."""

    def __init__(
        self,
        root: str = "/",
        hidden_folder: str = "/tests/hidden",
        baseline: Optional[Mapping[str, Mapping[str, Any]]] = None,
        runner: Any = None,
    ) -> None:
        """`runner` is a `runner.Runner`, or None where no program may run."""
        self.root = os.path.abspath(root)
        self._hidden_folder = hidden_folder
        self._baseline = baseline or {}
        self._runner = runner
        self._cache: Dict[str, bytes] = {}
        self._cached_bytes = 0
        self._refused = [_identity(self.host(path)) for path in NEVER]

    def host(self, path: str) -> str:
        """The real path of a path of the state; nothing is resolved."""
        return path if self.root == "/" else self.root + path.rstrip("/")

    def resolve(self, path: str, *, is_final_followed: bool = True) -> str:
        """The path of the state without links. Raises `Missing` where it leads nowhere or where it must
        not.
        """
        todo = [part for part in reversed(path.split("/")) if part]
        done: List[str] = []
        links = 0
        while todo:
            part = todo.pop()
            if part in (".", ".."):
                if part == "..":
                    del done[-1:]
                continue
            here = "/" + "/".join([*done, part])
            found = self._lstat(here, path)
            _refuse(here, NEVER_BY_LINK if links else NEVER, path)
            if stats.S_ISLNK(found.st_mode) and (todo or is_final_followed):
                links += 1
                if links > LINKS_LIMIT:
                    raise Missing(f"{path} leads through too many links")
                target = os.readlink(self.host(here))
                if target.startswith("/"):
                    done = []
                todo.extend(piece for piece in reversed(target.split("/")) if piece)
                continue
            if stats.S_ISDIR(found.st_mode) and (found.st_dev, found.st_ino) in self._refused:
                raise Missing(f"{path} leads where no predicate reads")
            if todo and not stats.S_ISDIR(found.st_mode):
                raise Missing(f"there is nothing at {path}")
            done.append(part)
        return "/" + "/".join(done)

    def _lstat(self, here: str, path: str) -> os.stat_result:
        try:
            return os.lstat(self.host(here))
        except (FileNotFoundError, NotADirectoryError):
            raise Missing(f"there is nothing at {path}") from None
        except (OSError, ValueError) as error:
            raise Missing(f"{path} can't be reached: {_words(error)}") from None

    def stat(self, path: str) -> Optional[Stat]:
        """As in `State`."""
        try:
            found = os.lstat(self.host(self.resolve(path, is_final_followed=False)))
        except (Missing, FileNotFoundError):
            return None
        kind = _kind(found.st_mode)
        return Stat(kind, found.st_size, stats.S_IMODE(found.st_mode), found.st_uid, found.st_gid)

    def read(self, path: str, limit_bytes: int = 64 * 1024 * 1024) -> bytes:
        """As in `State`."""
        data = self._cache.get(path)
        if data is None:
            with self._opened(path) as (descriptor, size):
                if size > limit_bytes:
                    raise Missing(f"{path} is larger than {limit_bytes} bytes")
                data = _read_up_to(descriptor, limit_bytes + 1)
            if len(data) <= CACHED_FILE_BYTES and self._cached_bytes + len(data) <= CACHE_BYTES:
                self._cache[path] = data
                self._cached_bytes += len(data)
        if len(data) > limit_bytes:
            raise Missing(f"{path} is larger than {limit_bytes} bytes")
        return data

    def digest(self, path: str) -> str:
        """As in `State`."""
        total = hashlib.sha256()
        cached = self._cache.get(path)
        if cached is not None:
            total.update(cached)
            return total.hexdigest()
        with self._opened(path) as (descriptor, size):
            # Read no more than stood there at first, or a growing file would never end.
            while size > 0:
                data = os.read(descriptor, min(CHUNK_BYTES, size))
                if not data:
                    break
                total.update(data)
                size -= len(data)
        return total.hexdigest()

    @contextlib.contextmanager
    def _opened(self, path: str) -> Iterator[Tuple[int, int]]:
        """A descriptor of the regular file and its size; neither a FIFO nor a device is ever opened for
        long.
        """
        place = self.host(self.resolve(path))
        try:
            if not stats.S_ISREG(os.lstat(place).st_mode):
                raise Missing(f"{path} is not a regular file")
            flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
            descriptor = os.open(place, flags)
        except OSError as error:
            raise Missing(f"{path} can't be read: {_words(error)}") from None
        try:
            found = os.fstat(descriptor)
            if not stats.S_ISREG(found.st_mode):
                raise Missing(f"{path} is not a regular file")
            yield descriptor, found.st_size
        except OSError as error:
            raise Trouble(f"reading {path} failed: {_words(error)}") from None
        finally:
            os.close(descriptor)

    def names(self, path: str) -> List[str]:
        """As in `State`; names that are not UTF-8 come with surrogate escapes."""
        try:
            return sorted(os.listdir(self.host(self.resolve(path))))
        except OSError:
            raise Missing(f"there is no folder at {path}") from None

    def link(self, path: str) -> str:
        """As in `State`."""
        try:
            return os.readlink(self.host(self.resolve(path, is_final_followed=False)))
        except OSError:
            raise Missing(f"there is no link at {path}") from None

    def run(
        self,
        argv: Sequence[str],
        *,
        cwd: str,
        stdin: bytes,
        timeout_s: float,
        env: Dict[str, str],
        output_limit_bytes: int,
        writes: Sequence[str] = (),
        collect: Sequence[str] = (),
        relocate: Optional[Tuple[str, str]] = None,
        umask: int = 0o022,
        mtime_s: Optional[int] = None,
        is_guarded: bool = False,
    ) -> Finished:
        """As in `State`."""
        if self._runner is None:
            raise Trouble("no program may run on this state")
        if self._runner.left_s() <= 0:
            return Finished(None, b"", b"", is_timed_out=True, is_truncated=False)
        from aespec.runtime.workplace import Workplace

        with Workplace(self, self._runner, writes, relocate, mtime_s) as workplace:
            ended = self._runner.run(
                [workplace.argument(item) for item in argv],
                cwd=workplace.path(cwd),
                stdin=stdin,
                timeout_s=timeout_s,
                env={"HOME": workplace.home, **env},
                output_limit_bytes=output_limit_bytes,
                umask=umask,
                executable=workplace.guard(argv[0]) if is_guarded else None,
            )
            finished: Finished = ended._replace(files=workplace.collect(collect))
            return finished

    def hidden(self, name: str) -> bytes:
        """As in `State`."""
        if not name or name.startswith(("/", ".")) or ".." in name.split("/"):
            raise Trouble(f"{name!r} is no name of a hidden file")
        try:
            with open(os.path.join(self._hidden_folder, name), "rb") as stream:
                return stream.read()
        except OSError as error:
            raise Trouble(f"the hidden file {name!r} can't be read: {_words(error)}") from None

    def baseline(self, path: str) -> Dict[str, Any]:
        """As in `State`."""
        return baseline_below(self._baseline, path)


def _kind(mode: int) -> str:
    if stats.S_ISREG(mode):
        return "file"
    if stats.S_ISDIR(mode):
        return "folder"
    return "link" if stats.S_ISLNK(mode) else "other"


def _identity(path: str) -> Optional[Tuple[int, int]]:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _refuse(here: str, places: Sequence[str], path: str) -> None:
    for place in places:
        if here == place or here.startswith(place + "/"):
            raise Missing(f"{path} leads to {place}, where no predicate reads")


def _read_up_to(descriptor: int, limit_bytes: int) -> bytes:
    parts = []
    left = limit_bytes
    while left > 0:
        data = os.read(descriptor, min(CHUNK_BYTES, left))
        if not data:
            break
        parts.append(data)
        left -= len(data)
    return b"".join(parts)


def _words(error: BaseException) -> str:
    return getattr(error, "strerror", None) or type(error).__name__
