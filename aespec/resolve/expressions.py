"""Values as expressions of the model: names bound, units parsed, places found."""

from __future__ import annotations

from aespec.model.expressions import Const, Duration, Expr, ListExpr, MapExpr, Ref, Size, Symbol, Text
from aespec.resolve.context import KINDS, MOST_DEPTH, Context
from aespec.resolve.findings import shorten
from aespec.resolve.literals import (
    CONSTANTS,
    DURATIONS_S,
    SIZES_B,
    SPELLED_UNITS,
    UNITS,
    is_huge,
    scalar,
)
from aespec.resolve.scope import Scope, dereference
from aespec.resolve.texts import resolve_text
from aespec.runtime.wording import with_article
from aespec.syntax.nodes import CallValue, Heredoc, ListValue, MapValue, Name, Number, String, Value


def resolve_value(
    context: Context, value: Value, scope: Scope, *, may_be_symbol: bool = False, depth: int = 0
) -> Expr | None:
    """The expression that a value is; None, with an error noted, where it is none."""
    value, scope = dereference(value, scope)
    if isinstance(value, Name):
        return _name(context, value, scope, may_be_symbol=may_be_symbol)
    if isinstance(value, Number):
        return resolve_number(context, value)
    if isinstance(value, String | Heredoc):
        text = resolve_text(context, value, scope)
        if text.refs:
            return text
        return Const("".join(part for part in text.parts if isinstance(part, str)), span=value.span)
    if isinstance(value, CallValue):
        refuse_call(context, value)
        return None
    if depth >= MOST_DEPTH:
        refuse_depth(context, value)
        return None
    return _collection(context, value, scope, depth)


def _collection(context: Context, value: ListValue | MapValue, scope: Scope, depth: int) -> Expr | None:
    if isinstance(value, ListValue):
        items = [resolve_value(context, item, scope, depth=depth + 1) for item in value.items]
        kept = tuple(item for item in items if item is not None)
        return ListExpr(kept, span=value.span) if len(kept) == len(items) else None
    entries: dict[str, Expr] = {}
    is_whole = True
    for entry in value.entries:
        if entry.key in entries:
            report_repeated_key(context, entry.key, value)
            is_whole = False
        item = resolve_value(context, entry.value, scope, depth=depth + 1)
        if item is None:
            is_whole = False
        else:
            entries[entry.key] = item
    return MapExpr(tuple(entries.items()), span=value.span) if is_whole else None


def report_repeated_key(context: Context, key: str, value: MapValue) -> None:
    """Note that a key stands twice in a map."""
    entries = [entry for entry in value.entries if entry.key == key]
    context.findings.error(
        "duplicate-name",
        f"the key `{shorten(key)}` stands twice in one map",
        entries[-1].span,
        why="Only one of them could count.",
        help="Remove one, or give it another key.",
    )


def refuse_call(context: Context, value: CallValue) -> None:
    """Note that there is no such constructor in the place of a value."""
    context.findings.error(
        "unknown-constructor",
        f"`{shorten('.'.join(value.name))}(…)` can't stand as a value here",
        value.span,
        why="Generators stand after `param` and `secret` only, and predicates are statements.",
        help="Write a literal or a named value (`p.x`, `let.x`, `answer.x`).",
    )


def refuse_depth(context: Context, value: Value, most: int = MOST_DEPTH) -> None:
    """Note that values are nested too deeply."""
    context.findings.error(
        "too-deep",
        f"this is nested more than {most} levels deep",
        value.span,
        why="Nobody reads deeper, and every reader's stack must hold it.",
        help="Compute the value by a `let` program.",
    )


def _name(context: Context, value: Name, scope: Scope, *, may_be_symbol: bool) -> Expr | None:
    if value.text in CONSTANTS:
        return Const(CONSTANTS[value.text], span=value.span)
    if value.parts[0] in KINDS:
        return context.reference(value.parts, value.span, scope)
    if may_be_symbol:
        return Symbol(value.text, span=value.span)
    known = {f"{kind.value}.{name}" for kind, name in context.values} | set(scope.bindings) | set(CONSTANTS)
    from aespec.resolve.findings import suggest

    same = sorted(name for name in known if name.partition(".")[2] == value.text)
    nearest = same[0] if same else suggest(value.text, known)
    context.findings.error(
        "unknown-value",
        f"`{shorten(value.text)}` is not a value",
        value.span,
        why="A bare name stands for a declared value (`p.x`), an argument of a fragment, or a constant.",
        help=f"Write `{nearest}`." if nearest else f'Write "{shorten(value.text)}" for the text.',
    )
    return None


def resolve_number(context: Context, value: Number) -> Const | None:
    """The constant that a number with its unit is; None, with an error noted, for a bad one."""
    if is_huge(value):
        context.findings.error(
            "out-of-range",
            "this number is larger or finer than what the formats hold",
            value.span,
            why="Whole numbers stay below 10^18, others within what a double holds.",
            help="Write a smaller number, or the digits in quotes if they are a name.",
        )
        return None
    result = scalar(value)
    if result is None:
        meant = SPELLED_UNITS.get(value.unit.lower())
        if meant is None:
            context.findings.unknown("wrong-unit", "a unit", value.unit, value.span, set(UNITS))
            return None
        context.findings.error(
            "wrong-unit", f"`{shorten(value.unit)}` is not a unit", value.span, help=f"Write `{meant}`."
        )
        return None
    return Const(result, span=value.span)


def type_of(context: Context, expr: Expr) -> str | None:
    """The type that an expression surely has, or None: `text`, `integer`, `number`, `bool`, `list`, …."""
    if isinstance(expr, Const):
        return _type_of_constant(expr)
    if isinstance(expr, Text):
        return "text"
    if isinstance(expr, ListExpr):
        return "list"
    if isinstance(expr, MapExpr):
        return "map"
    if isinstance(expr, Symbol):
        return "name"
    if isinstance(expr, Ref) and not expr.path:
        declared = context.values.get((expr.kind, expr.name))
        return declared.type if declared else None
    return None


def _type_of_constant(expr: Const) -> str:
    value = expr.value
    if value is None:
        return "none"
    names = {bool: "bool", int: "integer", float: "number", str: "text", Duration: "duration", Size: "size"}
    return names[type(value)]


def describe(context: Context, expr: Expr) -> str:
    """What an expression is, for a headline: `an integer`, `a text`."""
    found = type_of(context, expr) or "value"
    if found == "bool":
        return "`true` or `false`"
    return "`none`" if found == "none" else with_article(found)


def unit_help(kind: str) -> str:
    """The units of a kind, for a help line."""
    units = list(DURATIONS_S) if kind == "duration" else list(SIZES_B)
    return ", ".join(f"`{unit}`" for unit in units)
