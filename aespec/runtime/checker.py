"""Judging an end state by checks.json: every claim is asked, every check reports, and doubt is an error."""

from __future__ import annotations

import importlib
import math
import re
import time
from typing import Any, Callable, Dict, Iterator, List, Mapping, NamedTuple, Optional, Tuple, Union

from aespec.runtime.state import Missing, State, Trouble, Verdict

SCHEMA = 1

PASS, FAIL, ERROR = "pass", "fail", "error"

NAME = re.compile(r"[a-z][a-z0-9_]*")


class Claim(NamedTuple):
    """A predicate with its evaluated arguments."""

    id: str
    predicate: str
    args: Dict[str, Any]
    holds: Callable[[State, Dict[str, Any]], Verdict]


class Group(NamedTuple):
    """`all`, `any` or `not` (of one) over conditions."""

    kind: str
    items: Tuple[Union[Claim, Group], ...]  # type: ignore[misc, unused-ignore]


class Rule(NamedTuple):
    """A rule; without a condition of its own it takes its check's verdict."""

    id: str
    when: Group


class Check(NamedTuple):
    """A check with its condition and rules."""

    id: str
    weight: float
    is_gate: bool
    when: Group
    rules: Tuple[Rule, ...]


class Checks(NamedTuple):
    """A loaded checks.json. `says` are the checks' sentences by id."""

    task: str
    instance: str
    is_scored: bool
    seed: Optional[int]
    runner: Mapping[str, Any]
    baseline: Mapping[str, Mapping[str, Any]]
    checks: Tuple[Check, ...]
    says: Mapping[str, str]


