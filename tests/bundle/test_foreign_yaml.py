"""YAML that others wrote is read plainly, and made to harm its reader it is refused."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aespec.model.yaml_text import LEVELS_LIMIT, NODES_LIMIT, TEXT_LIMIT, read_yaml

TEN = "[x, x, x, x, x, x, x, x, x, x]"
BOMB = f"a0: &a0 {TEN}\n" + "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 12))
MERGE_BOMB = "a0: &a0 {x: 1}\n" + "".join(
    f"a{n}: &a{n}\n  <<: [*a{n - 1}, *a{n - 1}]\n" for n in range(1, 40)
)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", None),
        ("a: &x [1, yes]\nb: *x\n", {"a": [1, True], "b": [1, True]}),
        ("base: &b {x: 1}\nmore:\n  <<: *b\n  y: 2\n", {"base": {"x": 1}, "more": {"x": 1, "y": 2}}),
        ("x: !reset null\ny: !override [1]\nz: !override {a: b}\n", {"x": None, "y": [1], "z": {"a": "b"}}),
    ],
)
def test_plain_yaml_and_composes_tags_are_read(text, value):
    assert read_yaml(text) == value


@pytest.mark.parametrize(
    "text",
    [
        BOMB,
        MERGE_BOMB,
        "&a [*a]",
        "a: &a {b: *a}",
        "a: *b",
        "[" * (LEVELS_LIMIT + 1) + "]" * (LEVELS_LIMIT + 1),
        "[" * 100_000,
        "- a\n" * (NODES_LIMIT + 1),
        "#" * (TEXT_LIMIT + 1),
        "!!python/object/apply:os.system [echo]",
        "!!python/name:os.system ''",
        "? {a: 1}\n: 2",
        "x: 2020-13-45",
        "x: !!timestamp no",
        "9" * 5000,
        "a\n---\nb",
        "\x00",
        "\ud800",
        "a: b: c",
    ],
)
def test_what_is_no_plain_yaml_or_too_much_of_it_is_refused(text):
    with pytest.raises(ValueError, match=r"."):
        read_yaml(text)


@given(st.text(alphabet="ab:-[]{}&*!?|><'\"#%@, \n\t01.~", max_size=60))
def test_any_text_is_read_or_refused(text):
    reason = ""
    try:
        read_yaml(text)
    except ValueError as error:
        reason = str(error)
    assert "\n" not in reason
