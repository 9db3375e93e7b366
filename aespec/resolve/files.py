"""Files beside a spec, read without leaving its folder and without waiting for what isn't a file."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from aespec.records import dataclass
from aespec.resolve.paths import has_control, relative_fault

LARGEST_ASSET_BYTES = 64 * 1024**2
"""One asset; a bundle travels over networks, and predicates read files up to the same size."""


@dataclass(frozen=True, slots=True)
class FileFault:
    """Why a file can't be used: a slug, a headline's second half, and what to do."""

    slug: str
    text: str
    help: str


def find_beside(folder: Path | None, name: str) -> Path | FileFault:
    """The real path of a file beside the spec; a fault where it isn't one or lies elsewhere."""
    if folder is None:
        return FileFault(
            "unreadable-asset", "can't be found: this text has no file", "Write the spec to a file first."
        )
    fault = _name_fault(name)
    if fault is not None:
        return FileFault("escaping-asset", fault, "Put the file beside the spec and name it relative to it.")
    try:
        root = folder.resolve()
        real = (folder / name).resolve(strict=True)
    except (OSError, RuntimeError, ValueError) as trouble:
        return _read_fault(trouble)
    if not real.is_relative_to(root):
        return FileFault(
            "escaping-asset",
            "is a link that leads out of the spec's folder",
            "Copy the file itself beside the spec.",
        )
    return real


def read_beside(folder: Path | None, name: str) -> bytes | FileFault:
    """The bytes of a file beside the spec, or why they can't be had."""
    real = find_beside(folder, name)
    if isinstance(real, FileFault):
        return real
    try:
        return _read_regular(real)
    except OSError as trouble:
        return _read_fault(trouble)


def _name_fault(name: str) -> str | None:
    if not name:
        return "is empty"
    if name.startswith(("/", "\\", "~")):
        return "isn't relative"
    if has_control(name):
        return "holds a control character"
    if ".." in name.split("/"):
        return "leads out of the spec's folder"
    return relative_fault(name)


def _read_regular(real: Path) -> bytes | FileFault:
    """Asked twice: before opening, since opening a device may do something, and after, for a race."""
    not_a_file = FileFault("unreadable-asset", "is not a regular file", "Name a regular file.")
    if not stat.S_ISREG(real.lstat().st_mode):
        return not_a_file
    handle = os.open(real, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    with os.fdopen(handle, "rb") as stream:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            return not_a_file
        data = stream.read(LARGEST_ASSET_BYTES + 1)
    if len(data) > LARGEST_ASSET_BYTES:
        return FileFault(
            "large-asset",
            f"is larger than {LARGEST_ASSET_BYTES // 1024**2} MiB",
            "Make it smaller, or make it by a `generate` program.",
        )
    return data


def _read_fault(trouble: Exception) -> FileFault:
    if isinstance(trouble, FileNotFoundError | NotADirectoryError):
        return FileFault("missing-asset", "doesn't exist", "Put it beside the spec, or correct the name.")
    if isinstance(trouble, PermissionError):
        return FileFault("unreadable-asset", "may not be read by you", "Give yourself the right to read it.")
    reason = trouble.strerror if isinstance(trouble, OSError) and trouble.strerror else "its links go round"
    return FileFault("unreadable-asset", f"can't be read ({reason})", "Put a readable regular file there.")
