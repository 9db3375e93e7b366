"""A control group per slot, where the host allows one: memory, processes and processor time together."""

from __future__ import annotations

import contextlib
import os
import secrets
import time
from dataclasses import dataclass
from pathlib import Path

_PERIOD_US = 100_000
_CONTROLLERS = ("memory", "pids", "cpu")
_EMPTY_S = 5.0


@dataclass(frozen=True, slots=True)
class ControlGroup:
    """Folders of one group: one per controller in version 1, a single one in version 2."""

    folders: tuple[Path, ...]
    controllers: frozenset[str]

    def add(self, pid: int) -> None:
        """Put a process, and all that it will start, under the limits."""
        for folder in self.folders:
            (folder / "cgroup.procs").write_text(str(pid), encoding="ascii")

    def close(self) -> None:
        """Remove the group; its processes have ended, the kernel may still be counting them out."""
        deadline = time.monotonic() + _EMPTY_S
        for folder in self.folders:
            while True:
                try:
                    folder.rmdir()
                except FileNotFoundError:
                    break
                except OSError:
                    if time.monotonic() > deadline:
                        break
                    time.sleep(0.005)
                else:
                    break


def make_group(*, memory_bytes: int, processes: int, cpu: float) -> ControlGroup | None:
    """A group with these limits, or None where none can be made."""
    name = f"aespec-{os.getpid()}-{secrets.token_hex(4)}"
    quota = max(1000, int(cpu * _PERIOD_US))
    parents = parent_folders()
    if "" in parents:
        settings = {
            "memory.max": str(memory_bytes),
            "memory.swap.max": "0",
            "pids.max": str(processes + 2),  # the supervisor and process 1 of the namespace
            "cpu.max": f"{quota} {_PERIOD_US}",
        }
        return _make_unified(parents[""] / name, settings)
    made: list[Path] = []
    controllers = set()
    settings_of = {
        "memory": {
            "memory.limit_in_bytes": str(memory_bytes),
            "memory.memsw.limit_in_bytes": str(memory_bytes),
        },
        "pids": {"pids.max": str(processes + 2)},
        "cpu": {"cpu.cfs_period_us": str(_PERIOD_US), "cpu.cfs_quota_us": str(quota)},
    }
    for controller, settings in settings_of.items():
        if controller not in parents:
            continue
        folder = parents[controller] / name
        try:
            folder.mkdir()
        except OSError:
            continue
        made.append(folder)
        applied = [_write(folder / key, value) for key, value in settings.items()]
        if applied[0]:
            controllers.add(controller)
    return ControlGroup(tuple(made), frozenset(controllers)) if made else None


def _make_unified(folder: Path, settings: dict[str, str]) -> ControlGroup | None:
    """Version 2. The parent must hand its controllers down; it can only while it has no processes."""
    _write(folder.parent / "cgroup.subtree_control", "+memory +pids +cpu")
    try:
        folder.mkdir()
    except OSError:
        return None
    applied = {key.partition(".")[0] for key, value in settings.items() if _write(folder / key, value)}
    if not applied or not os.access(folder / "cgroup.procs", os.W_OK):
        with contextlib.suppress(OSError):
            folder.rmdir()
        return None
    return ControlGroup((folder,), frozenset(applied))


def _write(path: Path, value: str) -> bool:
    try:
        path.write_text(value, encoding="ascii")
    except OSError:
        return False
    return True


def parent_folders() -> dict[str, Path]:
    """Where groups can be made: by controller in version 1, under "" in version 2; empty where nowhere."""
    root = Path("/sys/fs/cgroup")
    try:
        lines = Path("/proc/self/cgroup").read_text(encoding="ascii").splitlines()
    except OSError:
        return {}
    found: dict[str, Path] = {}
    for line in lines:
        number, controllers, path = line.split(":", 2)
        if number == "0" and (root / "cgroup.controllers").exists():
            own = root / path.lstrip("/")
            return {"": root if os.access(root / "cgroup.procs", os.W_OK) else own}
        for controller in controllers.split(","):
            folder = root / controller / path.lstrip("/")
            if controller in _CONTROLLERS and os.access(folder, os.W_OK):
                found[controller] = folder
    return found


def reap_groups() -> None:
    """Remove the groups of processes that were killed before they could."""
    for parent in parent_folders().values():
        with contextlib.suppress(OSError):
            for folder in parent.glob("aespec-*-*"):
                pid = folder.name.split("-")[1]
                if pid.isdigit() and not Path(f"/proc/{pid}").exists():
                    with contextlib.suppress(OSError):
                        folder.rmdir()
