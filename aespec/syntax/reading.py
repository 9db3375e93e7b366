"""A spec file to a `Source`: everything that can be wrong with a file is a diagnostic."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from aespec.diagnostics.diagnostic import Diagnostic, Severity
from aespec.source import Source, Span

FILE_MAX = 1 << 20
"""Bytes that a spec file may have. It is a file that people read; fixtures are assets or generated."""


def read_source(
    path: Path, limit_bytes: int = FILE_MAX, *, name: str | None = None
) -> tuple[Source | None, tuple[Diagnostic, ...]]:
    """The text of a spec file with LF line ends and without a byte order mark, or what is wrong with it.

    `name` is what diagnostics call the file, by default the path as given. Reads at most
    `limit_bytes + 1` bytes, and never waits on a pipe or a device.
    """
    shown = str(path) if name is None else name
    try:
        data = _read_regular(path, limit_bytes)
    except (OSError, ValueError) as error:
        return None, (_unreadable(shown, error),)
    if data is None:
        return None, (
            _report(
                "irregular-file",
                f"`{shown}` is not a file",
                why="A spec is a regular file; folders, pipes, sockets and devices aren't read.",
                help="Name the spec file itself.",
            ),
        )
    if len(data) > limit_bytes:
        return None, (
            _report(
                "file-too-large",
                f"`{shown}` has more than {limit_bytes} bytes",
                why="A spec is read whole and by people; large fixtures don't belong into it.",
                help="Put large content into a file beside the spec (`asset`) or have a program make it "
                "(`generate`).",
            ),
        )
    return decode_source(data, shown, path)


def decode_source(
    data: bytes, name: str, path: Path | None = None
) -> tuple[Source | None, tuple[Diagnostic, ...]]:
    """The text that these bytes are: UTF-8, a byte order mark dropped, CRLF turned into LF, no NUL."""
    data = data.removeprefix(b"\xef\xbb\xbf")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        return None, (_not_utf8(data, name, path, error.start),)
    text = text.replace("\r\n", "\n")
    source = Source(name, text, path)
    at = text.find("\0")
    if at >= 0:
        return None, (
            Diagnostic(
                "nul-byte",
                Severity.ERROR,
                "the file holds a NUL byte",
                Span(source, at, at + 1),
                why="No text has one; the file is binary, or in another encoding such as UTF-16.",
                help="Save it as UTF-8 text. Binary content goes into a file beside the spec (`asset`).",
            ),
        )
    return source, ()


def _read_regular(path: Path, limit_bytes: int) -> bytes | None:
    """The first bytes of a regular file, None for anything else. A NUL in the path is a ValueError."""
    # Opening a pipe without O_NONBLOCK would wait for its other end, and stat before open would race.
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY)
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return None
        return file.read(limit_bytes + 1)


def _unreadable(shown: str, error: OSError | ValueError) -> Diagnostic:
    if isinstance(error, IsADirectoryError):
        return _report("irregular-file", f"`{shown}` is a folder", help="Name the spec file itself.")
    if isinstance(error, FileNotFoundError | NotADirectoryError):
        return _report(
            "missing-file",
            f"there is no file `{shown}`",
            help="Look at the path, and from which folder it begins.",
        )
    reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return _report(
        "unreadable-file",
        f"`{shown}` can't be read: {reason}",
        help="See that the file may be read by the user who runs this.",
    )


def _not_utf8(data: bytes, name: str, path: Path | None, at: int) -> Diagnostic:
    """The place is shown in the text up to the first wrong byte, which is all of it that is text."""
    start = len(data[:at].decode("utf-8").replace("\r\n", "\n"))
    text = data.decode("utf-8", "replace").replace("\r\n", "\n")
    return Diagnostic(
        "wrong-encoding",
        Severity.ERROR,
        f"the file is not UTF-8: byte 0x{data[at]:02x} at offset {at}",
        Span(Source(name, text, path), start, start + 1),
        why="A spec is read the same everywhere only in one encoding.",
        help="Save the file as UTF-8.",
    )


def _report(slug: str, headline: str, *, why: str = "", help: str = "") -> Diagnostic:
    return Diagnostic(slug, Severity.ERROR, headline, None, why=why, help=help)
