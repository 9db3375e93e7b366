"""The tree as canonical text: two spaces of indentation, one statement per line, short blocks on one."""

from __future__ import annotations

from collections.abc import Sequence

from aespec.source import Span
from aespec.syntax.heredoc import BLANKS, heredoc_level
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
    Value,
)
from aespec.syntax.trivia import FILE, Trivia, call_place
from aespec.syntax.words import is_name, write_number, write_path, write_string, write_tag, write_text

WIDTH = 100
"""Columns that a statement may take before it is broken into lines."""

STEP = "  "


def print_syntax(tree: TaskSyntax) -> str:
    """The canonical text of a tree, without its comments; reading it gives an equal tree.

    Raises ValueError for a tree that no text can give: a statement of a keyword alone, a name that isn't one,
    a heredoc after a header that can't be one (`heredoc_level` tells). A heredoc that can't stand where a
    value does, or can't be one, is written as a text in quotes, and a raw text likewise.
    """
    return Printer(None).file(tree)


class Printer:
    """Writes items at an indentation; `trivia`, where given, is woven in."""

    def __init__(self, trivia: Trivia | None) -> None:
        self.trivia = trivia

    def file(self, tree: TaskSyntax) -> str:
        """The whole text."""
        lines = self.block(tree.statements, "", FILE)
        return "".join(f"{line}\n" for line in lines)

    def block(self, statements: Sequence[Statement], indent: str, place: int) -> list[str]:
        """The lines of statements with what stands between them."""
        out: list[str] = []
        was_tall = False
        for statement in statements:
            lines = self.statement(statement, indent)
            if self.trivia is None:
                is_tall = len(lines) > 1
                if out and len(indent) <= len(STEP) and (is_tall or was_tall):
                    out.append("")
                was_tall = is_tall
            out += self.leading(statement.span, indent) + self.trailed(lines, statement.span)
        return out + self.dangling(place, indent)

    def leading(self, span: Span, indent: str) -> list[str]:
        """The comments and blank lines above an item."""
        lines = self.trivia.leading.get(span.start, ()) if self.trivia else ()
        return [indent + line if line else "" for line in lines]

    def dangling(self, place: int, indent: str) -> list[str]:
        """The comments and blank lines after the last item of a container."""
        lines = self.trivia.dangling.get(place, ()) if self.trivia else ()
        return [indent + line if line else "" for line in lines]

    def trailed(self, lines: list[str], span: Span) -> list[str]:
        """An item's lines with the comment that stands after it."""
        comment = self.trivia.trailing.get(span.start) if self.trivia else None
        return [*lines[:-1], f"{lines[-1]}  {comment}"] if comment else lines

    def opened(self, text: str, place: int) -> str:
        """A line that opens a bracket with the comment that stands after it."""
        comment = self.trivia.opening.get(place) if self.trivia else None
        return f"{text}  {comment}" if comment else text

    def is_commented(self, span: Span | None) -> bool:
        """Whether comments keep what the span covers from standing on one line."""
        return self.trivia is not None and self.trivia.is_commented(span)

    def statement(self, statement: Statement, indent: str) -> list[str]:
        """The lines of one statement."""
        head = indent + _header(statement)
        lines = [head]
        if statement.args is not None:
            gap = " " if statement.label is not None else ""
            room = WIDTH - len(head) - len(_tail_opener(statement))
            lines = _glue(lines, gap, self.args(statement.args, statement.args_span, indent, room))
        if statement.value is not None:
            lines = self.assigned(lines, statement.value, indent)
        elif statement.heredoc is not None:
            text = _heredoc(statement.heredoc, indent)
            if text is None:
                raise ValueError(f"the text of {statement.name!r} can't be written as a heredoc")
            lines = _glue(lines, " ", text)
        elif statement.body is not None:
            lines = _glue(lines, " ", self.body(statement, indent, WIDTH - len(lines[-1]) - 1))
        return lines

    def assigned(self, lines: list[str], value: Value, indent: str) -> list[str]:
        """`= value` after what comes before it."""
        text = _heredoc(value, indent) if isinstance(value, Heredoc) else None
        return _glue(lines, " = ", text or self.value(value, indent, WIDTH - len(lines[-1]) - 3))

    def body(self, statement: Statement, indent: str, room: int) -> list[str]:
        """A block, on one line where it is one short statement or a few settings."""
        body = statement.body or ()
        span = statement.body_span
        if not self.is_commented(span):
            if not body:
                return ["{}"]
            flat = self.flat_body(body, room)
            if flat is not None:
                return [flat]
        place = span.start if span is not None else FILE
        inner = self.block(body, indent + STEP, place)
        return [self.opened("{", place), *inner, indent + "}"]

    def flat_body(self, body: Sequence[Statement], room: int) -> str | None:
        """`{ a = 1  b = 2 }` or `{ predicate("/f") }` where it fits."""
        if any(item.body is not None or item.heredoc is not None for item in body):
            return None
        if len(body) > 1 and any(
            item.value is None or item.label is not None or item.args is not None for item in body
        ):
            return None
        if any(isinstance(item.value, Heredoc) for item in body):
            return None
        parts = [self.statement(item, "") for item in body]
        if any(len(lines) > 1 for lines in parts):
            return None
        text = "{ " + "  ".join(lines[0] for lines in parts) + " }"
        return text if len(text) <= room else None

    def args(self, args: Sequence[Arg], span: Span | None, indent: str, room: int) -> list[str]:
        """`(…)` of a statement."""
        return self.bracketed("(", ")", args, span, span.start if span else FILE, indent, room)

    def bracketed(
        self,
        left: str,
        right: str,
        items: Sequence[Arg | Entry | Value],
        span: Span | None,
        place: int,
        indent: str,
        room: int,
    ) -> list[str]:
        """Items in brackets: on one line where they fit, else one to a line."""
        is_map = left == "{"
        if not self.is_commented(span):
            parts = [self.item(item, "", WIDTH * WIDTH) for item in items]
            if all(len(lines) == 1 for lines in parts):
                text = ("  " if is_map else ", ").join(lines[0] for lines in parts)
                text = f"{{ {text} }}" if is_map and items else f"{left}{text}{right}"
                if len(text) <= room or not items or (len(items) == 1 and not _holds_more(items[0])):
                    return [text]
        deeper = indent + STEP
        out = [self.opened(left, place)]
        for item in items:
            lines = self.item(item, deeper, WIDTH - len(deeper) - 1)
            lines = [deeper + lines[0], *lines[1:-1], *lines[-1:][: len(lines) - 1]]
            if not is_map:
                lines[-1] += ","
            out += self.leading(item.span, deeper) + self.trailed(lines, item.span)
        return [*out, *self.dangling(place, deeper), indent + right]

    def item(self, item: Arg | Entry | Value, indent: str, room: int) -> list[str]:
        """An argument, an entry or a value in brackets; its first line isn't indented."""
        if isinstance(item, Arg) and item.name is None:
            return self.value(item.value, indent, room)
        if isinstance(item, Arg | Entry):
            name = item.name if isinstance(item, Arg) else item.key
            head = write_path((name or "",)) if isinstance(item, Arg) else _key(item.key)
            return _glue([head], " = ", self.value(item.value, indent, room - len(head) - 3))
        return self.value(item, indent, room)

    def value(self, value: Value, indent: str, room: int) -> list[str]:
        """A value; its first line isn't indented, the others are."""
        if isinstance(value, ListValue):
            return self.bracketed("[", "]", value.items, value.span, value.span.start, indent, room)
        if isinstance(value, MapValue):
            return self.bracketed("{", "}", value.entries, value.span, value.span.start, indent, room)
        if isinstance(value, CallValue):
            head = write_path(value.name)
            span = Span(value.span.source, min(call_place(value), value.span.end), value.span.end)
            lines = self.bracketed("(", ")", value.args, span, call_place(value), indent, room - len(head))
            return _glue([head], "", lines)
        return [_word(value)]


