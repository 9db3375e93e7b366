"""The read-only view of an end state that predicates judge, on disk or in memory."""

from __future__ import annotations

from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Protocol, Sequence, Tuple


class Missing(Exception):
    """There is nothing at the path, or not what was asked for; the message is for the solver's reader."""


class NotStarted(Missing):
    """The program that was to be run can't be started."""


class Trouble(Exception):
    """Something went wrong that is not the solver's doing: the verdict is `error`, never a reward."""


class Stat(NamedTuple):
    """`kind` is file, folder, link, other; `size` in bytes; `mode` are the permission bits."""

    kind: str
    size: int
    mode: int
    uid: int
    gid: int


class Finished(NamedTuple):
    """A program that ran: `status` is None where a signal or the time limit ended it.

    `files` are the regular files at and below the collected paths, as they were when it ended.
    """

    status: Optional[int]
    stdout: bytes
    stderr: bytes
    is_timed_out: bool
    is_truncated: bool
    files: Mapping[str, bytes] = {}


class State(Protocol):
    """What a predicate may ask. Paths are absolute; links are followed but never out of the state."""

    def stat(self, path: str) -> Optional[Stat]:
        """What stands at the path (the last link not followed), or None."""
        ...

    def read(self, path: str, limit_bytes: int = 64 * 1024 * 1024) -> bytes:
        """The content of a regular file; raises `Missing` if there is none or it is larger than the limit."""
        ...

    def digest(self, path: str) -> str:
        """The hex SHA-256 of a regular file of any size; raises `Missing`."""
        ...

    def names(self, path: str) -> List[str]:
        """The sorted names in a folder; raises `Missing`."""
        ...

    def link(self, path: str) -> str:
        """Where a symbolic link points to; raises `Missing`."""
        ...

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
        """Run a program of the solver as another user, with limits and without network.

        It may write below `writes`, in its home and in /tmp; all of that is put back or removed afterwards,
        so that no other predicate sees it. What stands at and below `collect` is brought back first. With
        `relocate` (folder, place) it runs on a copy of the folder at another place, which must be free; `cwd`
        and `collect` below the folder follow, `writes` are not needed there. `mtime_s` sets the modification
        time of everything that it may write. `is_guarded` is for a program of the verifier's own that starts
        the solver's: as far as that can be had, none of the account looks into its memory or opens its files.
        Raises `Missing` where the solver's program can't be started, `Trouble` where this state can't run
        programs (in memory) or the sandboxing itself fails.
        """
        ...

    def hidden(self, name: str) -> bytes:
        """A hidden file of the verifier; raises `Trouble` if it isn't there."""
        ...

    def baseline(self, path: str) -> Dict[str, Any]:
        """The start state at and below a path: `{relative: {"kind", "sha256", "mode", "link"}}`; raises
        `Trouble`.
        """
        ...


class Verdict(NamedTuple):
    """What `holds` returns: whether the claim holds, and otherwise a reason in one sentence."""

    is_held: bool
    reason: str = ""


HELD = Verdict(True)


def failed(reason: str) -> Verdict:
    """A claim that doesn't hold, with the reason."""
    return Verdict(False, reason)
