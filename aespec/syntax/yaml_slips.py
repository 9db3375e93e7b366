"""Lists as YAML writes them, a line with `- item` for each value."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from aespec.diagnostics.diagnostic import Diagnostic, Fix, Severity, TextEdit
from aespec.syntax.grammar import token_pattern
from aespec.syntax.text_slips import text_at
from aespec.syntax.tokens import JUNK, Token
from aespec.syntax.words import write_text

if TYPE_CHECKING:
    from aespec.syntax.lexer import Lexer

_DASH = re.compile(r"-[ \t]+")
_VALUE = re.compile(r"\"(?:[^\"\\\n]|\\[^\n])*\"|'[^'\n]*'|[^\"'#,(){}\[\]=\n]+")
_HOLDS_NAMES = frozenset({"breaks", "from"})
"""Attributes and arguments whose lists hold bare names; others hold texts."""


@dataclass(frozen=True, slots=True)
class _Item:
    """One value: its place, and how it is written in a list here."""

    start: int
    end: int
    written: str


def report_list(lexer: Lexer) -> bool:
    """A `-` at the beginning of a line, with a blank after it; what follows is read as what it was meant."""
    start, text = lexer.position, lexer.text
    margin = text[text.rfind("\n", 0, start) + 1 : start]
    dash = _DASH.match(text, start)
    if margin.strip(" \t") or dash is None:
        return False
    before = lexer.words.tokens[-1] if lexer.words.tokens else None
    if before is not None and before.type in {"LSQB", "COMMA"}:
        _read(lexer, margin, None, "")
    elif before is not None and before.type == "EQUALS":
        _read(lexer, margin, before, "")
    elif before is not None and before.type == "NAME" and before.is_first_on_line:
        _read(lexer, margin, before, " =")
    else:
        fix = Fix("remove the `-`", (TextEdit(lexer.span(start, dash.end()), ""),))
        _report(lexer, start, start + 1, "Remove the `-`.", fix)
        lexer.position = dash.end()
    return True


def _read(lexer: Lexer, margin: str, before: Token | None, equals: str) -> None:
    """Read the values; `before` is what the list should stand behind, None within brackets."""
    start = lexer.position
    end, items = _items(lexer, start, margin, _keyword(lexer, before))
    line_end = _line_end(lexer.text, start)
    if not items:
        _report(lexer, start, line_end, "Write `[first, second]`, on one line or on several.", None)
        lexer.emit(JUNK, start, end)
        lexer.position = end
        return
    listed = ", ".join(item.written for item in items)
    edit = TextEdit(lexer.span(start, end), f",\n{margin}".join(item.written for item in items))
    if before is not None:
        edit = TextEdit(lexer.span(before.span.end, end), f"{equals} [{listed}]")
    shown = listed if len(listed) <= 60 else listed[:59] + "…"
    fix = Fix("write a list in brackets", (edit,), is_safe=False)
    _report(lexer, start, line_end, f"Write `[{shown}]`.", fix)
    if equals:
        lexer.emit("EQUALS", start, start)
    _emit(lexer, items, has_brackets=before is None)
    lexer.position = end


def _keyword(lexer: Lexer, before: Token | None) -> str:
    """The name of what the list belongs to, "" within brackets."""
    tokens = lexer.words.tokens
    if before is not None and before.type == "EQUALS":
        return tokens[-2].text if len(tokens) > 1 else ""
    return before.text if before is not None else ""


def _report(lexer: Lexer, start: int, end: int, help: str, fix: Fix | None) -> None:
    lexer.words.diagnostics.append(
        Diagnostic(
            "yaml-list",
            Severity.ERROR,
            "`-` begins no item of a list here",
            lexer.span(start, end),
            why="A spec is no YAML: a list stands in brackets with commas between its values, and statements "
            "just stand below each other.",
            help=help,
            fix=fix,
        )
    )


def _line_end(text: str, at: int) -> int:
    return at + len(text[at : text.index("\n", at)].rstrip())


def _items(lexer: Lexer, start: int, margin: str, keyword: str) -> tuple[int, list[_Item]]:
    """Where the list ends, and its values; no values where one of them isn't a single word or text."""
    text, at = lexer.text, start
    items: list[_Item] = []
    is_plain = True
    end = start
    while True:
        dash = _DASH.match(text, at)
        line_end = text.index("\n", at)
        if dash is None:
            break
        end = _line_end(text, at)
        value = text[dash.end() : end].removesuffix(",").rstrip()
        is_plain = is_plain and _VALUE.fullmatch(value) is not None
        items.append(_Item(dash.end(), dash.end() + len(value), _written(value, keyword)))
        if not text.startswith(margin, line_end + 1):
            break
        at = line_end + 1 + len(margin)
    return end, items if is_plain else []


def _written(value: str, keyword: str) -> str:
    found = token_pattern().match(value)
    if found is not None and found.end() == len(value):
        kind = found.lastgroup
        if kind in {"STRING", "RAW", "NUMBER"} or (kind in {"NAME", "PATH"} and keyword in _HOLDS_NAMES):
            return value
    return write_text(value)


def _emit(lexer: Lexer, items: list[_Item], *, has_brackets: bool) -> None:
    """Go on as if the list stood there."""
    first, last = items[0], items[-1]
    if not has_brackets:
        lexer.emit("LSQB", first.start, first.start)
    for number, item in enumerate(items):
        if number:
            lexer.emit("COMMA", item.start, item.start)
        _emit_value(lexer, item)
    if not has_brackets:
        lexer.emit("RSQB", last.end, last.end)


def _emit_value(lexer: Lexer, item: _Item) -> None:
    value = lexer.text[item.start : item.end]
    found = token_pattern().match(lexer.text, item.start)
    if value != item.written or found is None:
        lexer.emit("STRING", item.start, item.end, text_at(lexer, value, item.start, item.end))
        return
    lexer.position = item.end
    readers = {"STRING": lexer.read_string, "RAW": lexer.read_raw, "NUMBER": lexer.read_number}
    reader = readers.get(str(found.lastgroup))
    if reader is None:
        lexer.emit(str(found.lastgroup), item.start, item.end)
    else:
        reader(item.start, value)
