"""What watches a Python of the verifier from within: it writes down the files opened and the programs run.

It isn't imported here but laid into the sandbox, where any Python from 3.8 on may read it. It only adds an
audit hook (PEP 578), and loads no module that an interpreter hasn't loaded by then.
"""

# ruff: noqa: PTH100, PTH109
# No pathlib: where this runs it isn't loaded yet, and a test may mind.

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

LOG = "/aespec-trace/log"
FIELD = "\x1f"
RECORD = "\x1e"

_LISTING = ("os.listdir", "os.scandir", "glob.glob")
_CHANGING = ("os.remove", "os.rename", "os.truncate", "os.rmdir", "os.mkdir", "os.chmod")
_RUNNING = ("os.exec", "os.posix_spawn", "os.spawn")
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


def start() -> None:
    """Begin to watch this interpreter, once."""
    if getattr(sys, "_aespec_watched", False) or not hasattr(sys, "addaudithook"):
        return
    sys._aespec_watched = True  # type: ignore[attr-defined]  # noqa: SLF001 - the name is this file's own
    state = {"busy": False}
    seen: set[tuple[str, ...]] = set()

    def watch(event: str, details: tuple[Any, ...]) -> None:
        if state["busy"]:
            return
        state["busy"] = True
        try:
            for record in _records(event, details):
                if record not in seen:
                    seen.add(record)
                    _write(record)
        except Exception:  # noqa: BLE001, S110 - what watches must never change what it watches
            pass
        finally:
            state["busy"] = False

    sys.addaudithook(watch)


def _records(event: str, details: tuple[Any, ...]) -> Iterator[tuple[str, ...]]:
    """Kind and words of what happened; nothing for what doesn't matter."""
    if event == "open":
        path, flags = details[0], details[2]
        if isinstance(path, (str, bytes)) or hasattr(path, "__fspath__"):
            yield ("write" if isinstance(flags, int) and flags & _WRITING else "read", _full(path))
    elif event == "sqlite3.connect":
        yield ("read", _full(details[0]))
    elif event in _LISTING:
        yield ("list", _full(details[0] if details[0] is not None else "."))
    elif event in _CHANGING:
        yield ("write", _full(details[0]))
    elif event == "subprocess.Popen":
        words = details[1]
        words = [words] if isinstance(words, (str, bytes)) or hasattr(words, "__fspath__") else list(words)
        yield ("run", os.getcwd(), "", *(_text(word) for word in words))
    elif event == "os.system":
        yield ("shell", _text(details[0]))
    elif event in _RUNNING:
        words = details[1] if isinstance(details[1], (list, tuple)) else details[2]
        yield ("run", os.getcwd(), _text(details[0]), *(_text(word) for word in words))


def _text(word: Any) -> str:
    text = os.fsdecode(word)
    return text.replace(FIELD, "?").replace(RECORD, "?")[:4096]


def _full(path: Any) -> str:
    return os.path.abspath(_text(path))


def _write(record: tuple[str, ...]) -> None:
    # Opened anew each time: a number kept open could be closed and given to another file by the program.
    number = os.open(LOG, os.O_WRONLY | os.O_APPEND)
    try:
        os.write(number, (FIELD.join(record) + RECORD).encode("utf-8", "surrogateescape"))
    finally:
        os.close(number)
