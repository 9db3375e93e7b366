"""The author's regular expressions on the solver's texts, which may be made to take for ever."""

from __future__ import annotations

import re
import signal
import threading
from typing import Any, Optional

CPU_LIMIT_S = 5.0
"""CPU time that one match may take; an honest one takes milliseconds."""

SAFE_LENGTH = 20
"""Texts up to this length are matched without a timer by patterns that can't try many ways through them."""


class _TooLong(Exception):
    """The timer went off."""


def full_match(pattern: str, text: str) -> Optional[bool]:
    """Whether the whole text matches a pattern of Python's `re`; None if that took more than `CPU_LIMIT_S`.

    The timer needs the main thread; elsewhere the match runs without one.
    """
    compiled = re.compile(pattern)
    is_short = len(text) <= SAFE_LENGTH and _is_plain(pattern)
    if is_short or threading.current_thread() is not threading.main_thread():
        return compiled.fullmatch(text) is not None

    def stop(number: int, frame: Any) -> None:
        raise _TooLong

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, CPU_LIMIT_S)
    try:
        return compiled.fullmatch(text) is not None
    except _TooLong:
        return None
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def _is_plain(pattern: str) -> bool:
    """Whether a pattern repeats at most one thing and has no alternatives.

    Repetitions in each other have more ways through twenty characters than can be tried in a lifetime.
    """
    return "|" not in pattern and sum(pattern.count(sign) for sign in "*+?{") <= 1
