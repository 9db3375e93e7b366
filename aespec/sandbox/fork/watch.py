"""Following one program from the supervisor: its output, its limits, its end. Standard library only."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import time
from typing import Any

_CHUNK_BYTES = 1 << 16
_LOOK_AROUND_S = 0.5
_LOOK_SHARE = 20  # counting what a layer holds takes at most a twentieth of the time


class Watch:
    """One cloned child. `kept` holds what was kept of its streams; all of them are read to their end."""

    def __init__(self, pid: int, streams: dict[int, str], order: dict[str, Any], started: float) -> None:
        self._pid = pid
        self._open = dict(streams)
        self._order = order
        self._started = started
        self._running = 0.0
        self._reason = ""
        self._killed = 0.0
        self._next_look = 0.0
        self.kept = {name: bytearray() for name in streams.values()}
        self._is_truncated = False

    def follow(self, hangups: tuple[int, ...]) -> bool:
        """Until the child and all below it are gone; True when somebody hung up on the way, which ends them.

        The child is process 1 of its namespace: the kernel reports its end when the last process in there is
        gone, and then nobody holds the streams any more, so they end as well.
        """
        watcher = select.poll()
        for descriptor in self._open:
            os.set_blocking(descriptor, False)
            watcher.register(descriptor, select.POLLIN)
        for descriptor in hangups:
            # A readable process descriptor means that the process has ended.
            watcher.register(descriptor, select.POLLRDHUP | select.POLLHUP | select.POLLIN)
        is_hung_up = False
        while self._open:
            for descriptor, _ in watcher.poll(self._wait_ms()):
                if descriptor in hangups:
                    is_hung_up = True
                    watcher.unregister(descriptor)
                    self._kill("hangup")
                elif not self._read(descriptor):
                    watcher.unregister(descriptor)
            self._enforce()
        os.waitpid(self._pid, 0)
        return is_hung_up

    def _wait_ms(self) -> float:
        until_deadline = self._started + self._order["timeout_s"] - time.monotonic()
        wait = _LOOK_AROUND_S if self._order["upper"] else 5.0
        return max(0.0, min(wait, until_deadline) if not self._killed else wait) * 1000

    def _enforce(self) -> None:
        if self._killed:
            return
        if time.monotonic() >= self._started + self._order["timeout_s"]:
            self._kill("timeout")
        elif self._order["upper"] and self._has_filled_disk():
            self._kill("disk")

    def _has_filled_disk(self) -> bool:
        """Whether a writable layer on disk has outgrown its limit, or the disk itself runs full."""
        now = time.monotonic()
        if now < self._next_look:
            return False
        status = os.statvfs(self._order["upper"])
        if status.f_bavail * status.f_frsize < self._order["reserve_bytes"]:
            return True
        is_over: bool = _used_bytes(self._order["upper"]) > self._order["limits"]["disk_bytes"]
        self._next_look = time.monotonic() + max(_LOOK_AROUND_S, _LOOK_SHARE * (time.monotonic() - now))
        return is_over

    def _kill(self, reason: str) -> None:
        if not self._killed:
            self._killed = time.monotonic()
            self._reason = reason
            with contextlib.suppress(ProcessLookupError):
                os.kill(self._pid, signal.SIGKILL)

    def _read(self, descriptor: int) -> bool:
        try:
            chunk = os.read(descriptor, _CHUNK_BYTES)
        except BlockingIOError:
            return True
        name = self._open[descriptor]
        if not chunk:
            del self._open[descriptor]
            return False
        if name == "report":
            self._running = self._running or time.monotonic()
        kept = self.kept[name]
        room = self._order["output_limit_bytes"] - len(kept) if name != "report" else _CHUNK_BYTES
        kept += chunk[:room]
        self._is_truncated |= len(chunk) > room
        return True

    def outcome(self) -> dict[str, Any]:
        """The head of the answer."""
        now = time.monotonic()
        lines = [line for line in bytes(self.kept["report"]).split(b"\n") if line]
        head: dict[str, Any] = json.loads(lines[-1]) if lines else {"signal": int(signal.SIGKILL)}
        running = self._running or now
        stopping = self._killed or now
        head["is_truncated"] = self._is_truncated
        head["reason"] = self._reason
        head["seconds"] = {
            "start": running - self._started,
            "run": max(0.0, stopping - running),
            "stop": now - stopping,
        }
        return head


def _used_bytes(folder: str) -> int:
    used = 0
    waiting = [folder]
    while waiting:
        # What vanishes meanwhile, or lies deeper than a path can say, is not counted.
        with contextlib.suppress(OSError), os.scandir(waiting.pop()) as entries:
            for entry in entries:
                with contextlib.suppress(OSError):
                    used += entry.stat(follow_symlinks=False).st_blocks * 512
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
    return used
