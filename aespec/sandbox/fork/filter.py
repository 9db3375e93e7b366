"""The seccomp filter of every program in the sandbox: what no task needs and reaches far into the kernel.

A list of refusals, not of permissions: tasks run compilers, interpreters and databases, and namespaces
and missing capabilities are the first wall. Standard library only.
"""

from __future__ import annotations

import os
import struct

# Numbers from asm/unistd.h: (x86_64, aarch64); None where the machine lacks the call.
_REFUSED: dict[str, tuple[int | None, int | None]] = {
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "unshare": (272, 97),
    "setns": (308, 268),
    "open_tree": (428, 428),
    "move_mount": (429, 429),
    "fsopen": (430, 430),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fspick": (433, 433),
    "mount_setattr": (442, 442),
    "open_tree_attr": (467, 467),
    "kexec_load": (246, 104),
    "kexec_file_load": (320, 294),
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "delete_module": (176, 106),
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    "userfaultfd": (323, 282),
    "reboot": (169, 142),
    "swapon": (167, 224),
    "swapoff": (168, 225),
    "acct": (163, 89),
    "settimeofday": (164, 170),
    "clock_settime": (227, 112),
    "adjtimex": (159, 171),
    "clock_adjtime": (305, 266),
    "quotactl": (179, 60),
    "quotactl_fd": (443, 443),
    "nfsservctl": (180, 42),
    "lookup_dcookie": (212, 18),
    "name_to_handle_at": (303, 264),
    "open_by_handle_at": (304, 265),
    "syslog": (103, 116),
    "fanotify_init": (300, 262),
    "kcmp": (312, 272),
    "iopl": (172, None),
    "ioperm": (173, None),
    "uselib": (134, None),
    "ustat": (136, None),
    "sysfs": (139, None),
    "_sysctl": (156, None),
    "vhangup": (153, 58),
}
# Answered as if the kernel had never heard of them: libraries then fall back to the older call.
_UNKNOWN = {
    "clone3": (435, 435),
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
}
_CLONE = (56, 220)
_SOCKET = (41, 198)
_IOCTL = (16, 29)

# Where only one uid exists, a change of owner or user can't happen. It is answered with success, as a build
# tool expects, and changes nothing; the backend reports ownership as not measured.
_PRETENDED: dict[str, tuple[int | None, int | None]] = {
    "chown": (92, None),
    "fchown": (93, 55),
    "lchown": (94, None),
    "fchownat": (260, 54),
    "setuid": (105, 146),
    "setgid": (106, 144),
    "setreuid": (113, 145),
    "setregid": (114, 143),
    "setgroups": (116, 159),
    "setresuid": (117, 147),
    "setresgid": (119, 149),
    "setfsuid": (122, 151),
    "setfsgid": (123, 152),
}

# CLONE_NEWTIME, NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET
_NAMESPACES = 0x80 | 0x00020000 | 0x02000000 | 0x04000000 | 0x08000000 | 0x10000000 | 0x20000000 | 0x40000000
_FOREIGN_FAMILIES = (
    38,
    40,
)  # AF_ALG: kernel crypto; AF_VSOCK: reaches the hypervisor past the network namespace
_TERMINAL_TRICKS = (0x5412, 0x541C)  # TIOCSTI types into a terminal, TIOCLINUX

_ALLOW, _KILL = 0x7FFF0000, 0x80000000
_EPERM, _ENOSYS, _EAFNOSUPPORT = 1, 38, 97
_ERRNO = 0x00050000
_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_NUMBER_AT, _ARCHITECTURE_AT, _FIRST_AT, _SECOND_AT = 0, 4, 16, 24
_ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_X32_BIT = 0x40000000


def _record(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("=HBBI", code, if_true, if_false, value)


def _answer(number: int, result: int) -> list[bytes]:
    return [_record(_EQUAL, number, 0, 1), _record(_RETURN, result)]


def _answer_argument(number: int, offset: int, tests: list[bytes], result: int) -> list[bytes]:
    """When the call is `number` and one test of its argument's low word holds, the result; else go on."""
    body = [_record(_LOAD, offset)]
    for index, test in enumerate(tests):
        code, _, _, value = struct.unpack("=HBBI", test)
        is_last = index == len(tests) - 1
        # A hit jumps over the remaining tests to the result; the last miss jumps over the result.
        body.append(_record(code, value, len(tests) - 1 - index, 1 if is_last else 0))
    body += [_record(_RETURN, result), _record(_LOAD, _NUMBER_AT)]
    return [_record(_EQUAL, number, 0, len(body)), *body]


def filter_program(*, pretends_ownership: bool) -> bytes:
    """The filter as packed records for this machine. Raises OSError on a machine it does not know."""
    machine = os.uname().machine
    if machine not in _ARCHITECTURES:
        raise OSError(_ENOSYS, f"no seccomp filter is written for the machine {machine}")
    column = list(_ARCHITECTURES).index(machine)
    records = [
        _record(_LOAD, _ARCHITECTURE_AT),
        _record(_EQUAL, _ARCHITECTURES[machine], 1, 0),
        _record(_RETURN, _KILL),
        _record(_LOAD, _NUMBER_AT),
    ]
    if machine == "x86_64":
        records += [_record(_AT_LEAST, _X32_BIT, 0, 1), _record(_RETURN, _ERRNO | _ENOSYS)]
    tables: list[tuple[dict[str, tuple[int | None, int | None]], int]] = [(_REFUSED, _ERRNO | _EPERM)]
    tables.append((dict(_UNKNOWN), _ERRNO | _ENOSYS))
    if pretends_ownership:
        tables.append((_PRETENDED, _ERRNO | 0))
    for table, result in tables:
        for numbers in table.values():
            number = numbers[column]
            if number is not None:
                records += _answer(number, result)
    records += _answer_argument(_CLONE[column], _FIRST_AT, [_record(_ANY_BIT, _NAMESPACES)], _ERRNO | _EPERM)
    families = [_record(_EQUAL, family) for family in _FOREIGN_FAMILIES]
    records += _answer_argument(_SOCKET[column], _FIRST_AT, families, _ERRNO | _EAFNOSUPPORT)
    tricks = [_record(_EQUAL, request) for request in _TERMINAL_TRICKS]
    records += _answer_argument(_IOCTL[column], _SECOND_AT, tricks, _ERRNO | _EPERM)
    records.append(_record(_RETURN, _ALLOW))
    return b"".join(records)
