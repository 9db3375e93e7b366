"""What the fork sandbox can do here, found out by doing it once."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from aespec.sandbox.api import Program, SandboxError, SandboxLimits
from aespec.sandbox.fork.cgroup import make_group
from aespec.sandbox.fork.identity import Identity, range_remedy
from aespec.sandbox.fork.slot import ForkSlot, Rights
from aespec.sandbox.fork.worker import OrderFailed, Worker
from aespec.sandbox.layers import Store
from aespec.sandbox.tars import Entry, pack

_FOLDERS = ("dev", "proc", "etc", "lower/below")
_SMALL_BYTES = 1 << 20
_CGROUP_REMEDY = (
    "run as root, or under `systemd-run --user --scope -p Delegate=yes`; "
    "without it memory is bounded for each program and not for all together"
)


@dataclass(frozen=True, slots=True)
class Probe:
    """See `aespec.sandbox.api.Abilities`: its parts."""

    tier: str
    missing: Mapping[str, str]
    facts: Mapping[str, str]

    def with_missing(self, more: Mapping[str, str]) -> Probe:
        """The same with more missing."""
        return replace(self, missing={**more, **self.missing})


def probe(identity: Identity, store: Store, *, upper: str) -> Probe:
    """Start a sandbox of this identity, mount, run; the first thing that fails makes the tier `none`."""
    stage = "user and mount namespaces"
    try:
        with store.workspace("probe") as name:
            descriptor = _small_root()
            try:
                with contextlib.closing(Worker(identity, store.folder, descriptors=(descriptor,))) as worker:
                    stage = "the layers' folder"
                    worker.ask(_unpack_order(descriptor, f"{name}/fs", identity))
            finally:
                os.close(descriptor)
            stage = "overlay mounts without privilege"
            place = _choose_upper(identity, store, name, upper)
            stage = "a program in its own namespaces"
            _run_nothing(identity, store, name)
    except SandboxError as error:
        number = error.errno if isinstance(error, OrderFailed) else 0
        return Probe(
            "none", {stage: error.remedy or _remedy(stage, number)}, {"failure": f"{stage}: {error}"}
        )
    missing = {}
    if identity.tier == "single-uid" and os.geteuid() != 0:
        missing["a range of user ids"] = range_remedy()
    controllers = _controllers()
    if "memory" not in controllers:
        missing["control groups"] = _CGROUP_REMEDY
    facts = {
        "upper": place,
        "user map": f"{identity.tier} from {identity.first_uid}",
        "ownership": "kept"
        if identity.switches_user
        else "not measured: one uid, changes of owner are pretended",
        "users": "switched" if identity.switches_user else "not measured: every program runs as the one uid",
        "control groups": ", ".join(sorted(controllers)) or "none",
        "memory limit": "all programs of a slot, with what they write"
        if "memory" in controllers
        else "each program",
        "kernel": os.uname().release,
    }
    return Probe(identity.tier, missing, facts)


def _small_root() -> int:
    descriptor = os.memfd_create("aespec-probe")
    os.write(descriptor, pack(Entry(name, None, 0o755) for name in _FOLDERS))
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor


def _unpack_order(descriptor: int, target: str, identity: Identity) -> dict[str, object]:
    return {
        "do": "unpack",
        "descriptor": descriptor,
        "target": target,
        "sets_owners": identity.switches_user,
        "folders": {},
        "files": {},
        "defaults": {},
    }


def _choose_upper(identity: Identity, store: Store, name: str, wanted: str) -> str:
    """Where what a slot writes can lie. A folder that replaces one of a layer needs marks on files, which
    tmpfs carries for users only since Linux 6.6.
    """
    if wanted == "disk":
        return "disk"
    archive = pack([Entry("lower", None, 0o755)])
    with contextlib.closing(Worker(identity, store.folder)) as worker:
        _mount(worker, name)
        try:
            worker.ask({"do": "put", "clean": ["/lower"], "sets_owners": False}, [archive])
        except OrderFailed:
            if wanted == "tmpfs":
                raise
            return "disk"
    return "tmpfs"


def _mount(worker: Worker, name: str) -> None:
    worker.ask(
        {"do": "mount", "lowers": [f"{name}/fs"], "upper": "", "disk_bytes": _SMALL_BYTES, "inodes": 1024}
    )


def _run_nothing(identity: Identity, store: Store, name: str) -> None:
    """A program that isn't there: status 127 says that everything up to its start went well."""
    with contextlib.closing(Worker(identity, store.folder)) as worker:
        _mount(worker, name)
        rights = Rights(pretends_ownership=not identity.switches_user)
        slot = ForkSlot(worker, {}, SandboxLimits(), rights, switches_user=identity.switches_user)
        outcome = slot.run(Program(("/nothing",), timeout_s=20.0))
    if outcome.status != 127:
        raise SandboxError(f"a program could not be started: {outcome.stderr.decode(errors='replace')}")


def _controllers() -> frozenset[str]:
    group = make_group(memory_bytes=1 << 30, processes=64, cpu=1.0)
    if group is None:
        return frozenset()
    group.close()
    return group.controllers


def _setting(path: str) -> str:
    try:
        return Path(path).read_text(encoding="ascii").strip()
    except OSError:
        return ""


def _remedy(stage: str, number: int) -> str:
    """The exact way out, by what the host has set."""
    if _setting("/proc/sys/user/max_user_namespaces") == "0":
        return "as root: sysctl -w user.max_user_namespaces=15000"
    if os.geteuid() != 0 and _setting("/proc/sys/kernel/unprivileged_userns_clone") == "0":
        return "as root: sysctl -w kernel.unprivileged_userns_clone=1"
    if os.geteuid() != 0 and _setting("/proc/sys/kernel/apparmor_restrict_unprivileged_userns") == "1":
        return "as root: sysctl -w kernel.apparmor_restrict_unprivileged_userns=0"
    if Path("/.dockerenv").exists() or Path("/run/.containerenv").exists():
        options = "--security-opt seccomp=unconfined --security-opt systempaths=unconfined"
        return f"start this container with {options} (with AppArmor also --security-opt apparmor=unconfined)"
    if stage.startswith("overlay"):
        return "Linux 5.11 or newer with the overlay module: as root, modprobe overlay"
    return "a kernel with user namespaces, or the sandbox `docker`"
