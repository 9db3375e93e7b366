"""Generators of parameters and secrets: their arguments, bound and checked as far as they are constants."""

from __future__ import annotations

import datetime as dt

from aespec.model.expressions import CallExpr, Const, Expr, Kind, ListExpr, iterate_refs
from aespec.model.places import head
from aespec.records import dataclass
from aespec.resolve.context import Context
from aespec.resolve.expressions import refuse_depth, resolve_value, type_of
from aespec.resolve.findings import listed
from aespec.resolve.scope import Scope, dereference
from aespec.source import Span
from aespec.syntax.nodes import CallValue, Value


@dataclass(frozen=True, slots=True)
class Generator:
    """A generator: its parameters in order (those with `?` may be left out), what it makes, its text."""

    params: tuple[str, ...]
    makes: str
    usage: str
    doc: str


GENERATORS: dict[str, Generator] = {
    "int": Generator(("low", "high"), "integer", "int(low, high)", "a whole number, both bounds included"),
    "float": Generator(
        ("low", "high", "digits?"),
        "number",
        "float(low, high, digits = 2)",
        "a number with that many decimals",
    ),
    "log_int": Generator(
        ("low", "high"),
        "integer",
        "log_int(low, high)",
        "a whole number, its magnitude uniform; low is 1 or more",
    ),
    "bool": Generator((), "bool", "bool()", "`true` or `false`"),
    "choice": Generator(("values",), "", "choice(a, b, …)", "one of the arguments"),
    "words": Generator(("count?",), "text", "words(count)", "that many different words with blanks between"),
    "date": Generator(("first", "last"), "text", 'date("2024-01-01", "2024-12-31")', "a day, both included"),
    "hex": Generator(("length?",), "text", "hex(length)", "that many hexadecimal digits"),
    "list": Generator(("generator", "length"), "list", "list(generator, length)", "that many draws"),
}
"""Every generator by name."""


MOST_NESTED = 4
"""Lists of lists; the product of their lengths is what is drawn."""


def resolve_generator(context: Context, value: Value, scope: Scope, depth: int = 0) -> CallExpr | None:
    """The generator with its arguments bound; None, with an error noted, where it can't draw."""
    value, scope = dereference(value, scope)
    if not isinstance(value, CallValue) or len(value.name) != 1:
        context.findings.error(
            "wrong-type",
            "a parameter and a secret are made by a generator",
            value.span,
            why="The generator is the type, and instances differ by what it draws.",
            help=f"Write one of {listed(item.usage for item in GENERATORS.values())}, or a `let`.",
        )
        return None
    name = value.name[0]
    generator = GENERATORS.get(name)
    if generator is None:
        span = head(value.span, len(name))
        context.findings.unknown("unknown-generator", "a generator", name, span, set(GENERATORS))
        return None
    if depth >= MOST_NESTED:
        refuse_depth(context, value, MOST_NESTED)
        return None
    if name == "choice":
        return _choice(context, value, scope)
    bound = _bind(context, value, generator, scope, depth)
    if bound is None:
        return None
    call = CallExpr(name, tuple(bound.items()), span=value.span)
    fault = _fault(context, call)
    if fault is not None:
        report_generator(context, fault, generator, value.span)
        return None
    return call


def report_generator(context: Context, fault: str, generator: Generator, span: Span) -> None:
    """Note why a generator can't draw."""
    context.findings.error(
        "empty-generator",
        fault,
        span,
        why=f"`{generator.usage}` draws {generator.doc}.",
        help="Give arguments that leave something to draw.",
    )


def _choice(context: Context, value: CallValue, scope: Scope) -> CallExpr | None:
    items: list[Expr] = []
    for arg in value.args:
        item = None if arg.name else resolve_value(context, arg.value, scope)
        if arg.name:
            _report_argument(context, GENERATORS["choice"], arg.name, arg.span)
        if item is None or not _is_early(context, item):
            return None
        items.append(item)
    if not items:
        report_generator(context, "`choice` has nothing to choose from", GENERATORS["choice"], value.span)
        return None
    return CallExpr("choice", (("values", ListExpr(tuple(items), span=value.span)),), span=value.span)


def _report_argument(context: Context, generator: Generator, name: str, span: Span) -> None:
    known = [] if generator.params == ("values",) else [item.rstrip("?") for item in generator.params]
    if span.text != name and span.text.startswith(name):
        span = Span(span.source, span.start, span.start + len(name))
    context.findings.unknown("unknown-argument", f"an argument of `{generator.usage}`", name, span, known)


