"""A check has no sentence.

## What
A check has no `says`, and what its predicates say of themselves can't stand in for it:
a path, a text or a number in it is made of an answer, a hidden value or a secret.

## Why
There is no hidden requirement: the solver is told all that it is judged by.

## Bad
    check report { file("/app/{{ answer.month }}.csv", content = answer.report) }

## Good
    check report {
      says = "Write the report to `/app/MONTH.csv`, where MONTH is the month with most sales, as `2024-03`."
      file("/app/{{ answer.month }}.csv", content = answer.report)
    }
"""

from __future__ import annotations

from collections.abc import Iterator

from aespec import predicates
from aespec.diagnostics.diagnostic import Diagnostic, Severity
from aespec.model.expressions import Json, iterate_refs
from aespec.model.labels import labels_of
from aespec.model.task import Claim
from aespec.rules.api import Rule, Subject, constant, stand_in

RULE = Rule("unstated-check", Severity.ERROR)


def check(subject: Subject) -> Iterator[Diagnostic]:
    """Claims whose own words would show a labelled value: their sentence, or their comparator's promise."""
    for placed in subject.claims:
        args = _marked_args(subject, placed.claim)
        if args is None:
            continue
        laws = predicates.laws(placed.claim.predicate)
        speaks = placed.check.says is None and placed.rule is None
        if speaks and _shows(laws.says(args)):
            yield RULE.found(
                f"the sentence of `{placed.claim.predicate}` would show what must stay hidden",
                placed.claim.span,
                why=f"Check `{placed.check.name}` has no `says`, so that its predicates speak for it.",
                help='Add `says = "…"` with what the check demands.',
            )
        elif any(_shows(promise) for promise in laws.promises(args)):
            yield RULE.found(
                f"what `{placed.claim.predicate}` promises would show what must stay hidden",
                placed.claim.span,
                why="The promises of comparators stand in the instruction, with or without `says`.",
                help="Leave the labelled value to `equals`, which is never shown.",
            )


_MARK = "/shown-to-the-solver"
_MARK_NUMBER = 97531
_MARKS: dict[str, Json] = {
    "path": _MARK,
    "paths": _MARK,
    "text": _MARK,
    "texts": [_MARK],
    "regex": _MARK,
    "integer": _MARK_NUMBER,
    "number": _MARK_NUMBER,
    "duration": _MARK_NUMBER,
    "size": _MARK_NUMBER,
}
"""What is looked for again in sentences. Of whole values (`equals`) predicates show the form alone."""


def _shows(sentence: str) -> bool:
    return _MARK in sentence or str(_MARK_NUMBER) in sentence


def _marked_args(subject: Subject, claim: Claim) -> dict[str, Json] | None:
    """The arguments with a mark where a labelled path, text or number stands; None where none does."""
    signature = subject.signature(claim)
    args: dict[str, Json] = {}
    is_marked = False
    for name, expr in claim.args:
        parameter = signature.param(name)
        known = constant(expr)
        if known is not None:
            args[name] = known[0]
        elif parameter is not None and labels_of(tuple(iterate_refs(expr)), subject.labels):
            is_marked = is_marked or parameter.kind in _MARKS
            args[name] = _MARKS.get(parameter.kind, stand_in(parameter))
        elif parameter is not None:
            args[name] = stand_in(parameter)
    return args if is_marked else None
