"""Texts that only the verifier should know."""

from __future__ import annotations

from collections.abc import Iterator

from aespec.model.expressions import Expr, Kind, Program
from aespec.model.task import Computed
from aespec.rules.api.subject import Subject, literal_values
from aespec.source import Span

SHORTEST = 8
"""Characters; shorter texts stand anywhere by chance. Certification takes the same for the oracle's text."""


def expected_texts(subject: Subject) -> Iterator[tuple[str, Span]]:
    """Texts that only the verifier should know: constants of answers, and of what predicates compare with."""
    for item in subject.task.declarations:
        if isinstance(item, Computed) and item.kind is Kind.ANSWER and not isinstance(item.body, Program):
            yield from _long(item.body)
    for placed in subject.claims:
        signature = subject.signature(placed.claim)
        if placed.negations or placed.claim.predicate == "unchanged":
            continue
        for name, expr in placed.claim.args:
            parameter = signature.param(name)
            if parameter is not None and parameter.kind in {"text", "value"} and name in _EXPECTED:
                yield from _long(expr)


_EXPECTED = frozenset({"equals", "content", "stdout", "stdout_json", "emits"})
"""Arguments that hold what the solver's work must come to."""


def _long(expr: Expr) -> Iterator[tuple[str, Span]]:
    for value in literal_values(expr):
        if isinstance(value, str) and len(value.strip()) >= SHORTEST:
            yield value.strip(), expr.span
