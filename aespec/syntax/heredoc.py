"""Literal texts: what is taken off their lines, and which texts can be written as one."""

from __future__ import annotations

import re

from aespec.diagnostics.diagnostic import Diagnostic, Label, Severity
from aespec.runtime.wording import counted
from aespec.source import Source, Span
from aespec.syntax.nodes import Heredoc

BLANKS = " \t\r"
_OPENER = re.compile(r"(<<<<?)([A-Za-z0-9_.+-]*)[ \t]*\r?\n")


def read_heredoc(source: Source, start: int, text: str) -> tuple[Heredoc, tuple[Diagnostic, ...]]:
    """The heredoc that `text`, a token of the grammar, holds; it begins at offset `start`.

    The first line that isn't blank sets the indentation that is taken off every line. A line with less of it
    is an error, and is kept without what it shares with that indentation.
    """
    opener = _OPENER.match(text)
    if opener is None:
        raise ValueError("not the text of a heredoc token")
    level = len(opener[1])
    body_end = text.rfind("\n", 0, len(text) - 1) + 1
    raw = text[opener.end() : body_end]
    body_start = start + opener.end()
    lines = raw.replace("\r\n", "\n").split("\n")[:-1] if "\r" in raw else raw.split("\n")[:-1]
    first = next((line for line in lines if line.strip(BLANKS)), "")
    indent = first[: len(first) - len(first.lstrip(" \t"))]
    size = len(indent)
    kept: list[str] = []
    shallow: list[int] = []
    for number, line in enumerate(lines):
        if line.startswith(indent):
            kept.append(line[size:])
        elif not line.strip(BLANKS):
            kept.append("")
        else:
            shallow.append(number)
            kept.append(line[_shared(line, indent) :])
    end = min(start + len(text), len(source.text))
    heredoc = Heredoc(
        opener[2],
        "".join(line + "\n" for line in kept),
        level,
        size,
        span=Span(source, start, end - 1 if source.text[end - 1 : end] == "\n" else end),
        body_span=Span(source, body_start, min(start + body_end, len(source.text))),
    )
    if not shallow:
        return heredoc, ()
    return heredoc, (_shallow_line(source, start, body_start, lines, shallow, indent),)


def _shared(line: str, indent: str) -> int:
    size = 0
    while size < len(indent) and size < len(line) and line[size] == indent[size]:
        size += 1
    return size


def _shallow_line(
    source: Source, start: int, body_start: int, lines: list[str], shallow: list[int], indent: str
) -> Diagnostic:
    """One report for all such lines of a heredoc: they come from one slip."""
    first_line = source.position(body_start)[0]
    number = shallow[0]
    line = lines[number]
    margin = line[: len(line) - len(line.lstrip(" \t"))]
    at = source.line_starts[first_line + number - 1]
    span = Span(source, at, min(at + max(len(margin), 1), len(source.text)))
    leader = next(i for i, text in enumerate(lines) if text.strip(BLANKS))
    leader_at = source.line_starts[first_line + leader - 1]
    related = (
        Label(Span(source, leader_at, leader_at + max(len(indent), 1)), "this line sets the indentation"),
        Label(Span(source, start, start + 3), "the heredoc begins here"),
    )
    more = f" (and {len(shallow) - 1} more)" if len(shallow) > 1 else ""
    if not indent.startswith(margin):
        return Diagnostic(
            "mixed-indentation",
            Severity.ERROR,
            f"this line's indentation differs in tabs and spaces from the first line's{more}",
            span,
            why="The indentation of the first line is taken off every line, and tabs never equal spaces.",
            help=f"Indent this line with {_spell(indent)}, as the first line of the heredoc is.",
            related=related,
        )
    return Diagnostic(
        "shallow-heredoc-line",
        Severity.ERROR,
        f"this line is indented less than the first line of its heredoc{more}",
        span,
        why="The first line that isn't blank sets the indentation that is taken off every line of the text.",
        help="Indent the whole text deeper than its first line needs, or put the `>>>` that was forgotten "
        "on a line of its own before this one.",
        related=related,
    )


def _spell(indent: str) -> str:
    spaces, tabs = indent.count(" "), indent.count("\t")
    parts = [counted(n, word) for n, word in ((tabs, "tab"), (spaces, "space")) if n]
    return " and ".join(parts)


def heredoc_level(text: str, wanted: int = 3) -> int | None:
    """The level (3 or 4) at which a heredoc can hold this text; None where it can't be written as one.

    It can't without a line end at its end, with CRLF line ends, with a NUL, with a first line that is
    indented, or with closing lines of both levels. Such a text is written as a string, or as a file beside
    the spec.
    """
    if (text and not text.endswith("\n")) or "\r\n" in text or "\0" in text:
        return None
    first = next((line for line in text.split("\n") if line.strip(BLANKS)), "")
    if first[:1] in {" ", "\t"}:
        return None
    closers = {line.strip(BLANKS) for line in text.split("\n") if ">>>" in line}
    for level in (wanted, 7 - wanted):
        if ">" * level not in closers:
            return level
    return None
