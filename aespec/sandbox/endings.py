"""How an ending is told: one reading of exit statuses for all backends."""

from __future__ import annotations

import signal

FATAL_SIGNALS = frozenset(
    (
        signal.SIGILL,
        signal.SIGTRAP,
        signal.SIGABRT,
        signal.SIGBUS,
        signal.SIGFPE,
        signal.SIGKILL,
        signal.SIGSEGV,
        signal.SIGTERM,
        signal.SIGXCPU,
        signal.SIGXFSZ,
        signal.SIGSYS,
    )
)
"""Signals whose death is told as no status. An engine only hands on 128+N, so these are read back from that;
others (`git` exits with 129 for a slip in its usage) stay the number that a shell would see."""


def read_exit(code: int) -> tuple[int | None, int | None]:
    """The status and the signal behind an exit code in a shell's convention."""
    if code - 128 in FATAL_SIGNALS:
        return None, code - 128
    return code, None


def read_signal(number: int) -> tuple[int | None, int | None]:
    """The status and the signal of a program that a signal ended."""
    return read_exit(128 + number)
