"""Predicates with their arguments bound and checked by their signatures."""

from __future__ import annotations

import re
from collections.abc import Iterator

from aespec.diagnostics.diagnostic import Fix, TextEdit
from aespec.model.expressions import Const, Duration, Expr, ListExpr, MapExpr, Ref, Size, Symbol, Text
from aespec.model.places import head
from aespec.model.task import AnyOf, Claim, Condition, NotOf
from aespec.resolve.blocks import BLOCKS
from aespec.resolve.context import MOST_DEPTH, Context
from aespec.resolve.expressions import describe, resolve_value, type_of, unit_help
from aespec.resolve.findings import listed, shorten
from aespec.resolve.place_kinds import checked_path
from aespec.resolve.reading import CLAIM, Item, read
from aespec.resolve.schema import Field
from aespec.resolve.scope import Scope, dereference
from aespec.resolve.signatures import find_signature
from aespec.runtime.signature import Param, Signature
from aespec.runtime.wording import with_article
from aespec.source import Span
from aespec.syntax.nodes import Arg, Statement, Value


def resolve_conditions(
    context: Context, items: list[Item], hidden: dict[str, Span], depth: int = 0
) -> tuple[Condition, ...]:
    """The predicates, `any` and `not` among the items of a body. `hidden` are the verifier's own files."""
    found: list[Condition] = []
    for item in items:
        if item.id == CLAIM:
            claim = _claim(context, item, hidden)
            if claim is not None:
                found.append(claim)
        elif item.id in {"condition.any", "condition.not"}:
            group = _group(context, item, hidden, depth)
            if group is not None:
                found.append(group)
    return tuple(found)


def _group(context: Context, item: Item, hidden: dict[str, Span], depth: int) -> Condition | None:
    if depth >= MOST_DEPTH:
        context.findings.error(
            "too-deep",
            f"conditions are nested more than {MOST_DEPTH} levels deep",
            item.statement.keyword_span,
            why="Nobody reads deeper.",
            help="Write them flatter.",
        )
        return None
    reading = read(context, item.statement, BLOCKS[item.id], item.scope)
    inner = resolve_conditions(context, reading.items, hidden, depth + 1)
    if not reading.items:
        context.findings.error(
            "empty-claim",
            f"`{reading.block.keyword}` is empty",
            item.statement.keyword_span,
            why="`any` of nothing never holds, and `not` of nothing doesn't either.",
            help="Put predicates into it, or remove it.",
        )
        return None
    make = AnyOf if item.id == "condition.any" else NotOf
    return make(inner, span=reading.span)


def _claim(context: Context, item: Item, hidden: dict[str, Span]) -> Claim | None:
    statement, scope = item.statement, item.scope
    signature = find_signature(statement.name)
    if signature is None or not _has_form(context, statement, signature):
        return None
    before = len(context.findings)
    args = _bind(context, statement, signature)
    found: list[tuple[str, Expr]] = []
    for name, arg in args.items():
        parameter = signature.param(name)
        if parameter is None:
            continue
        expr = _Argument(context, statement.name, parameter, scope, hidden).convert(arg.value)
        if expr is not None:
            found.append((name, expr))
    _check_given(context, statement, signature, set(args))
    if len(context.findings) > before:
        return None
    return Claim(statement.name, tuple(found), span=statement.span)


def usage(signature: Signature) -> str:
    """The call with what it needs: `json(path, equals = …)`."""
    needed = [item.name for item in signature.params if item.is_required]
    groups = [f"{group[0]} = …" for group in signature.requires_one_of]
    first = needed[:1]
    return f"{signature.name}({', '.join([*first, *(f'{name} = …' for name in needed[1:]), *groups])})"


def _has_form(context: Context, statement: Statement, signature: Signature) -> bool:
    extra = statement.label or statement.sentence or statement.heredoc or statement.value
    if statement.args is not None and extra is None and statement.body is None:
        return True
    context.findings.error(
        "wrong-form",
        f"`{signature.name}` is a predicate: its arguments stand in parentheses, and nothing after them",
        statement.keyword_span,
        why=signature.doc,
        help=f"Write `{usage(signature)}`.",
    )
    return False


