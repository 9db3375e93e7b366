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
    """The account of a name or a number, with or without `:group`; None when there is no such account."""
    name, sign, group = wanted.partition(":")
    asked = find_group(group, group_text) if sign and group else None
    if sign and group and asked is None:
        return None
    for line in passwd.split("\n"):
        fields = line.split(":")
        if (
            len(fields) >= 6
            and name in (fields[0], fields[2])
            and fields[2].isdigit()
            and fields[3].isdigit()
        ):
            gid = int(fields[3]) if asked is None else asked
            return Account(fields[0], int(fields[2]), gid, _groups(fields[0], group_text), fields[5] or "/")
    if name == "root":
        return Account("root", 0, asked or 0, (), "/root")
    if name.isdigit():
        return Account(name, int(name), int(name) if asked is None else asked, (), "/")
    return None


def find_group(wanted: str, group_text: str) -> int | None:
    """The number of a group's name, or the number itself; None when there is no such name."""
    if wanted.isdigit():
        return int(wanted)
    for line in group_text.split("\n"):
        fields = line.split(":")
        if len(fields) >= 3 and fields[0] == wanted and fields[2].isdigit():
            return int(fields[2])
    return 0 if wanted == "root" else None


def _groups(name: str, group_text: str) -> tuple[int, ...]:
    found = set()
    for line in group_text.split("\n"):
        fields = line.split(":")
        if len(fields) >= 4 and fields[2].isdigit() and name in fields[3].split(","):
            found.add(int(fields[2]))
    return tuple(sorted(found))
