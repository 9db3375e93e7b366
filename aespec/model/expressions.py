"""Values of a spec before evaluation: constants, references, texts with places in them, programs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field
from enum import Enum
from typing import TypeAlias

from aespec.records import dataclass
from aespec.source import Span


class Kind(Enum):
    """Which declaration a reference leads to; the prefix that it has in a spec."""

    PARAM = "p"
    LET = "let"
    HIDDEN = "hidden"
    ANSWER = "answer"
    SECRET = "secret"


@dataclass(frozen=True, slots=True)
class Duration:
    """A time span in seconds."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Size:
    """An amount of memory or disk in bytes."""

    bytes: int


Scalar: TypeAlias = bool | int | float | str | None


@dataclass(frozen=True, slots=True)
class Const:
    """A literal; a percentage is the fraction as float, durations and sizes keep their type."""

    value: Scalar | Duration | Size
    span: Span = field(kw_only=True, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Symbol:
    """A bare name where an enum constant is expected: `easy`, `any`."""

    name: str
    span: Span = field(kw_only=True, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Ref:
    """A named value and a path into it: `answer.totals`, `p.who.name` (path `("name",)`)."""

    kind: Kind
    name: str
    path: tuple[str, ...] = ()
    span: Span = field(kw_only=True, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class CheckSlot:
    """`{{ check.NAME }}` or, with an empty name, `{{ checks }}` in an instruction: the sentences go here."""

    check: str
    span: Span = field(kw_only=True, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Text:
    """A text with places: plain strings and references in order.

    `tag` is the heredoc's tag ("" for a quoted string) and decides how a reference is written in:
    `sh` shell-quoted, `python` as a literal, `json` as JSON, `sql` as a quoted literal, else as plain text.
    """

    parts: tuple[str | Ref | CheckSlot, ...]
    tag: str = ""
    span: Span = field(kw_only=True, compare=False, repr=False)

    @property
    def refs(self) -> tuple[Ref, ...]:
        """The references in it, in order."""
        return tuple(part for part in self.parts if isinstance(part, Ref))


@dataclass(frozen=True, slots=True)
class ListExpr:
    """A list of expressions."""

    items: tuple[Expr, ...]
    span: Span = field(kw_only=True, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class MapExpr:
    """A map with string keys, in the order written."""

    entries: tuple[tuple[str, Expr], ...]
    span: Span = field(kw_only=True, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class CallExpr:
    """A constructor with its arguments bound to the parameter names of its signature."""

    name: str
    args: tuple[tuple[str, Expr], ...]
    span: Span = field(kw_only=True, compare=False, repr=False)

    def arg(self, name: str) -> Expr | None:
        """The argument of that name, or None where it was left out."""
        return dict(self.args).get(name)


Expr: TypeAlias = Const | Symbol | Ref | Text | ListExpr | MapExpr | CallExpr


@dataclass(frozen=True, slots=True)
class Program:
    """Code of the spec's author, run only in a sandbox. Nothing is spliced into a Python program.

    `uses` are the values that it may see: those named in its `from` list and the parameters and lets that
    its text names; they are bound under `p`, `let` and their own names.
    """

    language: str
    text: str
    uses: tuple[Ref, ...] = ()
    span: Span = field(kw_only=True, compare=False, repr=False)


def iterate_refs(expr: Expr) -> Iterator[Ref]:
    """Every reference below an expression, itself included, in source order."""
    if isinstance(expr, Ref):
        yield expr
    elif isinstance(expr, Text):
        yield from expr.refs
    elif isinstance(expr, ListExpr):
        for item in expr.items:
            yield from iterate_refs(item)
    elif isinstance(expr, MapExpr):
        for _, value in expr.entries:
            yield from iterate_refs(value)
    elif isinstance(expr, CallExpr):
        for _, value in expr.args:
            yield from iterate_refs(value)


Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"
Values: TypeAlias = Mapping[tuple[Kind, str], Json]
