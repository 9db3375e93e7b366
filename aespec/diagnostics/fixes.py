"""Repairs applied to a text."""

from __future__ import annotations

from collections.abc import Iterable

from aespec.diagnostics.diagnostic import Diagnostic, TextEdit
from aespec.diagnostics.order import in_order
from aespec.source import Source


def apply_fixes(source: Source, diagnostics: Iterable[Diagnostic], *, with_unsafe: bool = False) -> str:
    """The text with the fixes of these diagnostics in it.

    A fix is applied whole or not at all: one that overlaps an earlier one waits for the next run, and so do
    unsafe ones unless wanted, and fixes that touch another file.
    """
    taken: list[TextEdit] = []
    for diagnostic in in_order(diagnostics):
        fix = diagnostic.fix
        if fix is None or not fix.edits or not (fix.is_safe or with_unsafe):
            continue
        if any(edit.span.source is not source and edit.span.source != source for edit in fix.edits):
            continue
        if any(_overlap(edit, other) for edit in fix.edits for other in taken):
            continue
        taken += fix.edits
    text = source.text
    for edit in sorted(taken, key=lambda e: (e.span.start, e.span.end), reverse=True):
        text = text[: edit.span.start] + edit.text + text[edit.span.end :]
    return text


def _overlap(left: TextEdit, right: TextEdit) -> bool:
    """Whether two edits touch: also two insertions at one place, whose order nobody would know."""
    return left.span.start <= right.span.end and right.span.start <= left.span.end
