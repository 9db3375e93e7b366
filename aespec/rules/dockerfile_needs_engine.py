"""Raw Dockerfile lines need an engine.

## What
`setup` has a `dockerfile` block.

## Why
Only a container engine can build it: the embedded sandbox can't, so that trials and certificates take
longer, and nothing of what it makes is known to the rules.

## Bad
    setup {
      dockerfile <<<dockerfile
        RUN apt-get install -y make
      >>>
    }

## Good
    setup { apt = ["make"] }
"""

from __future__ import annotations

from collections.abc import Iterator

from aespec.diagnostics.diagnostic import Diagnostic, Severity
from aespec.rules.api import Rule, Subject

RULE = Rule("dockerfile-needs-engine", Severity.ADVICE)


def check(subject: Subject) -> Iterator[Diagnostic]:
    """Whether there are such lines."""
    text = subject.task.setup.dockerfile
    if text is not None:
        yield RULE.found(
            "raw Dockerfile lines can only be built by a container engine",
            text.span,
            why="The embedded sandbox can't build them.",
            help="Use `apt`, `pip`, `file` and `run` where they suffice.",
        )
