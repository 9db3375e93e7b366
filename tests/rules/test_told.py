"""When a word, a path or a number counts as told."""

import pytest

from aespec.rules.api import names
from tests.resolve.specs import sample
from tests.rules.test_registry import found


@pytest.mark.parametrize(
    ("told", "wanted", "is_told"),
    [
        ("Write `/app/out`.", "/app/out", True),
        ("Write /app/out.json.", "/app/out", False),
        ("Write /app/out.json.", "/app/out.json", True),
        ("Write /app/outer.", "/app/out", False),
        ("Below /app/out/x", "/app/out", True),
        ("The totals of all", "total", False),
        ("A total_sum, then total", "total", True),
        ("subtotal", "total", False),
        ("Say --strict.", "--strict", True),
        ("", "x", False),
    ],
)
def test_names(told, wanted, is_told):
    assert names(told, wanted) is is_told


@pytest.mark.parametrize(
    ("told", "status"),
    [
        ("status 66", 66),
        ("1,200 rows", 1200),
        ("-3 degrees", -3),
        ("1e3 times", 1000),
        ("2.0 of it", 2),
        ("1_000", 1000),
    ],
)
def test_numbers(told, status):
    text = sample(check=f'command(["/app/run"], status = {status})').replace(
        "Write `done`", f"Run `/app/run`: {told}. Write `done`"
    )
    text = text.replace("check out {", 'check out {\n      says = "Do so."')
    assert "unstated-detail" not in found(text)
    assert "unstated-detail" in found(text.replace(told, "something"))


def test_what_a_predicate_says_of_itself_is_told_where_a_check_has_no_says():
    assert found(sample(check='file("/app/more", content = "whole")')) == found(sample())


def test_a_rule_with_predicates_is_told_by_its_sentence():
    text = sample(check='rule more "More." { file("/app/more", content = "done") }')
    assert "unstated-path" in found(text)
    assert "unstated-path" not in found(text.replace('"More."', '"`/app/more` as well."'))
