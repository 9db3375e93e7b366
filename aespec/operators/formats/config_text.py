"""YAML and TOML: what they mean by a real parser, and where their scalars stand, read line by line.

The line reader knows plain keys, items and flat lists in brackets. What it doesn't know (anchors, texts over
several lines, flow objects) has no place of its own and is changed as lines.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from aespec.model.yaml_text import read_yaml
from aespec.operators.formats.nodes import NODES_LIMIT, Node, scalar_of

YAML_LIMIT_CHARACTERS = 128 * 1024
"""Its parser takes seconds for a megabyte."""

LINE_LIMIT = 2000
"""Longer lines are no place for a person's setting, and patterns take long for them."""

_SCALAR = r"\"(?:[^\"\\]|\\.)*\"|'(?:[^']|'')*'"
_YAML_KEY = re.compile(rf"({_SCALAR}|[^\s#\[\]{{}},&*!|>'\"%@`-][^#\[\]{{}},]*?|-[^\s#][^#:]*?)\s*:(?:\s+|$)")
_YAML_VALUE = re.compile(rf"({_SCALAR}|[^\s#\[\]{{}}&*!|>'\"%@`][^#]*?(?:(?<=\S)#[^#]*?)*?)\s*(?:\s#.*)?$")
_TOML_KEY = re.compile(rf"\s*((?:{_SCALAR}|[\w-]+)(?:\s*\.\s*(?:{_SCALAR}|[\w-]+))*)\s*=\s*")
_TOML_TABLE = re.compile(r"\s*(\[\[?)\s*([^\[\]]+?)\s*\]\]?\s*(?:#.*)?$")
_TOML_VALUE = re.compile(rf"({_SCALAR}|[^\s#\[\]{{}}\"',]+(?: [0-9:.+Z-]+)?)\s*(?:#.*)?$")
_LIST = re.compile(r"\[([^\[\]{}#]*)\]\s*(?:#.*)?$")
_ITEM = re.compile(rf"\s*({_SCALAR}|[^\s,\"'][^,\"']*?)\s*(?:,|$)")


def is_yaml(text: str) -> bool:
    """Whether the text is one YAML document that holds more than a scalar."""
    value = read_config("yaml", text)
    return value is not None and isinstance(value[0], dict | list)


def is_toml(text: str) -> bool:
    """Whether the text is TOML with a key at least."""
    value = read_config("toml", text)
    return value is not None and bool(value[0])


@lru_cache(maxsize=32)
def read_config(kind: str, text: str) -> tuple[Any] | None:
    """The value of a YAML or TOML document in a tuple of its own, None where it is none."""
    if kind == "toml":
        import tomllib

        try:
            return (tomllib.loads(text.replace("\r\n", "\n")),)
        except (ValueError, RecursionError):
            return None
    if len(text) > YAML_LIMIT_CHARACTERS:
        return None
    try:
        return (read_yaml(text),)
    except (ValueError, RecursionError):
        return None


def config_nodes(kind: str, text: str) -> list[Node]:
    """The places of the scalars that stand on a line with their key, or as an item."""
    found: list[Node] = []
    for node in _toml_nodes(text) if kind == "toml" else _yaml_nodes(text):
        found.append(node)
        if len(found) >= NODES_LIMIT:
            break
    return found


def unquoted(raw: str) -> tuple[object, bool]:
    """What a scalar as written means, and whether it stands in quotes."""
    if raw[:1] == '"' and raw[-1:] == '"':
        return re.sub(r"\\(.)", r"\1", raw[1:-1]), True
    if raw[:1] == "'" and raw[-1:] == "'":
        return raw[1:-1].replace("''", "'"), True
    return scalar_of(raw), False


def _node(tokens: tuple[str, ...], raw: str, start: int) -> Node:
    value: Any = unquoted(raw)[0]
    return Node(tokens, start, start + len(raw), value)


def _items(tokens: tuple[str, ...], inner: str, start: int) -> Iterator[Node]:
    for index, item in enumerate(_ITEM.finditer(inner)):
        yield _node((*tokens, str(index)), item[1], start + item.start(1))


