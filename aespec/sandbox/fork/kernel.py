"""The Linux calls that the standard library lacks, by ctypes. Each raises OSError with the call's name.

Standard library only: the supervisor loads this module with `python -I -S`.
"""

from __future__ import annotations

import ctypes
import os
import signal

CLONE_NEWNS = 0x00020000
CLONE_NEWUTS = 0x04000000
CLONE_NEWIPC = 0x08000000
CLONE_NEWUSER = 0x10000000
CLONE_NEWPID = 0x20000000
CLONE_NEWNET = 0x40000000

MS_RDONLY = 1
MS_NOSUID = 2
MS_NODEV = 4
MS_NOEXEC = 8
MS_REMOUNT = 32
MS_BIND = 4096
MS_REC = 16384
MS_PRIVATE = 1 << 18

MNT_DETACH = 2

# <linux/capability.h>
CAP_CHOWN = 0
CAP_DAC_OVERRIDE = 1
CAP_FOWNER = 3
CAP_FSETID = 4
CAP_KILL = 5
CAP_SETGID = 6
CAP_SETUID = 7
CAP_SYS_CHROOT = 18
CAP_SETFCAP = 31
LAST_CAP = 63

_PR_SET_PDEATHSIG = 1
_PR_SET_DUMPABLE = 4
_PR_CAPBSET_DROP = 24
_PR_SET_NO_NEW_PRIVS = 38
_PR_CAP_AMBIENT = 47
_PR_CAP_AMBIENT_CLEAR_ALL = 4
_EINVAL = 22

# asm/unistd.h of the two machines that the backend knows: clone, pivot_root, capset.
_NUMBERS = {"x86_64": (56, 155, 126), "aarch64": (220, 41, 91)}
_OPEN_TREE, _MOVE_MOUNT, _MOUNT_SETATTR = 428, 429, 442  # the same on both

_AT_EMPTY_PATH = 0x1000
_AT_RECURSIVE = 0x8000
_OPEN_TREE_CLONE = 1
_OPEN_TREE_CLOEXEC = os.O_CLOEXEC
_MOVE_MOUNT_F_EMPTY_PATH = 4
_MOUNT_ATTR_RDONLY = 1
_MOUNT_ATTR_NOSUID = 2
_MOUNT_ATTR_NODEV = 4

_libc = ctypes.CDLL(None, use_errno=True)
_libc.syscall.restype = ctypes.c_long


def _checked(result: int, what: str) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
    return result


def _numbers() -> tuple[int, int, int]:
    try:
        return _NUMBERS[os.uname().machine]
    except KeyError:
        raise OSError(38, f"the fork sandbox does not know the machine {os.uname().machine}") from None


def _syscall(what: str, number: int, *arguments: object) -> int:
    return _checked(_libc.syscall(ctypes.c_long(number), *arguments), what)


def clone_process(flags: int) -> int:
    """Fork with new namespaces in one step; 0 in the child. Only for a process with a single thread."""
    zero = ctypes.c_ulong(0)
    return _syscall("clone", _numbers()[0], ctypes.c_ulong(flags | signal.SIGCHLD), zero, zero, zero, zero)


def unshare(flags: int) -> None:
    """Leave the namespaces named by `flags` for new ones."""
    _checked(_libc.unshare(ctypes.c_int(flags)), "unshare")


def set_host_name(name: str) -> None:
    """The name of this UTS namespace."""
    content = name.encode()
    _checked(_libc.sethostname(content, ctypes.c_size_t(len(content))), "sethostname")


def bring_up_loopback() -> None:
    """Start `lo` in this network namespace, which a new one lacks."""
    family, kind, get_flags, set_flags, is_up = (
        2,
        2,
        0x8913,
        0x8914,
        1,
    )  # AF_INET, SOCK_DGRAM, SIOC[GS]IFFLAGS
    descriptor = _checked(_libc.socket(family, kind, 0), "socket")
    try:
        request = ctypes.create_string_buffer(b"lo", 40)  # struct ifreq: a name of 16 bytes, then the flags
        _checked(_libc.ioctl(descriptor, ctypes.c_ulong(get_flags), request), "ioctl(SIOCGIFFLAGS)")
        request[16] = bytes([request.raw[16] | is_up])
        _checked(_libc.ioctl(descriptor, ctypes.c_ulong(set_flags), request), "ioctl(SIOCSIFFLAGS)")
    finally:
        os.close(descriptor)


def mount(source: str, target: str, kind: str, flags: int = 0, data: str = "") -> None:
    """Attach a file system, or change how one is attached."""
    _checked(
        _libc.mount(
            os.fsencode(source),
            os.fsencode(target),
            os.fsencode(kind) or None,
            ctypes.c_ulong(flags),
            os.fsencode(data) or None,
        ),
        f"mount {kind or 'bind'} on {target}",
    )


def unmount(target: str) -> None:
    """Detach what is mounted at `target`; it goes when nobody uses it any more."""
    _checked(_libc.umount2(os.fsencode(target), MNT_DETACH), f"umount {target}")


def bind(source: str, target: str, *, is_read_only: bool) -> None:
    """Show `source` at `target`, without devices and setuid; only what is mounted at `source` itself."""
    mount(source, target, "", MS_BIND)
    if is_read_only:
        mount("", target, "", MS_REMOUNT | MS_BIND | MS_RDONLY | _locked_flags(target))


