"""One program in its own namespaces: what the cloned child does until the program has ended.

The child stays as process 1 of the namespace, with no more rights than the program has, and out of its reach;
when it ends, the kernel ends everything else in there. Standard library only.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import resource
import select
import signal
import stat
from typing import Any, NoReturn

from aespec.sandbox.fork import kernel
from aespec.sandbox.fork.accounts import Account, account

NAMESPACES = kernel.CLONE_NEWNS | kernel.CLONE_NEWPID | kernel.CLONE_NEWIPC | kernel.CLONE_NEWUTS

# What switching users and judging their files takes; Docker's own default holds all of these.
ROOT_CAPABILITIES = frozenset(
    (
        kernel.CAP_CHOWN,
        kernel.CAP_DAC_OVERRIDE,
        kernel.CAP_FOWNER,
        kernel.CAP_FSETID,
        kernel.CAP_KILL,
        kernel.CAP_SETGID,
        kernel.CAP_SETUID,
    )
)
BUILD_CAPABILITIES = ROOT_CAPABILITIES | {kernel.CAP_SYS_CHROOT, kernel.CAP_SETFCAP}

_OPEN_FILES = 4096
_MASKED = ("kcore", "keys", "sysrq-trigger", "timer_list", "kmsg", "latency_stats", "sched_debug", "scsi")
_READ_ONLY = ("sys", "irq", "bus", "fs", "acpi")


class CellError(Exception):
    """The program can't be started as asked; `kind` is `user`, `cwd` or `setup`."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


def run_cell(
    order: dict[str, Any], streams: tuple[int, int, int], report: int, root: str, life: int
) -> NoReturn:
    """Set up, run the program, write its end as JSON to `report`. Never returns to the supervisor's loop."""
    try:
        result = _run(order, streams, report, root, life)
    except CellError as error:
        result = {"error": str(error), "kind": error.kind}
    except BaseException as error:  # noqa: BLE001  a cloned child has no caller to raise to
        result = {"error": f"{type(error).__name__}: {error}", "kind": "setup"}
    with contextlib.suppress(OSError):
        os.write(report, json.dumps(result).encode())
    os._exit(0)


def _run(
    order: dict[str, Any], streams: tuple[int, int, int], report: int, root: str, life: int
) -> dict[str, Any]:
    kernel.die_with_parent()
    is_orphan = select.select([life], [], [], 0)[0]  # its writing end went with the supervisor
    if is_orphan:
        os._exit(1)
    _close_all_but({*streams, report})
    kernel.set_host_name("sandbox")
    if not order["has_network"]:
        kernel.bring_up_loopback()
    mount_private_parts(root, hosts_network=order["has_network"])
    os.chdir(root)
    kernel.pivot_here()
    who = account(order["user"])
    if who is None:
        raise CellError("user", f"the image has no account called {order['user']!r}")
    _limit(order)
    try:
        os.chdir(order["cwd"])  # as root still, as an engine does
    except OSError as error:
        raise CellError("cwd", f"can't start in {order['cwd']!r}: {error.strerror}") from None
    _become(who, order)
    kernel.die_with_parent()  # a change of user has undone it
    kernel.forbid_new_privileges()
    kernel.install_filter(bytes.fromhex(order["filter"]))
    kernel.hide_from_tracers()
    environment = {"HOME": who.home, **order["env"]}
    try:
        program = _spawn(order["argv"], environment, streams)
    except OSError as error:
        # As a shell says it: 127 for no such program, 126 for one that can't be run.
        with contextlib.suppress(OSError):
            os.write(streams[2], f"{order['argv'][0]}: {error.strerror}\n".encode(errors="surrogateescape"))
        return {"exit": 127 if error.errno in (errno.ENOENT, errno.ENOTDIR) else 126}
    for descriptor in streams:
        os.close(descriptor)
    os.write(report, b"\n")  # the program is on its way
    while True:
        pid, status = os.wait()
        if pid == program:
            if os.WIFSIGNALED(status):
                return {"signal": os.WTERMSIG(status)}
            return {"exit": os.WEXITSTATUS(status)}


