"""Temporary folders that outlive no process for long: whoever comes next removes those of killed ones."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import tempfile
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

PREFIX = "aespec-scratch-"

YOUNG_S = 60.0
"""A folder is made before it is held; one that is younger than this may be just about to be."""


REMEDY = "set TMPDIR to a folder of your own on a disk with room"
"""What to do where temporary folders can't be made or are full."""


class ScratchError(OSError):
    """No temporary folder can be made; `remedy` tells the way out."""

    remedy = REMEDY


@contextlib.contextmanager
def scratch_folder(purpose: str) -> Iterator[Path]:
    """A temporary folder of this process, removed at the end. Raises ScratchError where none can be made.

    `purpose` is a word for its name. The ones that killed processes left are removed first.
    """
    try:
        reap(Path(tempfile.gettempdir()).glob(f"{PREFIX}*"))
        folder = Path(tempfile.mkdtemp(prefix=f"{PREFIX}{purpose}-"))
    except OSError as error:
        raise ScratchError(error.errno, f"no temporary folder can be made: {error.strerror}") from error
    try:
        with held(folder):
            yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def is_scratch(path: Path) -> bool:
    """Whether a path lies in a temporary folder of this module, so that no user has chosen it."""
    return any(part.startswith(PREFIX) for part in path.parts)


@contextlib.contextmanager
def held(folder: Path) -> Iterator[None]:
    """Keep others from reaping a folder. The kernel lets go of it when the process ends, however it ends."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        with contextlib.suppress(OSError):  # a file system without locks: then nobody can reap it either
            fcntl.flock(descriptor, fcntl.LOCK_SH)
        yield
    finally:
        os.close(descriptor)


def reap(folders: Iterable[Path]) -> None:
    """Remove those folders of the user's own that nobody holds any more; trouble is passed over."""
    for folder in folders:
        with contextlib.suppress(OSError):
            descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
            try:
                found = os.fstat(descriptor)
                if found.st_uid != os.geteuid() or time.time() - found.st_mtime < YOUNG_S:
                    continue
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(folder, ignore_errors=True)
            finally:
                os.close(descriptor)
