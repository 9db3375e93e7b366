"""The oracle reads what belongs to the verifier.

## What
The oracle's text names `/tests`, `/logs` or `/solution`, a file of them, or a hidden file of `verify`.

## Why
The oracle shows that the task can be solved from what the solver sees. With the verifier's files at hand it
shows nothing.

## Bad
    oracle <<<sh
      cp /tests/hidden/expected.json /app/out.json
    >>>

## Good
    oracle <<<sh
      python3 /app/tool.py /app/in.json > /app/out.json
    >>>
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from aespec.diagnostics.diagnostic import Diagnostic, Severity
from aespec.rules.api import Rule, Subject, sketch
from aespec.source import Span

RULE = Rule("oracle-reads-hidden", Severity.ERROR)

_PATH = re.compile(r"(?<![\w./-])/(?:tests|logs|solution)(?=[/\s\"'`;)\]]|$)[^\s\"'`;)\]]*")


def check(subject: Subject) -> Iterator[Diagnostic]:
    """Paths of the harness in the oracle, and names of hidden files that aren't told to the solver."""
    oracle = subject.task.step.oracle
    text = sketch(oracle.text)
    found = [match[0] for match in _PATH.finditer(text)]
    for item in subject.task.step.verify.hidden_files:
        last = item.name.rpartition("/")[2]
        if (
            len(last) >= 6
            and not any(last in path for path in found)
            and last in text
            and last not in subject.findable
        ):
            found.append(last)
    for path in dict.fromkeys(found):
        yield RULE.found(
            f"the oracle names `{path}`, which only the verifier has",
            _place(oracle.text.span, path),
            why="It must work from what the solver sees.",
            help="Let it compute the result from the start state.",
        )


def _place(span: Span, text: str) -> Span:
    at = span.source.text.find(text, span.start, span.end)
    return Span(span.source, at, at + len(text)) if at >= 0 else span
