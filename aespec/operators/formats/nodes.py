"""What every reader of a text gives: where a value stands in it."""

from __future__ import annotations

from typing import NamedTuple

from aespec.model.expressions import Json

NODES_LIMIT = 20_000
"""So many places of one file are looked at, in reading order; the rest is left to whole-file operators."""


class Node(NamedTuple):
    """A value's place in a text: the keys and indexes that lead to it, and its characters from start to end.

    `value` is what stands there; for a list or an object None, and `is_leaf` is false unless it is empty.
    """

    tokens: tuple[str, ...]
    start: int
    end: int
    value: Json
    is_leaf: bool = True


def replaced(text: str, node: Node, new: str) -> str:
    """The text with other characters in the place of a value."""
    return text[: node.start] + new + text[node.end :]


def scalar_of(raw: str) -> Json:
    """What an unquoted word means in YAML and TOML alike: a number, a truth value, nothing, else a text."""
    if raw in ("true", "True", "TRUE", "false", "False", "FALSE"):
        return raw.lower() == "true"
    if raw in ("null", "Null", "NULL", "~", ""):
        return None
    from aespec.runtime.decode import parse_number

    number = parse_number(raw) if raw[:1] != "+" else None
    return raw if number is None else number
