"""From bytes that a solver wrote to values: strict where readers could differ, bounded in time and space."""

from __future__ import annotations

import json
import re
from typing import Any, List, Optional, Tuple, Union

from aespec.runtime.state import Missing
from aespec.runtime.wording import counted

LIMIT_BYTES = 16 * 1024 * 1024
"""Largest text, JSON or table that is judged; the costliest 16 MiB of JSON become 400 MB of objects."""

DEPTH_LIMIT = 200
"""Deepest nesting of a JSON document that is judged; far below what Python's parser itself can bear."""

DIGITS_LIMIT = 4000
"""Longest integer that is judged, in digits; Python's own limit is 4300, where it has one."""

Number = Union[int, float]


class Unreadable(Missing):
    """There is a file, but its content is not of the promised form; the message is a sentence's end."""


def decode_text(data: bytes) -> str:
    """UTF-8 text; a byte order mark at the start is dropped. Raises `Unreadable`."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise Unreadable(f"is not UTF-8 text (byte {error.start})") from None
    return text[1:] if text[:1] == "\ufeff" else text


def parse_json(data: bytes) -> Any:
    """The value of one JSON document in UTF-8.

    Raises `Unreadable` for anything that RFC 8259 does not allow, and for what readers disagree on: a key
    that stands twice, NaN and infinities, integers over `DIGITS_LIMIT`, nesting over `DEPTH_LIMIT`.
    """
    text = decode_text(data)
    # A short text can't hold a number that is too long, so Python's own fast conversion will do.
    decoder = _SHORT if len(text) <= DIGITS_LIMIT else _LONG
    try:
        value = decoder.decode(text)
    except Unreadable:
        raise
    except RecursionError:
        raise Unreadable(f"is nested deeper than {DEPTH_LIMIT} levels") from None
    except ValueError as error:
        where = f" (line {error.lineno})" if isinstance(error, json.JSONDecodeError) else ""
        raise Unreadable(f"is not valid JSON{where}") from None
    if len(text) > DEPTH_LIMIT and text.count("[") + text.count("{") > DEPTH_LIMIT and _is_deep(value):
        raise Unreadable(f"is nested deeper than {DEPTH_LIMIT} levels")
    return value


def _object(pairs: List[Tuple[str, Any]]) -> Any:
    found = dict(pairs)
    if len(found) != len(pairs):
        seen = set()
        for key, _ in pairs:
            if key in seen:
                raise Unreadable(f"has the key {json.dumps(key[:60])} twice in one object")
            seen.add(key)
    return found


def _constant(name: str) -> Any:
    raise Unreadable(f"holds {name}, which is not JSON")


def _integer(digits: str) -> int:
    if len(digits) > DIGITS_LIMIT:
        raise Unreadable(f"holds an integer of {counted(len(digits), 'digit')}")
    return int(digits)


_SHORT = json.JSONDecoder(object_pairs_hook=_object, parse_constant=_constant)
_LONG = json.JSONDecoder(object_pairs_hook=_object, parse_constant=_constant, parse_int=_integer)


def _is_deep(value: Any) -> bool:
    level = [value]
    for _ in range(DEPTH_LIMIT):
        below: List[Any] = []
        for item in level:
            if isinstance(item, dict):
                below.extend(part for part in item.values() if isinstance(part, (dict, list)))
            elif isinstance(item, list):
                below.extend(part for part in item if isinstance(part, (dict, list)))
        if not below:
            return False
        level = below
    return True


_NUMBER = re.compile(r"[+-]?(?:[0-9]+(\.[0-9]*)?|(\.[0-9]+))([eE][+-]?[0-9]+)?")


def parse_number(text: str) -> Optional[Number]:
    """A number as people and programs write it: `3`, `3.0`, `+3`, `03`, `.5`, `3e2`; blanks around it are
    ignored.

    No thousand separators, no decimal comma, no unit. None for anything else, for what overflows, and for
    more than 400 characters.
    """
    text = text.strip(" \t")
    if len(text) > 400:
        return None
    match = _NUMBER.fullmatch(text)
    if match is None:
        return None
    if match.group(1) is None and match.group(2) is None and match.group(3) is None:
        return int(text)
    value = float(text)
    return value if value - value == 0 else None


_DATE = re.compile(r"([0-9]{4})-?([0-9]{2})-?([0-9]{2})")


def parse_date(text: str) -> Optional[Tuple[int, int, int]]:
    """A calendar date of ISO 8601, `2024-02-29` or `20240229`, as year, month, day; None for anything
    else.
    """
    import datetime as dt

    text = text.strip(" \t")
    match = _DATE.fullmatch(text)
    if match is None or text.count("-") == 1:
        return None
    year, month, day = (int(part) for part in match.groups())
    try:
        dt.date(year, month, day)
    except ValueError:
        return None
    return year, month, day


def show(value: Any, limit: int = 80) -> str:
    """A value in a sentence: JSON in ASCII, cut at `limit` characters; lists and objects by their size if
    long.
    """
    if isinstance(value, (list, dict)) and len(value) > 8:
        return f"{'a list' if isinstance(value, list) else 'an object'} of {len(value)}"
    if isinstance(value, str):
        value = value[: limit + 1]
    try:
        text = json.dumps(value, ensure_ascii=True, sort_keys=True)
    except (ValueError, RecursionError, TypeError):
        return f"a value of type {type(value).__name__}"
    return text if len(text) <= limit else text[:limit] + "…"
