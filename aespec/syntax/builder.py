"""The callbacks of the parser: each rule of the grammar makes its node, with no tree between."""

from __future__ import annotations

from typing import Any

from aespec.records import dataclass
from aespec.source import Source, Span
from aespec.syntax.nodes import (
    Arg,
    CallValue,
    Entry,
    ListValue,
    MapValue,
    Name,
    Statement,
    Value,
)
from aespec.syntax.tokens import Token


@dataclass(frozen=True, slots=True)
class Assignment:
    """`= value`."""

    value: Value
    end: int


@dataclass(frozen=True, slots=True)
class Body:
    """`{ statements }`."""

    statements: tuple[Statement, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Args:
    """`(arguments)`."""

    items: tuple[Arg, ...]
    span: Span


def _leaf(child: Any) -> Any:
    """A literal token as its node; nodes as they are."""
    return child.leaf if isinstance(child, Token) else child


def _join(first: Span, last: Span) -> Span:
    return Span(first.source, first.start, last.end)


class NodeBuilder:
    """One method per rule of `grammar/aes.lark`, given its children: tokens and nodes.

    The tables name the methods.
    """

    def start(self, children: list[Any]) -> tuple[Statement, ...]:
        """All statements of the file."""
        return tuple(children)

    def labelled(self, children: list[Any]) -> Statement:
        """`keyword label …`."""
        keyword, label, sentence, args, tail = children
        if label.type in {"NAME", "PATH"}:
            named: Any = Name(tuple(label.text.split(".")), span=label.span)
        else:
            named = label.leaf
        said = sentence.leaf if sentence is not None else None
        end = next(child for child in (tail, args, sentence, label) if child is not None)
        return _statement(keyword, named, said, args, tail, end)

    def called(self, children: list[Any]) -> Statement:
        """`keyword(…) …`."""
        keyword, args, tail = children
        return _statement(keyword, None, None, args, tail, tail if tail is not None else args)

    def plain(self, children: list[Any]) -> Statement:
        """`keyword` and a tail."""
        keyword, tail = children
        return _statement(keyword, None, None, None, tail, tail)

    def assignment(self, children: list[Any]) -> Assignment:
        """`= value`."""
        value = _leaf(children[1])
        return Assignment(value, value.span.end)

    def body(self, children: list[Any]) -> Body:
        """`{ … }`."""
        return Body(tuple(children[1:-1]), _join(children[0].span, children[-1].span))

    def name(self, children: list[Any]) -> Name:
        """A bare name as a value."""
        return Name(tuple(children[0].text.split(".")), span=children[0].span)

    def call(self, children: list[Any]) -> CallValue:
        """`name(…)` as a value."""
        name, args = children
        return CallValue(tuple(name.text.split(".")), args.items, span=_join(name.span, args.span))

    def sequence(self, children: list[Any]) -> ListValue:
        """`[…]`."""
        items = tuple(
            _leaf(child)
            for child in children[1:-1]
            if not (isinstance(child, Token) and child.type == "COMMA")
        )
        return ListValue(items, span=_join(children[0].span, children[-1].span))

    def mapping(self, children: list[Any]) -> MapValue:
        """`{ key = value … }`."""
        entries = tuple(child for child in children[1:-1] if isinstance(child, Entry))
        return MapValue(entries, span=_join(children[0].span, children[-1].span))

    def entry(self, children: list[Any]) -> Entry:
        """`key = value`."""
        key, _, value = children
        node = _leaf(value)
        return Entry(key.leaf.value if key.leaf else key.text, node, span=_join(key.span, node.span))

    def args(self, children: list[Any]) -> Args:
        """`(…)`."""
        items = tuple(child for child in children[1:-1] if isinstance(child, Arg))
        return Args(items, _join(children[0].span, children[-1].span))

    def arg(self, children: list[Any]) -> Arg:
        """`value` or `name = value`."""
        value = _leaf(children[-1])
        if len(children) == 1:
            return Arg(None, value, span=value.span)
        return Arg(children[0].text, value, span=_join(children[0].span, value.span))


def _statement(
    keyword: Token, label: Any, sentence: Any, args: Args | None, tail: Any, end: Any
) -> Statement:
    value = body = heredoc = body_span = None
    if isinstance(tail, Assignment):
        value = tail.value
    elif isinstance(tail, Body):
        body, body_span = tail.statements, tail.span
    elif tail is not None:
        heredoc = tail.leaf
        end = heredoc
    source: Source = keyword.span.source
    return Statement(
        tuple(keyword.text.split(".")),
        label,
        sentence,
        args.items if args is not None else None,
        value,
        body,
        heredoc,
        span=Span(source, keyword.span.start, end.end if isinstance(end, Assignment) else end.span.end),
        keyword_span=keyword.span,
        args_span=args.span if args is not None else None,
        body_span=body_span,
    )