def _bind(context: Context, statement: Statement, signature: Signature) -> dict[str, Arg]:
    """Arguments by name; one without a name is the first parameter."""
    found: dict[str, Arg] = {}
    for index, arg in enumerate(statement.args or ()):
        name = arg.name
        if name is None:
            if index > 0 or not signature.params:
                context.findings.error(
                    "unknown-argument",
                    f"`{signature.name}` takes one argument without a name, the first",
                    arg.span,
                    why=f"It takes {listed(item.name for item in signature.params)}.",
                    help="Write `name = value`.",
                )
                continue
            name = signature.params[0].name
        if signature.param(name) is None:
            known = [item.name for item in signature.params]
            span = head(arg.span, len(name))
            what = f"an argument of `{signature.name}`"
            context.findings.unknown("unknown-argument", what, name, span, known, why=signature.doc)
        elif name in found:
            context.findings.error(
                "duplicate-argument",
                f"`{name}` is given twice",
                arg.span,
                why="Only one of them could count.",
                help="Remove one.",
            )
        else:
            found[name] = arg
    return found


def _check_given(context: Context, statement: Statement, signature: Signature, given: set[str]) -> None:
    for parameter in signature.params:
        if parameter.is_required and parameter.name not in given:
            context.findings.error(
                "missing-argument",
                f"`{signature.name}` lacks `{parameter.name}`",
                statement.keyword_span,
                why=parameter.doc,
                help=f"Write `{usage(signature)}`.",
            )
    for group in signature.requires_one_of:
        if not given & set(group):
            context.findings.error(
                "empty-claim",
                f"`{signature.name}` claims nothing without {listed(group)}",
                statement.keyword_span,
                why=f"{signature.doc} Without one of these every state would do.",
                help=f"Add one of {listed(group)}, or use a predicate that says what you mean.",
            )


_WANTED = {
    "path": "a path",
    "text": "a text",
    "regex": "a pattern in quotes",
    "bool": "`true` or `false`",
    "integer": "a whole number",
    "number": "a number",
    "duration": "a time span such as `30s`",
    "size": "a size such as `10KiB`",
    "map": "a map",
    "hidden-file": "the name of a `hidden` file",
}
_TYPES = {
    "text": {"text"},
    "regex": {"text"},
    "bool": {"bool"},
    "integer": {"integer"},
    "number": {"integer", "number"},
    "duration": {"duration"},
    "size": {"size"},
    "map": {"map"},
    "path": {"text"},
    "hidden-file": {"text"},
}


def _measures(expr: Expr) -> Iterator[Const]:
    """The time spans and sizes in a value."""
    if isinstance(expr, Const) and isinstance(expr.value, Duration | Size):
        yield expr
    elif isinstance(expr, ListExpr):
        for item in expr.items:
            yield from _measures(item)
    elif isinstance(expr, MapExpr):
        for _, item in expr.entries:
            yield from _measures(item)


