"""Partial rewards are expected, and there are none.

## What
A `partial`, a `weight` or a `gate` is written without `score { }`.

## Why
Without `score { }` the reward is 1 when all checks pass, and 0 otherwise.

## Bad
    verify { check a (weight = 2) { … } }

## Good
    verify {
      check a (weight = 2) { … }
      score { }
    }
"""

from __future__ import annotations

from collections.abc import Iterator

from aespec.diagnostics.diagnostic import Diagnostic, Severity
from aespec.rules.api import Rule, Subject

RULE = Rule("partial-without-score", Severity.ERROR)


def check(subject: Subject) -> Iterator[Diagnostic]:
    """Partials, and checks with a weight or a gate, in a task with a binary reward."""
    step = subject.task.step
    if step.verify.is_scored:
        return
    spans = [item.span for item in step.partials]
    spans += [item.span for item in step.verify.checks if item.is_gate or item.weight != 1.0]
    for span in spans:
        yield RULE.found(
            "this means nothing without `score { }`",
            span,
            why="Without it the reward is 1 when all checks pass, else 0.",
            help="Add `score { }` to `verify`, or remove this.",
        )
