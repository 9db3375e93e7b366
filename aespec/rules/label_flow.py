"""A value reaches the solver that must not.

## What
An answer, a secret or a hidden value, or a `let` computed from one, stands in what the solver sees: the
instruction, a sentence of a check or rule, a text, path, command or variable of setup, or the oracle.

## Why
The instruction would tell the answer, or the start state would hold it ready-made. The oracle works from
what the solver sees, so that it shows that the task can be solved. A hidden value may go into `generate`
and `answer` programs through `from`, and a secret enters setup through `plant` alone.

## Bad
    answer total (from = "/app/ledger.csv") <<<python
      emit(3)
    >>>
    oracle <<<sh
      echo {{ answer.total }} > /app/total.txt
    >>>

## Good
    oracle <<<sh
      awk -F, '{ sum += $4 } END { print sum }' /app/ledger.csv > /app/total.txt
    >>>
"""

from __future__ import annotations

from collections.abc import Iterator

from aespec.diagnostics.diagnostic import Diagnostic, Severity
from aespec.model.expressions import Kind, Ref, Text
from aespec.model.labels import hidden_only, labels_of
from aespec.model.task import GenerateStep
from aespec.rules.api import Rule, Subject, setup_texts

RULE = Rule("label-flow", Severity.ERROR)

_WAY_OUT = {
    Kind.ANSWER: "Let the solver work it out; take it out here.",
    Kind.HIDDEN: "Show a `let` that isn't made from it, or give it to a `generate` program through `from`.",
    Kind.SECRET: "Put it there by `plant`, if it is to be found.",
}


def check(subject: Subject) -> Iterator[Diagnostic]:
    """Every text that the solver may see, and every program that makes what it sees."""
    for text, where in _shown(subject):
        yield from _flows(subject, text.refs, where)
    for step in subject.task.setup.file_steps:
        if isinstance(step, GenerateStep):
            for ref, flow in hidden_only(step, subject.labels):
                yield _report(ref, flow.kind, flow.chain, "a file of the start state")


def _shown(subject: Subject) -> Iterator[tuple[Text, str]]:
    step = subject.task.step
    yield step.instruction, "the instruction"
    for check in step.verify.checks:
        if check.says is not None:
            yield check.says, "a sentence that the solver reads"
        for rule in check.rules:
            yield rule.sentence, "a sentence that the solver reads"
    for artifact in step.verify.artifacts:
        yield artifact, "the bundle's configuration"
    for text in setup_texts(subject.task.setup):
        yield text, "the start state"
    yield step.oracle.text, "the oracle"


def _flows(subject: Subject, refs: tuple[Ref, ...], where: str) -> Iterator[Diagnostic]:
    for ref, flow in labels_of(refs, subject.labels):
        yield _report(ref, flow.kind, flow.chain, where)


def _report(ref: Ref, kind: Kind, chain: tuple[str, ...], where: str) -> Diagnostic:
    way = " ← ".join((where, *chain))
    return RULE.found(
        f"`{chain[-1]}` flows into {where}",
        ref.span,
        why=f"The way: {way}.",
        help=_WAY_OUT[kind],
    )
