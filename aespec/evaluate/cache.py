"""Results of programs kept by content, so that an unchanged program is never run twice."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import tempfile
from pathlib import Path

from aespec.model.expressions import Json

SIZE_LIMIT_BYTES = 512 * 1024**2
"""What the folder may hold; the entries not used for longest go first."""


class ContentCache:
    """JSON values by a hex key, one file each. A missing, damaged or unwritable cache only costs time.

    A file is the SHA-256 of its payload, a line end, and the payload. It is written beside and renamed, so a
    reader sees a whole one or none.
    """

    def __init__(self, folder: Path, limit_bytes: int = SIZE_LIMIT_BYTES) -> None:
        """Entries lie in `folder`, which is made when the first one is stored."""
        self.folder = folder
        self.limit_bytes = limit_bytes
        self._stored_bytes = 0
        self._is_pruned = False

    def load(self, key: str) -> Json:
        """The value, or None where there is none or the file is damaged."""
        path = self._path(key)
        try:
            head, _, payload = path.read_bytes().partition(b"\n")
            if hashlib.sha256(payload).hexdigest().encode() != head:
                return None
            with contextlib.suppress(OSError):
                os.utime(path)
            value: Json = json.loads(payload)
        except (OSError, ValueError):
            return None
        return value

    def store(self, key: str, value: Json) -> None:
        """Keep a value; trouble with the disk is passed over."""
        payload = json.dumps(value, separators=(",", ":")).encode()
        data = hashlib.sha256(payload).hexdigest().encode() + b"\n" + payload
        if len(data) > self.limit_bytes // 4:
            return
        path = self._path(key)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile(dir=path.parent, prefix=".new-", delete=False) as stream:
                stream.write(data)
            Path(stream.name).replace(path)
        except OSError:
            return
        self._stored_bytes += len(data)
        if not self._is_pruned or self._stored_bytes > self.limit_bytes // 8:
            self._is_pruned = True
            self._stored_bytes = 0
            self._prune()

    def _path(self, key: str) -> Path:
        return self.folder / key[:2] / key[2:]

    def _prune(self) -> None:
        entries = []
        for path in self.folder.glob("*/*"):
            with contextlib.suppress(OSError):
                told = path.stat()
                entries.append((told.st_mtime, told.st_size, path))
        size = sum(entry[1] for entry in entries)
        for _, length, path in sorted(entries, key=lambda entry: (entry[0], str(entry[2]))):
            if size <= self.limit_bytes:
                break
            with contextlib.suppress(OSError):
                path.unlink()
                size -= length
