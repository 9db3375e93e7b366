"""Texts in quotes that went wrong: their end, their escapes, their quotes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from aespec.syntax.nodes import String
from aespec.syntax.tokens import JUNK
from aespec.syntax.words import unescape

if TYPE_CHECKING:
    from aespec.syntax.lexer import Lexer

_LOOSE_STRING = re.compile(r'"(?:[^"\\\n]|\\[^\n])*"')
_LOOSE_RAW = re.compile(r"'[^'\n]*'")
_BAD_ESCAPE = re.compile(r'\\(?!["\\nrt]|u(?:[0-9a-ce-fA-CE-F][0-9a-fA-F]{3}|[dD][0-7][0-9a-fA-F]{2}))')
_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
_CURLY = re.compile('[\u201c\u201d\u201e\u00ab]([^\u201c\u201d\u201e\u00ab\u00bb"\n]*)[\u201c\u201d\u00bb]')
_CURLY_SINGLE = re.compile("[\u2018\u2019\u201a]([^\u2018\u2019\u201a'\n]*)[\u2018\u2019]")
_TAIL = re.compile(r"[\s,)\]}{(]*$")


def text_at(lexer: Lexer, value: str, start: int, end: int) -> String:
    """The node of a text at a place."""
    return String(value, span=lexer.span(start, end))


def report_string(lexer: Lexer) -> bool:
    """A double-quoted text with a wrong escape or a control character, or without its end."""
    start, text = lexer.position, lexer.text
    found = _LOOSE_STRING.match(text, start)
    if found is None:
        _unclosed(lexer, '"')
        return True
    lexer.position = found.end()
    bad = _BAD_ESCAPE.search(found[0])
    if bad:
        at = start + bad.start()
        what = found[0][bad.start() : bad.start() + 2]
        lexer.report(
            "unknown-escape",
            f"`{what}` is no escape",
            at,
            at + 2,
            why=r"The escapes are `\"`, `\\`, `\n`, `\r`, `\t` and `\uXXXX` (no surrogates).",
            help="Write four hex digits, or the character itself."
            if what == "\\u"
            else f"Write `\\{what}` for a backslash, or use 'single quotes', which have no escapes.",
            fix=("double the backslash", "\\" + what) if what != "\\u" else None,
        )
    else:
        control = _CONTROL.search(found[0])
        at = start + (control.start() if control else 0)
        _control(lexer, at)
    lexer.emit("STRING", start, found.end(), text_at(lexer, unescape(found[0][1:-1]), start, found.end()))
    return True


def report_raw(lexer: Lexer) -> bool:
    """A single-quoted text with a control character, or without its end."""
    start = lexer.position
    found = _LOOSE_RAW.match(lexer.text, start)
    if found is None:
        _unclosed(lexer, "'")
        return True
    lexer.position = found.end()
    control = _CONTROL.search(found[0])
    _control(lexer, start + (control.start() if control else 0))
    lexer.emit("RAW", start, found.end(), text_at(lexer, found[0][1:-1], start, found.end()))
    return True


def _control(lexer: Lexer, at: int) -> None:
    code = ord(lexer.text[at])
    lexer.report(
        "control-character",
        f"the control character U+{code:04X} stands in a text",
        at,
        at + 1,
        why="It can't be seen, and editors and terminals do as it says.",
        help=f'Write it as an escape in a "double-quoted" text: `\\u{code:04x}`.',
        fix=("write it as an escape", f"\\u{code:04x}"),
    )


def _unclosed(lexer: Lexer, quote: str) -> None:
    """Take the rest of the line as the text, but for the brackets at its end, which were hardly meant."""
    start = lexer.position
    line_end = lexer.text.index("\n", start)
    rest = lexer.text[start + 1 : line_end]
    tail = _TAIL.search(rest)
    end = start + 1 + (tail.start() if tail else len(rest))
    lexer.report(
        "unclosed-string",
        "this text has no closing quote on its line",
        start,
        end,
        why="A text in quotes ends on the line on which it begins.",
        help=f"Add the closing `{quote}`. For a text of several lines use a heredoc, `<<<` … `>>>`, "
        "or `\\n` in double quotes.",
    )
    lexer.emit("STRING", start, end, text_at(lexer, rest[: end - start - 1], start, end))
    lexer.position = end


def report_triple_quotes(lexer: Lexer, start: int) -> None:
    """`three quotes` as Python and TOML have them; the text up to the next three is taken."""
    quotes = lexer.text[start] * 3
    close = lexer.text.find(quotes, start + 3)
    line_end = lexer.text.index("\n", start)
    end = close + 3 if close >= 0 else line_end
    lexer.report(
        "triple-quotes",
        f"`{quotes}` doesn't open a text",
        start,
        start + 3,
        why="A text of several lines is a heredoc: it needs no escapes and ends its statement.",
        help="Write `<<<md`, the lines, and a line with only `>>>`.",
    )
    lexer.emit(
        "STRING", start, end, text_at(lexer, lexer.text[start + 3 : max(start + 3, end - 3)], start, end)
    )
    lexer.position = end


def report_curly(lexer: Lexer) -> bool:
    """A text in typographic quotes."""
    start, text = lexer.position, lexer.text
    found = _CURLY.match(text, start) or _CURLY_SINGLE.match(text, start)
    if found is None:
        char = text[start]
        end = start + 1
        lexer.report(
            "curly-quotes",
            f"`{char}` is a typographic quote",
            start,
            end,
            help='Texts stand in straight quotes: "…".',
        )
        lexer.emit(JUNK, start, end)
        lexer.position = text.index("\n", start)
        return True
    end = found.end()
    straight = '"' + found[1].replace("\\", "\\\\") + '"'
    lexer.report(
        "curly-quotes",
        "this text stands in typographic quotes",
        start,
        end,
        help=f"Use straight quotes: `{straight}`.",
        fix=("use straight quotes", straight),
    )
    lexer.emit("STRING", start, end, text_at(lexer, found[1], start, end))
    lexer.position = end
    return True
