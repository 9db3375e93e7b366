"""How a command ends when it is asked to: as at Ctrl-C, so that temporary folders go with it."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn


class TerminatedError(KeyboardInterrupt):
    """Somebody asked this process to end (SIGTERM)."""


@contextmanager
def ending_in_order() -> Iterator[None]:
    """Turn SIGTERM into `TerminatedError`. Only the main thread may; elsewhere nothing changes."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, _end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def describe(interrupt: KeyboardInterrupt) -> tuple[str, int]:
    """What to say of an interrupted command, with what it keeps, and the shell's status for it."""
    number = signal.SIGTERM if isinstance(interrupt, TerminatedError) else signal.SIGINT
    return "; ".join(["stopped", *getattr(interrupt, "__notes__", ())]), 128 + number


def _end(_number: int, _frame: object) -> NoReturn:
    raise TerminatedError
