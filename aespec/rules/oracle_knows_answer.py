"""The oracle knows the answer without working for it.

## What
A text of eight characters or more stands in the oracle that equals what a predicate demands or an answer
holds, and that the solver is neither told nor can read in the start state.

## Why
The oracle works from what the solver sees. One that writes the answer down shows that the verifier takes
it, and nothing about whether anybody could find it.

## Bad
    oracle <<<sh
      echo "Anna Blum, 2019-04-11" > /app/author.txt
    >>>
    check author {
      says = "Write to `/app/author.txt` who broke the build, and when."
      text("/app/author.txt", equals = "Anna Blum, 2019-04-11")
    }

## Good
    oracle <<<sh
      git -C /app/repo log -1 --format='%an, %as' -- Makefile > /app/author.txt
    >>>
"""

from __future__ import annotations

from collections.abc import Iterator

from aespec.diagnostics.diagnostic import Diagnostic, Severity
from aespec.rules.api import Rule, Subject, expected_texts, sketch
from aespec.source import Span

RULE = Rule("oracle-knows-answer", Severity.ERROR, is_allowable=True)


def check(subject: Subject) -> Iterator[Diagnostic]:
    """Expected texts that stand in the oracle and that the solver can't know."""
    oracle = subject.task.step.oracle.text
    written = sketch(oracle)
    seen: set[str] = set()
    for text, _ in expected_texts(subject):
        if text in seen or text not in written or text in subject.findable:
            continue
        seen.add(text)
        at = oracle.span.source.text.find(text, oracle.span.start, oracle.span.end)
        yield RULE.found(
            f"the oracle knows `{text[:40]}` without working for it",
            Span(oracle.span.source, at, at + len(text)) if at >= 0 else oracle.span,
            why="The verifier demands it, and nothing that the solver can read holds it.",
            help="Let the oracle compute it, or tell it in the instruction.",
        )
