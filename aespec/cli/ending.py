"""How a command ends when it is asked to: as at Ctrl-C, so that temporary folders go with it."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn

ASKING = (signal.SIGTERM, signal.SIGHUP)
"""Signals that ask a process to end, beside a keyboard's SIGINT; a closed terminal sends the second."""


_AGAIN_S = 0.02
"""When an interrupt that got lost is repeated: once the place that lost it is left."""


class TerminatedError(KeyboardInterrupt):
    """Somebody asked this process to end, by the signal `number`."""

    def __init__(self, number: int = signal.SIGTERM) -> None:
        super().__init__()
        self.number = number


@contextmanager
def ending_in_order() -> Iterator[None]:
    """Turn the signals that ask for an end into `TerminatedError`; those that are ignored (nohup) stay so.

    Only the main thread may; elsewhere nothing changes.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    for number in ASKING:
        _handle(number, _end)
    told = sys.unraisablehook
    sys.unraisablehook = _ask_again
    try:
        yield
    finally:
        sys.unraisablehook = told
        end_at_once()


def end_at_once() -> None:
    """From here on the signals, SIGINT too, end the process: its last steps are no place for exceptions."""
    if threading.current_thread() is not threading.main_thread():
        return
    for number in (*ASKING, signal.SIGINT):
        _handle(number, signal.SIG_DFL)


def _handle(number: int, handler: Callable[[int, FrameType | None], object] | signal.Handlers) -> None:
    if signal.getsignal(number) is not signal.SIG_IGN:
        signal.signal(number, handler)


def describe(interrupt: KeyboardInterrupt) -> tuple[str, int]:
    """What to say of an interrupted command, with what it keeps, and the shell's status for it."""
    number = interrupt.number if isinstance(interrupt, TerminatedError) else signal.SIGINT
    return "; ".join(["stopped", *getattr(interrupt, "__notes__", ())]), 128 + number


def _ask_again(unraisable: sys.UnraisableHookArgs) -> None:
    """Repeat an interrupt that came where Python drops exceptions, as in a weak reference's callback."""
    if not isinstance(unraisable.exc_value, KeyboardInterrupt):
        sys.__unraisablehook__(unraisable)
        return
    number = getattr(unraisable.exc_value, "number", signal.SIGINT)
    main = threading.main_thread().ident
    assert main is not None
    again = threading.Timer(_AGAIN_S, signal.pthread_kill, (main, number))
    again.daemon = True
    again.start()


def _end(number: int, _frame: object) -> NoReturn:
    raise TerminatedError(number)
