"""The task's network is open.

## What
`network = open`.

## Why
What the solver finds out there changes: the same task is easier or harder next month, its answer may stand
on a page, and a solver may call for help.

## Bad
    limits { network = open }

## Good
    limits { network = ["example.org"] }
"""

from __future__ import annotations

from collections.abc import Iterator

from aespec.diagnostics.diagnostic import Diagnostic, Severity
from aespec.rules.api import Rule, Subject

RULE = Rule("network-open", Severity.WARNING)


def check(subject: Subject) -> Iterator[Diagnostic]:
    """Whether it is open."""
    if subject.task.limits.network == "open":
        yield RULE.found(
            "the task's network is open",
            subject.task.span,
            why="What stands there changes, and may hold the answer.",
            help="Write `network = none`, or a list of the hosts that the task needs.",
        )
