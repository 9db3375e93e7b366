"""The pieces of a spec's text: strings, heredocs, comments; and files carried within a shell program."""

from __future__ import annotations

import base64
import posixpath
import shlex
from collections.abc import Mapping

from aespec.diagnostics.escape import escape_controls
from aespec.runtime.memory import Node
from aespec.syntax import heredoc_level

END = "AESPEC-END"
CARRIED_LIMIT_BYTES = 4 * 1024**2
"""How much of tests or of a solution stands in a spec at most; base64 makes a third more of it."""

_LINE = 76
_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}


class ImportRefusedError(Exception):
    """Something of the task can't be told in a spec; `remedy` is the way out."""

    def __init__(self, message: str, remedy: str) -> None:
        """Both are one line each."""
        super().__init__(message)
        self.remedy = remedy


def quoted(text: str) -> str:
    """A text as a string of the language."""
    return '"' + "".join(_letter(char) for char in text) + '"'


def _letter(char: str) -> str:
    if char in _ESCAPES:
        return _ESCAPES[char]
    return char if char.isprintable() or ord(char) > 0xFFFF else f"\\u{ord(char):04x}"


def heredoc(head: str, tag: str, text: str, indent: str) -> list[str]:
    """A statement that ends in a heredoc, as lines. Raises `ImportRefusedError` where it can't be one."""
    level = heredoc_level(text)
    if level is None:
        raise ImportRefusedError(
            f"`{head.split(' ', maxsplit=1)[0]}` can't be written as a text of the language",
            "begin it at the margin, end it with a line end, and take carriage returns and NULs out",
        )
    body = [f"{indent}  {line}" if line else "" for line in text.removesuffix("\n").split("\n")]
    return [f"{indent}{head} {'<' * level}{tag}", *body, f"{indent}{'>' * level}"]


def todo(text: str, indent: str) -> str:
    """A comment of one line, harmless for a terminal."""
    return f"{indent}# TODO {' '.join(escape_controls(text).split())}"


def carried(files: Mapping[str, Node], variable: str, *, is_literal: bool) -> str:
    """Shell lines that lay files out below the folder in a variable, byte for byte.

    `is_literal` is that the text around replaces no `{{ … }}`; else a file that holds one goes as base64.
    Raises `ImportRefusedError` for links and above the limit.
    """
    total = sum(len(node.data) for node in files.values() if node.kind == "file")
    if total > CARRIED_LIMIT_BYTES:
        raise ImportRefusedError(
            f"tests or solution hold {total >> 20} MiB, more than a spec can carry",
            "keep large data in environment/, or make it in the test script",
        )
    lines: list[str] = []
    for path, node in sorted(files.items()):
        place = f'"${variable}"/{shlex.quote(path)}'
        if "/" in path and node.kind != "folder":
            lines.append(f'mkdir -p "${variable}"/{shlex.quote(posixpath.dirname(path))}')
        if node.kind == "folder":
            lines.append(f"mkdir -p {place}")
        elif node.kind != "file" or not path.isprintable():
            raise ImportRefusedError(
                f"{escape_controls(path)} is a {node.kind} that a spec can't carry",
                "put a plain file in its place",
            )
        else:
            lines += _one(place, node, is_literal=is_literal)
    return "\n".join(lines) + "\n"


def _one(place: str, node: Node, *, is_literal: bool) -> list[str]:
    text = _plain_text(node.data)
    lines: list[str] = []
    if text is not None and (is_literal or "{{" not in text):
        lines += [f"cat > {place} <<'{END}'", *text.removesuffix("\n").split("\n"), END]
    else:
        coded = base64.b64encode(node.data).decode()
        rows = [coded[at : at + _LINE] for at in range(0, len(coded), _LINE)]
        lines += [f"base64 -d > {place} <<'{END}'", *rows, END]
    if node.mode & 0o111:
        lines.append(f"chmod 755 {place}")
    return lines


def _plain_text(data: bytes) -> str | None:
    """The data as text where a here-document can hold it as it is, else None."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return None
    lines = text.split("\n")
    is_held = not any(line.strip() in (END, ">>>>") for line in lines)
    is_plain = all(char.isprintable() or char in "\n\t" for char in text)
    return text if is_plain and is_held and text.endswith("\n") else None
