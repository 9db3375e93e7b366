"""Numbers and words within an output, each with the edit that writes another one in its place."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple

from aespec.model.edit import Edit
from aespec.operators.api import Output
from aespec.operators.contents import rewrite, text_in
from aespec.operators.formats.nodes import replaced
from aespec.operators.leaves import Leaf, is_addressable, leaves_of, set_leaf

NUMBER = re.compile(r"(?<![\w.,:/-])[-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d{1,2})?(?![\w:/-]|[.,]\d)")
"""A number that stands alone: no part of a date, a time, a version, an address or a name."""

WORD = re.compile(r"[^\W_][\w.-]*[^\W_]|[^\W\d_]")
LONGEST_NUMBER = 40
SPOTS_PER_LINE = 2


class Spot(NamedTuple):
    """A number or a word as written, the leaf that it stands in, and `write`, which makes the edit."""

    leaf: Leaf
    raw: str
    write: Callable[[str], Edit | None]


def numbers_of(output: Output) -> list[Spot]:
    """The numbers: leaves that are one, and those that stand in lines of text."""
    found: list[Spot] = []
    for leaf in leaves_of(output):
        if output.kind == "text":
            found += _within(output, leaf, NUMBER) if leaf.node is not None else ()
        elif isinstance(leaf.value, int | float) and not isinstance(leaf.value, bool):
            found.append(Spot(leaf, leaf.raw, partial(_write_number, output, leaf)))
        elif isinstance(leaf.value, str) and NUMBER.fullmatch(leaf.value.strip()):
            # Cells of tables, texts of XML: a number as a text. In JSON it would be a text, and stays one.
            found.append(Spot(leaf, leaf.value.strip(), partial(set_leaf, output, leaf)))
    return [spot for spot in found if len(spot.raw) <= LONGEST_NUMBER]


def words_of(output: Output) -> list[Spot]:
    """The words: of texts in leaves the longest, of lines the last two that carry something."""
    found: list[Spot] = []
    for leaf in leaves_of(output):
        if not isinstance(leaf.value, str) or not leaf.value or NUMBER.fullmatch(leaf.value.strip()):
            continue
        if output.kind == "text":
            found += _within(output, leaf, WORD)
            continue
        words = [match for match in WORD.finditer(leaf.value[:2000]) if not NUMBER.fullmatch(match[0])]
        if words:
            longest = max(words, key=lambda match: len(match[0]))
            found.append(Spot(leaf, longest[0], partial(_write_word, output, leaf, longest.span())))
    return found


def _within(output: Output, leaf: Leaf, pattern: re.Pattern[str]) -> Iterator[Spot]:
    assert leaf.node is not None, "a line has a place"
    matches = [match for match in pattern.finditer(leaf.raw[:2000]) if _carries(match[0], pattern)]
    for match in matches[-SPOTS_PER_LINE:]:
        start = leaf.node.start + match.start()
        place = leaf.node._replace(start=start, end=start + len(match[0]))

        def write(new: str, place: object = place) -> Edit:
            return rewrite(output, replaced(text_in(output), place, new))  # type: ignore[arg-type]

        yield Spot(leaf, match[0], write)


def _carries(word: str, pattern: re.Pattern[str]) -> bool:
    if pattern is NUMBER:
        return True
    return not NUMBER.fullmatch(word) and word.lower() not in _FILLERS and (len(word) > 1 or word.isupper())


def _write_number(output: Output, leaf: Leaf, new: str) -> Edit | None:
    """In JSON by pointer where the number is one there; else characters for characters."""
    if output.kind == "json" and is_addressable(output):
        value = json.loads(new) if re.fullmatch(r"-?(0|[1-9]\d*)(\.\d+)?([eE][-+]?\d+)?", new) else None
        if value is not None and abs(value) < 1e300:
            return Edit(output.path, leaf.selector, "set", value)
    if leaf.node is None:
        return set_leaf(output, leaf, new)
    return rewrite(output, replaced(text_in(output), leaf.node, new))


def _write_word(output: Output, leaf: Leaf, span: tuple[int, int], new: str) -> Edit | None:
    assert isinstance(leaf.value, str), "only texts have words"
    return set_leaf(output, leaf, leaf.value[: span[0]] + new + leaf.value[span[1] :])


_FILLERS = frozenset(
    re.findall(
        r"\w+",
        "a an and are as at be by for from has have he her his i if in into is it its of on or our she so "
        "that the their them then there these they this to was we were which will with you your",
    )
)
