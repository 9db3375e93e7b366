"""The agent is root.

## What
`agent = "root"`.

## Why
In a shared container a root agent can replace the shell, the interpreter or the C library that the verifier
runs on, so that no verifier can be trusted there: the bundle is `forgeable`, and the pool refuses it. A
separate verifier isn't touched by this.

## Bad
    setup { agent = "root" }

## Good
    setup { agent = "agent" }
"""

from __future__ import annotations

from collections.abc import Iterator

from aespec.diagnostics.diagnostic import Diagnostic, Severity
from aespec.rules.api import Rule, Subject

RULE = Rule("agent-root", Severity.WARNING)


def check(subject: Subject) -> Iterator[Diagnostic]:
    """Whether the agent is root."""
    if subject.task.setup.agent == "root":
        yield RULE.found(
            "the agent is root",
            subject.task.setup.span_of("agent") or subject.task.span,
            why="In a container shared with the verifier such an agent can forge any verdict.",
            help='Remove `agent = "root"`; give the account the rights that it needs.',
        )
