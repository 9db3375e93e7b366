"""Paths of the sandbox: absolute, normal, and not one of those that belong to the harness."""

from __future__ import annotations

from collections.abc import Iterable

from aespec.model.expressions import Ref, Text
from aespec.model.paths import is_below

RESERVED = ("/tests", "/logs", "/solution", "/proc", "/sys", "/dev")
"""Folders of the harness and of the kernel: no task puts or judges anything there."""

LONGEST_PATH = 1024
"""Characters; Linux takes 4096 bytes for a whole path, and archives need room for their prefix."""

LONGEST_COMPONENT_BYTES = 255
"""Of one component, the limit of the usual file systems."""


def has_control(text: str) -> bool:
    """Whether a text holds control characters, NUL included, or a half of a surrogate pair."""
    return any(char < " " or "\x7f" <= char < "\xa0" or "\ud800" <= char <= "\udfff" for char in text)


def path_fault(path: str, *, is_folder_allowed: bool, is_partial: bool = False) -> str | None:
    """Why an absolute path can't be used, or None; `is_partial` where a value stands in it."""
    if not path.startswith("/"):
        return "isn't absolute: it must begin with `/`"
    if path == "/":
        return None if is_folder_allowed else "is the root folder"
    inner = path[1:-1] if is_folder_allowed and path.endswith("/") else path[1:]
    return relative_fault(inner, is_partial=is_partial)


def relative_fault(path: str, *, is_partial: bool = False) -> str | None:
    """Why a path below some folder can't be used, or None."""
    if has_control(path):
        return "holds a control character"
    if len(path) > LONGEST_PATH:
        return f"is longer than {LONGEST_PATH} characters"
    for name in path.split("/"):
        if name == "":
            return "isn't normal: it has an empty component (`//`, or `/` at the end)"
        if name in {".", ".."}:
            return f"isn't normal: it has a component `{name}`"
        if not is_partial and len(name.encode(errors="replace")) > LONGEST_COMPONENT_BYTES:
            return f"has a component longer than {LONGEST_COMPONENT_BYTES} bytes"
    return None


def reserved_root(path: str) -> str | None:
    """The reserved folder that a path is in, or None."""
    return next((root for root in RESERVED if path == root or path.startswith(root + "/")), None)


def sketch(text: Text, filler: str = "\x00") -> tuple[str, bool]:
    """The path with `filler` where values stand, and whether there are any."""
    has_refs = any(not isinstance(part, str) for part in text.parts)
    return "".join(part if isinstance(part, str) else filler for part in text.parts), has_refs


def static_path(text: Text) -> str | None:
    """The path without a trailing slash if no value stands in it, else None."""
    if any(isinstance(part, Ref) for part in text.parts):
        return None
    path = "".join(part for part in text.parts if isinstance(part, str))
    return path.rstrip("/") or "/"


def written_below(path: str, written: Iterable[str]) -> bool:
    """Whether something written is the path itself, lies in it, or is a folder that holds it."""
    return any(is_below(item, path) or is_below(path, item) for item in written)