class _Argument:
    """Converts one argument by its parameter."""

    def __init__(
        self, context: Context, predicate: str, parameter: Param, scope: Scope, hidden: dict[str, Span]
    ) -> None:
        self.context = context
        self.predicate = predicate
        self.parameter = parameter
        self.scope = scope
        self.hidden = hidden

    def convert(self, value: Value) -> Expr | None:
        kind = self.parameter.kind
        inner, scope = dereference(value, self.scope)
        expr = resolve_value(self.context, inner, scope, may_be_symbol=kind == "enum")
        if expr is None:
            return None
        if kind == "value":
            return self._value(expr)
        if kind == "enum":
            return self._enum(expr)
        if kind in {"paths", "texts"}:
            return self._several(expr, kind[:-1])
        single = self._single(expr, kind)
        return self._value(single) if single is not None and kind == "map" else single

    def _value(self, expr: Expr) -> Expr | None:
        """Any JSON value: a time span or a size is none, wherever in it."""
        measures = list(_measures(expr))
        for item in measures:
            self._wrong(item, "a JSON value, which has no unit")
        return None if measures else expr

    def _several(self, expr: Expr, kind: str) -> Expr | None:
        if not isinstance(expr, ListExpr):
            if isinstance(expr, Ref):
                return expr
            return self._single(expr, kind)
        if not expr.items:
            self._wrong(expr, f"{_WANTED[kind]} or a list of at least one")
            return None
        items = [self._single(item, kind) for item in expr.items]
        kept = tuple(item for item in items if item is not None)
        return ListExpr(kept, span=expr.span) if len(kept) == len(items) else None

    def _single(self, expr: Expr, kind: str) -> Expr | None:
        found = type_of(self.context, expr)
        if found is not None and found not in _TYPES[kind]:
            self._wrong(expr, _WANTED[kind])
            return None
        check = {"path": self._path, "regex": self._regex, "hidden-file": self._hidden_file}.get(kind)
        return check(expr) if check is not None else expr

    def _wrong(self, expr: Expr, wanted: str) -> None:
        parameter = self.parameter
        is_unit = parameter.kind in {"duration", "size"} and isinstance(expr, Const)
        self.context.findings.error(
            "wrong-unit" if is_unit else "wrong-type",
            f"`{parameter.name}` of `{self.predicate}` is {wanted}, not {describe(self.context, expr)}",
            expr.span,
            why=parameter.doc + (f" The units are {unit_help(parameter.kind)}." if is_unit else ""),
            help=f"Write {wanted}.",
        )

    def _enum(self, expr: Expr) -> Expr | None:
        choices = self.parameter.choices
        written = expr.name if isinstance(expr, Symbol) else None
        if isinstance(expr, Const) and (expr.value is None or isinstance(expr.value, bool)):
            # `none`, `true` and `false` are constants before they are choices.
            written = "none" if expr.value is None else str(expr.value).lower()
        if written is not None and written in choices:
            return Symbol(written, span=expr.span)
        if isinstance(expr, Const) and isinstance(expr.value, str) and expr.value in choices:
            self.context.findings.error(
                "wrong-type",
                f"`{self.parameter.name}` of `{self.predicate}` is a bare name",
                expr.span,
                why=self.parameter.doc,
                help=f"Write `{expr.value}` without quotes.",
                fix=Fix(f"write `{expr.value}`", (TextEdit(expr.span, expr.value),)),
            )
            return None
        what = with_article(f"`{self.parameter.name}` of `{self.predicate}`")
        name = written or expr.span.text
        self.context.findings.unknown(
            "unknown-choice", what, name, expr.span, choices, why=self.parameter.doc
        )
        return None

    def _path(self, expr: Expr) -> Expr | None:
        text = expr if isinstance(expr, Text) else None
        if isinstance(expr, Const) and isinstance(expr.value, str):
            text = Text((expr.value,), span=expr.span)
        if text is None:
            return expr
        field = Field(self.parameter.name, "path", self.parameter.doc)
        return expr if isinstance(checked_path(self.context, text, field, "leaf"), Text) else None

    def _regex(self, expr: Expr) -> Expr | None:
        if not isinstance(expr, Const) or not isinstance(expr.value, str):
            return expr
        import warnings

        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                re.compile(expr.value)
        except (re.error, RecursionError, OverflowError) as slip:
            self.context.findings.error(
                "invalid-regex",
                f"this pattern can't be compiled: {shorten(str(slip), 90)}",
                expr.span,
                why="Patterns are Python's `re`; in single quotes backslashes are taken as they are.",
                help="Correct the pattern.",
            )
            return None
        return expr

    def _hidden_file(self, expr: Expr) -> Expr | None:
        if isinstance(expr, Const) and isinstance(expr.value, str) and expr.value not in self.hidden:
            what = "a `hidden` file of `verify`"
            self.context.findings.unknown("unknown-file", what, expr.value, expr.span, set(self.hidden))
            return None
        return expr
