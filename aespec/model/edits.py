"""Edits carried out, read and written as JSON. An edit that doesn't fit is an error, never passed over."""

from __future__ import annotations

import base64
import binascii
import csv
import io
import json
from collections.abc import Iterable, Mapping
from typing import Any, AnyStr, cast

from aespec.model.edit import Edit
from aespec.model.expressions import Json

WHOLE_FILE = ("put", "delete", "swap", "link", "folder")
"""Operations on a whole file; their pointer is empty."""

ON_LEAVES = ("set", "remove", "insert", "rename")
"""Operations on a leaf; their pointer is not empty, but for `set` of a whole JSON document."""


class EditError(ValueError):
    """The edit doesn't fit the state that it is applied to, or isn't a well-formed edit."""

    def __init__(self, edit: Edit, message: str) -> None:
        """`edit` is the one that doesn't fit; the message says why."""
        super().__init__(f"{edit.operation} {edit.address}: {message}")
        self.edit = edit


def apply_edits(files: Mapping[str, bytes], edits: Iterable[Edit]) -> dict[str, bytes]:
    """The files (absolute path → bytes) after the edits, in order; `files` stays. Raises `EditError`.

    A link or a folder is no file: where one is made there is none any more.
    """
    changed = dict(files)
    for edit in edits:
        data = apply_edit(changed.get(edit.path), edit)
        if data is None:
            changed.pop(edit.path, None)
        else:
            changed[edit.path] = data
    return changed


def apply_edit(data: bytes | None, edit: Edit) -> bytes | None:
    """One regular file after one edit: None stands for no such file, before and after. Raises `EditError`."""
    if edit.operation in WHOLE_FILE:
        if edit.pointer:
            raise EditError(edit, "works on a whole file, so its pointer must be empty")
        return _apply_to_file(data, edit)
    if edit.operation not in ON_LEAVES:
        raise EditError(edit, f"no such operation; there are {', '.join(WHOLE_FILE + ON_LEAVES)}")
    if data is None:
        raise EditError(edit, "there is no file")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        raise EditError(edit, "the file is not UTF-8") from None
    is_json = edit.pointer == "" or edit.pointer.startswith("/")
    return _encoded(_apply_to_json(text, edit) if is_json else _apply_to_table(text, edit), edit)


def _encoded(text: str, edit: Edit) -> bytes:
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError:
        raise EditError(edit, "half of a surrogate pair is no character") from None


def edit_mode(edit: Edit) -> int | None:
    """The permission bits that a `put` asks for, or None."""
    mode = edit.value.get("mode") if edit.operation == "put" and isinstance(edit.value, dict) else None
    return mode if isinstance(mode, int) else None


def edit_target(edit: Edit) -> str:
    """Where the link that a `link` makes points to. Raises `EditError` where the value is no path."""
    if not isinstance(edit.value, str) or not edit.value or "\0" in edit.value:
        raise EditError(edit, "the value must be the path that the link points to")
    return edit.value


def edit_to_json(edit: Edit) -> dict[str, Json]:
    """The form of `edit.schema.json`; `value` stands only where it says something."""
    result: dict[str, Json] = {"path": edit.path, "pointer": edit.pointer, "operation": edit.operation}
    if edit.value is not None or edit.operation in ("set", "insert"):
        result["value"] = edit.value
    return result


def edit_from_json(value: Json) -> Edit:
    """The edit of a JSON object. Raises ValueError for anything that is not one."""
    if not isinstance(value, dict):
        raise ValueError("an edit is an object")
    texts = [value.get(key) for key in ("path", "pointer", "operation")]
    if not all(isinstance(text, str) for text in texts) or not value.keys() <= _KEYS:
        raise ValueError("an edit has the texts path, pointer and operation, and perhaps a value")
    path, pointer, operation = cast("list[str]", texts)
    if not path.startswith("/") or operation not in WHOLE_FILE + ON_LEAVES:
        raise ValueError(f"not an edit: {operation} {path}")
    return Edit(path=path, pointer=pointer, operation=operation, value=value.get("value"))


_KEYS = {"path", "pointer", "operation", "value"}


def _apply_to_file(data: bytes | None, edit: Edit) -> bytes | None:
    if edit.operation == "put":
        return _content(edit)
    if edit.operation == "link":
        edit_target(edit)
        return None
    if edit.operation == "folder":
        return None
    if data is None:
        raise EditError(edit, "there is no file")
    if edit.operation == "delete":
        return None
    old, new = _texts(edit, "old", "new")
    wanted = _encoded(old, edit)
    if not wanted:
        raise EditError(edit, "`old` is empty")
    found = occurrences(data, wanted)
    if found != 1:
        raise EditError(edit, f"`old` stands there {found} times, not once")
    return data.replace(wanted, _encoded(new, edit))


def occurrences(data: AnyStr, wanted: AnyStr) -> int:
    """How often `wanted` stands in `data`, overlapping places counted too; an empty text stands nowhere."""
    count, at = 0, data.find(wanted) if wanted else -1
    while at >= 0:
        count, at = count + 1, data.find(wanted, at + 1)
    return count


def _content(edit: Edit) -> bytes:
    value = edit.value if isinstance(edit.value, dict) else {}
    text, packed = value.get("text"), value.get("base64")
    if isinstance(text, str) and packed is None:
        return _encoded(text, edit)
    if isinstance(packed, str) and text is None:
        try:
            return base64.b64decode(packed, validate=True)
        except binascii.Error:
            raise EditError(edit, "`base64` is not base64") from None
    raise EditError(edit, 'the value must be {"text": …} or {"base64": …}')


