"""The lock that a certification rests on: the one beside the spec, or what the images are made of now."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from dataclasses import dataclass

from aespec.evaluate.locking import make_lock
from aespec.model.lock import Lock
from aespec.model.task import CheckedTask
from aespec.runtime.wording import counted
from aespec.sandbox.api import Sandbox, SandboxError


@dataclass(frozen=True, slots=True)
class Locked:
    """A lock and whether it lies beside the spec; without a lock, `missing` says why there is none."""

    lock: Lock | None = None
    is_kept: bool = False
    missing: str = ""

    @property
    def evidence(self) -> str:
        """One line for the certificate."""
        if self.lock is None:
            return ""
        images, packages = len(self.lock.images), len(self.lock.apt) + len(self.lock.pip)
        count = f"{counted(images, 'image')}, {counted(packages, 'package')}"
        rest = "" if self.is_kept else ", as they are now; `aespec lock` keeps that"
        return f"locked: {count}{rest}"


def find_lock(
    task: CheckedTask, kept: Lock | None, sandbox: Sandbox, progress: Callable[[str], None] | None
) -> Locked:
    """The kept lock, else one that is made now and not written: a certificate says what it was made with."""
    if kept is not None:
        return Locked(kept, is_kept=True)
    try:
        today = dt.datetime.now(tz=dt.UTC).date()
        return Locked(make_lock(task, sandbox, today=today, progress=progress))
    except (SandboxError, OSError) as fault:
        return Locked(missing=f"a lock: {fault}")
