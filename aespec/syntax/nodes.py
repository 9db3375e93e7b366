"""The tree that the parser makes: what was written, where, and nothing about what it means.

Every node has a `span` that doesn't take part in comparison, so `parse(print(tree)) == tree`.
"""

from __future__ import annotations

from dataclasses import field
from decimal import Decimal
from typing import TypeAlias

from aespec.records import dataclass
from aespec.source import Source, Span


@dataclass(frozen=True, slots=True)
class String:
    """A quoted text after its escapes are taken out; `is_raw` for single quotes."""

    value: str
    is_raw: bool = False
    span: Span = field(kw_only=True, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Number:
    """A number as written (exact) and its unit: "" or `s`, `ms`, `m`, `h`, `d`, `KiB`, `GiB`, `%`."""

    number: Decimal
    unit: str = ""
    span: Span = field(kw_only=True, compare=False, repr=False)

    @property
    def is_integer(self) -> bool:
        """Whether it was written as an integer: `3`, not `3.0` or `3e0`."""
        return self.number == self.number.to_integral_value() and self.number.as_tuple().exponent == 0


@dataclass(frozen=True, slots=True)
class Name:
    """A bare name or dotted path: an enum constant (`easy`), or a value (`p.rows`, `answer.totals`)."""

    parts: tuple[str, ...]
    span: Span = field(kw_only=True, compare=False, repr=False)

    @property
    def text(self) -> str:
        """The parts with dots between."""
        return ".".join(self.parts)


@dataclass(frozen=True, slots=True)
class Heredoc:
    """A literal text: `tag` after `<<<` ("" if none), `text` with its indentation taken off, ending in LF.

    `level` is 3 or 4, the number of angle brackets. `body_span` covers the body as written.
    `indent` is the number of characters taken off each line, to point into the body.
    """

    tag: str
    text: str
    level: int = field(default=3, compare=False)
    indent: int = field(default=0, compare=False)
    span: Span = field(kw_only=True, compare=False, repr=False)
    body_span: Span = field(kw_only=True, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class ListValue:
    """`[a, b]`."""

    items: tuple[Value, ...]
    span: Span = field(kw_only=True, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Entry:
    """`key = value` in a map."""

    key: str
    value: Value
    span: Span = field(kw_only=True, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class MapValue:
    """`{ a = 1  b = 2 }`; keys may be names or strings."""

    entries: tuple[Entry, ...]
    span: Span = field(kw_only=True, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class CallValue:
    """`int(1, 9)`: a generator, a comparator or another constructor in the place of a value."""

    name: tuple[str, ...]
    args: tuple[Arg, ...]
    span: Span = field(kw_only=True, compare=False, repr=False)


Value: TypeAlias = String | Number | Name | Heredoc | ListValue | MapValue | CallValue


@dataclass(frozen=True, slots=True)
class Arg:
    """An argument: positional where `name` is None."""

    name: str | None
    value: Value
    span: Span = field(kw_only=True, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Statement:
    """The one statement form: `keyword label sentence (args) tail`, all but the keyword optional.

    The tail is at most one of `value` (after `=`), `body` (in braces) and `heredoc`. `args` is None
    where no parentheses stand. Examples: `domain = swe` (value), `param n = int(1, 9)` (label, value),
    `rule x "Sentence."` (label, sentence), `file "/a" (mode = "0644") <<<md…` (label, args, heredoc),
    `json("/a", equals = 1)` (args), `check totals { … }` (label, body). `args_span` and `body_span` cover the
    parentheses and the braces with what is in them; trees that weren't parsed have none.
    """

    keyword: tuple[str, ...]
    label: String | Name | Number | None = None
    sentence: String | None = None
    args: tuple[Arg, ...] | None = None
    value: Value | None = None
    body: tuple[Statement, ...] | None = None
    heredoc: Heredoc | None = None
    span: Span = field(kw_only=True, compare=False, repr=False)
    keyword_span: Span = field(kw_only=True, compare=False, repr=False)
    args_span: Span | None = field(default=None, kw_only=True, compare=False, repr=False)
    body_span: Span | None = field(default=None, kw_only=True, compare=False, repr=False)

    @property
    def name(self) -> str:
        """The keyword with dots between its parts."""
        return ".".join(self.keyword)


@dataclass(frozen=True, slots=True)
class Comment:
    """`# …` to the end of the line; `text` includes the `#`."""

    text: str
    span: Span = field(kw_only=True, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class TaskSyntax:
    """A whole file. Comments stand apart, in order, so that they never take part in meaning."""

    statements: tuple[Statement, ...]
    comments: tuple[Comment, ...] = field(default=(), compare=False)
    source: Source = field(kw_only=True, compare=False, repr=False)
