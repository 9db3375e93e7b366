"""Which places of a program's text stand inside a string literal, quotes or a here-document.

Only as much of the two languages is read as tells quotes from code: a place in a comment, or in the code
within a command substitution or an f-string's braces, stands in no quotes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from aespec.model.expressions import CheckSlot, Ref, Text

_MARK = "\ue000"
"""Stands for a place while a text is read; of the private use area, so that no program holds it."""

_PYTHON_QUOTE = re.compile(r"([A-Za-z]{0,2})('''|\"\"\"|'|\")")
_HERE = re.compile(r"<<(-?)[ \t]*(?:'([^'\n]+)'|\"([^\"\n]+)\"|\\?([A-Za-z_][\w.-]*))")


def quoted_places(text: Text) -> Iterator[tuple[Ref, str]]:
    """The references that stand in quotes, with what they stand in: `a string` or `quotes`, `a
    here-document`.
    """
    refs = [part for part in text.parts if isinstance(part, Ref)]
    written = "".join(
        part if isinstance(part, str) else "" if isinstance(part, CheckSlot) else _MARK for part in text.parts
    )
    if not refs or written.count(_MARK) != len(refs):
        return
    found = _python_places(written) if text.tag == "python" else _shell_places(written)
    numbers = {at: index for index, at in enumerate(m.start() for m in re.finditer(_MARK, written))}
    for at, where in found:
        yield refs[numbers[at]], where


def _python_places(text: str) -> Iterator[tuple[int, str]]:
    at = 0
    while at < len(text):
        match = _PYTHON_QUOTE.match(text, at)
        if text[at] == "#":
            at = _line_end(text, at)
        elif match and not (text[at].isalpha() and at and (text[at - 1].isalnum() or text[at - 1] == "_")):
            stop = _python_end(text, match.end(), match[2])
            yield from ((place, "a string") for place in _in_literal(text, match, stop))
            at = stop
        else:
            at += 1


def _python_end(text: str, at: int, quote: str) -> int:
    """Where a string ends that begins before `at`; an unclosed one of one line ends with its line."""
    while at < len(text):
        if text[at] == "\\":
            at += 2
        elif text.startswith(quote, at):
            return at + len(quote)
        elif text[at] == "\n" and len(quote) == 1:
            return at
        else:
            at += 1
    return len(text)


def _in_literal(text: str, match: re.Match[str], stop: int) -> Iterator[int]:
    """The places in a string, those in the braces of an f-string left out."""
    is_format = "f" in match[1].lower()
    depth, at = 0, match.end()
    while at < stop:
        if text[at] == _MARK and depth == 0:
            yield at
        elif is_format and depth == 0 and text[at : at + 2] in ("{{", "}}"):
            at += 1
        elif is_format and text[at] in "{}":
            depth = max(0, depth + (1 if text[at] == "{" else -1))
        at += 1


def _shell_places(text: str) -> Iterator[tuple[int, str]]:
    """A stack says what is open: `"`, `(` of a group or substitution, `a` of arithmetic, a backtick."""
    stack: list[str] = []
    ends: list[tuple[str, bool]] = []
    at = 0
    while at < len(text):
        top = stack[-1] if stack else ""
        char = text[at]
        if char == "\\":
            at += 2
        elif char == "\n" and ends and top != '"':
            stop = _here_end(text, at + 1, ends)
            yield from ((place, "a here-document") for place in _marks(text, at, stop))
            ends, at = [], stop
        elif top == '"':
            if char == _MARK:
                yield at, "quotes"
            at = _in_double(text, at, stack)
        elif char == "'":
            stop = text.find("'", at + 1)
            stop = len(text) if stop < 0 else stop
            yield from ((place, "quotes") for place in _marks(text, at, stop))
            at = stop + 1
        elif char == "#" and (at == 0 or text[at - 1] in " \t\n;(|&"):
            at = _line_end(text, at)
        elif top != "a" and text.startswith("<<", at) and not text.startswith("<<<", at):
            match = _HERE.match(text, at)
            if match:
                ends.append((match[2] or match[3] or match[4], bool(match[1])))
            at = match.end() if match else at + 2
        else:
            at = _in_code(text, at, stack)


def _in_double(text: str, at: int, stack: list[str]) -> int:
    """One step inside double quotes."""
    if text[at] == '"':
        stack.pop()
    elif text[at] == "`":
        _tick(stack)
    else:
        return _substitution(text, at, stack)
    return at + 1


def _in_code(text: str, at: int, stack: list[str]) -> int:
    """One step outside quotes."""
    char, top = text[at], stack[-1] if stack else ""
    if text.startswith("<<<", at):
        return at + 3
    if char == '"':
        stack.append('"')
    elif char == "`":
        _tick(stack)
    elif top == "a" and text.startswith("))", at):
        stack.pop()
        return at + 2
    elif char == "(":
        stack.append("(")
    elif char == ")" and top == "(":
        stack.pop()
    else:
        return _substitution(text, at, stack)
    return at + 1


def _substitution(text: str, at: int, stack: list[str]) -> int:
    for opening, kind in (("$((", "a"), ("$(", "(")):
        if text.startswith(opening, at):
            stack.append(kind)
            return at + len(opening)
    return at + 1


def _tick(stack: list[str]) -> None:
    if "`" in stack:
        del stack[len(stack) - 1 - stack[::-1].index("`") :]
    else:
        stack.append("`")


def _here_end(text: str, at: int, ends: list[tuple[str, bool]]) -> int:
    """Where the bodies of here-documents end that begin at a line."""
    for word, is_dashed in ends:
        while at < len(text):
            stop = _line_end(text, at)
            line = text[at:stop]
            at = min(stop + 1, len(text))
            if (line.lstrip("\t") if is_dashed else line) == word:
                break
    return at


def _line_end(text: str, at: int) -> int:
    stop = text.find("\n", at)
    return len(text) if stop < 0 else stop


def _marks(text: str, start: int, stop: int) -> Iterator[int]:
    return (match.start() for match in re.finditer(_MARK, text[:stop]) if match.start() >= start)
