"""Places that diagnostics point at."""

from __future__ import annotations

from aespec.source import Span


def head(span: Span, length: int) -> Span:
    """The first characters of a span: the name that an argument begins with."""
    return Span(span.source, span.start, min(span.start + length, span.end))


def first_line(span: Span) -> Span:
    """What stands of a span on its first line: a block of forty lines is shown by how it begins."""
    end = span.source.text.find("\n", span.start, span.end)
    if end < 0:
        return span
    line = span.source.text[span.start : end].rstrip()
    return Span(span.source, span.start, span.start + max(1, len(line)))
