"""There are fewer than two accepts.

## What
The task has no second and third right solution beside the oracle.

## Why
Accepts show that the verifier takes other right ways than the author's own. With none, being too strict
goes unseen.

## Bad
    task "ledger-totals" { … no accept … }

## Good
    accept "accounts in another order, totals as 1200.0" <<<python
      …
    >>>
    accept "written by a shell pipeline" <<<sh
      …
    >>>
"""

from __future__ import annotations

from collections.abc import Iterator

from aespec.diagnostics.diagnostic import Diagnostic, Severity
from aespec.rules.api import Rule, Subject

RULE = Rule("few-accepts", Severity.ADVICE)


def check(subject: Subject) -> Iterator[Diagnostic]:
    """Whether two accepts are there."""
    count = len(subject.task.step.accepts)
    if count < 2:
        yield RULE.found(
            f"the task has {count or 'no'} `accept`{'' if count == 1 else 's'}",
            subject.task.span,
            why="Only other right solutions show that the verifier isn't too strict.",
            help='Add `accept "…" <<<sh … >>>` with a solution of another shape than the oracle.',
        )
