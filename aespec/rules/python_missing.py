"""A script is Python, and the image has none.

## What
The oracle, an accept, a reject or a partial is a `python` script (or `pip` is used), and neither the base
image nor `apt` brings Python. Images built on Debian, Ubuntu, Alpine or BusyBox have none of their own.

## Why
The script could not even start, and the oracle would score 0.

## Bad
    setup { base = "debian:bookworm-slim" }
    oracle <<<python
      print(1)
    >>>

## Good
    setup { base = "debian:bookworm-slim"  apt = ["python3"] }
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from aespec.diagnostics.diagnostic import Diagnostic, Severity
from aespec.model.task import RunStep, Script
from aespec.rules.api import Rule, Subject

RULE = Rule("python-missing", Severity.WARNING)

_BARE = re.compile(r"(?:docker\.io/)?(?:library/)?(?:debian|ubuntu|alpine|busybox)(?::[^@]*)?(?:@.*)?")


def check(subject: Subject) -> Iterator[Diagnostic]:
    """One finding, at the first script that needs it."""
    setup, step = subject.task.setup, subject.task.step
    has_more = setup.dockerfile is not None or any(isinstance(item, RunStep) for item in setup.steps)
    has_python = any(name.startswith(("python3", "python-is", "pypy")) for name in setup.apt)
    if has_more or has_python or not _BARE.fullmatch(setup.base):
        return
    scripts = [step.oracle, *(item.body for item in (*step.accepts, *step.rejects, *step.partials))]
    needing = next(
        (item for item in scripts if isinstance(item, Script) and item.interpreter == "python"), None
    )
    span = needing.span if needing is not None else setup.span_of("pip") if setup.pip else None
    if span is not None:
        yield RULE.found(
            f"this needs Python, and `{setup.base.partition('@')[0]}` has none",
            span,
            why="No package of `apt` brings it.",
            help='Add "python3" to `apt`.',
        )
