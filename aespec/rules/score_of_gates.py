"""A score of gates alone.

## What
`score { }` stands in `verify`, and every check is a gate.

## Why
A partial reward is the weighted mean over the checks that are no gates. Without one there is nothing to take
the mean of, and the verifier would report an error of its own on every solution.

## Bad
    verify {
      check totals (gate = true) { … }
      score { }
    }

## Good
    verify {
      check totals { … }
      check ledger_kept (gate = true) { unchanged("/app/ledger.csv") }
      score { }
    }
"""

from __future__ import annotations

from collections.abc import Iterator

from aespec.diagnostics.diagnostic import Diagnostic, Severity
from aespec.rules.api import Rule, Subject

RULE = Rule("score-of-gates", Severity.ERROR)


def check(subject: Subject) -> Iterator[Diagnostic]:
    """Whether a scored task has a check that is no gate."""
    verify = subject.task.step.verify
    if verify.is_scored and all(item.is_gate for item in verify.checks):
        yield RULE.found(
            "every check is a gate, so there is nothing to score",
            verify.checks[0].span,
            why="The reward is the weighted mean over the checks that are no gates.",
            help="Take `gate = true` off the checks that give credit, or remove `score { }`.",
        )
