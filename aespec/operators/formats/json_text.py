"""JSON documents, one to a file or one to a line: their values, and where each stands in the text."""

from __future__ import annotations

import json
import re
from functools import lru_cache
from typing import Any, NamedTuple

from aespec.operators.formats.nodes import NODES_LIMIT, Node
from aespec.runtime.decode import Unreadable, parse_json

_TOKEN = re.compile(r'[ \t\r\n]*([{}\[\],:]|"(?:[^"\\]|\\.)*"|[^\s{}\[\],:"]+)', re.DOTALL)


class Parsed(NamedTuple):
    """The documents of a text: their values, and all places in reading order.

    Where there is a document to each line, it `is_lines`, and the first token of a place is the document's
    number, counted from 0.
    """

    values: tuple[Any, ...]
    is_lines: bool
    nodes: tuple[Node, ...]

    @property
    def value(self) -> Any:
        """The document, or the list of those on lines."""
        return list(self.values) if self.is_lines else self.values[0]


def is_json(text: str) -> bool:
    """Whether the text is one JSON document that every reader takes alike, or one to a line."""
    return read_json(text) is not None


@lru_cache(maxsize=16)
def read_json(text: str) -> Parsed | None:
    """The documents of a text, or None where it is no JSON. On lines stand two or more, and no scalars."""
    value = _value(text)
    if value is not None:
        return Parsed((value[0],), is_lines=False, nodes=tuple(_nodes(text, (), 0)))
    values: list[Any] = []
    nodes: list[Node] = []
    start = 0
    for line in text.split("\n"):
        if line.strip():
            found = _value(line) if line.lstrip()[:1] in ("[", "{") else None
            if found is None:
                return None
            if len(nodes) < NODES_LIMIT:
                nodes += _nodes(line, (str(len(values)),), start)
            values.append(found[0])
        start += len(line) + 1
    return Parsed(tuple(values), is_lines=True, nodes=tuple(nodes)) if len(values) > 1 else None


def _value(text: str) -> tuple[Any] | None:
    try:
        return (parse_json(text.encode("utf-8", "surrogatepass")),)
    except Unreadable:
        return None


class _Frame:
    """An object or a list that is being read."""

    __slots__ = ("count", "is_object", "key", "start")

    def __init__(self, start: int, *, is_object: bool) -> None:
        self.start, self.is_object = start, is_object
        self.key: str | None = None
        self.count = 0

    @property
    def token(self) -> str:
        return (self.key or "") if self.is_object else str(self.count)


def _nodes(text: str, base: tuple[str, ...], offset: int) -> list[Node]:
    """Every place of one valid document, what holds others behind those."""
    found: list[Node] = []
    frames: list[_Frame] = []
    at = 0
    while (match := _TOKEN.match(text, at)) is not None and len(found) < NODES_LIMIT:
        token, at = match[1], match.end()
        start = offset + match.start(1)
        if token in "{[":
            frames.append(_Frame(start, is_object=token == "{"))
        elif token in "}]":
            frame = frames.pop()
            is_empty = text[frame.start - offset + 1 : at - 1].strip() == ""
            found.append(Node(_tokens(base, frames), frame.start, offset + at, None, is_leaf=is_empty))
        elif token == ",":
            frames[-1].count += 1
            frames[-1].key = None
        elif frames and frames[-1].is_object and frames[-1].key is None:
            frames[-1].key = json.loads(token)
        elif token != ":":
            found.append(Node(_tokens(base, frames), start, offset + at, json.loads(token)))
    return found


def _tokens(base: tuple[str, ...], frames: list[_Frame]) -> tuple[str, ...]:
    return (*base, *(frame.token for frame in frames))
