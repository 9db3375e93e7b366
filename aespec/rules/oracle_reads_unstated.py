"""The oracle reads a file that the solver isn't told of.

## What
The oracle opens a file below `workdir` that setup doesn't make, that no sentence names and that it doesn't
write itself.

## Why
The oracle works from what the solver sees. It may be that a build step makes the file: then say so in the
instruction, or allow this.

## Bad
    oracle <<<sh
      sort /app/private/list.txt > /app/out.txt
    >>>

## Good
    file "/app/list.txt" <<<text
      b
      a
    >>>
    oracle <<<sh
      sort /app/list.txt > /app/out.txt
    >>>
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from aespec.diagnostics.diagnostic import Diagnostic, Severity
from aespec.model.task import RunStep
from aespec.rules.api import Rule, Subject, sketch
from aespec.source import Span

RULE = Rule("oracle-reads-unstated", Severity.WARNING)

_READS = {
    "sh": re.compile(
        r"(?:(?<![<>&\d])<(?!<)|(?<![\w./-])(?:cat|head|tail|sort|wc|source|grep \S+))[ \t]+(/[\w./-]+)"
    ),
    "python": re.compile(
        r"(?:open\(\s*[\"'](/[\w./-]+)[\"']\s*\)|Path\(\s*[\"'](/[\w./-]+)[\"']\s*\)\.read_)"
    ),
}


def check(subject: Subject) -> Iterator[Diagnostic]:
    """Plain readings of constant paths that stand once in the oracle, so that it can't have written them."""
    setup, oracle = subject.task.setup, subject.task.step.oracle
    pattern = _READS.get(oracle.interpreter)
    has_more = setup.dockerfile is not None or any(isinstance(step, RunStep) for step in setup.steps)
    if pattern is None or has_more:
        return
    text = sketch(oracle.text)
    for match in pattern.finditer(text):
        path = next(group for group in match.groups() if group)
        if not path.startswith(setup.workdir + "/") or text.count(path) > 1 or _is_seen(subject, path):
            continue
        span = oracle.text.span
        at = span.source.text.find(path, span.start, span.end)
        yield RULE.found(
            f"the oracle reads `{path}`, which the solver isn't told of",
            Span(span.source, at, at + len(path)) if at >= 0 else span,
            why="Setup doesn't make it, and no sentence names it.",
            help="Make it in setup, or let the oracle work from what is there.",
        )


def _is_seen(subject: Subject, path: str) -> bool:
    if path in subject.findable or path.rpartition("/")[2] in subject.findable:
        return True
    return any(path == item or path.startswith(item + "/") for item in subject.fixture_paths)