def _locked_flags(path: str) -> int:
    """Flags of the mount at `path` that a less privileged namespace may not take off."""
    flags = os.statvfs(path).f_flag
    kept = 0
    for seen, flag in ((os.ST_NOSUID, MS_NOSUID), (os.ST_NODEV, MS_NODEV), (os.ST_NOEXEC, MS_NOEXEC)):
        if flags & seen:
            kept |= flag
    for seen, flag in ((os.ST_NOATIME, 1024), (os.ST_NODIRATIME, 2048), (os.ST_RELATIME, 1 << 21)):
        if flags & seen:
            kept |= flag
    return kept


class _MountAttributes(ctypes.Structure):
    _fields_ = (
        ("attr_set", ctypes.c_uint64),
        ("attr_clr", ctypes.c_uint64),
        ("propagation", ctypes.c_uint64),
        ("userns_fd", ctypes.c_uint64),
    )


def open_tree(path: str) -> int:
    """A detached read-only copy of the mounts from `path` down, no devices, no setuid; a descriptor."""
    descriptor = _syscall(
        "open_tree",
        _OPEN_TREE,
        ctypes.c_int(-100),
        os.fsencode(path),
        ctypes.c_uint(_OPEN_TREE_CLONE | _OPEN_TREE_CLOEXEC | _AT_RECURSIVE),
    )
    attributes = _MountAttributes(_MOUNT_ATTR_RDONLY | _MOUNT_ATTR_NOSUID | _MOUNT_ATTR_NODEV, 0, 0, 0)
    try:
        _syscall(
            "mount_setattr",
            _MOUNT_SETATTR,
            ctypes.c_int(descriptor),
            b"",
            ctypes.c_uint(_AT_EMPTY_PATH | _AT_RECURSIVE),
            ctypes.byref(attributes),
            ctypes.c_size_t(ctypes.sizeof(attributes)),
        )
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


def attach_tree(descriptor: int, target: str) -> None:
    """Mount what `open_tree` gave at `target`."""
    _syscall(
        f"move_mount to {target}",
        _MOVE_MOUNT,
        ctypes.c_int(descriptor),
        b"",
        ctypes.c_int(-100),
        os.fsencode(target),
        ctypes.c_uint(_MOVE_MOUNT_F_EMPTY_PATH),
    )


def pivot_here() -> None:
    """Make the current folder, a mount point, the root, and let the old root go."""
    _syscall("pivot_root", _numbers()[1], b".", b".")
    unmount(".")
    os.chdir("/")


def _prctl(what: str, option: int, *arguments: int) -> None:
    padded = [ctypes.c_ulong(value) for value in (*arguments, 0, 0, 0, 0)[:4]]
    _checked(_libc.prctl(ctypes.c_int(option), *padded), what)


def die_with_parent() -> None:
    """Have this process killed when its maker ends. A change of user undoes it: call it after."""
    _prctl("prctl(PDEATHSIG)", _PR_SET_PDEATHSIG, signal.SIGKILL)


def forbid_new_privileges() -> None:
    """Setuid bits and file capabilities give nothing from now on, to this process and all after it."""
    _prctl("prctl(NO_NEW_PRIVS)", _PR_SET_NO_NEW_PRIVS, 1)


def hide_from_tracers() -> None:
    """Close this process's memory and descriptors to others of the same user."""
    _prctl("prctl(DUMPABLE)", _PR_SET_DUMPABLE, 0)


def keep_in_bounds(kept: frozenset[int]) -> None:
    """Drop every capability but `kept` from the bounding set, and all ambient ones."""
    _prctl("prctl(CAP_AMBIENT)", _PR_CAP_AMBIENT, _PR_CAP_AMBIENT_CLEAR_ALL)
    for capability in range(LAST_CAP + 1):
        if capability in kept:
            continue
        try:
            _prctl("prctl(CAPBSET_DROP)", _PR_CAPBSET_DROP, capability)
        except OSError as error:
            if error.errno == _EINVAL:  # above the kernel's last one
                return
            raise


def set_capabilities(kept: frozenset[int]) -> None:
    """Leave this process exactly `kept`, effective and permitted, nothing inheritable."""
    low = sum(1 << capability for capability in kept if capability < 32)
    high = sum(1 << (capability - 32) for capability in kept if capability >= 32)
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)  # _LINUX_CAPABILITY_VERSION_3, this process
    data = (ctypes.c_uint32 * 6)(low, low, 0, high, high, 0)
    _syscall("capset", _numbers()[2], ctypes.byref(header), ctypes.byref(data))


def install_filter(program: bytes) -> None:
    """Put a seccomp filter (packed `sock_filter` records) on this process and all after it."""

    class _Program(ctypes.Structure):
        _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_char_p))

    packed = _Program(len(program) // 8, program)
    option, mode = 22, 2  # PR_SET_SECCOMP, SECCOMP_MODE_FILTER
    _checked(
        _libc.prctl(ctypes.c_int(option), ctypes.c_ulong(mode), ctypes.byref(packed), 0, 0), "prctl(SECCOMP)"
    )
