"""The judge: checks, rules, hidden files, twins and freedoms."""

from __future__ import annotations

from aespec.model.expressions import Text
from aespec.model.task import Check, Free, HiddenFile, Rule, Twin, Verify
from aespec.resolve.blocks import BLOCKS
from aespec.resolve.claims import resolve_conditions
from aespec.resolve.context import Context
from aespec.resolve.library import is_taken
from aespec.resolve.reading import Item, Reading, read
from aespec.resolve.texts import resolve_text
from aespec.source import Span
from aespec.syntax.nodes import Name


def declare_checks(context: Context, reading: Reading) -> None:
    """Note the names of the checks, which the instruction may name before they are read."""
    for item in reading.named("verify.check"):
        label = item.statement.label
        if isinstance(label, Name) and len(label.parts) == 1:
            is_taken(context, label.text, label.span, context.checks, "two checks are called")


def read_verify(context: Context, reading: Reading) -> Verify:
    """The whole block."""
    hidden_spans: dict[str, Span] = {}
    hidden = [_hidden(context, item, hidden_spans) for item in reading.named("verify.hidden")]
    checks = [_check(context, item, hidden_spans) for item in reading.named("verify.check")]
    twin_spans: dict[str, Span] = {}
    twins = [_twin(context, item, twin_spans) for item in reading.named("verify.twin")]
    frees = [_free(context, item) for item in reading.named("verify.free")]
    for item in reading.named("verify.score"):
        read(context, item.statement, BLOCKS[item.id], item.scope)
    return Verify(
        tuple(item for item in checks if item is not None),
        tuple(item for item in hidden if item is not None),
        tuple(item for item in twins if item is not None),
        tuple(item for item in frees if item is not None),
        reading.need("artifacts", tuple),
        bool(reading.named("verify.score")),
    )


def _hidden(context: Context, item: Item, taken: dict[str, Span]) -> HiddenFile | None:
    reading = read(context, item.statement, BLOCKS[item.id], item.scope)
    name, heredoc = reading.label, reading.statement.heredoc
    if not isinstance(name, str) or heredoc is None:
        return None
    span = item.statement.label.span if item.statement.label else reading.span
    if is_taken(context, name, span, taken, "two hidden files are called"):
        return None
    content = resolve_text(context, heredoc, reading.scope, is_verbatim=reading.need("verbatim", bool))
    return HiddenFile(name, content, span=reading.span)


def _check(context: Context, item: Item, hidden: dict[str, Span]) -> Check | None:
    reading = read(context, item.statement, BLOCKS[item.id], item.scope)
    rules: list[Rule] = []
    taken: dict[str, Span] = {}
    for child in reading.named("check.rule"):
        rule = _rule(context, child, hidden, taken)
        if rule is not None:
            rules.append(rule)
    conditions = resolve_conditions(context, reading.items, hidden)
    if not isinstance(reading.label, str):
        return None
    return Check(
        reading.label,
        reading.get("says", Text),
        tuple(rules),
        conditions,
        reading.need("weight", float),
        reading.need("gate", bool),
        span=reading.span,
    )


def _rule(context: Context, item: Item, hidden: dict[str, Span], taken: dict[str, Span]) -> Rule | None:
    reading = read(context, item.statement, BLOCKS[item.id], item.scope)
    conditions = resolve_conditions(context, reading.items, hidden)
    if not isinstance(reading.label, str) or reading.sentence is None:
        return None
    span = item.statement.label.span if item.statement.label else reading.span
    if is_taken(context, reading.label, span, taken, "two rules of this check are called"):
        return None
    return Rule(reading.label, reading.sentence, conditions, span=reading.span)


def _twin(context: Context, item: Item, taken: dict[str, Span]) -> Twin | None:
    reading = read(context, item.statement, BLOCKS[item.id], item.scope)
    if not isinstance(reading.label, str) or is_taken(
        context, reading.label, reading.span, taken, "two twins are called"
    ):
        return None
    return Twin(reading.label, reading.get("seed", int), span=reading.span)


def _free(context: Context, item: Item) -> Free | None:
    reading = read(context, item.statement, BLOCKS[item.id], item.scope)
    leaf, because = reading.get("leaf", Text), reading.get("because", str)
    if leaf is None or because is None:
        return None
    return Free(leaf, because, span=reading.span)
