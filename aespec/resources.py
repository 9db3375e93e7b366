"""Folders: those of data that travel with the code, and the one of what can be made again."""

import os
from pathlib import Path

FOLDERS = ("domains", "grammar", "templates")
"""Every folder that the wheel carries below `aespec/_data` and the checkout holds at its top."""


def folder(name: str) -> Path:
    """The folder of that name, from the installed wheel or else from the checkout.

    Data beside this file means an installed wheel. An editable install leaves a stale copy among the
    installed packages too, but there this file is the checkout's own, so that copy is never seen.
    Raises ValueError for a name that is not in FOLDERS and FileNotFoundError where the installation lacks
    the folder, which is a broken installation and never a fault of a spec.
    """
    if name not in FOLDERS:
        raise ValueError(f"no data folder is called {name!r}; there are {', '.join(FOLDERS)}")
    package = Path(__file__).resolve().parent
    for candidate in (package / "_data" / name, package.parent / name):
        if candidate.is_dir():
            return candidate
    raise FileNotFoundError(f"this installation of aespec lacks its folder {name!r}; install it again")


def cache_folder() -> Path:
    """Where everything lies that can be made again: layers, results of programs, journals.

    `$AESPEC_CACHE`, else `aespec` in `$XDG_CACHE_HOME` (ignored where relative, as its standard says), else
    `~/.cache/aespec`. It may be missing, or not writable.
    """
    if chosen := os.environ.get("AESPEC_CACHE"):
        return Path(chosen).absolute()
    shared = Path(os.environ.get("XDG_CACHE_HOME", ""))
    if shared.is_absolute():
        return shared / "aespec"
    return Path(os.path.expanduser("~")) / ".cache" / "aespec"  # noqa: PTH111 - never raises where home is unknown
