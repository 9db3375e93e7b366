"""A program draws from somewhere else than `rng` and `now`.

## What
A `generate`, `let`, `hidden` or `answer` program uses `random.…`, `secrets`, `uuid`, `os.urandom` or the
time of day.

## Why
The same instance would come out otherwise each time: the answer wouldn't fit the start state, and nothing
could be replayed.

## Bad
    generate "/app/ids.txt" <<<python
      import uuid
      print(uuid.uuid4())
    >>>

## Good
    generate "/app/ids.txt" <<<python
      print("%032x" % rng.getrandbits(128))
    >>>
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from aespec.diagnostics.diagnostic import Diagnostic, Severity
from aespec.model.expressions import Program
from aespec.model.task import Computed, GenerateStep
from aespec.rules.api import Rule, Subject
from aespec.source import Span

RULE = Rule("undetermined-program", Severity.WARNING)

_DRAW = re.compile(
    r"(?<![\w.\"'])(?:random\.(?!Random\b|seed\b)[a-z]\w*\(|secrets\.\w+\(|uuid\.uuid[14]\(|os\.urandom\(|"
    r"time\.time(?:_ns)?\(|(?:datetime\.)?(?:datetime|date)\.(?:now|today|utcnow)\()"
)


def check(subject: Subject) -> Iterator[Diagnostic]:
    """Every program of the spec that is run before a bundle is made."""
    for program in _programs(subject):
        source = program.span.source.text
        for match in _DRAW.finditer(source, program.span.start, program.span.end):
            line = source[source.rfind("\n", 0, match.start()) + 1 : match.start()]
            if "#" in line:
                continue
            yield RULE.found(
                f"`{match[0]}…)` comes out otherwise each time",
                Span(program.span.source, match.start(), match.end()),
                why="An instance must be the same whenever it is drawn again.",
                help="Draw from `rng`, and take the time from `now`.",
            )


def _programs(subject: Subject) -> Iterator[Program]:
    for item in subject.task.declarations:
        if isinstance(item, Computed) and isinstance(item.body, Program):
            yield item.body
    for step in subject.task.setup.file_steps:
        if isinstance(step, GenerateStep):
            yield step.program
