"""Near misses of numbers and words as they are written, each with the words that tell what became of it."""

from __future__ import annotations

import re
from decimal import Decimal, InvalidOperation

SCALE_LIMIT = 30
LOOKALIKES = {"a": "а", "c": "с", "e": "е", "i": "і", "o": "о", "p": "р", "s": "ѕ", "x": "х", "y": "у"}
"""Cyrillic letters that look like Latin ones."""

OPPOSITES = {
    "true": "false",
    "yes": "no",
    "pass": "fail",
    "passed": "failed",
    "success": "failure",
    "ok": "error",
    "on": "off",
    "enabled": "disabled",
    "allow": "deny",
    "allowed": "denied",
    "accepted": "rejected",
    "valid": "invalid",
    "present": "absent",
    "found": "missing",
    "open": "closed",
    "up": "down",
    "increase": "decrease",
    "increased": "decreased",
    "higher": "lower",
    "high": "low",
    "more": "less",
    "before": "after",
    "left": "right",
    "all": "none",
    "always": "never",
    "positive": "negative",
    "first": "last",
    "min": "max",
    "minimum": "maximum",
    "read": "write",
    "is": "is not",
    "are": "are not",
    "was": "was not",
    "were": "were not",
    "has": "has no",
    "must": "must not",
    "can": "can't",
    "will": "will not",
    "does": "does not",
}
OPPOSITES |= {other: word for word, other in OPPOSITES.items() if " " not in other and "'" not in other}


def read_decimal(raw: str) -> Decimal | None:
    """The number as it is written, or None where it is none, or too large or small to be written out."""
    try:
        value = Decimal(raw)
    except InvalidOperation:
        return None
    if not value.is_finite() or abs(value.adjusted()) > SCALE_LIMIT or len(raw) > 2 * SCALE_LIMIT:
        return None
    return value


def decimals_of(value: Decimal) -> int:
    """How many digits stand behind the point."""
    exponent = value.as_tuple().exponent
    return max(0, -exponent) if isinstance(exponent, int) else 0


def write_decimal(value: Decimal, decimals: int) -> str:
    """The number with so many digits behind the point, without an exponent."""
    return f"{value:.{decimals}f}"


def off_by_little(raw: str) -> list[str]:
    """The number one unit up and down.

    A unit is 1, or one of the last digit where there are one or two behind the point. Where there are more, a
    tolerance may well be meant, and it is some hundredths of the number.
    """
    value = read_decimal(raw)
    if value is None:
        return []
    decimals = decimals_of(value)
    step = Decimal(1).scaleb(-decimals)
    if decimals > 2:
        step = max(step, Decimal(1).scaleb(value.adjusted() - 1) if value else Decimal("0.1"))
    return [write_decimal(value + step, decimals), write_decimal(value - step, decimals)]


def last_digits(raw: str) -> list[str]:
    """The number off by one of its last digit, and rounded, where that is finer than `off_by_little`."""
    value = read_decimal(raw)
    decimals = decimals_of(value) if value is not None else 0
    if value is None or decimals <= 2:
        return []
    found = [write_decimal(value + Decimal(1).scaleb(-decimals), decimals)]
    found += [
        write_decimal(value, fewer) for fewer in (2, 1) if Decimal(write_decimal(value, fewer)) != value
    ]
    return found


def other_sign(raw: str) -> str | None:
    """The number with the other sign; None for zero."""
    value = read_decimal(raw)
    return None if not value else raw[1:] if raw[0] == "-" else f"-{raw.lstrip('+')}"


def other_scale(raw: str) -> list[str]:
    """Ten times and a hundred times the number, and a hundredth; none for zero."""
    value = read_decimal(raw)
    if not value:
        return []
    decimals = decimals_of(value)
    return [
        write_decimal(value * 10, decimals),
        write_decimal(value * 100, decimals),
        write_decimal(value / 100, decimals + 2),
    ]


def digits_swapped(raw: str) -> str | None:
    """The number with two neighbouring digits in each other's place; None where all are alike."""
    for match in re.finditer(r"(?=(\d)(\d))", raw):
        one, other = match[1], match[2]
        at = match.start()
        is_leading_zero = other == "0" and not re.search(r"\d$", raw[:at])
        if one != other and not is_leading_zero:
            return raw[:at] + other + one + raw[at + 2 :]
    return None


def misspelled(word: str) -> str:
    """The word with one letter or digit in its middle another one, never only in another case."""
    places = [at for at, letter in enumerate(word) if letter.isascii() and letter.isalnum()]
    if not places:
        return f"{word}x"
    at = places[len(places) // 2]
    return word[:at] + _next(word[at]) + word[at + 1 :]


def _next(letter: str) -> str:
    if letter.isdigit():
        return str((int(letter) + 1) % 10)
    return chr(ord(letter) - 1) if letter in "zZ" else chr(ord(letter) + 1)


def look_alike(word: str) -> str | None:
    """The word with a letter of another script that looks the same; None where it has none."""
    for at, letter in enumerate(word):
        if letter in LOOKALIKES:
            return word[:at] + LOOKALIKES[letter] + word[at + 1 :]
    return None


def negated(text: str) -> str | None:
    """The text with the first word that has an opposite replaced by that; None where there is none."""
    for match in re.finditer(r"[A-Za-z]+", text):
        other = OPPOSITES.get(match[0].lower())
        if other is not None:
            word = (
                other.upper()
                if match[0].isupper()
                else other.capitalize()
                if match[0][0].isupper()
                else other
            )
            return text[: match.start()] + word + text[match.end() :]
    return None
