"""What edits change in an end state, as a person reads it: a diff of lines, values, rows, or a few words."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from typing import Any

from aespec.diagnostics.escape import escape_controls
from aespec.model.edit import Edit
from aespec.model.edits import EditError
from aespec.operators.api import Scene
from aespec.operators.formats.containers import read_container
from aespec.operators.formats.databases import read_database
from aespec.operators.formats.json_text import read_json
from aespec.operators.formats.nodes import Node
from aespec.operators.kinds import kind_of, text_of
from aespec.operators.scene import state_of
from aespec.operators.states import edit_state
from aespec.runtime.compare import join_pointer
from aespec.runtime.decode import show
from aespec.runtime.memory import Node as Entry
from aespec.runtime.wording import counted

LINES_LIMIT = 40
LINE_LIMIT = 160
CONTEXT_LINES = 2
COMPARED_AT_MOST = 4_000
"""Longer files, in lines, are compared from where they begin to differ only."""


def show_difference(scene: Scene, edits: Sequence[Edit], *, lines: int = LINES_LIMIT) -> str:
    """What the edits change, file by file, in at most so many lines; "" where they change nothing.

    Control characters are escaped, long lines cut. Edits that don't fit the state are told as such.
    """
    before = state_of(scene)
    try:
        after = edit_state(before, edits)
    except EditError as error:
        return escape_controls(f"can't be carried out: {error}")
    found: list[str] = []
    for path in sorted(before.nodes.keys() | after.nodes.keys()):
        old, new = before.nodes.get(path), after.nodes.get(path)
        if old != new:
            found += [f"--- {path}", *_of_node(path, old, new)]
    shown = [_cut(escape_controls(line.rstrip("\n"))) for line in found[:lines]]
    if len(found) > lines:
        shown.append(f"… and {counted(len(found) - lines, 'more line')}".replace("more lines", "lines more"))
    return "\n".join(shown)


def _cut(line: str) -> str:
    return line if len(line) <= LINE_LIMIT else f"{line[:LINE_LIMIT]}…"


def _of_node(path: str, old: Entry | None, new: Entry | None) -> list[str]:
    if old is None or new is None or old.kind != "file" or new.kind != "file":
        return [f"- {_told(old)}", f"+ {_told(new)}"]
    if old.data == new.data:
        return [f"- mode {old.mode:04o}", f"+ mode {new.mode:04o}"]
    kind = kind_of(path, old.data)
    if kind == "sqlite":
        found = _of_entries(_rows(old.data), _rows(new.data))
    elif kind in ("archive", "office"):
        found = _of_entries(_members(old.data), _members(new.data))
    else:
        found = list(_of_texts(kind, old.data, new.data))
    return found or [f"- {_told(old)}", f"+ {_told(new)}", *_of_bytes(old.data, new.data)]


def _told(node: Entry | None) -> str:
    if node is None:
        return "(nothing)"
    if node.kind == "link":
        return f"(a link to {node.target})"
    if node.kind != "file":
        return f"(a {node.kind})"
    text = text_of(node.data)
    if text is not None and len(text) <= LINE_LIMIT and text.strip() and "\n" not in text.strip():
        return text.strip()
    return f"({counted(len(node.data), 'byte')})"


def _of_texts(kind: str, old: bytes, new: bytes) -> Iterator[str]:
    before, after = text_of(old), text_of(new)
    if before is None or after is None:
        return
    is_long = any(len(line) > LINE_LIMIT for text in (before, after) for line in text.split("\n"))
    if kind == "json" and is_long:
        yield from _of_entries(_leaves(before), _leaves(after))
        return
    one, other = before.splitlines(keepends=True), after.splitlines(keepends=True)
    start = 0
    if max(len(one), len(other)) > COMPARED_AT_MOST:
        same = (index for index, pair in enumerate(zip(one, other, strict=False)) if pair[0] != pair[1])
        start = max(0, next(same, min(len(one), len(other))) - CONTEXT_LINES)
    window = slice(start, start + COMPARED_AT_MOST)
    diff = difflib.unified_diff(
        [_visible(line) for line in one[window]], [_visible(line) for line in other[window]], n=CONTEXT_LINES
    )
    for number, line in enumerate(diff):
        if number >= 2:  # what the two files are called stands above already
            yield line
    if old[:3] != new[:3] and b"\xef\xbb\xbf" in (old[:3], new[:3]):
        yield "+ (a byte order mark)" if new[:1] == b"\xef" else "- (a byte order mark)"


def _visible(line: str) -> str:
    """A line whose end and last blanks can be seen where they differ from the usual."""
    body = line.rstrip("\r\n")
    end = line[len(body) :]
    shown = body + {"\n": "", "": " (no line end)"}.get(end, end.replace("\n", "").replace("\r", "\\r"))
    return shown.replace(" ", "·") if body != body.rstrip() and not body.strip() else shown


def _of_entries(old: dict[str, str] | None, new: dict[str, str] | None) -> list[str]:
    """Named values of which some are other, gone or new."""
    if old is None or new is None:
        return []
    found = []
    for key in [*old, *(key for key in new if key not in old)]:
        if old.get(key) != new.get(key):
            found += [f"- {key}: {old[key]}"] if key in old else []
            found += [f"+ {key}: {new[key]}"] if key in new else []
    return found


def _leaves(text: str) -> dict[str, str] | None:
    parsed = read_json(text)
    if parsed is None:
        return None

    def told(node: Node) -> str:
        return show(node.value, 80) if text[node.start] not in "[{" else text[node.start : node.end]

    return {join_pointer(node.tokens) or "/": told(node) for node in parsed.nodes if node.is_leaf}


def _rows(data: bytes) -> dict[str, str] | None:
    contents = read_database(data)
    if contents is None:
        return None
    found: dict[str, str] = {}
    for rows in contents.tables:
        found[rows.name] = f"columns {', '.join(rows.columns)}"
        for index, cells in enumerate(rows.cells):
            number = rows.numbers[index] if rows.numbers else index
            found[f"{rows.name}/{number}"] = ", ".join(_cell(cell) for cell in cells)
    return found


def _cell(cell: Any) -> str:
    return f"({counted(len(cell), 'byte')})" if isinstance(cell, bytes) else show(cell, 40)


def _members(data: bytes) -> dict[str, str] | None:
    container = read_container(data)
    if container is None:
        return None
    return {member.name or "content": _member(member.data) for member in container.members}


def _member(data: bytes | None) -> str:
    text = text_of(data) if data else None
    if text is not None and len(text) <= LINE_LIMIT // 2:
        return show(text)
    import hashlib

    digest = hashlib.sha256(data or b"").hexdigest()[:12]
    return f"({counted(len(data or b''), 'byte')}, SHA-256 {digest}…)"


def _of_bytes(old: bytes, new: bytes) -> list[str]:
    """Where two binaries differ first, with a few bytes from there."""
    at = next((index for index, pair in enumerate(zip(old, new, strict=False)) if pair[0] != pair[1]), None)
    at = min(len(old), len(new)) if at is None else at
    return [f"@@ byte {at} @@", f"- {old[at : at + 16].hex(' ')}", f"+ {new[at : at + 16].hex(' ')}"]
