"""Whose ids a sandbox has: a range of the host's (tier `full`), or a single one (tier `single-uid`)."""

from __future__ import annotations

import os
import pwd
import subprocess
from dataclasses import dataclass
from pathlib import Path

from aespec.sandbox.api import SandboxError

RANGE = 65536
ROOT_BASE = 0x70000000
"""First host id of root's sandboxes where /etc/subuid gives none: above what systemd hands out."""


@dataclass(frozen=True, slots=True)
class Identity:
    """The user map of a sandbox. Ids 0, 1, … inside are `first`, then `rest`, … outside.

    `tier` is `full` or `single-uid`; `helper` is how the map is written: `self` (by the kernel's leave for
    one's own id), `root`, or `newuidmap`.
    """

    tier: str
    helper: str
    first_uid: int
    first_gid: int
    rest_uid: int = 0
    rest_gid: int = 0

    @property
    def sets_groups(self) -> bool:
        """Whether supplementary groups can be set."""
        return self.tier == "full"

    @property
    def switches_user(self) -> bool:
        """Whether a program can run as another user than root."""
        return self.tier == "full"

    @property
    def key(self) -> str:
        """What of it a layer on disk depends on."""
        return f"{self.tier}-{self.first_uid}-{self.first_gid}-{self.rest_uid}-{self.rest_gid}"

    def _lines(self, first: int, rest: int) -> list[tuple[int, int, int]]:
        if self.tier == "single-uid":
            return [(0, first, 1)]
        if rest:
            return [(0, first, 1), (1, rest, RANGE - 1)]
        return [(0, first, RANGE)]

    def write_maps(self, pid: int) -> None:
        """Give the new namespace of process `pid` its ids. Raises SandboxError with the remedy."""
        users = self._lines(self.first_uid, self.rest_uid)
        groups = self._lines(self.first_gid, self.rest_gid)
        try:
            if self.helper == "newuidmap":
                _call_helper("newuidmap", pid, users)
                _call_helper("newgidmap", pid, groups)
                return
            if self.tier == "single-uid":
                Path(f"/proc/{pid}/setgroups").write_text("deny", encoding="ascii")
            Path(f"/proc/{pid}/uid_map").write_text(_map_text(users), encoding="ascii")
            Path(f"/proc/{pid}/gid_map").write_text(_map_text(groups), encoding="ascii")
        except OSError as error:
            raise SandboxError(f"the user map was refused: {error.strerror}", remedy=map_remedy()) from None


def _map_text(lines: list[tuple[int, int, int]]) -> str:
    return "".join(f"{inside} {outside} {count}\n" for inside, outside, count in lines)


def _call_helper(program: str, pid: int, lines: list[tuple[int, int, int]]) -> None:
    numbers = [str(number) for line in lines for number in line]
    done = subprocess.run([program, str(pid), *numbers], capture_output=True, text=True, check=False)
    if done.returncode:
        raise SandboxError(f"{program}: {done.stderr.strip()}", remedy=range_remedy())


def map_remedy() -> str:
    """What to do where the kernel refuses an own user map."""
    if Path("/proc/sys/kernel/apparmor_restrict_unprivileged_userns").exists():
        return "as root: sysctl -w kernel.apparmor_restrict_unprivileged_userns=0"
    return "run as root, or allow user namespaces (`aespec doctor` says what is in the way)"


def range_remedy() -> str:
    """What to do for a range of ids."""
    name = _own_name()
    return (
        f"install the package `uidmap`, and as root: echo {name}:100000:65536 >> /etc/subuid; "
        f"echo {name}:100000:65536 >> /etc/subgid"
    )


def _own_name() -> str:
    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return str(os.getuid())


def find_identity(tier: str | None = None) -> Identity:
    """The best identity to be had here, or the one of the tier asked for.

    Root never maps itself: its sandboxes get a range (or one id) that nobody else has. Raises SandboxError
    for a tier that isn't to be had.
    """
    if tier not in (None, "full", "single-uid"):
        raise SandboxError(f"there is no tier {tier!r}; there are full and single-uid")
    if os.geteuid() == 0:
        base = _subordinate_range("/etc/subuid", "root", 0)
        first = base[0] if base else ROOT_BASE
        return Identity(tier or "full", "root", first, first)
    if tier != "single-uid" and (found := _helped_identity()):
        return found
    if tier == "full":
        raise SandboxError("no range of user ids is to be had", remedy=range_remedy())
    return Identity("single-uid", "self", os.getuid(), os.getgid())


def _helped_identity() -> Identity | None:
    from shutil import which

    uids = _subordinate_range("/etc/subuid", _own_name(), os.getuid())
    gids = _subordinate_range("/etc/subgid", _own_name(), os.getuid())
    if uids is None or gids is None or not which("newuidmap") or not which("newgidmap"):
        return None
    return Identity("full", "newuidmap", os.getuid(), os.getgid(), uids[0], gids[0])


def _subordinate_range(path: str, name: str, uid: int) -> tuple[int, int] | None:
    try:
        lines = Path(path).read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return None
    for line in lines:
        fields = line.strip().split(":")
        if len(fields) == 3 and fields[0] in (name, str(uid)) and fields[1].isdigit() and fields[2].isdigit():
            start, count = int(fields[1]), int(fields[2])
            if count >= RANGE:
                return start, count
    return None
