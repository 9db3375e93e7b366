"""JSON as aespec writes it is the standard library's, byte for byte."""

import enum
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aespec.model.json_text import write_json

LEAVES = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
)
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner) | st.lists(inner).map(tuple),
    max_leaves=40,
)


def standard(value):
    text = json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False, allow_nan=False)
    return f"{text}\n".encode()


@given(VALUES)
def test_any_value_is_written_as_by_the_standard_library(value):
    assert write_json(value) == standard(value)


@pytest.mark.parametrize(
    "value",
    [
        {},
        [],
        {"a": [], "b": {}, "c": [[], {}], "": None},
        [True, 1, 1.0, -0.0, 1e300, 5e-324, 10**40],
        {"b": 1, "a": '"\\\x00\x1f\x7f\u2028é😀'},
        enum.IntEnum("Number", "ONE").ONE,
        [enum.StrEnum("Word", {"ONE": 'o"ne'}).ONE, type("Real", (float,), {})(2.5)],
    ],
)
def test_edges_are_written_as_by_the_standard_library(value):
    assert write_json(value) == standard(value)


@pytest.mark.parametrize(
    "number", [float("nan"), float("inf"), -float("inf"), type("Real", (float,), {})("nan")]
)
def test_a_number_that_is_not_finite_is_refused(number):
    for value in (number, [number], {"a": {"b": [number]}}):
        with pytest.raises(ValueError, match="JSON"):
            write_json(value)


@pytest.mark.parametrize("value", [b"bytes", {1, 2}, object(), {1: 2}, {None: 1}, {"a": 1, 2: 3}])
def test_what_json_can_not_hold_is_refused(value):
    with pytest.raises(TypeError):
        write_json([value])


def test_a_lone_surrogate_is_refused():
    with pytest.raises(UnicodeEncodeError):
        write_json("\ud800")
