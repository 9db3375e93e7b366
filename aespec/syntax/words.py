"""Leaves of the tree as text: names, numbers and texts that read back as they were."""

from __future__ import annotations

import re
from decimal import Decimal

from aespec.syntax.nodes import Number, String

DIGITS_MAX = 60
EXPONENT_MAX = 400
"""Bounds on a number as written, wide enough for any double; beyond them exact arithmetic gets slow."""

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(?:-[A-Za-z0-9_]+)*")
_TAG = re.compile(r"[A-Za-z0-9_.+-]*")
_UNIT = re.compile(r"(?:%|[A-Za-z]+)?")
_RAW = re.compile(r"[^'\x00-\x08\x0a-\x1f\x7f]*")
# What can't be seen or turns the direction of text around is written as an escape.
_ESCAPED = re.compile('["\\\\\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]')
_SHORT = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
_ESCAPE_SEQUENCE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))")
_MEANING = {"n": "\n", "r": "\r", "t": "\t", '"': '"', "\\": "\\"}


def unescape(body: str) -> str:
    """A quoted text's escapes taken out; unknown ones are kept as written."""
    if "\\" not in body:
        return body
    return _ESCAPE_SEQUENCE.sub(lambda m: chr(int(m[1], 16)) if m[1] else _MEANING.get(m[2], m[0]), body)


def is_name(text: str) -> bool:
    """Whether a text can stand as a bare name."""
    return _NAME.fullmatch(text) is not None


def write_path(parts: tuple[str, ...]) -> str:
    """A name or dotted name. Raises ValueError for what the language can't write as one."""
    for part in parts:
        if not is_name(part):
            raise ValueError(f"{part!r} is no name")
    if not parts:
        raise ValueError("a name has at least one part")
    return ".".join(parts)


def write_tag(tag: str) -> str:
    """A heredoc's tag. Raises ValueError for what can't be one."""
    if not _TAG.fullmatch(tag):
        raise ValueError(f"{tag!r} can't be the tag of a heredoc")
    return tag


def write_number(node: Number) -> str:
    """A number and its unit, exact. Raises ValueError for what isn't finite or has too many digits."""
    number: Decimal = node.number
    if not number.is_finite() or not _UNIT.fullmatch(node.unit):
        raise ValueError(f"{number}{node.unit} can't be written as a number")
    text = str(number).lower().replace("e+", "e") + node.unit
    if len(text) > DIGITS_MAX:
        raise ValueError(f"{text[:20]}… has too many digits")
    return text


def write_text(text: str) -> str:
    """A text in double quotes. Raises ValueError for halves of surrogate pairs, which no file can hold."""
    if any("\ud800" <= char <= "\udfff" for char in text):
        raise ValueError("a text with half of a surrogate pair can't be written")
    return '"' + _ESCAPED.sub(lambda m: _SHORT.get(m[0], f"\\u{ord(m[0]):04x}"), text) + '"'


def write_string(node: String) -> str:
    """A text in the quotes that it was written in, where they can hold it."""
    if node.is_raw and _RAW.fullmatch(node.value):
        return f"'{node.value}'"
    return write_text(node.value)
