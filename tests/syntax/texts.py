"""What the tests of this folder share: samples, the plain parser, strategies for trees and for damage."""

from __future__ import annotations

import functools
from decimal import Decimal
from pathlib import Path

from hypothesis import strategies as st

from aespec.source import Source, Span
from aespec.syntax import heredoc_level
from aespec.syntax.grammar import grammar_text
from aespec.syntax.nodes import (
    Arg,
    CallValue,
    Entry,
    Heredoc,
    ListValue,
    MapValue,
    Name,
    Number,
    Statement,
    String,
    TaskSyntax,
)

FOLDER = Path(__file__).parent / "samples"
SAMPLES = {path.stem: path.read_text() for path in sorted(FOLDER.glob("*.aes")) if path.stem != "mistakes"}
MISTAKES = (FOLDER / "mistakes.aes").read_text()

BEYOND_THE_GRAMMAR = {
    "bare-name",
    "deep-nesting",
    "leading-zero",
    "malformed-number",
    "missing-brace",
    "mixed-indentation",
    "oversized-number",
    "shallow-heredoc-line",
    "triple-quotes",
    "unclosed-heredoc",
}
"""Reports on texts that the grammar alone would take."""


@functools.cache
def plain_parser():
    """Lark's own parser on the grammar, without any of our code."""
    import lark

    return lark.Lark(grammar_text(), parser="lalr", lexer="basic")


def grammar_takes(text: str) -> bool:
    """Whether the grammar alone takes the text."""
    import lark

    try:
        plain_parser().parse(text if text.endswith("\n") else text + "\n")
    except lark.exceptions.UnexpectedInput:
        return False
    return True


NOWHERE = Span(Source("nowhere", ""), 0, 0)

names = st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,8}(-[A-Za-z0-9_]{1,4}){0,2}", fullmatch=True)
paths = st.lists(names, min_size=1, max_size=3).map(tuple)
characters = st.characters(codec="utf-8")
texts = st.text(characters, max_size=20)
strings = texts.map(lambda text: String(text, span=NOWHERE))
raws = st.text(
    st.characters(codec="utf-8", exclude_characters="'", exclude_categories=["Cc"]), max_size=12
).map(lambda text: String(text, is_raw=True, span=NOWHERE))
numbers = st.builds(
    lambda number, unit: Number(number, unit, span=NOWHERE),
    st.one_of(
        st.integers(-(10**30), 10**30).map(Decimal),
        st.decimals(allow_nan=False, allow_infinity=False, places=3, min_value=-(10**9), max_value=10**9),
        st.builds(lambda m, e: Decimal(m).scaleb(e), st.integers(-99, 99), st.integers(-300, 300)),
    ),
    st.sampled_from(["", "%", "s", "ms", "GiB", "e", "E", "x"]),
)
name_values = paths.map(lambda parts: Name(parts, span=NOWHERE))
LINES = [
    "", " ", "\t", "a", "  a", "\ta", ">>>", " >>>", ">>> x", ">>>x", ">", ">>", ">>>>", "\t>>>>",
    ">>>>>", "<<<", "<<<sh", "x <<<sh", "# no comment", "{{ p.x }}", "\\n", '"""', "```", "}",
    "a = 1", "ä ☃", "a\r", ">>>\r", "\x0c", "\x85", "\u2028",
]  # fmt: skip
heredoc_texts = (
    st.lists(st.one_of(st.sampled_from(LINES), st.text(characters, max_size=8)), max_size=6)
    .map(lambda lines: "".join(line + "\n" for line in lines))
    .filter(lambda text: heredoc_level(text) is not None)
)
heredocs = st.builds(
    lambda tag, text, level: Heredoc(tag, text, level, span=NOWHERE, body_span=NOWHERE),
    st.sampled_from(["", "sh", "python", "c++", "x_1.2-b"]),
    heredoc_texts,
    st.sampled_from([3, 4]),
)
words = st.one_of(strings, raws, numbers, name_values)


def _args(values):
    return st.lists(
        st.builds(lambda name, value: Arg(name, value, span=NOWHERE), st.one_of(st.none(), names), values),
        max_size=3,
    ).map(tuple)


def _grow(values):
    return st.one_of(
        st.lists(values, max_size=3).map(lambda items: ListValue(tuple(items), span=NOWHERE)),
        st.lists(
            st.builds(lambda key, value: Entry(key, value, span=NOWHERE), st.one_of(names, texts), values),
            max_size=3,
        ).map(lambda entries: MapValue(tuple(entries), span=NOWHERE)),
        st.builds(lambda name, args: CallValue(name, args, span=NOWHERE), paths, _args(values)),
    )


values = st.recursive(words, _grow, max_leaves=4)


@st.composite
def statements(draw, depth=0):
    """One statement with all its parts drawn; never a keyword alone."""
    kinds = ["value", "heredoc-value", "heredoc", None] + (["body"] if depth < 2 else [])
    tail = draw(st.sampled_from(kinds))
    args = draw(st.one_of(st.none(), _args(values)))
    label = draw(st.one_of(st.none(), strings, raws, numbers, name_values))
    if label is None and args is None and tail is None:
        label = draw(strings)
    sentence = draw(st.one_of(st.none(), strings, raws)) if label is not None else None
    return Statement(
        draw(paths),
        label,
        sentence,
        args,
        draw(values) if tail == "value" else draw(heredocs) if tail == "heredoc-value" else None,
        tuple(draw(st.lists(statements(depth + 1), max_size=3))) if tail == "body" else None,
        draw(heredocs) if tail == "heredoc" else None,
        span=NOWHERE,
        keyword_span=NOWHERE,
    )


trees = st.lists(statements(), max_size=3).map(lambda items: TaskSyntax(tuple(items), source=NOWHERE.source))

PIECES = [
    "=", ",", "(", ")", "[", "]", "{", "}", '"', "'", '"x"', "<<<sh\n", ">>>\n", "\n", " ", "\t",
    "a", "p.x", "3s", "007", "1.2.3", "#", "//", ";", ":", "==", "+", "-", "$", "{{", "}}",
    "{{ x }}", "“", "”", "```\n", "\\", '"\\d"', '"""', "ä", "\0", "\r\n", "\x1b", "<<EOF\n", ">",
    "task", "\ufeff",
]  # fmt: skip


@st.composite
def damaged(draw):
    """A sample after one to four slips: something cut out, put in, doubled, or moved."""
    text = draw(st.sampled_from(list(SAMPLES.values())))
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(text)))
        end = min(len(text), at + draw(st.integers(0, 30)))
        slip = draw(st.sampled_from(["cut", "put", "double", "line"]))
        if slip == "cut":
            text = text[:at] + text[end:]
        elif slip == "put":
            text = text[:at] + draw(st.sampled_from(PIECES)) + text[at:]
        elif slip == "double":
            text = text[:end] + text[at:]
        else:
            lines = text.split("\n")
            del lines[draw(st.integers(0, len(lines) - 1))]
            text = "\n".join(lines)
    return text
