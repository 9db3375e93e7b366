"""What is carried from the agent's container to the verifier: few paths, none inside another."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable

from aespec.bundle.faults import Faults
from aespec.bundle.quoting import is_plain
from aespec.model.paths import is_below
from aespec.source import Span

NEVER = (
    "/aespec-setup",
    "/bin",
    "/boot",
    "/dev",
    "/lib",
    "/lib32",
    "/lib64",
    "/logs",
    "/proc",
    "/run",
    "/sbin",
    "/solution",
    "/sys",
    "/tests",
    "/usr/bin",
    "/usr/lib",
    "/usr/lib64",
    "/usr/local/bin",
    "/usr/local/lib",
    "/usr/local/sbin",
    "/usr/sbin",
    "/var/run",
)
"""Nothing at or below these: the verifier's own programs, the kernel's views, the channel of the verdict."""

NEVER_WHOLE = (
    "/",
    "/etc",
    "/home",
    "/opt",
    "/root",
    "/srv",
    "/tmp",
    "/usr",
    "/usr/local",
    "/usr/share",
    "/var",
)
"""Not as a whole: a folder that is carried replaces the verifier's own. Paths below them may be named."""

NEVER_FILES = (
    "/etc/environment",
    "/etc/group",
    "/etc/gshadow",
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/ld.so.preload",
    "/etc/nsswitch.conf",
    "/etc/pam.d",
    "/etc/passwd",
    "/etc/profile",
    "/etc/profile.d",
    "/etc/shadow",
    "/etc/ssl",
)
"""Files by which whoever writes them would govern the verifier's programs."""


def choose_artifacts(
    reads: Iterable[tuple[str, Span]], wanted: Iterable[tuple[str, Span]], workdir: str, faults: Faults
) -> tuple[str, ...]:
    """The paths to carry over for what the claims read and the author adds.

    The working folder as a whole where anything in it is read: what lies beside an answer is what
    programs and `unchanged` need too. Sorted, none below another.
    """
    chosen: set[str] = set()
    for written, span in [*reads, *wanted]:
        path = written.partition("#")[0]
        path = posixpath.normpath(path) if path.startswith("/") else path
        if is_below(path, workdir) and is_carriable(workdir):
            chosen.add(workdir)
        elif is_carriable(path):
            chosen.add(path)
        else:
            _report(path, span, faults)
    return tuple(
        sorted(path for path in chosen if not any(is_below(path, other) for other in chosen - {path}))
    )


def is_carriable(path: str) -> bool:
    """Whether a path may be carried into the verifier's root without changing the verifier itself."""
    if not path.startswith("/") or path.startswith("//") or not is_plain(path) or path in NEVER_WHOLE:
        return False
    return not any(is_below(path, bad) for bad in (*NEVER, *NEVER_FILES)) and not any(
        is_below(bad, path) for bad in (*NEVER, *NEVER_FILES)
    )


def _report(path: str, span: Span, faults: Faults) -> None:
    faults.error(
        "artifact-forbidden",
        f"{path} can't be carried to a separate verifier",
        span,
        why="It would replace what the verifier itself runs on, or its name is no plain word.",
        help="Read a path below the working folder. "
        "The target harbor-shared, which judges the live container, isn't there yet.",
    )
