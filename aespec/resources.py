"""The folders of data that travel with the code: `grammar`, `templates` and `domains`."""

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
