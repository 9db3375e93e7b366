"""A text holds what looks like its own end.

## What
A line of a text begins with `>>>` and goes on with a closing bracket, or the text holds a line that opens
another.

## Why
A text ends at a line with only `>>>`. Here the end was probably meant earlier, and statements became text.

## Bad
    each x (in = ["a", "b"]) { file "/app/{{ x }}" <<<text
      hello
    >>> }

## Good
    each x (in = ["a", "b"]) {
      file "/app/{{ x }}" <<<text
        hello
      >>>
    }
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from aespec.diagnostics.diagnostic import Diagnostic, Severity
from aespec.model.expressions import Text
from aespec.model.task import Script
from aespec.rules.api import Rule, Subject, setup_texts
from aespec.source import Span

RULE = Rule("heredoc-closer", Severity.WARNING)

_END = re.compile(r"^[ \t]*>>>[ \t]*[})\]][ \t})\]]*$", re.MULTILINE)


def check(subject: Subject) -> Iterator[Diagnostic]:
    """Every text of the task that stands in a heredoc."""
    step = subject.task.step
    texts: list[Text] = [*setup_texts(subject.task.setup), step.instruction, step.oracle.text]
    texts += [item.content for item in step.verify.hidden_files]
    for example in (*step.accepts, *step.rejects, *step.partials):
        if isinstance(example.body, Script):
            texts.append(example.body.text)
    for text in texts:
        if not text.span.text.startswith("<<<"):
            continue
        for match in _END.finditer(text.span.text):
            start = text.span.start + match.start()
            yield RULE.found(
                "this line is part of the text, not its end",
                Span(text.span.source, start, text.span.start + match.end()),
                why="A text ends at a line with only `>>>`.",
                help="Put `>>>` on a line of its own, and the bracket on the next.",
            )
