"""An `any` has one branch.

## What
`any { }` holds one statement.

## Why
It means the same as the statement, and looks as if an alternative had been forgotten. Each statement of an
`any` is an alternative; one that is made of several predicates is written `not { not { … } }`.

## Bad
    any { file("/app/out.json") }

## Good
    any { file("/app/out.json") file("/app/out.csv") }
"""

from __future__ import annotations

from collections.abc import Iterator

from aespec.diagnostics.diagnostic import Diagnostic, Severity
from aespec.model.task import AnyOf
from aespec.rules.api import Rule, Subject, iterate_groups

RULE = Rule("single-any", Severity.WARNING)


def check(subject: Subject) -> Iterator[Diagnostic]:
    """Every `any` with one branch."""
    for item in subject.task.step.verify.checks:
        conditions = (*item.conditions, *(inner for rule in item.rules for inner in rule.conditions))
        for group in iterate_groups(conditions):
            if isinstance(group, AnyOf) and len(group.items) == 1:
                yield RULE.found(
                    "this `any` has one branch",
                    group.span,
                    why="It means what the one statement means.",
                    help="Add the alternative, or take the `any` away.",
                )
