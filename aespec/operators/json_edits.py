"""Edits of the keys and items of JSON, in a document of its own and in one of those on lines."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from aespec.model.edit import Edit
from aespec.model.edits import EditError, apply_edit
from aespec.model.expressions import Json
from aespec.operators.api import Output
from aespec.operators.contents import rewrite, text_in
from aespec.operators.formats.json_text import Parsed, read_json
from aespec.operators.leaves import is_addressable
from aespec.runtime.compare import join_pointer, lookup


def json_edit(output: Output, tokens: Sequence[str], operation: str, value: Json = None) -> Edit | None:
    """The edit of what stands at the tokens; the first is the document's number where there are many.

    None where it can't be carried out.
    """
    if is_addressable(output):
        return Edit(output.path, join_pointer(tokens), operation, value)
    text = text_in(output)
    parsed = read_json(text)
    if parsed is None:
        return None
    lines, number = [text], 0
    if parsed.is_lines:
        lines = text.split("\n")
        numbers = [at for at, line in enumerate(lines) if line.strip()]
        number, tokens = numbers[int(tokens[0])], tokens[1:]
    try:
        changed = apply_edit(
            lines[number].encode(), Edit(output.path, join_pointer(tokens), operation, value)
        )
    except EditError:
        return None
    assert changed is not None, "edits of leaves leave a file"
    lines[number] = changed.decode()
    return rewrite(output, "\n".join(lines))


def parsed_json(output: Output) -> Parsed | None:
    """The documents of an output."""
    return read_json(text_in(output)) if output.kind == "json" else None


def places(output: Output, kind: type) -> list[tuple[tuple[str, ...], Any]]:
    """The objects (`dict`) or lists (`list`) that hold something, with the tokens that lead there.

    The list of documents on lines is none: it isn't written down.
    """
    parsed = parsed_json(output)
    if parsed is None:
        return []
    found = []
    for node in parsed.nodes:
        value = None if node.is_leaf else lookup(parsed.value, node.tokens)[1]
        if isinstance(value, kind) and value:
            found.append((node.tokens, value))
    return found


def dumped(output: Output, value: Any, **how: Any) -> str:
    """The text of the documents written in another way: `indent`, `separators`, `ensure_ascii` as in `json`.

    Documents on lines stay on lines. The final line end is as it was.
    """
    text = text_in(output)
    parsed = parsed_json(output)
    assert parsed is not None, "only JSON is dumped"
    how.setdefault("ensure_ascii", text.isascii())
    end = "\n" if text.endswith("\n") else ""
    if parsed.is_lines:
        how.pop("indent", None)
        return "\n".join(json.dumps(item, **how) for item in value) + end
    how.setdefault("indent", 2 if "\n" in text.strip() else None)
    return json.dumps(value, **how) + end
