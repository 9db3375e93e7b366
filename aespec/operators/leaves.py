"""The leaves of an end state: its smallest parts, where each stands, and the edit that sets it.

A leaf's selector is a JSON pointer in JSON, YAML, TOML and XML, `row/column` in a table, the number of the
line (from 1) in texts and programs, `table/row/column` in a database, and the member's name in an archive.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from xml.sax.saxutils import escape

from aespec.model.edit import Edit
from aespec.model.expressions import Json
from aespec.operators.api import Output, Scene
from aespec.operators.contents import data_of, is_marked, rewrite, text_in
from aespec.operators.formats.config_text import config_nodes, read_config, unquoted
from aespec.operators.formats.containers import read_container
from aespec.operators.formats.databases import read_database
from aespec.operators.formats.json_text import read_json
from aespec.operators.formats.nodes import NODES_LIMIT, Node, replaced
from aespec.operators.formats.programs import masked
from aespec.operators.formats.tables import read_table
from aespec.operators.formats.xml_text import xml_nodes
from aespec.operators.kinds import LIMIT_BYTES, language_of, text_of
from aespec.operators.table_edits import set_cell
from aespec.runtime.compare import join_pointer

SPANNED = ("json", "yaml", "toml", "xml")
"""Kinds whose leaves are characters of the text, from one place to another."""


@dataclass(frozen=True, slots=True)
class Leaf:
    """A smallest part of an output: its selector ("" for the whole file), its value, and how it is written.

    `weight` is the share of the file's bytes that it takes, above 0 and at most 1.
    """

    path: str
    selector: str
    value: Json
    raw: str = ""
    weight: float = 1.0
    node: Node | None = field(default=None, repr=False, compare=False)

    @property
    def address(self) -> str:
        """`PATH#SELECTOR`, or the path alone."""
        return f"{self.path}#{self.selector}" if self.selector else self.path


def leaves_of_scene(scene: Scene) -> tuple[Leaf, ...]:
    """The leaves of all outputs, output by output."""
    return tuple(leaf for output in scene.outputs for leaf in leaves_of(output))


def leaves_of(output: Output) -> tuple[Leaf, ...]:
    """The leaves of an output in reading order, at most `NODES_LIMIT`; one for what has no parts."""
    found = _leaves(output.path, output.kind, data_of(output))
    return found or (Leaf(output.path, "", None),)


@lru_cache(maxsize=16)
def _leaves(path: str, kind: str, data: bytes) -> tuple[Leaf, ...]:
    if kind == "sqlite":
        return tuple(_database_leaves(path, data))
    if kind in ("archive", "office"):
        return tuple(_member_leaves(path, data))
    text = text_of(data) if len(data) <= LIMIT_BYTES else None
    if not text:
        return ()
    if kind == "table":
        return tuple(_cells(path, text))
    if kind in SPANNED:
        return tuple(
            Leaf(path, join_pointer(node.tokens), node.value, raw, max(1, len(raw)) / len(text), node)
            for node in nodes_of(kind, text)
            if node.is_leaf
            for raw in [text[node.start : node.end]]
        )
    return tuple(_lines(path, kind, text))


@lru_cache(maxsize=16)
def nodes_of(kind: str, text: str) -> tuple[Node, ...]:
    """The places of a structured text's values, leaves and what holds them."""
    if kind == "json":
        parsed = read_json(text)
        return parsed.nodes if parsed is not None else ()
    return tuple(xml_nodes(text) if kind == "xml" else config_nodes(kind, text))


def _cells(path: str, text: str) -> Iterator[Leaf]:
    table = read_table(path, text)
    if table is None:
        return
    names = (
        table.header
        if len(set(table.header)) == len(table.header)
        else tuple(map(str, range(len(table.header))))
    )
    count = 0
    for number, row in enumerate(table.rows):
        for name, cell in zip(names, row, strict=True):
            count += 1
            if count > NODES_LIMIT:
                return
            yield Leaf(path, f"{number}/{name}", cell, cell, max(1, len(cell)) / len(text))


def _lines(path: str, kind: str, text: str) -> Iterator[Leaf]:
    shown = masked(text, language_of(path, text.encode())) if kind == "code" else text
    start = 0
    for number, (line, bare) in enumerate(zip(text.split("\n"), shown.split("\n"), strict=True), 1):
        if number > NODES_LIMIT:
            return
        end = start + len(line.rstrip())
        if bare.strip():
            node = Node((str(number),), start, end, text[start:end])
            yield Leaf(path, str(number), text[start:end], text[start:end], (end - start) / len(text), node)
        start += len(line) + 1


def _database_leaves(path: str, data: bytes) -> Iterator[Leaf]:
    contents = read_database(data)
    for rows in contents.tables if contents is not None else ():
        for index, cells in enumerate(rows.cells):
            number = rows.numbers[index] if rows.numbers else index
            for column, cell in zip(rows.columns, cells, strict=True):
                value = cell if isinstance(cell, str | int | float | None) else None
                size = max(1, len(str(cell)))
                yield Leaf(
                    path, f"{rows.name}/{number}/{column}", value, str(cell), min(1.0, size / len(data))
                )


def _member_leaves(path: str, data: bytes) -> Iterator[Leaf]:
    container = read_container(data)
    members = container.members if container is not None else ()
    total = sum(len(member.data or b"") for member in members) or 1
    for member in members:
        if member.data is not None:
            yield Leaf(path, member.name, None, "", max(1, len(member.data)) / (total + len(members)))


def set_leaf(output: Output, leaf: Leaf, value: Json) -> Edit | None:
    """The edit that sets a leaf of a text to another scalar; None where it can't be written there."""
    text = text_in(output)
    if output.kind == "table":
        cell = value if isinstance(value, str) else json.dumps(value)
        return set_cell(output, leaf.selector, cell)
    if leaf.node is None or not text:
        return None
    if output.kind == "json":
        if is_addressable(output):
            return Edit(output.path, leaf.selector, "set", value)
        return rewrite(output, replaced(text, leaf.node, json.dumps(value, ensure_ascii=False)))
    raw = _WRITERS.get(output.kind, _plain)(leaf, value)
    return None if raw is None else rewrite(output, replaced(text, leaf.node, raw))


def is_addressable(output: Output) -> bool:
    """Whether an output's leaves can be set by pointer: one JSON document, as any parser reads it."""
    parsed = read_json(text_in(output))
    return parsed is not None and not parsed.is_lines and not is_marked(output)


def _plain(leaf: Leaf, value: Json) -> str | None:
    return value if isinstance(value, str) else json.dumps(value)


def _xml(leaf: Leaf, value: Json) -> str | None:
    text = value if isinstance(value, str) else json.dumps(value)
    return escape(text, {'"': "&quot;", "'": "&apos;"})


def _config(kind: str) -> Callable[[Leaf, Json], str | None]:
    """Scalars in quotes keep them; a bare one stays bare if it is then read as what it shall be."""

    def write(leaf: Leaf, value: Json) -> str | None:
        is_quoted = leaf.raw[:1] in ("'", '"') and unquoted(leaf.raw)[1]
        if value is None:
            return "null" if kind == "yaml" else None
        if not isinstance(value, str):
            return json.dumps(value)
        if not is_quoted and kind == "yaml" and read_config("yaml", f"- {value}") == ([value],):
            return value
        return json.dumps(value, ensure_ascii=False)

    return write


_WRITERS: dict[str, Callable[[Leaf, Json], str | None]] = {
    "yaml": _config("yaml"),
    "toml": _config("toml"),
    "xml": _xml,
}
