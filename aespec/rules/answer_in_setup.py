"""What a check demands stands ready-made in the start state.

## What
A text of eight characters or more that a predicate compares with stands word for word in a file of setup,
and the solver isn't told it. Or the constant of an `answer` does.

## Why
A solver could copy it without doing the work. Where the text is to be found there, that is the task itself:
say so by `allow`.

## Bad
    file "/app/.cache/expected.txt" <<<text
      total: 1483.20 EUR
    >>>
    check total {
      says = "Write the total to `/app/total.txt`."
      text("/app/total.txt", equals = "total: 1483.20 EUR")
    }

## Good
    answer total (from = "/app/ledger.csv") <<<python
      …
    >>>
    check total {
      says = "Write the total to `/app/total.txt`."
      text("/app/total.txt", equals = answer.total)
    }
"""

from __future__ import annotations

from collections.abc import Iterator

from aespec.diagnostics.diagnostic import Diagnostic, Severity
from aespec.rules.api import Rule, Subject, expected_texts

RULE = Rule("answer-in-setup", Severity.WARNING)


def check(subject: Subject) -> Iterator[Diagnostic]:
    """Expected texts that stand in a file of setup and aren't told."""
    for text, span in expected_texts(subject):
        if text in subject.sentences:
            continue
        for fixture in subject.fixtures:
            if text in fixture.content:
                yield RULE.found(
                    f"what is demanded here stands ready-made in setup: `{text[:40]}`",
                    span,
                    why="A solver could copy it without doing the work.",
                    help="Compute it by an `answer` from data that doesn't hold it, or take it out of setup.",
                )
                break
