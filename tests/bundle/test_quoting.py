"""No value breaks out of the file that it is put in: each format's own reader gives the value back."""

import ast
import json
import shlex
import subprocess
import tomllib

import pytest
import yaml  # noqa: TID251 - a reader of its own shows that what is written is YAML
from hypothesis import given
from hypothesis import strategies as st

from aespec.bundle import quoting
from aespec.bundle.quoting import Quoted, UnquotableError
from aespec.bundle.render import UnfilteredError, render_template

NASTY = (
    "",
    " ",
    "'",
    '"',
    '"""',
    "'''",
    "\\",
    "\\\\n",
    "a\nb",
    "\r\n",
    "\t",
    "\x00",
    "\x1b[31m",
    "\x7f",
    "\x85",
    "\u2028",
    "\u2029",
    "\ufeff",
    "\U0001f600",
    "é",
    "$HOME",
    "${HOME}",
    "$(id)",
    "`id`",
    "{{ 7 * 7 }}",
    "{% raw %}",
    "{# x #}",
    "# comment",
    "EOF",
    ">>>",
    "<<EOF\nx\nEOF",
    "- a: b",
    "key: value",
    "!!python/object",
    "&anchor *alias",
    "]\n[table]",
    "x = 1",
    "%s %d",
    "../../etc/passwd",
    "a && b || c; d | e > f",
    "--option",
    "~root",
    "*?[a-z]",
)
CHARACTERS = st.characters(codec="utf-8")
TEXTS = st.text(CHARACTERS) | st.lists(st.sampled_from(NASTY)).map("".join)
NO_NUL = TEXTS.map(lambda value: value.replace("\0", ""))
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda inner: st.lists(inner) | st.dictionaries(TEXTS, inner),
    max_leaves=10,
)


@given(TEXTS)
def test_toml_gives_a_text_back(value):
    line = f"before = 1\nx = {quoting.quote_toml(value)}\nafter = 2\n"
    assert tomllib.loads(line) == {"before": 1, "x": value, "after": 2}


@given(st.lists(TEXTS | st.integers(-(2**63), 2**63 - 1) | st.booleans()))
def test_toml_gives_a_list_back(value):
    assert tomllib.loads(f"x = {quoting.quote_toml(value)}")["x"] == value


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_toml_gives_a_float_back(value):
    found = tomllib.loads(f"x = {quoting.quote_toml(value)}")["x"]
    assert isinstance(found, float)
    assert found == value


@given(TEXTS)
def test_yaml_gives_a_text_back_but_for_compose_s_dollars(value):
    document = f"before: 1\nx: {quoting.quote_yaml(value)}\nafter: 2\n"
    assert yaml.safe_load(document) == {"before": 1, "x": value.replace("$", "$$"), "after": 2}


@given(NO_NUL)
def test_a_shell_word_is_one_word(value):
    assert shlex.split(f"a {quoting.quote_sh(value)} b") == ["a", value, "b"]


def test_a_real_shell_gives_the_words_back():
    words = [value.replace("\0", "") for value in NASTY]
    script = "printf '%s\\0' " + " ".join(quoting.quote_sh(word) for word in words)
    out = subprocess.run(["/bin/sh", "-c", script], capture_output=True, check=True).stdout
    assert out.decode().split("\0")[:-1] == words


@given(JSON)
def test_a_python_literal_gives_the_value_back(value):
    text = quoting.quote_python(value)
    assert text.isascii()
    assert "\n" not in text
    assert ast.literal_eval(text) == value


@given(TEXTS)
def test_an_env_line_is_one_line_and_says_the_value(value):
    try:
        line = f"ENV X={quoting.quote_env(value)}"
    except UnquotableError:
        assert any(char in value for char in [*map(chr, range(32)), "\x7f", "\x85", "\u2028", "\u2029"])
        return
    assert len(line.splitlines()) == 1
    assert read_env(line.removeprefix("ENV X=")) == value


def read_env(word):
    """A Dockerfile's double-quoted word as its reader takes it: a backslash escapes `"`, `$` and itself."""
    assert word[0] == word[-1] == '"'
    out, at, body = [], 0, word[1:-1]
    while at < len(body):
        char = body[at]
        assert char not in '"$', "a bare quote or dollar would mean something"
        if char == "\\":
            at += 1
            assert body[at] in '"$\\'
            char = body[at]
        out.append(char)
        at += 1
    return "".join(out)


@given(st.lists(TEXTS))
def test_words_of_a_dockerfile_are_plain_or_refused(values):
    try:
        line = quoting.quote_words(values)
    except UnquotableError:
        assert not all(map(quoting.is_plain, values))
        return
    assert json.loads(line) == values
    assert not set("$\\'*?[]{}<>|&;`!# \n") & set("".join(values))


@pytest.mark.parametrize("value", ["\ud800", "a\udfffb"])
def test_half_a_surrogate_pair_is_refused(value):
    for quote in (quoting.quote_toml, quoting.quote_yaml):
        with pytest.raises(UnquotableError):
            quote(value)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
def test_a_number_that_is_none_is_refused(value):
    for quote in (quoting.quote_toml, quoting.quote_yaml, quoting.quote_python):
        with pytest.raises(UnquotableError):
            quote(value)


@given(st.sampled_from(sorted(quoting.FILTERS)), NO_NUL)
def test_every_filter_says_that_it_has_been_applied(name, value):
    try:
        assert isinstance(quoting.FILTERS[name]([value] if name == "words" else value), Quoted)
    except UnquotableError:
        assert name in ("env", "word", "words")


def test_a_template_can_t_print_a_value_without_a_filter(tmp_path, monkeypatch):
    from aespec.bundle import render

    (tmp_path / "t.j2").write_text("{{ value }}")
    monkeypatch.setattr(render, "folder", lambda name: tmp_path)
    render._environment.cache_clear()
    try:
        with pytest.raises(UnfilteredError):
            render_template("t.j2", value="x")
        with pytest.raises(UnfilteredError, match="Undefined"):
            render_template("t.j2")
    finally:
        render._environment.cache_clear()


def test_braces_in_a_value_mean_nothing():
    text = render_template("harbor/append.sh.j2", value="{{ 7 * 7 }}{% if x %}", path="/a")
    assert "{{ 7 * 7 }}{% if x %}" in text