def _yaml_nodes(text: str) -> Iterator[Node]:
    # Of each open level the column that it began at, and the key or the number of the item.
    levels: list[tuple[int, str | int]] = []
    offset, block = 0, -1
    for line in text.split("\n"):
        start, column = offset, len(line) - len(line.lstrip(" "))
        offset += len(line) + 1
        body = line.strip()
        if block >= 0 and (not body or column > block):
            continue
        block = -1
        if not body or len(line) > LINE_LIMIT or body.startswith(("#", "%", "---", "...")):
            continue
        rest = line[column:].rstrip("\r")
        column, rest = _open_items(levels, column, rest)
        _close(levels, column, is_item=False)
        if (key := _YAML_KEY.match(rest)) is not None:
            while levels and levels[-1][0] == column and isinstance(levels[-1][1], str):
                levels.pop()
            levels.append((column, str(unquoted(key[1])[0] if key[1][:1] in "'\"" else key[1])))
            column, rest = column + key.end(), rest[key.end() :]
        if re.match(r"[|>][0-9+-]*\s*(#.*)?$", rest):
            block = levels[-1][0] if levels else 0
            continue
        yield from _yaml_value(tuple(str(key) for _, key in levels), rest, start + column)


def _open_items(levels: list[tuple[int, str | int]], column: int, rest: str) -> tuple[int, str]:
    """Follow the dashes at the start of a line; the column and the text behind them."""
    while (dash := re.match(r"-(?:\s+|$)", rest)) is not None:
        _close(levels, column, is_item=True)
        if levels and levels[-1][0] == column and isinstance(levels[-1][1], int):
            levels.append((column, int(levels.pop()[1]) + 1))
        else:
            levels.append((column, 0))
        column, rest = column + dash.end(), rest[dash.end() :]
    return column, rest


def _close(levels: list[tuple[int, str | int]], column: int, *, is_item: bool) -> None:
    """Leave what ended; items may stand at the column of the key that holds them."""
    while levels and (
        levels[-1][0] > column or (not is_item and levels[-1][0] == column and isinstance(levels[-1][1], int))
    ):
        levels.pop()


def _yaml_value(tokens: tuple[str, ...], rest: str, start: int) -> Iterator[Node]:
    if (found := _LIST.match(rest)) is not None:
        yield from _items(tokens, found[1], start + found.start(1))
    elif (found := _YAML_VALUE.match(rest)) is not None and (
        found[1][:1] in "'\"" or not re.search(r":(\s|$)", found[1])
    ):
        yield _node(tokens, found[1], start + found.start(1))


def _toml_nodes(text: str) -> Iterator[Node]:
    table: tuple[str, ...] = ()
    counts: dict[tuple[str, ...], int] = {}
    offset, open_until = 0, ""
    for line in text.split("\n"):
        start = offset
        offset += len(line) + 1
        bare = line.rstrip("\r")[:LINE_LIMIT]
        if open_until:
            open_until = "" if open_until in bare else open_until
            continue
        if (head := _TOML_TABLE.match(bare)) is not None:
            table = tuple(part.strip().strip("\"'") for part in head[2].split("."))
            if head[1] == "[[":
                counts[table] = counts.get(table, -1) + 1
                table = (*table, str(counts[table]))
            continue
        key = _TOML_KEY.match(bare)
        if key is None:
            continue
        tokens = (*table, *(part.strip().strip("\"'") for part in key[1].split(".")))
        rest = bare[key.end() :]
        open_until = _left_open(rest)
        if open_until:
            continue
        if (found := _LIST.match(rest)) is not None:
            yield from _items(tokens, found[1], start + key.end() + found.start(1))
        elif (found := _TOML_VALUE.match(rest)) is not None:
            yield _node(tokens, found[1], start + key.end())


def _left_open(rest: str) -> str:
    """What ends a value that begins on this line and goes on below it; "" for one that ends here."""
    for quotes in ('"""', "'''"):
        if rest.startswith(quotes):
            return "" if quotes in rest[3:] else quotes
    return "]" if rest.startswith("[") and "]" not in rest else ""
