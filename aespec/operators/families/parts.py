"""A part of an office document is another: a word, a number, a paragraph or row, a formula."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from html import unescape
from xml.sax.saxutils import escape

from aespec.model.chooser import Chooser, shuffled
from aespec.model.edit_forms import put
from aespec.operators.api import Draft, Operator, Output, Scene
from aespec.operators.contents import data_of
from aespec.operators.formats.containers import Container, pack_container, read_container
from aespec.operators.kinds import text_of
from aespec.operators.near import misspelled, off_by_little
from aespec.operators.spots import NUMBER, WORD
from aespec.runtime.decode import show

_BODY = re.compile(
    r"word/document\.xml|xl/(?:sharedStrings|worksheets/[^/]+)\.xml|ppt/slides/[^/]+\.xml|content\.xml"
)
_TEXT = re.compile(r"<((?:w:|a:|text:)?(?:t|p|span|v))(?:\s[^<>]*)?>([^<>]+)</\1>")
_CELL = re.compile(
    r"<c\b(?![^<>]*\bt=\"(?:s|b|e)\")[^<>]*>(?:<f\b[^<>]*>[^<>]*</f>|<f\b[^<>]*/>)?<v>([^<>]+)</v></c>"
)
_BLOCK = re.compile(r"<(w:p|row|a:p|text:p|table:table-row)(?:\s[^<>]*)?>(?:(?!<\1[\s>]).)*?</\1>", re.DOTALL)
_FORMULA = re.compile(r"<f\b[^<>]*>[^<>]*</f>|<f\b[^<>]*/>")
BLOCK_CHARACTERS = 200_000


def _bodies(output: Output) -> tuple[Container | None, list[tuple[int, str]]]:
    """The parts that hold what a reader sees, as text."""
    container = read_container(data_of(output))
    found: list[tuple[int, str]] = []
    for at, member in enumerate(container.members if container is not None else ()):
        text = text_of(member.data or b"") if _BODY.fullmatch(member.name) else None
        if text:
            found.append((at, text))
    return container, found


def _draft(output: Output, container: Container, at: int, text: str, says: str) -> Draft:
    member = container.members[at]
    members = (*container.members[:at], member._replace(data=text.encode()), *container.members[at + 1 :])
    return Draft(
        f"{output.path}#{member.name}", (put(output.path, pack_container(container, members)),), says
    )


def _drafts(
    output: Output,
    chooser: Chooser,
    pattern: re.Pattern[str],
    change: Callable[[re.Match[str]], tuple[str, str] | None],
) -> Iterator[Draft]:
    """One draft for each match of which `change` gives other characters, and the clause that tells them."""
    container, bodies = _bodies(output)
    places = [(at, text, match) for at, text in bodies for match in pattern.finditer(text)]
    for at, text, match in shuffled(places, chooser):
        told = change(match)
        if told is not None and container is not None:
            yield _draft(
                output, container, at, text[: match.start()] + told[0] + text[match.end() :], told[1]
            )


def _within(match: re.Match[str], group: int, new: str) -> str:
    start, end = match.start(group) - match.start(), match.end(group) - match.start()
    return match[0][:start] + escape(new) + match[0][end:]


def _words(output: Output, scene: Scene, chooser: Chooser) -> Iterator[Draft]:
    def change(match: re.Match[str]) -> tuple[str, str] | None:
        text = unescape(match[2])
        words = [word for word in WORD.finditer(text) if not NUMBER.fullmatch(word[0])]
        if not words:
            return None
        word = max(words, key=lambda found: len(found[0]))
        other = misspelled(word[0])
        new = text[: word.start()] + other + text[word.end() :]
        return _within(match, 2, new), f"{show(word[0], 40)} is {show(other, 40)} there"

    yield from _drafts(output, chooser, _TEXT, change)


def _numbers(output: Output, scene: Scene, chooser: Chooser) -> Iterator[Draft]:
    def change(match: re.Match[str]) -> tuple[str, str] | None:
        group = match.re.groups
        others = off_by_little(match[group].strip())
        if not others:
            return None
        return _within(match, group, others[0]), f"{match[group].strip()[:40]} is {others[0][:40]} there"

    for pattern in (_CELL, _TEXT):
        yield from _drafts(output, chooser, pattern, change)


def _blocks(output: Output, scene: Scene, chooser: Chooser) -> Iterator[Draft]:
    def change(match: re.Match[str]) -> tuple[str, str] | None:
        said = unescape(re.sub(r"<[^>]*>", " ", match[0])).split()
        if not said or len(match[0]) > BLOCK_CHARACTERS:
            return None
        what = "row" if "row" in match[1] else "paragraph"
        return "", f"the {what} {show(' '.join(said), 60)} is missing"

    yield from _drafts(output, chooser, _BLOCK, change)


def _formulas(output: Output, scene: Scene, chooser: Chooser) -> Iterator[Draft]:
    yield from _drafts(
        output, chooser, _FORMULA, lambda match: ("", "a value stands in place of its formula")
    )


OPERATORS = (
    (Operator("word-in-document", "parts", ("office",), "wrong"), _words),
    (Operator("number-in-document", "parts", ("office",), "wrong"), _numbers),
    (Operator("dropped-block", "parts", ("office",), "wrong"), _blocks),
    (Operator("value-for-formula", "parts", ("office",), "depends"), _formulas),
)
