"""The one order in which diagnostics are shown, whatever the order in which they were found."""

from __future__ import annotations

from collections.abc import Iterable

from aespec.diagnostics.diagnostic import Diagnostic, Severity

_RANK = {Severity.ERROR: 0, Severity.WARNING: 1, Severity.ADVICE: 2}


def in_order(diagnostics: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    """By file, place, severity, slug and headline; those without a place first. Equal ones are kept once."""
    unique: dict[tuple[object, ...], Diagnostic] = {}
    for diagnostic in diagnostics:
        unique.setdefault((*_key(diagnostic), diagnostic.span.end if diagnostic.span else -1), diagnostic)
    return tuple(sorted(unique.values(), key=_key))


def _key(diagnostic: Diagnostic) -> tuple[str, int, int, str, str]:
    span = diagnostic.span
    name, start = (span.source.name, span.start) if span is not None else ("", -1)
    return name, start, _RANK[diagnostic.severity], diagnostic.slug, diagnostic.headline
