"""Texts with places in them: `{{ p.x }}` is found and checked, all other braces are left alone."""

from __future__ import annotations

import re

from aespec.model.expressions import CheckSlot, Json, Ref, Text
from aespec.model.quoting import write_value
from aespec.resolve.context import KINDS, Context
from aespec.resolve.literals import constant_json
from aespec.resolve.scope import Scope, dereference
from aespec.source import Span
from aespec.syntax.nodes import Heredoc, Name, String

_PLACE = re.compile(r"\{\{[ \t]*([A-Za-z_][^{}\n]*?)[ \t]*\}\}")
_DOTTED = re.compile(r"[A-Za-z_][\w-]*(?:\.[\w-]+)*")
_ESCAPE = re.compile(r"\\u\{[^}]*\}|\\u[0-9a-fA-F]{4}|\\.|[^\\]", re.DOTALL)
_QUOTING = ("sh", "python", "json", "sql")

Part = str | Ref | CheckSlot


def resolve_text(
    context: Context,
    value: String | Heredoc,
    scope: Scope,
    *,
    slots: str = "leave",
    is_verbatim: bool = False,
) -> Text:
    """The text with its places as references.

    `slots`: `take` where `{{ check.NAME }}` may stand, `refuse` where it is a slip, `leave` elsewhere.
    """
    written = value.value if isinstance(value, String) else value.text
    tag = "" if isinstance(value, String) else value.tag
    if is_verbatim or "{{" not in written:
        return Text((written,) if written else (), tag, span=value.span)
    parts: list[Part] = []
    done = 0
    for match in _PLACE.finditer(written):
        span = Span(
            value.span.source, source_offset(value, match.start(1)), source_offset(value, match.end(1))
        )
        found = _place(context, match[1], span, scope, tag, slots)
        if found is None:
            continue
        parts.append(written[done : match.start()])
        parts.extend(found)
        done = match.end()
    parts.append(written[done:])
    return Text(_join(parts), tag, span=value.span)


def _join(parts: list[Part]) -> tuple[Part, ...]:
    """Neighbouring strings as one, empty ones left out."""
    joined: list[Part] = []
    for part in parts:
        last = joined[-1] if joined else None
        if isinstance(part, str) and isinstance(last, str):
            joined[-1] = last + part
        elif part != "":
            joined.append(part)
    return tuple(joined)


def _place(context: Context, inner: str, span: Span, scope: Scope, tag: str, slots: str) -> list[Part] | None:
    """What stands in a place, or None where the braces aren't ours."""
    head = re.split(r"[^\w-]", inner, maxsplit=1)[0]
    is_slot = inner == "checks" or (head == "check" and inner.startswith("check."))
    if head in scope.bindings:
        if _DOTTED.fullmatch(inner):
            return _argument(context, inner, span, scope, tag)
    elif head in KINDS:
        if not inner.startswith(head + ".") or not re.match(r"\.\w", inner[len(head) :]):
            return None
        if _DOTTED.fullmatch(inner):
            ref = context.reference(tuple(inner.split(".")), span, scope, in_text=tag != "")
            return [ref] if ref else []
    elif not is_slot or slots == "leave":
        return None
    elif slots == "take" and _DOTTED.fullmatch(inner) and inner.count(".") <= 1:
        return _slot(context, inner, span)
    context.findings.error(
        "bad-place",
        f"`{{{{ {inner} }}}}` can't stand here",
        span,
        why="Only names stand in places (`{{ p.x }}`), and sentences of checks only in the instruction.",
        help="Name a `let` that computes it; for braces of another language write `verbatim = true`.",
    )
    return []


def _slot(context: Context, inner: str, span: Span) -> list[Part]:
    name = inner.partition(".")[2]
    if name and name not in context.checks:
        what = "declared: `verify` has no check of that name"
        known = {f"check.{check}" for check in context.checks}
        context.findings.unknown("unknown-check", what, inner, span, known)
        return []
    return [CheckSlot(name, span=span)]


def _argument(context: Context, inner: str, span: Span, scope: Scope, tag: str) -> list[Part]:
    """An argument of a fragment or of `each`, written in by the text's quoting."""
    value, owner = dereference(Name(tuple(inner.split(".")), span=span), scope)
    if isinstance(value, Name):
        if value.parts[0] in KINDS and len(value.parts) > 1:
            ref = context.reference(value.parts, span, owner)
            return [ref] if ref else []
        if value.parts == tuple(inner.split(".")):
            context.findings.error(
                "bad-place",
                f"`{inner}` leads into an argument that has no parts",
                span,
                why="Only values of the task (`p.x`, `let.x`) have parts that can be named.",
                help=f"Write `{{{{ {inner.split('.', 1)[0]} }}}}`.",
            )
            return []
    if isinstance(value, String | Heredoc):
        text = resolve_text(context, value, owner)
        if text.refs and tag in _QUOTING:
            context.findings.error(
                "bad-place",
                f"`{inner}` is a text with values in it, which can't be quoted as one in `{tag}`",
                span,
                why=f"A value is written into `{tag}` as one quoted literal, and this one isn't known yet.",
                help="Make the text a `let` of the task and pass that.",
            )
            return []
        if text.refs:
            return list(text.parts)
    constant = constant_json(value)
    if constant is None:
        return ["" if tag not in _QUOTING else write_value(None, tag)]
    content: Json = constant[0]
    return [write_value(content, tag)]


def place_span(value: String | Heredoc, start: int, end: int) -> Span:
    """The place in the file of a range of a text's characters."""
    first = source_offset(value, start)
    return Span(value.span.source, first, max(first, source_offset(value, end)))


def source_offset(value: String | Heredoc, offset: int) -> int:
    """Where in the file a character of a text stands, back through its indentation or its escapes."""
    if isinstance(value, Heredoc):
        return _heredoc_offset(value, offset)
    start = value.span.start + 1
    raw = value.span.source.text[start : max(start, value.span.end - 1)]
    if value.is_raw or raw == value.value:
        return min(start + offset, value.span.end)
    for index, match in enumerate(_ESCAPE.finditer(raw)):
        if index == offset:
            return start + match.start()
    return value.span.end


def _heredoc_offset(value: Heredoc, offset: int) -> int:
    before = value.text.count("\n", 0, offset)
    column = offset - (value.text.rfind("\n", 0, offset) + 1)
    source = value.span.source
    first_line = source.position(value.body_span.start)[0]
    number = first_line + before
    if number > len(source.line_starts):
        return value.span.end
    start = source.line_starts[number - 1]
    stop = source.line_starts[number] - 1 if number < len(source.line_starts) else len(source.text)
    return min(start + value.indent + column, max(start, stop))