def _bind(
    context: Context, value: CallValue, generator: Generator, scope: Scope, depth: int
) -> dict[str, Expr] | None:
    found: dict[str, Expr] = {}
    left = [item.rstrip("?") for item in generator.params]
    for arg in value.args:
        name = arg.name if arg.name is not None else (left[0] if left else None)
        if name is None or name not in left:
            _report_argument(context, generator, name or arg.span.text, arg.span)
            return None
        left.remove(name)
        item = _argument(context, name, arg.value, scope, depth)
        if item is None:
            return None
        found[name] = item
    missing = [item for item in generator.params if not item.endswith("?") and item in left]
    if missing:
        context.findings.error(
            "missing-argument",
            f"`{value.name[0]}` lacks {listed(missing)}",
            value.span,
            why=f"It draws {generator.doc}.",
            help=f"Write `{generator.usage}`.",
        )
        return None
    return {name: found[name] for name in (item.rstrip("?") for item in generator.params) if name in found}


def _argument(context: Context, name: str, value: Value, scope: Scope, depth: int) -> Expr | None:
    inner, inner_scope = dereference(value, scope)
    if name == "generator" or (name == "length" and isinstance(inner, CallValue)):
        return resolve_generator(context, inner, inner_scope, depth + 1)
    item = resolve_value(context, inner, inner_scope)
    return item if item is not None and _is_early(context, item) else None


def _is_early(context: Context, expr: Expr) -> bool:
    """Whether an argument is known when parameters are drawn: constants and other parameters."""
    for ref in iterate_refs(expr):
        if ref.kind is not Kind.PARAM:
            context.findings.error(
                "not-constant",
                f"a generator can't depend on `{ref.kind.value}.{ref.name}`",
                ref.span,
                why="Parameters and secrets are drawn first, before anything is computed.",
                help="Use constants and other parameters; compute what depends on more by a `let`.",
            )
            return False
    return True


_INTEGERS = {"int": ("low", "high"), "log_int": ("low", "high"), "float": ("digits",), "words": ("count",)}
_BOUNDS = {("words", "count"): (1, 200), ("hex", "length"): (1, 1024), ("float", "digits"): (0, 12)}
_BOUNDS |= {("list", "length"): (0, 100_000), ("log_int", "low"): (1, 10**18)}


def _fault(context: Context, call: CallExpr) -> str | None:
    """Why the arguments leave nothing to draw, as far as constants tell."""
    for name, expr in call.args:
        is_integer = name in _INTEGERS.get(call.name, ()) or name == "length"
        wanted = ("integer",) if is_integer else ("text",) if call.name == "date" else ("integer", "number")
        found = type_of(context, expr)
        if isinstance(expr, CallExpr):
            if name == "length" and GENERATORS[expr.name].makes not in {"integer", ""}:
                return f"`{expr.name}` draws no whole number for `length`"
            continue
        if found is not None and found not in wanted:
            article = "a whole number" if is_integer else "an ISO day" if call.name == "date" else "a number"
            return f"`{call.name}` takes {article} as `{name}`"
        low, high = _BOUNDS.get((call.name, name), (None, None))
        number = _number(expr)
        if low is not None and high is not None and number is not None and not low <= number <= high:
            return f"`{name}` of `{call.name}` goes from {low} to {high}"
    return _days_fault(call) if call.name == "date" else _order_fault(call)


def _number(expr: Expr | None) -> float | None:
    if isinstance(expr, Const) and isinstance(expr.value, int | float) and not isinstance(expr.value, bool):
        return expr.value
    return None


def _order_fault(call: CallExpr) -> str | None:
    low, high = _number(call.arg("low")), _number(call.arg("high"))
    if low is not None and high is not None and low > high:
        return f"`{call.name}` goes from the lower bound to the higher one, and {low:g} > {high:g}"
    return None


def _days_fault(call: CallExpr) -> str | None:
    days = []
    for name in ("first", "last"):
        expr = call.arg(name)
        if not isinstance(expr, Const):
            return None
        try:
            days.append(dt.date.fromisoformat(str(expr.value)))
        except ValueError:
            return f'`date` takes days such as "2024-03-01", and `{name}` is none'
    return "`date` takes the earlier day first" if days[0] > days[1] else None


def drawn_type(context: Context, call: CallExpr) -> str | None:
    """The type that a generator's draws surely have."""
    if call.name != "choice":
        return GENERATORS[call.name].makes
    values = call.arg("values")
    types = {type_of(context, item) for item in values.items} if isinstance(values, ListExpr) else set()
    return types.pop() if len(types) == 1 else None
