"""A declared value is never used.

## What
Nothing names the parameter, computed value, hidden value, answer or secret.

## Why
It says nothing about the task. An unused answer often means that a check compares with something else than
was meant, and an unused parameter that the family is one instance.

## Bad
    param rows = int(80, 400)      # and no text or program names p.rows

## Good
    generate "/app/ledger.csv" <<<python
      for i in range(p.rows): print(i)
    >>>
"""

from __future__ import annotations

from collections.abc import Iterator

from aespec.diagnostics.diagnostic import Diagnostic, Severity
from aespec.model.labels import declared_key, show
from aespec.rules.api import Rule, Subject

RULE = Rule("unused-value", Severity.WARNING)


def check(subject: Subject) -> Iterator[Diagnostic]:
    """Declarations that no reference leads to."""
    used = {(ref.kind, ref.name) for ref in subject.refs}
    for item in subject.task.declarations:
        key = declared_key(item)
        if key not in used:
            yield RULE.found(
                f"`{show(key)}` is never used",
                item.span,
                why="It says nothing about the task.",
                help="Use it, or remove it.",
            )
