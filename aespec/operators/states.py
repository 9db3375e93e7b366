"""Edits carried out on an end state in memory."""

from __future__ import annotations

from collections.abc import Iterable

from aespec.model.edit import Edit
from aespec.model.edits import EditError, apply_edit, edit_mode, edit_target
from aespec.runtime.memory import MemoryState, Node


def edit_state(state: MemoryState, edits: Iterable[Edit]) -> MemoryState:
    """The state after the edits, in order; the given one stays as it is.

    A file that is put keeps the mode that stood there, unless the edit names one. `delete` removes whatever
    stands at the path, a folder with all below it; `link` and `folder` take its place. Raises `EditError` for
    an edit that doesn't fit.
    """
    for edit in edits:
        state = _edited(state, edit)
    return state


def _edited(state: MemoryState, edit: Edit) -> MemoryState:
    found = state.stat(edit.path)
    if edit.operation == "delete":
        if found is None:
            raise EditError(edit, "there is nothing there")
        return state.with_nodes({edit.path: None})
    is_file = found is not None and found.kind == "file"
    data = apply_edit(state.read(edit.path, 1 << 62) if is_file else None, edit)
    if data is None:
        made = Node("folder", mode=0o755)
        if edit.operation == "link":
            made = Node("link", mode=0o777, target=edit_target(edit))
        # First away with what stands there: a folder would else keep what is below it.
        return state.with_nodes({edit.path: None}).with_nodes({edit.path: made})
    mode = edit_mode(edit)
    if mode is None:
        mode = found.mode if found is not None and is_file else 0o644
    return state.with_nodes({edit.path: Node(data=data, mode=mode)})
