"""The printer and the formatter: what they write reads back as it was, in one form."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aespec.source import Source
from aespec.syntax import format_source, parse, print_syntax
from aespec.syntax.nodes import Arg, Heredoc, ListValue, Name, Number, Statement, String, TaskSyntax
from tests.syntax import texts


def read(text):
    tree, diagnostics = parse(Source("x", text))
    assert diagnostics == (), text
    return tree


def formatted(text):
    result, diagnostics = format_source(Source("x", text))
    assert diagnostics == ()
    assert result is not None
    return result


@given(texts.trees)
def test_a_printed_tree_reads_back_equal(tree):
    text = print_syntax(tree)
    again = read(text)
    assert again == tree
    assert print_syntax(again) == text


@given(texts.trees)
def test_formatting_a_printed_tree_keeps_it(tree):
    text = formatted(print_syntax(tree))
    assert read(text) == tree
    assert formatted(text) == text


@st.composite
def commented(draw):
    """A sample with comments, blank lines and line breaks put between its tokens."""
    from aespec.syntax.lexer import Lexer

    text = print_syntax(draw(st.one_of(texts.trees, st.sampled_from(list(texts.SAMPLES.values())).map(read))))
    for token in reversed(Lexer(Source("x", text)).read().tokens):
        if draw(st.integers(0, 5)):
            continue
        piece = draw(
            st.sampled_from([" # c\n", "\n# own\n", "\n\n# own\n\n", "\n\n\n", " ", "\n# a\n# b\n", "  #\n"])
        )
        is_label = (
            token.type in {"NAME", "PATH"} and not text[token.span.start - 1 : token.span.start].isspace()
        )
        if not is_label:
            text = text[: token.span.start] + piece + text[token.span.start :]
    return text


@given(commented())
def test_formatting_keeps_comments_and_settles(text):
    tree, diagnostics = parse(Source("x", text))
    if diagnostics:  # a break between a keyword and its label is an error of its own
        assert {d.slug for d in diagnostics} <= {
            "bare-name",
            "missing-brace",
            "unexpected-token",
            "unmatched-bracket",
            "missing-value",
            "unclosed-bracket",
            "missing-equals",
        }
        return
    once = formatted(text)
    again = read(once)
    assert again == tree
    assert sorted(c.text for c in again.comments) == sorted(c.text for c in tree.comments)
    assert formatted(once) == once
    assert "\n\n\n" not in print_without_heredocs(once)


def print_without_heredocs(text):
    """The text with the bodies of its heredocs left out."""
    tree = read(text)

    def spans(statements):
        for statement in statements:
            if isinstance(statement.value, Heredoc):
                yield statement.value.body_span
            if statement.heredoc is not None:
                yield statement.heredoc.body_span
            yield from spans(statement.body or ())

    for span in sorted(spans(tree.statements), key=lambda s: s.start, reverse=True):
        text = text[: span.start] + text[span.end :]
    return text


CANON = {
    "a=1": "a = 1\n",
    "a   =\t'x'": "a = 'x'\n",
    'a = "\\u00e4\\t\\u001b"': 'a = "ä\\t\\u001b"\n',
    "x { a = 1, }".replace(",", ""): "x { a = 1 }\n",
    "m = { a = 1, b = 2, }": "m = { a = 1  b = 2 }\n",
    "l = [1,2,]": "l = [1, 2]\n",
    "f ( x,y = 1, )": "f(x, y = 1)\n",
    "check x(w=1){\nf()\n}": "check x (w = 1) { f() }\n",
    "x {\na = 1\nb = 2\n}": "x { a = 1  b = 2 }\n",
    "x {\na()\nb()\n}": "x {\n  a()\n  b()\n}\n",
    "x {\na { b() }\n}": "x {\n  a { b() }\n}\n",
    "a <<<sh\n      x\n        y\n      >>>": "a <<<sh\n  x\n    y\n>>>\n",
    "x {\na <<<sh\ny\n\nz\n>>>\n}": "x {\n  a <<<sh\n    y\n\n    z\n  >>>\n}\n",
    "n = 1E+03": "n = 1e3\n",
    "\n\n# a\n\n\n\n# b\nx = 1\n\n\n\ny = 2 #c\n\n\n": "# a\n\n# b\nx = 1\n\ny = 2  #c\n",
    "x { # open\n\n a = 1\n\n\n # end\n\n}": "x {  # open\n  a = 1\n\n  # end\n}\n",
    "l = [1, # one\n# two\n2]": "l = [\n  1,  # one\n  # two\n  2,\n]\n",
    "x = # why\n 1": "# why\nx = 1\n",
    "x {} # end": "x {}  # end\n",
    "": "",
    "# only": "# only\n",
}


@pytest.mark.parametrize("text", CANON)
def test_the_canonical_form(text):
    assert formatted(text) == CANON[text]
    assert formatted(CANON[text]) == CANON[text]


def test_long_statements_are_broken():
    words = ", ".join(f'"{"w" * 20}"' for _ in range(6))
    text = formatted(f'x {{ call("/a", equals = [{words}], other = {{ a = 1  b = "{"z" * 90}" }}) }}')
    assert max(len(line) for line in text.splitlines()) <= 100 + 10
    assert text.startswith('x {\n  call(\n    "/a",\n    equals = [\n      "www')
    assert text.endswith("    },\n  )\n}\n")


@pytest.mark.parametrize("name", texts.SAMPLES)
def test_samples_settle(name):
    once = formatted(texts.SAMPLES[name])
    assert formatted(once) == once
    assert read(once) == read(texts.SAMPLES[name])
    assert print_syntax(read(print_syntax(read(once)))) == print_syntax(read(once))


def test_a_broken_text_is_not_formatted():
    text, diagnostics = format_source(Source("x", "a = ;"))
    assert text is None
    assert [d.slug for d in diagnostics]


def statement(**parts):
    parts = {"keyword": ("a",), "span": texts.NOWHERE, "keyword_span": texts.NOWHERE} | parts
    return TaskSyntax((Statement(**parts),), source=texts.NOWHERE.source)


def doc(text):
    return Heredoc("", text, span=texts.NOWHERE, body_span=texts.NOWHERE)


def text(value, *, is_raw=False):
    return String(value, is_raw, span=texts.NOWHERE)


UNWRITABLE = {
    "a keyword alone": statement(),
    "no name": statement(keyword=("a b",), args=()),
    "no parts": statement(keyword=(), args=()),
    "a line in a name": statement(keyword=("a\nb = 1",), args=()),
    "a sentence without a label": statement(sentence=text("x")),
    "two tails": statement(value=text("x"), body=()),
    "a heredoc that can't be": statement(heredoc=doc("  x\n")),
    "half a pair": statement(value=text("\ud800")),
    "no number": statement(value=Number(Decimal("NaN"), span=texts.NOWHERE)),
    "no unit": statement(value=Number(Decimal(1), "s = 2", span=texts.NOWHERE)),
    "too many digits": statement(value=Number(Decimal("1" * 99), span=texts.NOWHERE)),
    "no argument name": statement(args=(Arg("x y", text("z"), span=texts.NOWHERE),)),
    "no value name": statement(value=Name(("x)",), span=texts.NOWHERE)),
    "no tag": statement(heredoc=Heredoc("sh\nx", "a\n", span=texts.NOWHERE, body_span=texts.NOWHERE)),
}


@pytest.mark.parametrize("tree", UNWRITABLE.values(), ids=UNWRITABLE)
def test_what_no_text_can_give_is_refused(tree):
    with pytest.raises(ValueError):
        print_syntax(tree)


def test_what_no_heredoc_or_raw_text_can_hold_is_written_in_quotes():
    assert print_syntax(statement(value=doc("  x\n"))) == 'a = "  x\\n"\n'
    inner = ListValue((doc("x\n"), text("it's", is_raw=True)), span=texts.NOWHERE)
    assert print_syntax(statement(value=inner)) == 'a = ["x\\n", "it\'s"]\n'
