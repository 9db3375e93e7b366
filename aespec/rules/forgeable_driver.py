"""A driver emits verdicts in place of what it saw.

## What
A `driver` of `function` is expected to emit nothing but `true`, `false` or `none`, as written in the spec.

## Why
The solver's code runs in the driver's process: it can emit `true` by itself and end the process. What it
can't emit without doing the task is a value that it doesn't know.

## Bad
    hidden "driver.py" <<<python
      emit(subject.total(given) == 42)
    >>>
    function("/app/sum.py", name = "total", driver = "driver.py", given = [40, 2], emits = [true])

## Good
    hidden "driver.py" <<<python
      emit(subject.total(given))
    >>>
    function("/app/sum.py", name = "total", driver = "driver.py", given = let.numbers, emits = [answer.total])
"""

from __future__ import annotations

from collections.abc import Iterator

from aespec.diagnostics.diagnostic import Diagnostic, Severity
from aespec.model.expressions import Json
from aespec.rules.api import Rule, Subject, constant

RULE = Rule("forgeable-driver", Severity.WARNING)


def check(subject: Subject) -> Iterator[Diagnostic]:
    """Claims of `function` whose `emits` is known to hold verdicts only."""
    for placed in subject.claims:
        args = dict(placed.claim.args)
        if placed.claim.predicate != "function" or "driver" not in args or "emits" not in args:
            continue
        known = constant(args["emits"])
        if known and _is_verdict(known[0]):
            yield RULE.found(
                "the driver emits a verdict, which the solver's code could emit as well",
                args["emits"].span,
                why="That code runs in the driver's process.",
                help="Let the driver emit what it saw, and compare that with an `answer`.",
            )


def _is_verdict(value: Json) -> bool:
    if isinstance(value, list):
        return all(_is_verdict(item) for item in value)
    if isinstance(value, dict):
        return all(_is_verdict(item) for item in value.values())
    return value is None or isinstance(value, bool)
