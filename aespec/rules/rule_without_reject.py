"""No reject makes this rule fail.

## What
No `reject` names the rule in its `breaks`.

## Why
A rule that nothing was seen to break may judge nothing. The reject shows that the verifier tells right from
wrong there, and it is what a lazy solver would do.

## Bad
    check totals {
      rule refunds "Refunds count negative."
      json("/app/totals.json", equals = answer.totals)
    }

## Good
    reject "refunds count positive" (breaks = refunds) { swap(oracle, "-cents", "cents") }
"""

from __future__ import annotations

from collections.abc import Iterator

from aespec.diagnostics.diagnostic import Diagnostic, Severity
from aespec.rules.api import Rule, Subject

RULE = Rule("rule-without-reject", Severity.ERROR)


def check(subject: Subject) -> Iterator[Diagnostic]:
    """Rules that no reject names."""
    step = subject.task.step
    broken = {name for example in step.rejects for name in example.breaks}
    for item in step.verify.checks:
        for rule in item.rules:
            if f"{item.name}.{rule.name}" not in broken:
                yield RULE.found(
                    f"no reject breaks rule `{rule.name}`",
                    rule.span,
                    why="Every rule has a written wrong solution that makes it fail.",
                    help=f'Write `reject "…" (breaks = {rule.name}) {{ swap(oracle, "…", "…") }}`, with what '
                    "the oracle does for this rule and what a wrong solution would do instead.",
                )
