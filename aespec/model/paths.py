"""Paths of a sandbox, compared as texts: absolute, normal, POSIX."""

from __future__ import annotations


def is_below(path: str, folder: str) -> bool:
    """Whether a path is a folder itself or something in it; everything is below `/`."""
    return path == folder or path.startswith(folder.rstrip("/") + "/")
