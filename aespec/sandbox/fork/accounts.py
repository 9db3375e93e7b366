"""Accounts by the root's own /etc/passwd and /etc/group as text: a name service would load foreign code.

Standard library only.
"""

from __future__ import annotations

import os
import stat
from typing import NamedTuple

_LARGEST_FILE_BYTES = 1 << 20


class Account(NamedTuple):
    """Who a program runs as; `home` is "/" where the file names none."""

    name: str
    uid: int
    gid: int
    groups: tuple[int, ...]
    home: str


def account(wanted: str) -> Account | None:
    """The account in this process's own root: see `find_account`."""
    return find_account(wanted, _text("/etc/passwd"), _text("/etc/group"))


def _text(path: str) -> str:
    try:
        # Not blocking: the sandbox may have put a FIFO there.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    except OSError:
        return ""
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):  # a folder can be opened, too
        os.close(descriptor)
        return ""
    with open(descriptor, "rb") as file:
        return file.read(_LARGEST_FILE_BYTES).decode("utf-8", "surrogateescape")


def find_account(wanted: str, passwd: str, group_text: str) -> Account | None:
    """The account of a name, or of a number with or without `:gid`; None when there is no such name."""
    name, _, group = wanted.partition(":")
    for line in passwd.split("\n"):
        fields = line.split(":")
        if (
            len(fields) >= 6
            and name in (fields[0], fields[2])
            and fields[2].isdigit()
            and fields[3].isdigit()
        ):
            gid = int(group) if group.isdigit() else int(fields[3])
            return Account(fields[0], int(fields[2]), gid, _groups(fields[0], group_text), fields[5] or "/")
    if name == "root":
        return Account("root", 0, 0, (), "/root")
    if name.isdigit():
        return Account(name, int(name), int(group) if group.isdigit() else int(name), (), "/")
    return None


def _groups(name: str, group_text: str) -> tuple[int, ...]:
    found = set()
    for line in group_text.split("\n"):
        fields = line.split(":")
        if len(fields) >= 4 and fields[2].isdigit() and name in fields[3].split(","):
            found.add(int(fields[2]))
    return tuple(sorted(found))
