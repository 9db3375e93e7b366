"""Values are compared by what they mean."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aespec.runtime.compare import Freedoms, difference, is_close, join_pointer, lookup, same, split_pointer
from aespec.runtime.decode import Unreadable, parse_date, parse_json, parse_number, show
from aespec.runtime.lines import line_difference, normal_lines
from aespec.runtime.patterns import full_match
from aespec.runtime.state import Trouble

EQUAL = [(1, 1.0), (1200, 1.2e3), (0, -0.0), ("é", "é"), ([], []), ({"a": [1]}, {"a": [1.0]}), (2**60, 2**60)]
UNEQUAL = [
    (1, True),
    (0, False),
    (True, 1),
    (1, "1"),
    (None, False),
    (None, 0),
    (None, ""),
    ([], {}),
    ([], None),
    ([1], 1),
    ({"a": 1}, {"b": 1}),
    ({"a": 1}, {"a": 1, "b": 2}),
    ([1, 2], [2, 1]),
    ("a", "A"),
    (2**60, 2**60 + 1),
    (0.1, 0.1000001),
    ("e\u0301", "é"),
]


@pytest.mark.parametrize(("one", "other"), EQUAL)
def test_equal(one, other):
    assert same(one, other)
    assert difference(one, other) is None
    assert difference(other, one, Freedoms(unordered=((),))) is None


@pytest.mark.parametrize(("one", "other"), UNEQUAL)
def test_unequal(one, other):
    for found, wanted in ((one, other), (other, one)):
        assert not same(found, wanted)
        reason = difference(found, wanted)
        assert reason
        assert difference([found], [wanted], Freedoms(unordered=((),))) is not None or found == [1, 2]


def test_the_first_difference_is_named():
    found, wanted = {"a": [{"b/c": 1}], "d": 2}, {"a": [{"b/c": 2}], "d": 3}
    assert difference(found, wanted) == "/a/0/b~1c: expected 2, found 1"
    assert difference({"a": 1}, {}) == "/a: is not expected"
    assert difference({}, {"a": 1}) == "/a: is missing"
    assert difference([1], [1, 2]) == "the document: expected 2 items, found 1"


@pytest.mark.parametrize(
    ("found", "wanted", "tolerance", "relative", "is_near"),
    [
        (1.01, 1.0, 0.01, 0, True),
        (0.99, 1.0, 0.01, 0, True),
        (1000.01, 1000.0, 0.01, 0, True),
        (1.0101, 1.0, 0.01, 0, False),
        (101, 100, 0, 0.01, True),
        (101.1, 100, 0, 0.01, False),
        (-100, 100, 0, 0.01, False),
        (0, 0, 0, 0.5, True),
        (1e-9, 0, 0, 0.5, False),
        (10**400, 1.0, 5, 0, False),
        (1.0, 10**400, 5, 0, False),
        (float("inf"), 1.0, 5, 0, False),
    ],
)
def test_tolerance(found, wanted, tolerance, relative, is_near):
    assert is_close(found, wanted, tolerance, relative) is is_near


def test_a_tolerant_multiset_is_paired_as_a_whole():
    near = Freedoms(tolerance=1, unordered=((),))
    assert difference([1, 2], [0, 1], near) is None
    assert difference([2, 1], [0, 1], near) is None
    assert difference([0, 0, 2], [0, 1, 1], near) is None
    assert difference([0, 0, 3], [0, 1, 1], near) is not None
    assert difference([None, 5], [5, None], near) is None
    assert difference([None, None], [5, None], near) is not None


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(0, 6), max_size=5), st.lists(st.integers(0, 6), max_size=5), st.integers(0, 2))
def test_pairing_agrees_with_trying_all(found, wanted, tolerance):
    import itertools

    is_paired = len(found) == len(wanted) and any(
        all(abs(one - other) <= tolerance for one, other in zip(order, wanted, strict=True))
        for order in itertools.permutations(found)
    )
    reason = difference(found, wanted, Freedoms(tolerance=tolerance, unordered=((),)))
    assert (reason is None) is is_paired


def test_a_large_multiset_takes_no_time():
    items = [{"n": number, "t": [number, str(number)]} for number in range(20_000)]
    assert difference(items[::-1], items, Freedoms(unordered=((), ("*", "t")))) is None


@given(st.lists(st.text(max_size=4), max_size=4))
def test_pointers(tokens):
    assert split_pointer(join_pointer(tokens)) == tuple(tokens)


def test_lookup():
    found = {"": {"a/b": [10, {"~": None}]}, "0": 7}
    assert lookup(found, split_pointer("//a~1b/1/~0")) == (True, None)
    assert lookup(found, ("0",)) == (True, 7)
    for nothing in ("/x", "//a~1b/2", "//a~1b/01", "//a~1b/-1", "//a~1b/٣", "/0/0", "//a~1b/" + "9" * 5000):
        assert lookup(found, split_pointer(nothing)) == (False, None)
    with pytest.raises(Trouble):
        split_pointer("a")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "nul",
        "NaN",
        "[Infinity]",
        "-Infinity",
        "{'a': 1}",
        "[1,]",
        "01",
        "+1",
        '"\t"',
        "1 2",
        "\ufeff\ufeff1",
        '{"a": 1, "a": 1}',
        '[{"x": {"k": 1, "k": 2}}]',
        "[" * 201 + "]" * 201,
        "[" * 10**6,
        '{"a":' * 10**5,
        "9" * 4001,
        "[" + "1" * 10**6 + "]",
        "-" + "1" * 5000,
        "/*x*/1",
    ],
    ids=lambda text: text[:12] or "empty",
)
def test_json_that_is_refused(text):
    with pytest.raises(Unreadable):
        parse_json(text.encode())


def test_json_that_is_read():
    assert parse_json(b'\xef\xbb\xbf {"a": [1, 1.0, "\\ud83d\\ude00"]}\r\n') == {"a": [1, 1.0, "😀"]}
    assert parse_json(("[" * 200 + "]" * 200).encode())
    assert parse_json(b"9" * 4000) == int("9" * 4000)
    assert parse_json(b'"' + b"[" * 5000 + b'"') == "[" * 5000
    for data in (b"\xff", b'"\xed\xa0\x80"', b'"\xc0\xaf"'):
        with pytest.raises(Unreadable, match="UTF-8"):
            parse_json(data)


def test_numbers_and_dates():
    spelled = ["3", "3.0", "+3", "03", "3e0", "30E-1", " 3\t", "3.", "003.000"]
    assert [parse_number(text) for text in spelled] == [3] * len(spelled)
    assert parse_number(".5") == 0.5
    assert parse_number("-0.25") == -0.25
    for text in (
        "",
        ".",
        "1,000",
        "1 000",
        "0x10",
        "1_0",
        "٣",
        "nan",
        "inf",
        "1e999",
        "3 EUR",
        "--1",
        "1e",
        "1" * 401,
    ):
        assert parse_number(text) is None, text
    assert parse_date("2024-02-29") == parse_date("20240229") == (2024, 2, 29)
    for text in ("2023-02-29", "2024-0229", "202402-29", "29.02.2024", "2024-02-29T00:00", "0000-01-01", ""):
        assert parse_date(text) is None, text


def test_show_is_short_and_ascii():
    for value in ("é" * 500, [1] * 100, {"k" * 300: 1}, "\ud800", float("nan"), [[[["x" * 90]]]]):
        shown = show(value)
        assert len(shown) <= 81
        shown.encode()


def test_lines():
    assert normal_lines("a \r\nb\n\n") == ["a", "b"]
    assert normal_lines("") == normal_lines("\n\n") == []
    assert normal_lines("a\n", "none") == ["a", ""]
    assert normal_lines(" a\n", "all") == ["a"]
    assert normal_lines("a \n", "final") == ["a "]
    assert line_difference(["a", "b"], ["a"]) == "expected 1 line, found 2"
    assert line_difference(["b", "a"], ["a", "b"], "any") is None
    assert line_difference(["b"], ["a"], "any") == 'the line "a" is missing'
    assert line_difference(["a", "a"], ["a"], "any") == 'the line "a" is not expected'


def test_a_pattern_can_not_take_for_ever(monkeypatch):
    monkeypatch.setattr("aespec.runtime.patterns.CPU_LIMIT_S", 0.2)
    assert full_match(r"(a+)+b", "a" * 60) is None
    for pattern in (r"((((((a+)+)+)+)+)+)+b", r"(a|a|a|a|aa|aaa)*b"):
        assert full_match(pattern, "a" * 20) is None, "few characters have many ways through them"
    assert full_match(r"a+b", "a" * 60 + "b") is True
    assert full_match(r"a", "aa") is False
