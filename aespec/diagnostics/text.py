"""Diagnostics as a person reads them: the source with carets under it, why, and what to do."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby

from aespec.diagnostics.diagnostic import Diagnostic, Label, Severity
from aespec.diagnostics.escape import escape_controls, show_line
from aespec.diagnostics.order import in_order
from aespec.source import Source, Span

LINES_MAX = 4
"""A span over more lines is shown by its first and last."""

WIDTH_MAX = 200
"""Columns of a source line that are shown; longer ones are cut around the span."""

_COLORS = {Severity.ERROR: "31", Severity.WARNING: "33", Severity.ADVICE: "36"}


def render_text(diagnostics: Iterable[Diagnostic], *, color: bool = False) -> str:
    """All diagnostics in order of place, an empty line between two; "" for none.

    No character of a spec reaches the terminal that it would obey; `color` adds our own sequences.
    """
    return "\n".join(_render(diagnostic, color) for diagnostic in in_order(diagnostics))


def _paint(text: str, code: str, color: bool) -> str:
    return f"\x1b[{code}m{text}\x1b[0m" if color and text else text


def _render(diagnostic: Diagnostic, color: bool) -> str:
    code = _COLORS[diagnostic.severity]
    head = _paint(f"{diagnostic.severity.value}[{escape_controls(diagnostic.slug)}]", f"1;{code}", color)
    lines = [f"{head}: {_paint(_flat(diagnostic.headline), '1', color)}"]
    if diagnostic.span is not None:
        lines += _places(diagnostic.span, diagnostic.related, code, color)
    else:
        lines += [f"  note: {_flat(label.text)}" for label in diagnostic.related]
    for word, text in (("why", diagnostic.why), ("help", diagnostic.help)):
        lines += _paragraph(word, text, color)
    if diagnostic.fix is not None:
        note = "" if diagnostic.fix.is_safe else " (look at the result)"
        lines += _paragraph("fix", diagnostic.fix.title + note, color)
    return "\n".join(lines) + "\n"


def _flat(text: str) -> str:
    return escape_controls(text).replace("\n", "\\n")


def _paragraph(word: str, text: str, color: bool) -> list[str]:
    if not text:
        return []
    first, *rest = escape_controls(text).split("\n")
    indent = " " * (len(word) + 4)
    return [f"  {_paint(word + ':', '1', color)} {first}", *(f"{indent}{line}" for line in rest)]


def _places(primary: Span, related: Sequence[Label], code: str, color: bool) -> list[str]:
    """The primary place and those that explain it, file by file, in order of line."""
    marks = [(primary, "", "^"), *((label.span, label.text, "-") for label in related)]
    width = max(len(str(_last_line(span))) for span, _, _ in marks)
    out: list[str] = []
    sources = {id(primary.source): primary.source}
    for span, _, _ in marks:
        sources.setdefault(id(span.source), span.source)
    for key, source in sources.items():
        here = [mark for mark in marks if id(mark[0].source) == key]
        line, column = here[0][0].position
        arrow = "-->" if source is primary.source else ":::"
        out.append(f"{' ' * width}{_paint(arrow, '34', color)} {_flat(source.name)}:{line}:{column}")
        out += _excerpt(source, here, width, code, color)
    return out


def _last_line(span: Span) -> int:
    return span.source.position(max(span.start, span.end - 1))[0]


def _excerpt(
    source: Source, marks: list[tuple[Span, str, str]], width: int, code: str, color: bool
) -> list[str]:
    rows: list[tuple[int, int, int, str, str]] = []
    for span, text, sign in marks:
        rows += _rows(source, span, text, sign)
    rows.sort(key=lambda row: (row[0], row[4] == "-", row[1]))
    bar = _paint("|", "34", color)
    out = [f"{' ' * width} {bar}"]
    shown_before: int | None = None
    for line, group in groupby(rows, key=lambda row: row[0]):
        if shown_before is not None and line > shown_before + 1:
            out.append(f"{' ' * width} {_paint('…', '34', color)}")
        shown_before = line
        text, columns = show_line(source.line_text(line))
        items = list(group)
        cut = _cut(columns, items[0][1]) if len(text) > WIDTH_MAX else 0
        visible = (
            ("…" if cut else "") + text[cut : cut + WIDTH_MAX] + ("…" if len(text) > cut + WIDTH_MAX else "")
        )
        out.append(f"{_paint(str(line).rjust(width), '34', color)} {bar} {visible}".rstrip())
        for _, start, end, label, sign in items:
            left = columns[min(start, len(columns) - 1)] - cut + bool(cut)
            size = max(1, columns[min(end, len(columns) - 1)] - columns[min(start, len(columns) - 1)])
            size = max(1, min(size, WIDTH_MAX + 1 - left))
            under = _paint(f"{sign * size} {_flat(label)}".rstrip(), code if sign == "^" else "34", color)
            out.append(f"{' ' * width} {bar} {' ' * left}{under}")
    return out


def _cut(columns: tuple[int, ...], start: int) -> int:
    """How many columns of a long line are left away at its beginning so that the span is seen."""
    return max(0, columns[min(start, len(columns) - 1)] - WIDTH_MAX // 2)


def _rows(source: Source, span: Span, text: str, sign: str) -> list[tuple[int, int, int, str, str]]:
    """For each line to show of a span: line, offsets in it, label, sign."""
    first, last = span.position[0], _last_line(span)
    wanted = range(first, last + 1)
    rows: list[tuple[int, int, int, str, str]] = []
    for line in wanted if len(wanted) <= LINES_MAX else (first, last):
        begin = source.line_starts[line - 1]
        content = source.line_text(line)
        start = max(span.start - begin, 0 if line == first else len(content) - len(content.lstrip()))
        end = min(span.end - begin, len(content))
        rows.append((line, start, max(start, end), text if line == last else "", sign))
    return rows