def _texts(edit: Edit, *keys: str) -> list[str]:
    value = edit.value if isinstance(edit.value, dict) else {}
    texts = [value.get(key) for key in keys]
    if not all(isinstance(text, str) for text in texts):
        raise EditError(edit, f"the value must have the texts {' and '.join(keys)}")
    return cast("list[str]", texts)


def _apply_to_json(text: str, edit: Edit) -> str:
    try:
        document = json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        raise EditError(edit, "the file is not JSON") from None
    if edit.pointer == "":
        if edit.operation != "set":
            raise EditError(edit, "needs a pointer")
        document = edit.value
    else:
        keys = [key.replace("~1", "/").replace("~0", "~") for key in edit.pointer[1:].split("/")]
        parent = document
        for key in keys[:-1]:
            parent = _child(parent, key, edit)
        _change_json(parent, keys[-1], edit)
    indent = 2 if "\n" in text.strip() else None
    try:
        # Escapes where the text had none but ASCII: half of a surrogate pair can be written in no other way.
        changed = json.dumps(document, ensure_ascii=text.isascii(), indent=indent, allow_nan=False)
    except ValueError:
        raise EditError(edit, "the file holds a number beyond what a double holds") from None
    return changed + ("\n" if text.endswith("\n") else "")


def _refuse_constant(name: str) -> Any:
    raise ValueError(name)


def _child(parent: Any, key: str, edit: Edit) -> Any:
    if isinstance(parent, dict) and key in parent:
        return parent[key]
    if isinstance(parent, list):
        return parent[_index(key, len(parent) - 1, edit)]
    raise EditError(edit, f"there is nothing at {key!r}")


def _index(key: str, highest: int, edit: Edit) -> int:
    if not key.isascii() or not key.isdecimal() or int(key) > highest:
        raise EditError(edit, f"{key!r} is no index here; the highest is {highest}")
    return int(key)


def _change_json(parent: Any, key: str, edit: Edit) -> None:
    operation = edit.operation
    if isinstance(parent, list):
        at = _index(key, len(parent) - (operation != "insert"), edit)
        if operation == "set":
            parent[at] = edit.value
        elif operation == "insert":
            parent.insert(at, edit.value)
        elif operation == "remove":
            del parent[at]
        else:
            raise EditError(edit, "an item of a list has no key to rename")
    elif isinstance(parent, dict) and operation == "set":
        parent[key] = edit.value
    elif isinstance(parent, dict) and operation in ("remove", "rename"):
        if key not in parent:
            raise EditError(edit, f"there is nothing at {key!r}")
        if operation == "remove":
            del parent[key]
        else:
            _rename(parent, key, edit)
    else:
        raise EditError(edit, "there is no list or object to change")


def _rename(parent: dict[str, Any], key: str, edit: Edit) -> None:
    """Rename in place, the order of keys kept."""
    new = edit.value
    if not isinstance(new, str) or new in parent:
        raise EditError(edit, "the new key must be a text that isn't there yet")
    items = [(new if name == key else name, value) for name, value in parent.items()]
    parent.clear()
    parent.update(items)


def _apply_to_table(text: str, edit: Edit) -> str:
    delimiter = "\t" if edit.path.endswith((".tsv", ".tab")) else ","
    line_end = "\r\n" if "\r\n" in text else "\n"
    try:
        rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True))
    except csv.Error:
        raise EditError(edit, "the file is not a table") from None
    if not rows:
        raise EditError(edit, "the table has no header")
    head, slash, column = edit.pointer.partition("/")
    if edit.operation == "rename" and not slash:
        _rename_column(rows[0], head, edit)
    else:
        _change_row(rows, head, column, edit)
    out = io.StringIO(newline="")
    csv.writer(out, delimiter=delimiter, lineterminator=line_end).writerows(rows)
    result = out.getvalue()
    return result if text.endswith("\n") else result.removesuffix(line_end)


def _rename_column(header: list[str], column: str, edit: Edit) -> None:
    if not isinstance(edit.value, str):
        raise EditError(edit, "the new name must be a text")
    header[_column(header, column, edit)] = edit.value


def _column(header: list[str], column: str, edit: Edit) -> int:
    if header.count(column) != 1:
        raise EditError(edit, f"the column {column!r} stands there {header.count(column)} times, not once")
    return header.index(column)


def _change_row(rows: list[list[str]], head: str, column: str, edit: Edit) -> None:
    header, body = rows[0], rows[1:]
    at = _index(head, len(body) - (edit.operation != "insert"), edit)
    if column:
        if edit.operation != "set":
            raise EditError(edit, "a cell can only be set")
        place = _column(header, column, edit)
        if place >= len(body[at]):
            raise EditError(edit, "the row is too short")
        rows[at + 1][place] = _cell(edit.value, edit)
    elif edit.operation == "remove":
        del rows[at + 1]
    elif edit.operation in ("insert", "set") and isinstance(edit.value, list):
        cells = [_cell(cell, edit) for cell in edit.value]
        rows[at + 1 : at + 1 + (edit.operation == "set")] = [cells]
    else:
        raise EditError(edit, "a row takes insert or set with a list of cells, or remove")


def _cell(value: Json, edit: Edit) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, int | float) and not isinstance(value, bool):
        return repr(value)
    raise EditError(edit, "a cell takes a text or a number")
