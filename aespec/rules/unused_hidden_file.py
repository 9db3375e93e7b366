"""A hidden file is never used.

## What
No predicate names the verifier's file.

## Why
It is carried along and judges nothing; most often a predicate was meant to read it.

## Bad
    hidden "cases.json" <<<json
      []
    >>>

## Good
    function("/app/retry.py", name = "retry", cases_file = "cases.json")
"""

from __future__ import annotations

from collections.abc import Iterator

from aespec.diagnostics.diagnostic import Diagnostic, Severity
from aespec.rules.api import Rule, Subject, literal_values

RULE = Rule("unused-hidden-file", Severity.WARNING)


def check(subject: Subject) -> Iterator[Diagnostic]:
    """Hidden files whose name stands in no argument, nor in the text of another hidden file."""
    files = subject.task.step.verify.hidden_files
    named = {
        value
        for placed in subject.claims
        for _, expr in placed.claim.args
        for value in literal_values(expr)
        if isinstance(value, str)
    }
    for item in files:
        others = (other.content for other in files if other is not item)
        last = item.name.rpartition("/")[2].removesuffix(".py")
        in_others = any(last in part for text in others for part in text.parts if isinstance(part, str))
        if item.name not in named and not in_others:
            yield RULE.found(
                f"no predicate reads the hidden file `{item.name}`",
                item.span,
                why="It judges nothing.",
                help="Name it in a predicate, or remove it.",
            )
