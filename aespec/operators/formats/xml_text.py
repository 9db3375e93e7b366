"""XML documents without definitions of their own: what they say, and where texts and attributes stand."""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache
from html import unescape
from xml.parsers import expat

from aespec.operators.formats.nodes import NODES_LIMIT, Node

LIMIT_CHARACTERS = 1024 * 1024
LEVELS_LIMIT = 200

_PIECE = re.compile(
    r"<!--.*?-->|<!\[CDATA\[.*?\]\]>|<\?.*?\?>|<![^>]*>|<(?:[^<>\"']|\"[^\"]*\"|'[^']*')*>|[^<]+", re.DOTALL
)
_ATTRIBUTE = re.compile(r"\s([^\s=<>/\"']+)\s*=\s*(\"([^\"]*)\"|'([^']*)')")


def is_xml(text: str) -> bool:
    """Whether the text is a well-formed document that defines no entities."""
    return read_xml(text) is not None


@lru_cache(maxsize=32)
def read_xml(text: str) -> tuple[tuple[object, ...], ...] | None:
    """What a document says, as a flat sequence of starts, texts and ends; None for what is none.

    The order of attributes and blanks around texts don't count. A document that defines entities is none:
    they could stand for more than fits in memory.
    """
    if len(text) > LIMIT_CHARACTERS or "<!ENTITY" in text:
        return None
    said: list[tuple[object, ...]] = []
    texts: list[str] = []
    level = 0

    def flush() -> None:
        told = " ".join("".join(texts).split())
        texts.clear()
        if told:
            said.append(("text", told))

    def start(name: str, attributes: dict[str, str]) -> None:
        nonlocal level
        level += 1
        if level > LEVELS_LIMIT:
            raise ValueError
        flush()
        said.append(("start", name, tuple(sorted(attributes.items()))))

    def end(name: str) -> None:
        nonlocal level
        level -= 1
        flush()
        said.append(("end",))

    parser = expat.ParserCreate()
    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.CharacterDataHandler = texts.append
    try:
        parser.Parse(text.encode("utf-8"), True)
    except (expat.ExpatError, ValueError):
        return None
    return tuple(said)


def xml_nodes(text: str) -> list[Node]:
    """The texts and attributes of a valid document: `a/b/2` is the second `b`, `@id` an attribute.

    The first of equal names has no number. What holds other elements comes as a node that is no leaf.
    """
    found: list[Node] = []
    path: list[str] = []
    starts: list[int] = []
    counts: list[Counter[str]] = [Counter()]
    for match in _PIECE.finditer(text):
        piece = match[0]
        if len(found) >= NODES_LIMIT:
            break
        if piece.startswith(("<!", "<?")):
            continue
        if piece.startswith("</"):
            if path:
                found.append(Node(_steps(path), starts.pop(), match.end(), None, is_leaf=False))
                path.pop()
                counts.pop()
        elif piece.startswith("<"):
            name = re.match(r"<([^\s/>]+)", piece)
            step = _step(counts[-1], name[1] if name else "")
            found += _attributes(piece, match.start(), (*_steps(path), *step.split("/")))
            if not piece.endswith("/>"):
                path.append(step)
                starts.append(match.start())
                counts.append(Counter())
        elif piece.strip():
            start = match.start() + len(piece) - len(piece.lstrip())
            found.append(Node(_steps(path), start, start + len(piece.strip()), unescape(piece.strip())))
    return found


def _step(counts: Counter[str], name: str) -> str:
    counts[name] += 1
    return name if counts[name] == 1 else f"{name}/{counts[name]}"


def _steps(path: list[str]) -> tuple[str, ...]:
    return tuple(part for step in path for part in step.split("/"))


def _attributes(tag: str, offset: int, tokens: tuple[str, ...]) -> list[Node]:
    return [
        Node(
            (*tokens, f"@{match[1]}"),
            offset + match.start(2) + 1,
            offset + match.end(2) - 1,
            unescape(match[2][1:-1]),
        )
        for match in _ATTRIBUTE.finditer(tag)
    ]
