"""Edits of a state planned at once, so that a slot is written once, and a live session can carry them out."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from aespec.model.edit import Edit
from aespec.model.edits import EditError
from aespec.operators.states import edit_state
from aespec.runtime.memory import MemoryState, Node
from aespec.runtime.state import Missing
from aespec.sandbox.tars import Entry

Read = Callable[[Sequence[str]], Mapping[str, Node]]
"""The nodes at and below paths, by absolute path; what isn't there is left out."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What to remove first, then what to write, in this order."""

    gone: tuple[str, ...] = ()
    entries: tuple[Entry, ...] = ()


def plan_edits(edits: Sequence[Edit], known: Mapping[str, Node | None], read: Read) -> Plan:
    """The plan of edits carried out in order. Raises `EditError` where one doesn't fit.

    `known` are paths whose nodes (None: nothing there) needn't be read. What is written has the time of now,
    as if a solver had written it, and the owner of the file that stood there.
    """
    before = _nodes(edits, known, read)
    state = MemoryState(before)
    gone: dict[str, None] = {}
    for edit in edits:
        found = state.stat(edit.path)
        try:
            state = edit_state(state, [edit])
        except Missing as fault:
            raise EditError(edit, str(fault)) from None
        is_replaced = edit.operation in ("delete", "link", "folder")
        if is_replaced or (found is not None and found.kind != "file"):
            gone[edit.path] = None
    entries = []
    for path in dict.fromkeys(edit.path for edit in edits):
        node = state.nodes.get(path)
        if node is not None:
            entries.append(_entry(path, node, before.get(path)))
    return Plan(tuple(gone), tuple(entries))


def _nodes(edits: Sequence[Edit], known: Mapping[str, Node | None], read: Read) -> dict[str, Node]:
    found: dict[str, Node] = {}
    unknown: list[str] = []
    for edit in edits:
        path = edit.path
        if path in known:
            node = known[path]
            if node is not None:
                found[path] = node
        elif any(name.startswith(path + "/") and node is not None for name, node in known.items()):
            found[path] = Node("folder", mode=0o755)
        else:
            unknown.append(path)
    if unknown:
        found |= read(unknown)
    return found


def _entry(path: str, node: Node, before: Node | None) -> Entry:
    uid, gid = (before.uid, before.gid) if before is not None and before.kind == "file" else (0, 0)
    data = node.data if node.kind == "file" else None
    return Entry(path, data, node.mode, uid, gid, mtime=int(time.time()), target=node.target)
