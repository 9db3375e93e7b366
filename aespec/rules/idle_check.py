"""A check judges nothing.

## What
A check has no predicate, neither its own nor in its rules.

## Why
It always holds.

## Bad
    check totals { says = "Write the totals." }

## Good
    check totals {
      says = "Write `/app/totals.json`: an object from account to its total in cents."
      json("/app/totals.json", equals = answer.totals)
    }
"""

from __future__ import annotations

from collections.abc import Iterator

from aespec.diagnostics.diagnostic import Diagnostic, Severity
from aespec.rules.api import Rule, Subject

RULE = Rule("idle-check", Severity.ERROR)


def check(subject: Subject) -> Iterator[Diagnostic]:
    """Checks without any predicate."""
    judging = {placed.check.name for placed in subject.claims}
    for item in subject.task.step.verify.checks:
        if item.name not in judging:
            yield RULE.found(
                f"check `{item.name}` judges nothing",
                item.span,
                why="Without a predicate it holds in every state.",
                help="Add a predicate that decides what it says.",
            )