def _holds_more(item: Arg | Entry | Value) -> bool:
    """Whether a value could be broken further; one that can't gains nothing from a line of its own."""
    value = item.value if isinstance(item, Arg | Entry) else item
    return isinstance(value, ListValue | MapValue | CallValue)


def _word(value: String | Number | Name | Heredoc | Statement) -> str:
    if isinstance(value, String):
        return write_string(value)
    if isinstance(value, Number):
        return write_number(value)
    if isinstance(value, Name):
        return write_path(value.parts)
    if isinstance(value, Heredoc):
        return write_text(value.text)
    raise TypeError(f"{type(value).__name__} is no value")


def _key(key: str) -> str:
    return key if is_name(key) else write_text(key)


def _header(statement: Statement) -> str:
    """Keyword, label and sentence."""
    tail = (statement.value, statement.body, statement.heredoc)
    if sum(part is not None for part in tail) > 1:
        raise ValueError(f"the statement {statement.name!r} has more than one of value, block and text")
    if statement.label is None and statement.sentence is not None:
        raise ValueError(f"the statement {statement.name!r} has a sentence without a label")
    words = [write_path(statement.keyword)]
    if statement.label is not None:
        words.append(_word(statement.label))
    elif statement.args is None and all(part is None for part in tail):
        raise ValueError(f"the statement {statement.name!r} says nothing")
    if statement.sentence is not None:
        words.append(write_string(statement.sentence))
    return " ".join(words)


def _tail_opener(statement: Statement) -> str:
    """What has to fit on the line after the arguments."""
    if statement.body is not None:
        return " {"
    if statement.heredoc is not None:
        return f" <<<{statement.heredoc.tag}"
    return " = " if statement.value is not None else ""


def _glue(lines: list[str], between: str, more: list[str]) -> list[str]:
    """Go on where the last line ends."""
    return [*lines[:-1], f"{lines[-1]}{between}{more[0]}", *more[1:]]


def _heredoc(heredoc: Heredoc, indent: str) -> list[str] | None:
    """Opening line, body one step deeper, closing line; None where the text can't be written so."""
    level = heredoc_level(heredoc.text, heredoc.level)
    write_tag(heredoc.tag)
    if level is None:
        return None
    lines = heredoc.text.split("\n")[:-1]
    # Where all lines are blank nothing sets an indentation, so none may be added.
    margin = indent + STEP if any(line.strip(BLANKS) for line in lines) else ""
    body = [margin + line if line else "" for line in lines]
    return ["<" * level + heredoc.tag, *body, indent + ">" * level]