def load(document: Any) -> Checks:
    """The checks of a decoded checks.json. Raises `Trouble` for anything that could not be judged as
    meant.
    """
    try:
        if document["schema"] != SCHEMA:
            raise Trouble(f"checks.json has schema {document['schema']!r}; this checker knows {SCHEMA}")
        checks = tuple(_check(item) for item in document["checks"])
        loaded = Checks(
            str(document["task"]),
            str(document["instance"]),
            bool(document.get("is_scored", False)),
            document.get("seed"),
            document.get("runner", {}),
            document.get("baseline", {}),
            checks,
            {item["id"]: str(item.get("says", "")) for item in document["checks"]},
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise Trouble(f"checks.json is malformed: {type(error).__name__}: {error}") from None
    _demand_sense(loaded)
    return loaded


def _check(item: Any) -> Check:
    weight = float(item.get("weight", 1.0))
    if not math.isfinite(weight) or weight < 0:
        raise Trouble(f"check {item['id']!r} has the weight {weight}")
    rules = tuple(Rule(str(rule["id"]), _group(rule["when"])) for rule in item.get("rules", ()))
    return Check(str(item["id"]), weight, bool(item.get("is_gate", False)), _group(item["when"]), rules)


def _group(item: Any) -> Group:
    condition = _condition(item)
    return condition if isinstance(condition, Group) else Group("all", (condition,))


def _condition(item: Any) -> Union[Claim, Group]:
    if "predicate" in item:
        return _claim(item)
    if len(item) != 1:
        raise Trouble(f"a condition has the keys {sorted(item)}")
    ((kind, below),) = item.items()
    if kind == "not":
        return Group("not", (_condition(below),))
    if kind not in ("all", "any"):
        raise Trouble(f"a condition is called {kind!r}")
    return Group(kind, tuple(_condition(part) for part in below))


def _claim(item: Any) -> Claim:
    name = item["predicate"]
    if not isinstance(name, str) or not NAME.fullmatch(name):
        raise Trouble(f"{name!r} is no name of a predicate")
    try:
        module = importlib.import_module(f"aespec.predicates.{name}")
        signature, holds = module.SIGNATURE, module.holds
    except (ImportError, AttributeError):
        raise Trouble(f"there is no predicate {name!r} here") from None
    args = dict(item["args"])
    for key in args:
        if signature.param(key) is None:
            raise Trouble(f"predicate {name!r} has no argument {key!r}")
    for param in signature.params:
        if param.is_required and param.name not in args:
            raise Trouble(f"predicate {name!r} lacks its argument {param.name!r}")
    return Claim(str(item["id"]), name, signature.complete(args), holds)


def claims_of(condition: Union[Claim, Group]) -> Iterator[Claim]:
    """The claims at and below a condition, in reading order."""
    if isinstance(condition, Claim):
        yield condition
    else:
        for item in condition.items:
            yield from claims_of(item)


def _demand_sense(checks: Checks) -> None:
    """What would pass without being asked anything is no verdict."""
    if not checks.checks:
        raise Trouble("checks.json holds no check")
    ids: List[str] = []
    for check in checks.checks:
        conditions = [check.when, *(rule.when for rule in check.rules)]
        ids.append(check.id)
        ids += [rule.id for rule in check.rules]
        claims = [claim for condition in conditions for claim in claims_of(condition)]
        ids += [claim.id for claim in claims]
        if not claims:
            raise Trouble(f"check {check.id!r} claims nothing")
        for condition in conditions:
            _demand_parts(condition, check.id, is_top=True)
    if len(set(ids)) != len(ids):
        raise Trouble("an id stands twice in checks.json")
    if checks.is_scored and not any(check.weight for check in checks.checks if not check.is_gate):
        raise Trouble("a scored task needs a check with weight that is no gate")


def _demand_parts(condition: Union[Claim, Group], check: str, *, is_top: bool = False) -> None:
    if isinstance(condition, Claim):
        return
    if not condition.items and not (is_top and condition.kind == "all"):
        raise Trouble(f"check {check!r} has an empty {condition.kind!r}")
    for item in condition.items:
        _demand_parts(item, check)


class _Answer(NamedTuple):
    verdict: str
    reason: str


_PASSED = _Answer(PASS, "")


def judge(checks: Checks, state: State) -> Dict[str, Any]:
    """The details of the verdict, as reward-details.json has them.

    No claim is passed over, whatever the others say. A predicate that raises what it should not is an error,
    never a pass or a fail.
    """
    started = time.perf_counter()
    reports = [_judge_check(check, state) for check in checks.checks]
    outcome = _worst(report["verdict"] for report in reports)
    reward = (
        None
        if outcome == ERROR
        else reward_of(checks, {report["id"]: report["verdict"] for report in reports})
    )
    return {
        "schema": SCHEMA,
        "task": checks.task,
        "instance": checks.instance,
        "outcome": outcome,
        "reward": reward,
        "seconds": _seconds_since(started),
        "seed": checks.seed,
        "checks": reports,
    }


def failure(reason: str, checks: Optional[Checks] = None) -> Dict[str, Any]:
    """The details where nothing could be judged; every check that is known reports an error."""
    reports = [
        {"id": check.id, "verdict": ERROR, "reason": reason, "seconds": 0.0, "weight": check.weight,
         "is_gate": check.is_gate, "rules": [], "claims": []}
        for check in (checks.checks if checks else ())
    ]  # fmt: skip
    return {
        "schema": SCHEMA,
        "task": checks.task if checks else "",
        "instance": checks.instance if checks else "",
        "outcome": ERROR,
        "reward": None,
        "seconds": 0.0,
        "seed": checks.seed if checks else None,
        "checks": reports,
        "message": reason,
    }


def reward_of(checks: Checks, verdicts: Mapping[str, str]) -> float:
    """The reward from the verdict of each check, none of them an error."""
    held = {check.id: verdicts[check.id] == PASS for check in checks.checks}
    if not checks.is_scored:
        return 1.0 if all(held.values()) else 0.0
    if not all(held[check.id] for check in checks.checks if check.is_gate):
        return 0.0
    weighed = [check for check in checks.checks if not check.is_gate]
    total = math.fsum(check.weight for check in weighed)
    if all(held[check.id] for check in weighed):
        return 1.0
    return math.fsum(check.weight for check in weighed if held[check.id]) / total


def _judge_check(check: Check, state: State) -> Dict[str, Any]:
    started = time.perf_counter()
    claims: List[Dict[str, Any]] = []
    own = _ask(check.when, state, claims)
    asked = {rule.id: _ask(rule.when, state, claims) for rule in check.rules if rule.when.items}
    answers = [*([own] if check.when.items else []), *asked.values()]
    total = _all(answers)
    rules = [(rule.id, asked.get(rule.id, total)) for rule in check.rules]
    return {
        "id": check.id,
        "verdict": total.verdict,
        "reason": total.reason,
        "seconds": _seconds_since(started),
        "weight": check.weight,
        "is_gate": check.is_gate,
        "rules": [{"id": name, "verdict": answer.verdict, "reason": answer.reason} for name, answer in rules],
        "claims": claims,
    }


def _ask(condition: Union[Claim, Group], state: State, claims: List[Dict[str, Any]]) -> _Answer:
    if isinstance(condition, Claim):
        return _ask_claim(condition, state, claims)
    answers = [_ask(item, state, claims) for item in condition.items]
    if condition.kind == "all":
        return _all(answers)
    if condition.kind == "any":
        return _any(answers)
    if answers[0].verdict == ERROR:
        return answers[0]
    return (
        _PASSED if answers[0].verdict == FAIL else _Answer(FAIL, f"{_ids(condition)} must not hold but does")
    )


def _ids(condition: Group) -> str:
    return ", ".join(claim.id for claim in claims_of(condition))


def _ask_claim(claim: Claim, state: State, claims: List[Dict[str, Any]]) -> _Answer:
    started = time.perf_counter()
    try:
        verdict = claim.holds(state, claim.args)
        answer = (
            _PASSED if verdict.is_held is True else _Answer(FAIL, str(verdict.reason) or "it does not hold")
        )
    except Missing as missing:
        answer = _Answer(FAIL, str(missing))
    except Trouble as trouble:
        answer = _Answer(ERROR, str(trouble))
    except Exception as error:  # noqa: BLE001 - whatever it is, it is no verdict
        answer = _Answer(ERROR, f"the predicate broke: {type(error).__name__}: {error}"[:500])
    claims.append(
        {
            "id": claim.id,
            "predicate": claim.predicate,
            "verdict": answer.verdict,
            "reason": answer.reason,
            "seconds": _seconds_since(started),
        }
    )
    return answer


def _all(answers: List[_Answer]) -> _Answer:
    """An error decides before a failure: what broke might have changed what failed."""
    for verdict in (ERROR, FAIL):
        for answer in answers:
            if answer.verdict == verdict:
                return answer
    return _PASSED


def _any(answers: List[_Answer]) -> _Answer:
    for answer in answers:
        if answer.verdict == PASS:
            return answer
    for answer in answers:
        if answer.verdict == ERROR:
            return answer
    return _Answer(FAIL, "none of these holds: " + "; ".join(answer.reason for answer in answers)[:500])


def _worst(verdicts: Iterator[str]) -> str:
    found = set(verdicts)
    return ERROR if ERROR in found else FAIL if FAIL in found else PASS


def _seconds_since(started: float) -> float:
    return round(time.perf_counter() - started, 6)
