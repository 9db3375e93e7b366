"""Comments and blank lines: which statement, argument or entry each belongs to.

Places are character offsets: an item is known by where it begins, a container by where its bracket opens.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import field
from typing import TypeAlias

from aespec.records import dataclass
from aespec.source import Span
from aespec.syntax.nodes import (
    Arg,
    CallValue,
    Comment,
    Entry,
    ListValue,
    MapValue,
    Statement,
    TaskSyntax,
    Value,
)

Item: TypeAlias = Statement | Arg | Entry | Value

FILE = -1
"""The place of the outermost container, which no bracket opens."""


@dataclass(slots=True)
class Trivia:
    """What stands around the items of a text; "" among the leading lines is a blank line.

    `leading`: lines above an item. `trailing`: a comment after an item on its last line. `opening`: a comment
    after the bracket on its line. `dangling`: lines after the last item of a container.
    """

    leading: dict[int, list[str]] = field(default_factory=dict)
    trailing: dict[int, str] = field(default_factory=dict)
    opening: dict[int, str] = field(default_factory=dict)
    dangling: dict[int, list[str]] = field(default_factory=dict)
    starts: list[int] = field(default_factory=list)

    def is_commented(self, span: Span | None) -> bool:
        """Whether a comment stands within the span."""
        if span is None:
            return False
        at = bisect_left(self.starts, span.start)
        return at < len(self.starts) and self.starts[at] < span.end


def call_place(call: CallValue) -> int:
    """The place of a call's arguments: behind its name."""
    return call.span.start + len(".".join(call.name))


def read_trivia(tree: TaskSyntax) -> Trivia:
    """Every comment of a text at its place; none is lost."""
    reader = _Reader(tree)
    reader.container(FILE, len(tree.source.text), tree.statements, keeps_blanks=True)
    return reader.trivia


class _Reader:
    def __init__(self, tree: TaskSyntax) -> None:
        self.text = tree.source.text
        self.comments = tree.comments
        self.trivia = Trivia(starts=[comment.span.start for comment in tree.comments])

    def within(self, start: int, end: int) -> Sequence[Comment]:
        """The comments that begin in the range."""
        starts = self.trivia.starts
        return self.comments[bisect_left(starts, start) : bisect_right(starts, end - 1)]

    def container(self, place: int, end: int, items: Sequence[Item], *, keeps_blanks: bool = False) -> None:
        """Sort what stands in a container to its items, then go into each."""
        inside: list[Comment | Item] = list(items)
        ends = [(item.span.start, item.span.end) for item in items]
        at = 0
        for comment in self.within(place + 1, end):
            while at < len(ends) and ends[at][1] <= comment.span.start:
                at += 1
            if at == len(ends) or comment.span.start < ends[at][0]:
                inside.append(comment)
        inside.sort(key=lambda element: element.span.start)
        pending: list[str] = []
        last_item: Item | None = None
        last_end = max(place, 0)
        for element in inside:
            between = self.text[last_end : element.span.start]
            if (
                keeps_blanks
                and between.count("\n") > 1
                and (pending or last_item is not None)
                and pending[-1:] != [""]
            ):
                pending.append("")
            if not isinstance(element, Comment):
                self.trivia.leading[element.span.start] = pending
                pending, last_item = [], element
                self.item(element)
            elif "\n" in between or (last_item is None and place == FILE):
                pending.append(element.text)
            elif last_item is not None and not pending:
                self.trivia.trailing[last_item.span.start] = element.text
            else:
                self.trivia.opening[place] = element.text
            last_end = element.span.end
        if any(pending):
            self.trivia.dangling[place] = pending

    def item(self, item: Item) -> None:
        """The comments within an item: those outside its brackets go above it."""
        if not self.within(item.span.start, item.span.end) and not isinstance(item, Statement):
            return
        inner: list[tuple[int, int]] = []
        if isinstance(item, Statement):
            if item.args_span is not None and item.args is not None:
                inner.append((item.args_span.start, item.args_span.end))
                self.container(item.args_span.start, item.args_span.end, item.args)
            if item.body_span is not None and item.body is not None:
                inner.append((item.body_span.start, item.body_span.end))
                self.container(item.body_span.start, item.body_span.end, item.body, keeps_blanks=True)
            if item.value is not None:
                inner += self.value(item.value)
        elif isinstance(item, Arg | Entry):
            inner += self.value(item.value)
        else:
            inner += self.value(item)
        above = [
            comment.text
            for comment in self.within(item.span.start, item.span.end)
            if not any(start <= comment.span.start < end for start, end in inner)
        ]
        self.trivia.leading.setdefault(item.span.start, []).extend(above)

    def value(self, value: Value) -> list[tuple[int, int]]:
        """Go into a value; the range that its brackets hold."""
        if isinstance(value, CallValue):
            place, items = call_place(value), tuple[Item, ...](value.args)
        elif isinstance(value, ListValue):
            place, items = value.span.start, tuple(value.items)
        elif isinstance(value, MapValue):
            place, items = value.span.start, tuple(value.entries)
        else:
            return []
        self.container(place, value.span.end, items)
        return [(place, value.span.end)]
