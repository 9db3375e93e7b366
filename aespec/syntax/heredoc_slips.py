"""Heredocs whose beginning or end went wrong: reported once, at the beginning, and what follows is read."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from aespec.diagnostics.diagnostic import Diagnostic, Fix, Label, Severity, TextEdit
from aespec.syntax.nodes import Heredoc
from aespec.syntax.tokens import JUNK, Token

if TYPE_CHECKING:
    from aespec.syntax.lexer import Lexer

_OPENER = re.compile(r"<<<<?(?!<)[A-Za-z0-9_.+-]*[ \t]*\r?\n")
_LOOSE_OPENER = re.compile(r"<<<?<?[-~]?[ \t]*[\"']?([A-Za-z0-9_.+-]*)[\"']?([^\n]*)\n")
_INNER_OPENER = re.compile(r"^[ \t]*[A-Za-z_][\w.-]*[^\n]*<<<[A-Za-z0-9_.+-]*[ \t]*\r?$", re.MULTILINE)
_LOOSE_CLOSER = re.compile(r"^[ \t]*(>>>>?)[ \t]*[)\]},;#][^\n]*$", re.MULTILINE)
_STRUCTURE = re.compile(r"[ \t]*(?:\}|[A-Za-z_][\w.-]*[ \t]*(?:[\"'=({<]|[A-Za-z_\"]))")
_MARGIN = re.compile(r"[ \t]*")


def forgotten_end(lexer: Lexer, start: int, end: int, *, is_closed: bool = True) -> int | None:
    """The offset of the line before which the `>>>` of the heredoc at `start` seems to be missing, if any.

    That is its first line that is indented no deeper than the line that opened it, though the text is, and
    only where the end that was found can't be the right one: another heredoc begins in between.
    """
    text = lexer.text
    body = text.index("\n", start) + 1
    if is_closed and (text.startswith("<<<<", start) or text.find("<<<", body, end) < 0):
        return None
    outer = _indent(text, text.rfind("\n", 0, start) + 1)
    at, first = body, None
    while at < end:
        stop = text.index("\n", at) + 1
        if text[at:stop].strip():
            depth = _indent(text, at)
            if first is None:
                first = depth
                if first <= outer:
                    return None
            elif depth <= outer and _STRUCTURE.match(text, at):
                return at if not is_closed or _INNER_OPENER.search(text, at, end) else None
        at = stop
    return None


def _indent(text: str, at: int) -> int:
    found = _MARGIN.match(text, at)
    return found.end() - at if found else 0


def report_forgotten_end(lexer: Lexer, start: int, resume: int) -> None:
    """The heredoc at `start` ends before the line at `resume`, where reading goes on."""
    text = lexer.text
    margin = " " * _indent(text, text.rfind("\n", 0, start) + 1)
    closer = ">" * (4 if text.startswith("<<<<", start) else 3)
    line_end = text.index("\n", start)
    lexer.words.diagnostics.append(
        Diagnostic(
            "unclosed-heredoc",
            Severity.ERROR,
            "this heredoc is not closed",
            lexer.span(start, line_end),
            why=f"It would go on to the next line that holds only `{closer}`, over statements that hardly "
            "belong to it.",
            help=f"Put `{closer}` on a line of its own where the text ends.",
            related=(
                Label(lexer.span(resume, text.index("\n", resume)), "it seems to end before this line"),
            ),
            fix=Fix(
                f"put `{closer}` before that line",
                (TextEdit(lexer.span(resume, resume), f"{margin}{closer}\n"),),
                is_safe=False,
            ),
        )
    )
    _emit(lexer, start, line_end + 1, resume, resume)


def report_heredoc(lexer: Lexer) -> bool:
    """What begins with `<<` or `>>` and is no heredoc."""
    start, text = lexer.position, lexer.text
    if text.startswith(">>>", start):
        return _stray_end(lexer)
    if not text.startswith("<<", start):
        return False
    if _OPENER.match(text, start):
        _unclosed(lexer)
    else:
        _malformed(lexer)
    return True


def _stray_end(lexer: Lexer) -> bool:
    start, text = lexer.position, lexer.text
    end = start
    while text[end] == ">":
        end += 1
    lexer.report(
        "stray-heredoc-end",
        f"`{text[start:end]}` closes nothing",
        start,
        end,
        why="No heredoc is open here: each ends at the first line that holds only its `>>>`.",
        help="Remove it. If the text before has such a line in it, open and close that heredoc with four: "
        "`<<<<` … `>>>>`.",
    )
    lexer.position = end
    return True


def _unclosed(lexer: Lexer) -> None:
    start, text = lexer.position, lexer.text
    line_end = text.index("\n", start)
    level = 4 if text.startswith("<<<<", start) else 3
    loose = next((m for m in _LOOSE_CLOSER.finditer(text, line_end) if len(m[1]) == level), None)
    if loose is not None:
        at = loose.start(1)
        lexer.words.diagnostics.append(
            Diagnostic(
                "unclosed-heredoc",
                Severity.ERROR,
                f"more than `{loose[1]}` stands on the line that should close a heredoc",
                lexer.span(at, loose.end()),
                why=f"A heredoc ends at a line of only `{loose[1]}`; other lines are part of its text.",
                help=f"Put what follows `{loose[1]}` on the next line.",
                related=(Label(lexer.span(start, line_end), "the heredoc begins here"),),
                fix=Fix("break the line", (TextEdit(lexer.span(at + level, at + level), "\n"),)),
            )
        )
        _emit(lexer, start, line_end + 1, loose.start(), at + level)
        return
    resume = forgotten_end(lexer, start, len(text), is_closed=False)
    if resume is not None:
        report_forgotten_end(lexer, start, resume)
        return
    closer = ">" * level
    lexer.report(
        "unclosed-heredoc",
        "this heredoc is not closed",
        start,
        line_end,
        why=f"It goes on to the next line that holds only `{closer}`, and there is none.",
        help=f"Put `{closer}` on a line of its own where the text ends.",
    )
    lexer.words.is_cut = True
    _emit(lexer, start, line_end + 1, len(text), len(text))


def _malformed(lexer: Lexer) -> None:
    """`<<EOF`, `<<<python # why`, `<<<"sh"`: read as a heredoc if a line closes it."""
    start, text = lexer.position, lexer.text
    found = _LOOSE_OPENER.match(text, start)
    line_end = text.index("\n", start)
    tag = found[1] if found else ""
    keyword = text[text.rfind("\n", 0, start) + 1 : start].split()[:1]
    usual = "md" if keyword == ["instruction"] else "sh"
    lexer.report(
        "malformed-heredoc",
        "a heredoc opens with `<<<tag` at the end of its line",
        start,
        line_end,
        why="The tag (a language, or nothing) follows at once, without quotes, and nothing stands after it.",
        help=f"Write `<<<{tag if tag.islower() else usual}`, the lines, and a line with only `>>>`.",
    )
    ends = rf">>>>?|{re.escape(tag)}" if tag else ">>>>?"
    closer = re.compile(rf"^[ \t]*(?:{ends})[ \t]*\r?$", re.MULTILINE).search(text, line_end + 1)
    if closer:
        _emit(lexer, start, line_end + 1, closer.start(), closer.end())
    else:
        lexer.emit(JUNK, start, line_end)
        lexer.position = line_end


def _emit(lexer: Lexer, start: int, body: int, body_end: int, resume: int) -> None:
    """A heredoc token whose text is as written: it has been reported, so only its place matters."""
    span = lexer.span(start, resume)
    body_span = lexer.span(min(body, body_end), body_end)
    lexer.words.tokens.append(
        Token("HEREDOC", span, Heredoc("", body_span.text, span=span, body_span=body_span))
    )
    lexer.position = resume
