"""Literals: numbers with their units, and values that need nothing but themselves."""

from __future__ import annotations

from decimal import Decimal

from aespec.model.expressions import Duration, Json, Size
from aespec.syntax.nodes import Heredoc, ListValue, MapValue, Name, Number, String, Value

DURATIONS_S = {
    "ms": Decimal("0.001"),
    "s": Decimal(1),
    "m": Decimal(60),
    "h": Decimal(3600),
    "d": Decimal(86400),
}
"""Units of time, in seconds."""

SIZES_B = {
    "B": 1,
    "KB": 10**3,
    "MB": 10**6,
    "GB": 10**9,
    "TB": 10**12,
    "KiB": 2**10,
    "MiB": 2**20,
    "GiB": 2**30,
    "TiB": 2**40,
}
"""Units of size, in bytes."""

UNITS = (*DURATIONS_S, *SIZES_B, "%")
"""Every unit that a number may have."""

SPELLED_UNITS = {
    **dict.fromkeys(("sec", "secs", "second", "seconds"), "s"),
    **dict.fromkeys(("min", "mins", "minute", "minutes"), "m"),
    **dict.fromkeys(("hr", "hrs", "hour", "hours"), "h"),
    **dict.fromkeys(("day", "days"), "d"),
    **dict.fromkeys(("k", "kb", "ki"), "KiB"),
    **dict.fromkeys(("mb", "mi"), "MiB"),
    **dict.fromkeys(("g", "gb", "gi"), "GiB"),
}
"""Units as people spell them elsewhere, in lower case, and what they are called here."""

MOST_DIGITS = 18
"""Whole numbers stay below 10**18, which every format and language on the way holds exactly."""

CONSTANTS: dict[str, bool | None] = {"true": True, "false": False, "none": None}
"""Names that are values."""


def is_huge(number: Number) -> bool:
    """Whether the number is out of what the formats hold."""
    if not number.number.is_finite():
        return True
    size = number.number.adjusted()
    return size >= (MOST_DIGITS if number.is_integer else 300) or size < -300 or _digits(number) > 400


def _digits(number: Number) -> int:
    return len(number.number.as_tuple().digits)


def plain_number(number: Number) -> int | float:
    """The number without its unit: an integer where it was written as one."""
    return int(number.number) if number.is_integer else float(number.number)


def scalar(number: Number) -> int | float | Duration | Size | None:
    """The number with its unit: a time span, a size, a fraction for `%`; None for an unknown unit."""
    if not number.unit:
        return plain_number(number)
    if number.unit == "%":
        return float(number.number / 100)
    if number.unit in DURATIONS_S:
        return Duration(float(number.number * DURATIONS_S[number.unit]))
    if number.unit in SIZES_B:
        return Size(int(number.number * SIZES_B[number.unit]))
    return None


def constant_json(value: Value, depth: int = 0) -> tuple[Json] | None:
    """The JSON that a literal is, in a tuple; None where it isn't one or is nested too deeply."""
    if isinstance(value, String):
        return (value.value,)
    if isinstance(value, Heredoc):
        return (value.text,)
    if isinstance(value, Number):
        return _constant_number(value)
    if isinstance(value, Name):
        return (CONSTANTS[value.text],) if value.text in CONSTANTS else (value.text,)
    if depth > 40:
        return None
    if isinstance(value, ListValue):
        items = [constant_json(item, depth + 1) for item in value.items]
        return None if None in items else ([item[0] for item in items if item],)
    if isinstance(value, MapValue):
        found: dict[str, Json] = {}
        for entry in value.entries:
            item = constant_json(entry.value, depth + 1)
            if item is None:
                return None
            found[entry.key] = item[0]
        return (found,)
    return None


def _constant_number(value: Number) -> tuple[Json] | None:
    if is_huge(value):
        return None
    number = scalar(value)
    if isinstance(number, Duration):
        return (number.seconds,)
    if isinstance(number, Size):
        return (number.bytes,)
    return None if number is None else (number,)
