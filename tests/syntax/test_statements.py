"""Each form of statement and value, and what stands in its node."""

from decimal import Decimal

import pytest

from aespec.source import Source
from aespec.syntax import parse
from aespec.syntax.nodes import CallValue, Heredoc, ListValue, MapValue, Name, Number, String
from tests.syntax import texts


def read(text):
    tree, diagnostics = parse(Source("x.aes", text))
    assert diagnostics == ()
    return tree.statements


def one(text):
    (statement,) = read(text)
    return statement


def shape(statement):
    """Which parts of a statement are there, in words."""
    parts = ("label", "sentence", "args", "value", "body", "heredoc")
    return statement.name, {part for part in parts if getattr(statement, part) is not None}


FORMS = {
    "domain = swe": ("domain", {"value"}),
    "x.y = 1": ("x.y", {"value"}),
    "param n = int(1, 9)": ("param", {"label", "value"}),
    'use x = "file.aes"': ("use", {"label", "value"}),
    "let x = <<<json\n  1\n>>>": ("let", {"label", "value"}),
    'rule refunds "Refunds count negative."': ("rule", {"label", "sentence"}),
    'rule refunds "Said." { a() }': ("rule", {"label", "sentence", "body"}),
    "plant key (how = file)": ("plant", {"label", "args"}),
    "free(x, y, because = z)": ("free", {"args"}),
    "free()": ("free", {"args"}),
    'put("/p") <<<\n>>>': ("put", {"args", "heredoc"}),
    "within 10s { a() }": ("within", {"label", "body"}),
    "any { }": ("any", {"body"}),
    "check x (weight = 1) { }": ("check", {"label", "args", "body"}),
    'file "/a" (mode = "0644") <<<sh\n  x\n>>>': ("file", {"label", "args", "heredoc"}),
    "oracle <<<sh\n  x\n>>>": ("oracle", {"heredoc"}),
    'run "make"': ("run", {"label"}),
    "use_tool 'a\\b' \"why\"": ("use_tool", {"label", "sentence"}),
    "step 3": ("step", {"label"}),
    "triton.workspace(root = a)": ("triton.workspace", {"args"}),
    'a "b" "c" (d) = 1': ("a", {"label", "sentence", "args", "value"}),
    'a\n"b"\n"c"\n(\nd\n)\n{\n}\n': ("a", {"label", "sentence", "args", "body"}),
}


@pytest.mark.parametrize("text", FORMS)
def test_each_form(text):
    assert shape(one(text)) == FORMS[text]


def test_no_separators_are_needed():
    assert [
        s.name for s in read('a = 1 b = x c "l" d(1) e { } f = [1] g = { } h 2 i <<<\n>>>\nj = 1')
    ] == list("abcdefghij")


def number(text):
    value = one(f"x = {text}").value
    assert isinstance(value, Number)
    return value.number, value.unit, value.is_integer


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("3", (Decimal(3), "", True)),
        ("-3", (Decimal(-3), "", True)),
        ("0", (Decimal(0), "", True)),
        ("0.5", (Decimal("0.5"), "", False)),
        ("3.0", (Decimal(3), "", False)),
        ("30s", (Decimal(30), "s", True)),
        ("2GiB", (Decimal(2), "GiB", True)),
        ("1%", (Decimal(1), "%", True)),
        ("2.5%", (Decimal("2.5"), "%", False)),
        ("1e-9", (Decimal("1e-9"), "", False)),
        ("2E+3ms", (Decimal(2000), "ms", False)),
        ("5e", (Decimal(5), "e", True)),
    ],
)
def test_numbers_are_exact(text, expected):
    assert number(text) == expected


def test_values():
    a, b, c, d, e, f = (
        s.value
        for s in read("""
        a = "q\\" b\\\\ n\\n r\\r t\\t \\u00e4 ☃"
        b = 'raw \\n "x"'
        c = p.rows
        d = [1, x, [], [2,],]
        e = { k = 1 "two words" = 2, l = { m = 3 } }
        f = list(int(1, 9), length = 3,)
    """)
    )
    assert a.value == 'q" b\\ n\n r\r t\t ä ☃'
    assert not a.is_raw
    assert b.value == 'raw \\n "x"'
    assert b.is_raw
    assert isinstance(c, Name)
    assert c.parts == ("p", "rows")
    assert c.text == "p.rows"
    assert isinstance(d, ListValue)
    assert [type(i) for i in d.items] == [Number, Name, ListValue, ListValue]
    assert isinstance(e, MapValue)
    assert [entry.key for entry in e.entries] == ["k", "two words", "l"]
    assert isinstance(f, CallValue)
    assert [arg.name for arg in f.args] == [None, "length"]


def test_names_may_have_hyphens_and_need_no_quotes():
    (statement,) = read("apt-get update-all (no-cache = a-b.c-d) { }")
    assert statement.keyword == ("apt-get",)
    assert statement.label.parts == ("update-all",)
    assert statement.args[0].value.parts == ("a-b", "c-d")


def test_true_and_false_are_names():
    assert [s.value.text for s in read("a = true\nb = false\nc = null")] == ["true", "false", "null"]


def test_label_kinds():
    labels = [one(text).label for text in ("a b", 'a "b"', "a 'b'", "a 10s")]
    assert [type(label) for label in labels] == [Name, String, String, Number]


def test_spans():
    text = '# c\ncheck x "says" (a = 1) {\n  y = [1]\n}  # d\nz <<<sh\n  b\n>>>\n'
    check, z = read(text)
    assert check.span.text == text[4 : text.index("}") + 1]
    assert (check.keyword_span.text, check.label.span.text, check.sentence.span.text) == (
        "check",
        "x",
        '"says"',
    )
    assert check.args_span.text == "(a = 1)"
    assert check.args[0].span.text == "a = 1"
    assert check.body_span.text == "{\n  y = [1]\n}"
    assert check.body[0].value.span.text == "[1]"
    assert z.span.text == "z <<<sh\n  b\n>>>"
    assert isinstance(z.heredoc, Heredoc)
    assert z.heredoc.body_span.text == "  b\n"
    assert z.heredoc.indent == 2


def test_comments_stand_apart():
    tree, _ = parse(Source("x", '# a\nx = "# no" # b\ny <<<\n  # no\n>>>\n# c'))
    assert [comment.text for comment in tree.comments] == ["# a", "# b", "# c"]
    assert tree == parse(Source("y", 'x = "# no"\ny <<<\n  # no\n>>>'))[0]


def test_an_empty_text_is_an_empty_tree():
    for text in ("", "\n", " \t\n", "# c", "# c\n"):
        assert read(text) == ()


@pytest.mark.parametrize("name", texts.SAMPLES)
def test_samples(name):
    statements = read(texts.SAMPLES[name])
    assert [s.name for s in statements if s.body is not None] == ["task"]
    assert {s.name for s in statements[-1].body} >= {"domain", "setup", "instruction", "oracle", "verify"}


def test_the_ledger():
    task = read(texts.SAMPLES["ledger"])[1]
    checks = next(s for s in task.body if s.name == "verify").body
    assert [s.label.text for s in checks[0].body if s.name == "rule"] == ["refunds", "duplicates"]
    assert [s.body[0].name for s in task.body if s.name == "reject"] == ["swap", "swap"]
    answer = next(s for s in task.body if s.name == "answer")
    assert answer.heredoc.tag == "python"
    assert answer.heredoc.text == "...\nemit(totals)\n"
