"""The task has no licence.

## What
`meta` has no `license`.

## Why
Nobody may pass on a task, or train on its data, without one.

## Bad
    meta { difficulty = easy }

## Good
    meta { difficulty = easy  license = "CC0-1.0" }
"""

from __future__ import annotations

from collections.abc import Iterator

from aespec.diagnostics.diagnostic import Diagnostic, Severity
from aespec.rules.api import Rule, Subject

RULE = Rule("missing-license", Severity.ADVICE)


def check(subject: Subject) -> Iterator[Diagnostic]:
    """Whether there is a licence."""
    if not subject.task.meta.license:
        yield RULE.found(
            "the task has no licence",
            subject.task.span,
            why="Nobody may pass it on without one.",
            help='Add `license = "CC0-1.0"`, or another SPDX name, to `meta`.',
        )
