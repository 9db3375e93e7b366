"""A predicate demands a key, name or number that the solver isn't told.

## What
A key, a name, a text or a number that a predicate compares with stands neither in what the solver is told
nor in a text of the start state. 0, 1 and -1 are taken as told, and arguments left to their defaults. The
keys of an answer that is computed can't be seen here; certification looks at them.

## Why
The solver would have to guess it. A detail that follows from what is told is fine, but only the author can
see that: say so by `allow`.

## Bad
    check exit {
      says = "`/app/run.sh` must fail on a missing file."
      command(["/app/run.sh", "none.csv"], status = 66)
    }

## Good
    check exit {
      says = "`/app/run.sh none.csv` must end with status 66 where `none.csv` doesn't exist."
      command(["/app/run.sh", "none.csv"], status = 66)
    }
"""

from __future__ import annotations

from collections.abc import Iterator

from aespec import predicates
from aespec.diagnostics.diagnostic import Diagnostic, Severity
from aespec.model.expressions import Json
from aespec.model.task import Claim
from aespec.rules.api import Rule, Subject, constant, names, stand_in
from aespec.source import Span

RULE = Rule("unstated-detail", Severity.ERROR, is_allowable=True)

_ASSUMED = frozenset({0, 1, -1})
_LEFT_OUT = frozenset({"regex", "integer", "number", "duration", "size", "enum", "hidden-file"})
"""Kinds of optional arguments that claim nothing while their value isn't known."""


def check(subject: Subject) -> Iterator[Diagnostic]:
    """What each claim's laws call its literals, against all that the solver can read."""
    for placed in subject.claims:
        claim = placed.claim
        if placed.check.says is None and placed.rule is None:
            continue
        places: dict[int, tuple[Span, list[str]]] = {}
        for item in dict.fromkeys(_literals(subject, claim)):
            if not _is_told(subject, item):
                place = _place(claim, item)
                places.setdefault(place.start, (place, []))[1].append(f"`{item}`")
        for place, untold in places.values():
            shown = ", ".join(untold)
            yield RULE.found(
                f"the solver isn't told of {shown}",
                place,
                why=f"`{claim.predicate}` demands it, and nothing that the solver can read names that.",
                help=f"Name {shown} in the `says` of check `{placed.check.name}` or in a rule.",
            )


def _literals(subject: Subject, claim: Claim) -> tuple[str | int | float, ...]:
    """The literals of a claim; a value that isn't known yet is left out by an empty one in its place."""
    signature = subject.signature(claim)
    args: dict[str, Json] = {}
    for name, expr in claim.args:
        parameter = signature.param(name)
        known = constant(expr)
        if known is not None:
            args[name] = known[0]
        elif parameter is not None and (parameter.is_required or parameter.kind not in _LEFT_OUT):
            args[name] = stand_in(parameter)
    return predicates.laws(claim.predicate).literals(args)


def _is_told(subject: Subject, item: str | float) -> bool:
    if isinstance(item, bool):
        return True
    if isinstance(item, int | float):
        return item in _ASSUMED or item in subject.numbers
    text = item.strip()
    # Paths have a rule of their own.
    return not text or text.startswith("/") or names(subject.findable, text) or _has_all_lines(subject, text)


def _has_all_lines(subject: Subject, text: str) -> bool:
    lines = [line.strip() for line in text.splitlines()]
    return len(lines) > 1 and all(not line or names(subject.findable, line) for line in lines)


def _place(claim: Claim, item: str | float) -> Span:
    """The argument that holds the literal, else the claim."""
    written = str(item)
    for _, expr in claim.args:
        if written in expr.span.text:
            return expr.span
    return claim.span
