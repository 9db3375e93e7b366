"""The task has no difficulty.

## What
`meta` has no `difficulty`, so that `medium` is taken.

## Why
Tasks are sorted and sampled by it.

## Bad
    meta { tags = ["csv"] }

## Good
    meta { difficulty = easy  tags = ["csv"] }
"""

from __future__ import annotations

from collections.abc import Iterator

from aespec.diagnostics.diagnostic import Diagnostic, Severity
from aespec.rules.api import Rule, Subject

RULE = Rule("missing-difficulty", Severity.ADVICE)


def check(subject: Subject) -> Iterator[Diagnostic]:
    """Whether it is written out."""
    if "difficulty" not in subject.task.meta.written:
        yield RULE.found(
            "the task has no difficulty",
            subject.task.span,
            why="Without one it counts as `medium`.",
            help="Add `difficulty = easy`, `medium` or `hard` to `meta`.",
        )
