"""A predicate reads a path that the solver isn't told.

## What
A path that a predicate reads stands neither in the instruction nor in a sentence, and setup makes no such
file. The whole path counts, what is left of it below `workdir`, or its last part by itself.

## Why
The solver would have to guess where its work is looked for.

## Bad
    instruction <<<md
      Total the ledger by account.
    >>>
    verify {
      check totals {
        says = "Write the totals as JSON."
        json("/app/totals.json", equals = answer.totals)
      }
    }

## Good
    check totals {
      says = "Write `/app/totals.json`: an object from account to its total in cents."
      json("/app/totals.json", equals = answer.totals)
    }
"""

from __future__ import annotations

from collections.abc import Iterator

from aespec.diagnostics.diagnostic import Diagnostic, Severity
from aespec.rules.api import Rule, Subject, claim_paths, names

RULE = Rule("unstated-path", Severity.ERROR, is_allowable=True)

_INTERPRETERS = ("/bin/", "/usr/", "/sbin/")
_RUNNING = frozenset({"cwd", "root", "python", "writes"})
"""Arguments that say how something is run, not what the solver must make."""


def check(subject: Subject) -> Iterator[Diagnostic]:
    """Paths of claims in checks that have a sentence of the author's; others tell their own paths."""
    for placed in subject.claims:
        if placed.check.says is None and placed.rule is None:
            continue
        for name, written, expr in claim_paths(placed.claim, subject.signature(placed.claim)):
            path = written.partition("#")[0].rstrip("/")
            if name in _RUNNING or path.startswith(_INTERPRETERS) or _is_told(subject, path):
                continue
            yield RULE.found(
                f"the solver isn't told of `{path}`",
                expr.span,
                why="Neither the instruction nor a sentence names it, and it isn't in the start state.",
                help=f"Name `{path}` in the `says` of check `{placed.check.name}`.",
            )


def _is_told(subject: Subject, path: str) -> bool:
    told = subject.sentences + subject.own_sentences
    if not path or names(told, path):
        return True
    workdir = subject.task.setup.workdir
    if path == workdir or any(item == path or item.startswith(path + "/") for item in subject.fixture_paths):
        return True
    below = path.removeprefix(workdir + "/")
    return names(told, below) or names(told, path.rpartition("/")[2])
