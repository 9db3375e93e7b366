"""The judge of a task with all its values in: checks, rules and claims as they are shipped and read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from typing import TypeAlias

from aespec.bundle.faults import Faults
from aespec.model.expressions import CallExpr, Expr, Json, Ref, Values, iterate_refs
from aespec.model.rendering import MissingValueError, value_of
from aespec.model.task import AllOf, AnyOf, Check, Claim, Condition, Task
from aespec.records import dataclass
from aespec.source import Span


@dataclass(frozen=True, slots=True)
class PlannedClaim:
    """A claim with an id that is unique in its task, and arguments that are plain JSON.

    `refs` are the values that the arguments were written with, `places` says where each argument stands.
    """

    id: str
    predicate: str
    args: Mapping[str, Json]
    span: Span
    refs: tuple[Ref, ...] = ()
    places: Mapping[str, Span] = field(default_factory=dict, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class PlannedGroup:
    """`all`, `any` or `not` of conditions; `not` holds one group, of `all`."""

    connective: str
    items: tuple[PlannedCondition, ...]


PlannedCondition: TypeAlias = PlannedClaim | PlannedGroup


@dataclass(frozen=True, slots=True)
class PlannedRule:
    """A rule: its id is `CHECK.RULE`; `when` is empty where it takes its check's verdict."""

    id: str
    sentence: str
    when: PlannedGroup


@dataclass(frozen=True, slots=True)
class PlannedCheck:
    """A check; `says` is "" where the sentences of its claims stand in for it."""

    id: str
    says: str
    rules: tuple[PlannedRule, ...]
    when: PlannedGroup
    weight: float
    is_gate: bool
    span: Span


def plan_checks(task: Task, values: Values, faults: Faults) -> tuple[PlannedCheck, ...]:
    """The checks of a task's only step, in the order written."""
    return tuple(_check(check, values, faults) for check in task.step.verify.checks)


def iterate_claims(condition: PlannedCondition) -> Iterator[PlannedClaim]:
    """The claims below a condition, in reading order."""
    if isinstance(condition, PlannedClaim):
        yield condition
    else:
        for item in condition.items:
            yield from iterate_claims(item)


def claims_of(checks: Sequence[PlannedCheck]) -> Iterator[PlannedClaim]:
    """Every claim, of rules too."""
    for check in checks:
        for rule in check.rules:
            yield from iterate_claims(rule.when)
        yield from iterate_claims(check.when)


def condition_to_json(condition: PlannedCondition) -> Json:
    """The form of `checks.schema.json`."""
    if isinstance(condition, PlannedClaim):
        return {"id": condition.id, "predicate": condition.predicate, "args": dict(condition.args)}
    items: list[Json] = [condition_to_json(item) for item in condition.items]
    if condition.connective == "not":
        return {"not": items[0]}
    return {condition.connective: items}


def check_to_json(check: PlannedCheck) -> Json:
    """The form of `checks.schema.json`."""
    return {
        "id": check.id,
        "weight": check.weight,
        "is_gate": check.is_gate,
        "says": check.says,
        "rules": [
            {"id": rule.id, "sentence": rule.sentence, "when": condition_to_json(rule.when)}
            for rule in check.rules
        ],
        "when": condition_to_json(check.when),
    }


def _check(check: Check, values: Values, faults: Faults) -> PlannedCheck:
    rules = []
    for rule in check.rules:
        rule_id = f"{check.name}.{rule.name}"
        sentence = faults.render(rule.sentence, values)
        rules.append(PlannedRule(rule_id, sentence, _body(rule_id, rule.conditions, values, faults)))
    return PlannedCheck(
        id=check.name,
        says=faults.render(check.says, values) if check.says is not None else "",
        rules=tuple(rules),
        when=_body(check.name, check.conditions, values, faults),
        weight=check.weight,
        is_gate=check.is_gate,
        span=check.span,
    )


def _body(owner: str, conditions: Sequence[Condition], values: Values, faults: Faults) -> PlannedGroup:
    numbers = iter(range(1_000_000))
    items = tuple(_condition(item, owner, numbers, values, faults) for item in conditions)
    return PlannedGroup("all", items)


def _condition(
    item: Condition, owner: str, numbers: Iterator[int], values: Values, faults: Faults
) -> PlannedCondition:
    if isinstance(item, Claim):
        args = {name: _argument(value, values, faults) for name, value in item.args}
        refs = tuple(ref for _, value in item.args for ref in iterate_refs(value))
        places = {name: value.span for name, value in item.args}
        return PlannedClaim(f"{owner}/{next(numbers)}", item.predicate, args, item.span, refs, places)
    items = tuple(_condition(inner, owner, numbers, values, faults) for inner in item.items)
    if isinstance(item, AllOf):
        return PlannedGroup("all", items)
    if isinstance(item, AnyOf):
        return PlannedGroup("any", items)
    return PlannedGroup("not", (PlannedGroup("all", items),))


def _argument(expr: Expr, values: Values, faults: Faults) -> Json:
    try:
        return value_of(expr, values)
    except MissingValueError as missing:
        faults.error("value-missing", str(missing), missing.ref.span, help="Give the declaration that value.")
    except TypeError:
        assert isinstance(expr, CallExpr)
        faults.error("call-in-value", f"{expr.name}(…) can't stand in a predicate's argument", expr.span)
    return None
