"""What a content means in the plainest reading, so that no mutant is called wrong that says the same.

Two readings are told apart. The *plain* one leaves out what no reader takes for content: line ends, blanks
at the end of lines, layout, comments, the order of keys. The *loose* one also leaves out what some readers do
take for it: letter case, blanks, keys without a value. A wrong mutant must differ even loosely, a right one
must not differ even plainly; what lies between depends on what was asked for.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from aespec.operators.formats.config_text import read_config
from aespec.operators.formats.containers import read_container
from aespec.operators.formats.databases import read_database
from aespec.operators.formats.json_text import read_json
from aespec.operators.formats.programs import lines_meaning, python_meaning
from aespec.operators.formats.tables import read_table
from aespec.operators.formats.xml_text import read_xml
from aespec.operators.kinds import LIMIT_BYTES, language_of, text_of
from aespec.runtime.decode import parse_number
from aespec.runtime.lines import normal_lines


def means_the_same(kind: str, path: str, before: bytes, after: bytes, *, is_loose: bool = False) -> bool:
    """Whether two contents of one file say the same in the plain or the loose reading of `before`'s kind.

    Contents that aren't of that kind say the same only where their bytes or, as texts, their lines do.
    """
    if before == after:
        return True
    return bool(_kept(kind, path, before, is_loose) == meaning(kind, path, after, is_loose=is_loose))


def meaning(kind: str, path: str, data: bytes, *, is_loose: bool = False) -> object:
    """A value that is equal for contents which say the same; see the module's docstring."""
    if kind in ("archive", "office"):
        return _of_container(data, is_loose=is_loose) or data
    if kind == "sqlite":
        return _of_database(data, is_loose=is_loose) or data
    text = text_of(data) if len(data) <= LIMIT_BYTES else None
    if text is None or kind not in _OF_TEXTS:
        return data
    found = _OF_TEXTS[kind](path, text, is_loose)
    return _of_text(path, text, is_loose) if found is None else (kind, found)


@lru_cache(maxsize=8)
def _kept(kind: str, path: str, data: bytes, is_loose: bool) -> object:
    return meaning(kind, path, data, is_loose=is_loose)


def _of_text(_path: str, text: str, is_loose: bool) -> object:
    lines = normal_lines(text, "lines")
    if is_loose:
        lines = [" ".join(line.split()).casefold() for line in lines]
        lines = [line for line in lines if line]
    return ("text", tuple(lines))


def _of_json(_path: str, text: str, is_loose: bool) -> object:
    parsed = read_json(text)
    return None if parsed is None else (parsed.is_lines, frozen(parsed.value, is_loose=is_loose))


def _of_yaml(_path: str, text: str, is_loose: bool) -> object:
    found = read_config("yaml", text)
    return None if found is None else frozen(found[0], is_loose=is_loose)


def _of_toml(_path: str, text: str, is_loose: bool) -> object:
    found = read_config("toml", text)
    return None if found is None else frozen(found[0], is_loose=is_loose)


def _of_xml(_path: str, text: str, _is_loose: bool) -> object:
    return read_xml(text)


def _of_table(path: str, text: str, is_loose: bool) -> object:
    table = read_table(path, text)
    if table is None:
        return None
    return tuple(tuple(_cell(cell, is_loose=is_loose) for cell in row) for row in (table.header, *table.rows))


def _cell(cell: str, *, is_loose: bool) -> object:
    """Numbers by value where they are written with a point: `1.50` is `1.5`, but an id of `007` isn't `7`."""
    number = parse_number(cell) if "." in cell else None
    if number is not None:
        return ("number", number)
    return " ".join(cell.split()).casefold() if is_loose else cell


def _of_code(path: str, text: str, is_loose: bool) -> object:
    language = language_of(path, text.encode())
    if language == "python":
        return python_meaning(text.encode())
    lines = lines_meaning(text, language)
    return tuple("".join(line.split()) for line in lines) if is_loose else lines


_OF_TEXTS = {
    "text": _of_text,
    "json": _of_json,
    "yaml": _of_yaml,
    "toml": _of_toml,
    "xml": _of_xml,
    "table": _of_table,
    "code": _of_code,
}


def _of_database(data: bytes, *, is_loose: bool) -> object:
    contents = read_database(data)
    if contents is None:
        return None
    tables = tuple(
        (rows.name, rows.columns, tuple(sorted(map(repr, rows.cells)))) for rows in contents.tables
    )
    return ("sqlite", tables) if is_loose else ("sqlite", tables, contents.schema)


def _of_container(data: bytes, *, is_loose: bool) -> object:
    container = read_container(data)
    if container is None:
        return None
    members = []
    for member in container.members:
        if is_loose and (member.data is None or member.name.startswith("docProps/")):
            continue
        said: object = member.data
        if member.name.endswith((".xml", ".rels")) and (text := text_of(member.data or b"")):
            said = read_xml(text) or said
        members.append((member.name, getattr(member.header, "linkname", ""), said))
    # In what order members stand says nothing; two of one name do, and the last one wins.
    return ("container", container.form, tuple(sorted(members, key=lambda item: (item[0], item[1]))))


def frozen(value: Any, *, is_loose: bool = False) -> object:
    """A decoded document as a value that is equal by type and value; keys stand in no order.

    1 and 1.0 are equal, 1 and true are not. Loosely a key without a value is as if it weren't there.
    """
    if isinstance(value, dict):
        kept = ((str(key), item) for key, item in value.items() if not (is_loose and item is None))
        items = sorted(
            ((key, frozen(item, is_loose=is_loose)) for key, item in kept), key=lambda pair: pair[0]
        )
        return ("object", tuple(items))
    if isinstance(value, list):
        return ("list", tuple(frozen(item, is_loose=is_loose) for item in value))
    if isinstance(value, bool) or value is None:
        return ("plain", str(value))
    if isinstance(value, int | float):
        return ("number", str(value) if value != value else value)  # noqa: PLR0124  # not a number
    return (type(value).__name__, str(value) if not isinstance(value, str) else value)