def _close_all_but(kept: set[int]) -> None:
    start = 0
    for descriptor in sorted(kept):
        os.closerange(start, descriptor)
        start = descriptor + 1
    os.closerange(start, 65536)


def _spawn(argv: list[str], environment: dict[str, str], streams: tuple[int, int, int]) -> int:
    # No umask, no working folder: those are this process's own already.
    return os.posix_spawn(
        argv[0],
        argv,
        environment,
        file_actions=[(os.POSIX_SPAWN_DUP2, stream, number) for number, stream in enumerate(streams)],
        setsid=True,
        setsigmask=(),
        setsigdef=[
            number for number in signal.valid_signals() if number not in (signal.SIGKILL, signal.SIGSTOP)
        ],
    )


def mount_private_parts(root: str, *, hosts_network: bool) -> None:
    """What each program has for itself: /proc, terminals, shared memory; with a network, its resolver."""
    for name in ("proc", "dev"):
        demand_real(root, name)
    proc = f"{root}/proc"
    kernel.mount("proc", proc, "proc", kernel.MS_NOSUID | kernel.MS_NODEV | kernel.MS_NOEXEC)
    for name in _READ_ONLY:
        if os.path.isdir(f"{proc}/{name}"):
            kernel.bind(f"{proc}/{name}", f"{proc}/{name}", is_read_only=True)
    for name in _MASKED:
        if os.path.isfile(f"{proc}/{name}"):
            kernel.bind("/dev/null", f"{proc}/{name}", is_read_only=True)
    kernel.mount(
        "devpts",
        f"{root}/dev/pts",
        "devpts",
        kernel.MS_NOSUID | kernel.MS_NOEXEC,
        "newinstance,ptmxmode=0666",
    )
    kernel.mount("shm", f"{root}/dev/shm", "tmpfs", kernel.MS_NOSUID | kernel.MS_NODEV, "size=64m,mode=1777")
    if hosts_network:
        demand_real(root, "etc")
        if not stat.S_ISREG(os.lstat(f"{root}/etc/resolv.conf").st_mode):
            raise CellError("setup", "/etc/resolv.conf of the image is not a file")
        if os.path.exists("/etc/resolv.conf"):
            kernel.bind("/etc/resolv.conf", f"{root}/etc/resolv.conf", is_read_only=True)


def demand_real(root: str, name: str) -> None:
    """Raise unless `name` in the root is a folder: a link there would take the mount elsewhere."""
    try:
        is_folder = stat.S_ISDIR(os.lstat(f"{root}/{name}").st_mode)
    except OSError:
        is_folder = False
    if not is_folder:
        raise CellError("setup", f"/{name} of the image is not a folder")


def _limit(order: dict[str, Any]) -> None:
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w", encoding="ascii") as file:
        file.write("1000")  # the program goes first, the supervisor stays
    limits = order["limits"]
    _lower(resource.RLIMIT_CORE, 0)
    _lower(resource.RLIMIT_NOFILE, _OPEN_FILES)
    _lower(resource.RLIMIT_FSIZE, limits["disk_bytes"])
    _lower(resource.RLIMIT_NPROC, limits["processes"])
    _lower(resource.RLIMIT_MEMLOCK, 64 << 20)
    _lower(resource.RLIMIT_MSGQUEUE, 819200)
    if limits["address_bytes"]:
        _lower(resource.RLIMIT_AS, limits["address_bytes"])
    if order["cores"]:
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: order["cores"]])
    os.umask(order["umask"])


def _lower(kind: int, value: int) -> None:
    hard = resource.getrlimit(kind)[1]
    if hard != resource.RLIM_INFINITY:
        value = min(value, hard)
    resource.setrlimit(kind, (value, value))


def _become(who: Account, order: dict[str, Any]) -> None:
    """Only the rights of the account: none but for root, and for root what changing users takes."""
    kept = frozenset(order["capabilities"]) if who.uid == 0 else frozenset()
    kernel.keep_in_bounds(kept)
    if order["switches_user"]:
        os.setgroups(who.groups)
        os.setresgid(who.gid, who.gid, who.gid)
        os.setresuid(who.uid, who.uid, who.uid)
    kernel.set_capabilities(kept)
