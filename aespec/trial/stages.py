"""What both halves of a trial share: the clock of stages, and messages from programs made harmless."""

from __future__ import annotations

import time

from aespec.diagnostics.escape import escape_controls
from aespec.sandbox.api import SandboxError

PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
"""What programs find on PATH where the image says nothing."""

ARTIFACT_LIMIT_BYTES = 512 * 1024**2
"""How much may cross to the verifier."""

LOG_LIMIT_BYTES = 1024**2
"""How much of each stream of a program is kept."""


def last_line(data: bytes) -> str:
    """The last line that says something, bounded and harmless for a terminal."""
    lines = [line.strip() for line in data[-4096:].decode("utf-8", "replace").splitlines() if line.strip()]
    return escape_controls(lines[-1][:300]) if lines else ""


def explain_fault(fault: SandboxError) -> str:
    """What a sandbox couldn't do, with the way out."""
    return f"{fault} ({fault.remedy})" if fault.remedy else str(fault)


class timed:  # noqa: N801 - reads as the statement that it is used in
    """Adds the wall seconds of its body to a stage."""

    def __init__(self, seconds: dict[str, float], stage: str) -> None:
        self._seconds = seconds
        self._stage = stage
        self._start = 0.0

    def __enter__(self) -> None:
        self._start = time.monotonic()

    def __exit__(self, *_: object) -> None:
        self._seconds[self._stage] = self._seconds.get(self._stage, 0.0) + time.monotonic() - self._start
