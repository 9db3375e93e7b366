"""Files of the user's that commands write: the old one stands until the new one is whole."""

from __future__ import annotations

import contextlib
import glob
import os
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

_STALE_S = 60.0


def replace_text(path: Path, text: str) -> None:
    """Replace a file's text atomically, keeping its permission bits; of a link, the target is replaced."""
    replace_bytes(path, text.encode())


def replace_bytes(path: Path, data: bytes) -> None:
    """The same for bytes; a file that isn't there yet is made. What killed processes left is removed."""
    path = path.resolve()
    _reap(path)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    with _naming(path):
        try:
            temporary.write_bytes(data)
            if path.exists():
                temporary.chmod(path.stat().st_mode & 0o7777)
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)


def require_writable(folder: Path) -> None:
    """Make a folder for results, and see that it takes files, before they are worked out. Raises OSError."""
    folder.mkdir(parents=True, exist_ok=True)
    with _naming(folder), tempfile.TemporaryFile(dir=folder):
        pass


@contextlib.contextmanager
def _naming(path: Path) -> Iterator[None]:
    """Name in an error the place that the user knows: a full disk's names none, others a temporary file."""
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, error.strerror or str(error), str(path)) from error


def _reap(path: Path) -> None:
    for left in path.parent.glob(f".{glob.escape(path.name)}.*.tmp"):
        with contextlib.suppress(OSError):
            if time.time() - left.lstat().st_mtime > _STALE_S:
                left.unlink()
