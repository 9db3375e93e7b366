"""`unchanged` protects what isn't carried to the verifier.

## What
The scope of `unchanged` lies outside of `workdir`, of what setup makes, of the accounts' homes and of the
declared artifacts, or it is a folder of the system.

## Why
A separate verifier sees the artifacts and nothing else. A folder of the system is too large to carry, and a
solver may install what it needs.

## Bad
    check system_kept { unchanged("/usr") }

## Good
    check sources_kept { unchanged("/app/src") }
"""

from __future__ import annotations

from collections.abc import Iterator

from aespec.diagnostics.diagnostic import Diagnostic, Severity
from aespec.rules.api import Rule, Subject, claim_paths, sketch

RULE = Rule("unchanged-outside-artifacts", Severity.WARNING)


def check(subject: Subject) -> Iterator[Diagnostic]:
    """Every `unchanged` whose scope nothing of the task touches."""
    setup = subject.task.setup
    known = [setup.workdir, *(account.home for account in setup.accounts), *subject.fixture_paths]
    known += [sketch(text).rstrip("/") for text in subject.task.step.verify.artifacts]
    for placed in subject.claims:
        if placed.claim.predicate != "unchanged":
            continue
        for _, path, expr in claim_paths(placed.claim, subject.signature(placed.claim)):
            scope = path.rstrip("/")
            if not any(_meets(scope, item) for item in known):
                yield RULE.found(
                    f"`{path}` is not among what is carried to the verifier",
                    expr.span,
                    why="It lies outside of `workdir`, of what setup makes and of `artifacts`.",
                    help=f'Add "{path}" to `artifacts` in `verify`, or protect a smaller scope.',
                )


def _meets(scope: str, known: str) -> bool:
    return (
        scope == known or scope.startswith(known + "/") or (len(scope) > 1 and known.startswith(scope + "/"))
    )
