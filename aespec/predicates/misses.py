"""Near misses of single values, and edits that the laws of several predicates make."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from aespec.model.edit import Edit
from aespec.model.edit_forms import delete, put
from aespec.model.expressions import Json
from aespec.runtime.compare import is_number


def near_misses(value: Any, bound: float = 0.0) -> Iterator[Json]:
    """Scalars unlike the given one by a little, then by type; numbers are off by more than twice `bound`."""
    if isinstance(value, bool):
        yield from (not value, int(value), str(value).lower())
    elif value is None:
        yield from (0, "", False)
    elif isinstance(value, str):
        yield from text_misses(value)
        yield None
    elif is_number(value):
        yield from _number_misses(value, bound)
        yield from (str(value), None)


def _number_misses(value: Any, bound: float) -> Iterator[Json]:
    step = 1 if type(value) is int else 0.01
    if bound:
        step = int(2.5 * bound) + 1 if type(value) is int else 2.5 * bound
    for other in (value + step, value - step):
        # A step that is lost in the size of the number is no miss.
        yield other if abs(other - value) > 2 * bound else 2 * value + 1 + 4 * bound
    if abs(2 * value) > 2 * bound:
        yield -value
    if abs(9 * value) > 2 * bound:
        yield 10 * value


def text_misses(text: str) -> Iterator[str]:
    """Texts of one line unlike the given one by a letter or two; none of them only by blanks."""
    for index, letter in enumerate(text):
        if letter.isascii() and letter.isalnum():
            yield text[:index] + ("b" if letter == "a" else "a") + text[index + 1 :]
            yield text[:index] + text[index + 1 :]
            break
    swapped = text.swapcase()
    if swapped != text and swapped.lower() == text.lower():
        yield swapped
    yield f"{text}x"
    yield f"not {text}"


def destroyed(path: str) -> Iterator[tuple[Edit, ...]]:
    """The file emptied, then gone."""
    yield (put(path, b""),)
    yield (delete(path),)
