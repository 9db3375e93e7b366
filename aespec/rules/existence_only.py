"""Only the existence of a file is judged.

## What
The only claim about a path is that something stands there.

## Why
An empty file passes, and that is what a lazy solver makes.

## Bad
    check report {
      says = "Write a report to `/app/report.md`."
      file("/app/report.md")
    }

## Good
    check report {
      says = "Write `/app/report.json` with the number of orders as `orders`."
      json("/app/report.json#/orders", equals = answer.orders)
    }
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from aespec.diagnostics.diagnostic import Diagnostic, Severity
from aespec.model.task import Claim
from aespec.rules.api import Rule, Subject, claim_paths, constant, literal_values

RULE = Rule("existence-only", Severity.WARNING)


def check(subject: Subject) -> Iterator[Diagnostic]:
    """`file(path)` with nothing more, not negated, where no other claim names the path or a file below it."""
    paths = Counter(
        path.partition("#")[0].rstrip("/")
        for placed in subject.claims
        for _, path, _ in claim_paths(placed.claim, subject.signature(placed.claim))
    )
    named = [
        value
        for placed in subject.claims
        for _, expr in placed.claim.args
        for value in literal_values(expr)
        if isinstance(value, str)
    ]
    for placed in subject.claims:
        if placed.negations or not _is_bare(placed.claim):
            continue
        for _, path, expr in claim_paths(placed.claim, subject.signature(placed.claim)):
            path = path.rstrip("/")
            is_below = any(item.startswith(path + "/") for item in paths)
            if paths[path] == 1 and not is_below and named.count(path) <= 1:
                yield RULE.found(
                    f"only that `{path}` is there is judged",
                    expr.span,
                    why="An empty file passes.",
                    help="Judge what stands in it, by `json`, `table`, `text` or `command`.",
                )


def _is_bare(claim: Claim) -> bool:
    if claim.predicate != "file":
        return False
    kinds = [constant(expr) for name, expr in claim.args if name == "kind"]
    is_file = not kinds or kinds[0] == ("file",)
    return is_file and all(name in {"path", "kind"} for name, _ in claim.args)
