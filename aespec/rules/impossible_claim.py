"""The arguments of a predicate contradict each other.

## What
A predicate's own check of its arguments finds a fault that no end state can make good.

## Why
The verifier would report an error of its own on every solution.

## Bad
    file("/app/out", kind = folder, content = "x")

## Good
    file("/app/out", content = "x")
"""

from __future__ import annotations

from collections.abc import Iterator

from aespec import predicates
from aespec.diagnostics.diagnostic import Diagnostic, Severity
from aespec.predicates.arguments import misfits
from aespec.rules.api import Rule, Subject, constant_args

RULE = Rule("impossible-claim", Severity.ERROR)


def check(subject: Subject) -> Iterator[Diagnostic]:
    """The claims whose arguments are all constants; the others are looked at once they are evaluated."""
    for placed in subject.claims:
        args = constant_args(placed.claim)
        if args is None:
            continue
        wrong = misfits(subject.signature(placed.claim), args)
        for fault in wrong or predicates.laws(placed.claim.predicate).faults(args):
            yield RULE.found(
                f"`{placed.claim.predicate}` can't be judged: {fault}",
                placed.claim.span,
                why="No end state makes good what is wrong with the arguments themselves.",
                help="Correct the arguments.",
            )
