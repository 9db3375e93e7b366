"""A rule decides nothing.

## What
A rule has no predicate of its own, and its check has none either but in other rules.

## Why
A rule without predicates takes its check's verdict. Here that is the verdict of the other rules, so that
this sentence is a requirement that nothing judges.

## Bad
    check report {
      rule order  "Rows come in order of date."
      rule header "The first row is a header." { text("/app/r.csv", count = 3) }
    }

## Good
    check report {
      rule order  "Rows come in order of date."
      table("/app/r.csv", equals = answer.rows)
    }
"""

from __future__ import annotations

from collections.abc import Iterator

from aespec.diagnostics.diagnostic import Diagnostic, Severity
from aespec.rules.api import Rule, Subject

RULE = Rule("idle-rule", Severity.ERROR)


def check(subject: Subject) -> Iterator[Diagnostic]:
    """Rules that nothing decides, in checks where something is decided; the others are `idle-check`."""
    for item in subject.task.step.verify.checks:
        if item.conditions or not any(rule.conditions for rule in item.rules):
            continue
        for rule in item.rules:
            if not rule.conditions:
                yield RULE.found(
                    f"nothing decides rule `{rule.name}`",
                    rule.span,
                    why=f"Check `{item.name}` has predicates only in its other rules.",
                    help="Give the rule a predicate, or the check one that decides it.",
                )
