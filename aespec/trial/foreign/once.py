"""What is made when it is first asked for, and once."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

from aespec.sandbox.api import SandboxError

Made = TypeVar("Made")


class Once(Generic[Made]):
    """A value made by the first who calls; the others wait for it. A `SandboxError` is remembered too."""

    def __init__(self, make: Callable[[], Made]) -> None:
        """`make` may raise `SandboxError`; what else it raises is not remembered."""
        self._make = make
        self._lock = threading.RLock()
        self._made: list[Made] = []
        self._fault: SandboxError | None = None

    def peek(self) -> Made | None:
        """The value where it is made already, else None; nothing is waited for."""
        return self._made[0] if self._made else None

    def __call__(self) -> Made:
        """The value; raises the `SandboxError` that making it raised."""
        with self._lock:
            if self._fault is not None:
                raise self._fault
            if not self._made:
                try:
                    self._made.append(self._make())
                except SandboxError as fault:
                    self._fault = fault
                    raise
            return self._made[0]
