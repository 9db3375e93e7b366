"""What a certification costs: processor seconds of everything that it started, and wall seconds."""

from __future__ import annotations

import os
import resource
import time
from collections.abc import Iterator
from pathlib import Path

from aespec.model.expressions import Json


class Meter:
    """Counts from its making on. `started` is on `time.monotonic`."""

    def __init__(self) -> None:
        """Start counting."""
        self.started = time.monotonic()
        self._before = used_s()

    def cost(self, executions: dict[str, int]) -> dict[str, Json]:
        """The form that a certificate has: CPU seconds, wall seconds, runs by rung."""
        return {
            "cpu_s": round(max(0.0, used_s() - self._before), 2),
            "wall_s": round(time.monotonic() - self.started, 2),
            "executions": dict(executions),
        }


def used_s() -> float:
    """CPU seconds of this process, of its children that ended, and of those that still run.

    A sandbox that keeps a server running counts only by looking at it: its time is nobody's until it ends.
    """
    told = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(item.ru_utime + item.ru_stime for item in told) + sum(_running())


def _running() -> Iterator[float]:
    """CPU seconds of each living descendant, with those of the children that it has waited for."""
    tick = os.sysconf("SC_CLK_TCK")
    parents: dict[int, int] = {}
    times: dict[int, float] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            fields = (
                (folder / "stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
            )
        except OSError:
            continue
        # After the name: state, parent, …; user and system time, own and waited-for, are fields 11 to 14.
        parents[int(folder.name)] = int(fields[1])
        times[int(folder.name)] = sum(map(int, fields[11:15])) / tick
    own = os.getpid()
    for process, seconds in times.items():
        ancestor = parents[process]
        while ancestor not in (0, 1, own):
            ancestor = parents.get(ancestor, 0)
        if ancestor == own:
            yield seconds
