"""Heredocs: where they end, and what is taken off their lines."""

import pytest
from hypothesis import example, given

from aespec.source import Source
from aespec.syntax import heredoc_level, parse
from tests.syntax import texts


def body(text):
    tree, diagnostics = parse(Source("x", text))
    return tree.statements[0].heredoc.text, [d.slug for d in diagnostics]


TRAPS = {
    "a <<<\n>>>\n": "",
    "a <<<\n>>>": "",
    "a <<<\n\n>>>\n": "\n",
    "a <<<\n   \n>>>\n": "   \n",
    "a <<<\nx\n>>>\n": "x\n",
    "a <<<\n  x\n>>>\n": "x\n",
    "  a <<<\n  x\n    y\n  >>>\n": "x\n  y\n",
    # The first line decides, wherever the closing line stands.
    "a <<<\n    x\n      y\n>>>\n": "x\n  y\n",
    "a <<<\n    x\n        >>>\n": "x\n",
    # Blank lines set nothing, and may be shorter or longer.
    "a <<<\n\n    x\n\n  \n      \n    y\n>>>\n": "\nx\n\n\n  \ny\n",
    # A line holds more than the closing mark, or another number of brackets.
    "a <<<\n  >>> f()\n  >>>f\n  >\n  >>\n  >>>>\n  x >>>\n>>>\n": ">>> f()\n>>>f\n>\n>>\n>>>>\nx >>>\n",
    "a <<<\n  <<<\n  <<<sh\n>>>\n": "<<<\n<<<sh\n",
    "a <<<<\n  b <<<\n    c\n  >>>\n>>>>\n": "b <<<\n  c\n>>>\n",
    "a <<<<\n  >>>>x\n  >>>\n  >>>>>\n>>>>\n": ">>>>x\n>>>\n>>>>>\n",
    # Blanks around the marks.
    "a <<<sh \t\n  x\n  >>> \t\n": "x\n",
    # Nothing is an escape, a comment or a quote.
    'a <<<\n  \\n # c " \' """ {{ p.x }} }\n>>>\n': '\\n # c " \' """ {{ p.x }} }\n',
    # Line ends.
    "a <<<\r\n  x\r\n\r\n  y\r\n>>>\r\n": "x\n\ny\n",
    "a <<<\n  x\rz\n>>>\n": "x\rz\n",
    # Tabs are not spaces, but may be the indentation.
    "a <<<\n\tx\n\t\ty\n>>>\n": "x\n\ty\n",
    "a <<<\n \tx\n \t y\n>>>\n": "x\n y\n",
    "a <<<\n\u00a0x\n>>>\n": "\u00a0x\n",
    "a <<<\n  x\x0b\x0c\x85\u2028y\n>>>\n": "x\x0b\x0c\x85\u2028y\n",
}


@pytest.mark.parametrize("text", TRAPS)
def test_traps(text):
    assert body(text) == (TRAPS[text], [])


@pytest.mark.parametrize("text", TRAPS)
def test_traps_before_another_statement(text):
    tree, diagnostics = parse(Source("x", text.rstrip() + "\nnext = 1\n"))
    assert not diagnostics
    assert [s.name for s in tree.statements] == ["a", "next"]


SHALLOW = {
    "a <<<\n    x\n  y\n>>>\n": ("x\ny\n", "shallow-heredoc-line"),
    "a <<<\n  x\ny\n z\n>>>\n": ("x\ny\nz\n", "shallow-heredoc-line"),
    "a <<<\n  x\n\ty\n>>>\n": ("x\n\ty\n", "mixed-indentation"),
    "a <<<\n\tx\n        y\n>>>\n": ("x\n        y\n", "mixed-indentation"),
    "a <<<\n  x\n \ty\n>>>\n": ("x\n\ty\n", "mixed-indentation"),
}


@pytest.mark.parametrize("text", SHALLOW)
def test_a_shallower_line_is_one_error_and_keeps_its_text(text):
    expected, slug = SHALLOW[text]
    assert body(text) == (expected, [slug])


def test_the_report_points_at_the_line_and_at_its_measure():
    text = "a <<<\n\n    x\n  y\n>>>\n"
    (report,) = parse(Source("x", text))[1]
    assert report.span.position == (4, 1)
    assert [label.span.position for label in report.related] == [(3, 1), (1, 3)]


@pytest.mark.parametrize(
    ("text", "level"),
    [
        ("", 3),
        ("x\n", 3),
        ("x", None),
        ("  x\n", None),
        ("\n\tx\n", None),
        ("x\n>>>\n", 4),
        ("x\n >>>>\t\n", 3),
        ("x\n>>>\n>>>>\n", None),
        ("x\r\n", None),
        ("x\0\n", None),
        (">>> f()\n", 3),
    ],
)
def test_which_texts_can_be_heredocs(text, level):
    assert heredoc_level(text) == level


@given(texts.heredoc_texts)
@example(">>>\n")
@example("\n\n")
def test_what_can_be_a_heredoc_reads_back(text):
    level = heredoc_level(text)
    indented = (
        "".join(f"    {line}\n" if line else "\n" for line in text.split("\n")[:-1])
        if text.strip(" \t\n\r")
        else text
    )
    assert body(f"a {'<' * level}\n{indented}{'>' * level}\n") == (text, [])
