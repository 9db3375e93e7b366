"""Every claim is asked, every check reports, an error is never a pass or a fail."""

import itertools
import sys
import types

import pytest

from aespec.runtime import checker
from aespec.runtime.memory import MemoryState
from aespec.runtime.signature import Param, Signature
from aespec.runtime.state import HELD, Missing, Trouble, failed

ASKED = []


def holds(state, args):
    ASKED.append(args["path"])
    answers = {"pass": lambda: HELD, "fail": lambda: failed("no"), "true": lambda: 1, "none": lambda: None}
    errors = {
        "error": Trouble("broken"),
        "missing": Missing("gone"),
        "bug": ZeroDivisionError("x"),
        "memory": MemoryError(),
        "deep": RecursionError(),
    }
    if args["path"] in errors:
        raise errors[args["path"]]
    return answers[args["path"]]()


@pytest.fixture(autouse=True)
def oracle(monkeypatch):
    """A predicate that answers as it is told."""
    module = types.ModuleType("aespec.predicates.told")
    module.SIGNATURE = Signature("told", "It does.", (Param("path", "text", "How.", is_required=True),))
    module.holds = holds
    monkeypatch.setitem(sys.modules, "aespec.predicates.told", module)
    ASKED.clear()


IDS = itertools.count()


def claim(answer):
    return {"id": f"n{next(IDS)}", "predicate": "told", "args": {"path": answer}}


def condition(tree):
    if isinstance(tree, str):
        return claim(tree)
    kind, *items = tree
    below = [condition(item) for item in items]
    return {kind: below[0] if kind == "not" else below}


def verdict_of(tree, rules=()):
    when = condition(tree)
    item = {
        "id": "c",
        "when": when if "all" in when else {"all": [when]},
        "rules": [{"id": f"c.{name}", "when": condition(rule)} for name, rule in rules],
    }
    return judge([item])["checks"][0]


def judge(checks, **more):
    document = {"schema": 1, "task": "t", "instance": "i", "checks": checks, **more}
    return checker.judge(checker.load(document), MemoryState.of({}))


@pytest.mark.parametrize(
    ("tree", "verdict"),
    [
        (("all", "pass", "pass"), "pass"),
        (("all", "pass", "fail"), "fail"),
        (("all", "fail", "error"), "error"),
        (("any", "fail", "pass"), "pass"),
        (("any", "fail", "fail"), "fail"),
        (("any", "fail", "error"), "error"),
        (("any", "error", "pass"), "pass"),
        (("not", "pass"), "fail"),
        (("not", "fail"), "pass"),
        (("not", "error"), "error"),
        (("not", ("all", "pass", "fail")), "pass"),
        (("not", ("not", "pass")), "pass"),
        (("any", ("all", "pass", "fail"), ("not", "fail")), "pass"),
        ("missing", "fail"),
        ("bug", "error"),
        ("memory", "error"),
        ("deep", "error"),
        ("none", "error"),
        ("true", "error"),
    ],
)
def test_connectives(tree, verdict):
    report = verdict_of(tree)
    assert report["verdict"] == verdict
    assert bool(report["reason"]) is (verdict != "pass")


def test_every_claim_is_asked_and_reported():
    report = verdict_of(("all", "fail", ("any", "pass", "error"), ("not", ("all", "fail", "pass"))))
    assert ASKED == ["fail", "pass", "error", "fail", "pass"]
    assert [item["verdict"] for item in report["claims"]] == ASKED


def test_rules():
    report = verdict_of(
        ("all", "pass"), [("own", ("all", "fail")), ("taken", ("all",)), ("right", ("all", "pass"))]
    )
    assert report["verdict"] == "fail"
    assert {rule["id"]: rule["verdict"] for rule in report["rules"]} == {
        "c.own": "fail",
        "c.taken": "fail",
        "c.right": "pass",
    }
    report = verdict_of(("all",), [("own", ("all", "pass")), ("taken", ("all",))])
    assert {rule["verdict"] for rule in report["rules"]} == {"pass"} == {report["verdict"]}


def check(name, answer, **more):
    return {"id": name, "when": {"all": [claim(answer)]}, **more}


def test_reward():
    assert judge([check("a", "pass"), check("b", "pass")])["reward"] == 1.0
    assert judge([check("a", "pass"), check("b", "fail")])["reward"] == 0.0
    found = judge([check("a", "pass"), check("b", "error"), check("c", "fail")])
    assert (found["reward"], found["outcome"]) == (None, "error")


def test_score():
    checks = [
        check("a", "pass", weight=1),
        check("b", "fail", weight=3),
        check("g", "pass", is_gate=True, weight=9),
    ]
    found = judge(checks, is_scored=True)
    assert (found["reward"], found["outcome"]) == (0.25, "fail")
    checks[2] = check("g", "fail", is_gate=True)
    assert judge(checks, is_scored=True)["reward"] == 0.0
    whole = [check(str(number), "pass", weight=0.1) for number in range(3)]
    assert judge(whole, is_scored=True)["reward"] == 1.0


@pytest.mark.parametrize(
    "checks",
    [
        [],
        [{"id": "a", "when": {"all": []}}],
        [{"id": "a", "when": {"all": []}, "rules": [{"id": "a.r", "when": {"all": []}}]}],
        [{"id": "a", "when": {"any": []}}],
        [{"id": "a", "when": {"all": [{"any": []}]}}],
        [{"id": "a", "when": {"all": [{"not": {"all": []}}]}}],
        [{"id": "a", "when": {"none": []}}],
        [{"id": "a", "when": {"all": [], "any": []}}],
        [{"id": "a"}],
        [{"when": {"all": []}}],
        [check("a", "pass"), check("a", "pass")],
        [check("a", "pass", weight=float("nan"))],
        [check("a", "pass", weight=-1)],
        [{"id": "a", "when": {"all": [{"id": "x", "predicate": "nothing", "args": {}}]}}],
        [{"id": "a", "when": {"all": [{"id": "x", "predicate": "../state", "args": {}}]}}],
        [{"id": "a", "when": {"all": [{"id": "x", "predicate": "told", "args": {}}]}}],
        [{"id": "a", "when": {"all": [{"id": "x", "predicate": "told", "args": {"path": "pass", "y": 1}}]}}],
        [{"id": "a", "when": {"all": [{"id": "x", "predicate": "told", "args": None}]}}],
        "text",
        None,
        [None],
    ],
)
def test_what_can_not_be_judged_as_meant_is_trouble(checks):
    with pytest.raises(Trouble):
        judge(checks)


@pytest.mark.parametrize(
    "document", [None, [], "x", {}, {"schema": 2, "task": "t", "instance": "i", "checks": []}]
)
def test_documents_that_are_none(document):
    with pytest.raises(Trouble):
        checker.load(document)


def test_a_score_without_weight_is_trouble():
    with pytest.raises(Trouble):
        judge([check("a", "pass", weight=0)], is_scored=True)
    with pytest.raises(Trouble):
        judge([check("a", "pass", is_gate=True)], is_scored=True)
