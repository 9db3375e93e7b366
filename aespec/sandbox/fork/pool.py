"""Supervisors that wait for the next slot: starting one costs a Python start, mounting a root little."""

from __future__ import annotations

import contextlib
import os
import threading
import weakref
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from aespec.sandbox.api import SandboxError
from aespec.sandbox.fork.cgroup import ControlGroup, make_group
from aespec.sandbox.fork.identity import Identity
from aespec.sandbox.fork.worker import Worker

_IDLE_AT_MOST = max(2, os.cpu_count() or 1)


@dataclass(frozen=True, slots=True)
class GroupLimits:
    """What a control group is made for; a supervisor waits under its group for a slot with the same."""

    memory_bytes: int
    processes: int
    cpu: float


@dataclass(frozen=True, slots=True)
class Post:
    """A supervisor and the control group that it runs under, None where there is none."""

    worker: Worker
    group: ControlGroup | None

    def close(self) -> None:
        """End the supervisor, then remove its group."""
        self.worker.close()
        if self.group is not None:
            self.group.close()


@dataclass(frozen=True, slots=True)
class _Kind:
    identity: Identity
    folder: Path
    trees: tuple[tuple[str, str], ...]
    limits: GroupLimits | None


class Pool:
    """Idle supervisors by kind. They end with the pool, or with this process however it ends."""

    def __init__(self) -> None:
        self._idle: list[tuple[_Kind, Post]] = []
        self._busy: list[Post] = []
        self._lock = threading.Lock()
        self._maker = os.getpid()
        weakref.finalize(self, _close_all, self._idle, self._maker)

    def close(self) -> None:
        """End those that wait."""
        with self._lock:
            idle, self._idle[:] = list(self._idle), []
        _close_all(idle, self._maker)

    def stop(self) -> None:
        """End those that work; whoever uses one is told so and closes it."""
        with self._lock:
            for post in self._busy:
                post.worker.hang_up()

    @contextlib.contextmanager
    def post(
        self,
        identity: Identity,
        folder: Path,
        trees: tuple[tuple[str, str], ...],
        limits: GroupLimits | None,
    ) -> Iterator[Post]:
        """A supervisor without a root. Afterwards it must have none again, or it is ended."""
        kind = _Kind(identity, folder, trees, limits)
        post = self._take(kind) or _start(kind)
        with self._lock:
            self._busy.append(post)
        try:
            yield post
        finally:
            with self._lock:
                self._busy.remove(post)
            self._give_back(kind, post)

    def _take(self, kind: _Kind) -> Post | None:
        if os.getpid() != self._maker:
            return None  # after a fork these are the parent's
        with self._lock:
            for entry in self._idle:
                if entry[0] == kind:
                    self._idle.remove(entry)
                    break
            else:
                return None
        if entry[1].worker.is_ready:
            return entry[1]
        entry[1].close()
        return None

    def _give_back(self, kind: _Kind, post: Post) -> None:
        try:
            if post.worker.is_ready:
                post.worker.ask({"do": "unmount"})
        except SandboxError:
            post.close()
            return
        surplus: Post | None = None
        with self._lock:
            if post.worker.is_ready:
                self._idle.append((kind, post))
                if len(self._idle) > _IDLE_AT_MOST:
                    surplus = self._idle.pop(0)[1]  # the one that has waited longest
            else:
                surplus = post
        if surplus is not None:
            surplus.close()


def _start(kind: _Kind) -> Post:
    group = None
    if kind.limits is not None:
        limits = kind.limits
        group = make_group(memory_bytes=limits.memory_bytes, processes=limits.processes, cpu=limits.cpu)
    try:
        worker = Worker(kind.identity, kind.folder, trees=dict(kind.trees))
    except BaseException:
        if group is not None:
            group.close()
        raise
    if group is not None:
        group.add(worker.pid)
    return Post(worker, group)


def _close_all(idle: list[tuple[_Kind, Post]], maker: int) -> None:
    if os.getpid() == maker:
        while idle:
            idle.pop()[1].close()
