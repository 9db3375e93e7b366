"""`use` and `each`, replaced by the statements that they stand for."""

from __future__ import annotations

from collections.abc import Iterator

from aespec.model.places import head
from aespec.resolve.context import Context, is_free
from aespec.resolve.findings import listed, shorten
from aespec.resolve.scope import Bound, Fragment, Scope, bind, dereference, measure
from aespec.syntax.nodes import Arg, ListValue, Name, Statement, Value

MOST_STATEMENTS = 20_000
"""After expansion; nested repetitions grow as a product, and no task is that long."""

MOST_EXPANDED = 16 << 20
"""Characters that the statements of fragments and repetitions may come to, arguments written out: an argument
that holds another one twice, handed on a few dozen times, would outgrow any memory. A file has 2^20."""

ROUND_SIZE = 64
"""What a round of `each` counts by itself, in characters."""

MOST_NESTED = 32
"""Fragments and repetitions within each other."""


def expand(
    context: Context, statements: tuple[Statement, ...], scope: Scope
) -> Iterator[tuple[Statement, Scope]]:
    """The statements of a body, those of fragments and repetitions in their place."""
    for statement in statements:
        context.statements += 1
        if _is_too_long(context, statement, scope):
            return
        if statement.name == "each" and statement.value is None:
            yield from _each(context, statement, scope)
        elif statement.name == "use" and statement.value is None:
            yield from _use(context, statement, scope)
        else:
            yield statement, scope


def _is_too_long(context: Context, statement: Statement, scope: Scope) -> bool:
    """Whether the file has grown too long, with that noted once; then nothing more is expanded."""
    if scope.bindings:
        context.expanded += sum(measure(value, scope) for value in _values_of(statement))
    if context.is_too_long:
        return True
    is_many = context.statements > MOST_STATEMENTS
    if not is_many and context.expanded <= MOST_EXPANDED:
        return False
    context.is_too_long = True
    most = f"{MOST_STATEMENTS} statements" if is_many else f"{MOST_EXPANDED} characters"
    context.findings.error(
        "too-large",
        f"the file holds more than {most} after expansion",
        statement.keyword_span,
        why="Repetitions within each other grow as a product, arguments within each other too.",
        help="Shorten the lists, or make the files by one `generate` program.",
    )
    return True


def _values_of(statement: Statement) -> Iterator[Value]:
    """What a statement itself holds; its body's statements come later."""
    for value in (statement.label, statement.sentence, statement.value, statement.heredoc):
        if value is not None:
            yield value
    for arg in statement.args or ():
        yield arg.value


def _is_too_nested(context: Context, statement: Statement, scope: Scope) -> bool:
    if len(scope.trail) < MOST_NESTED:
        return False
    context.findings.error(
        "too-deep",
        f"fragments and repetitions stand more than {MOST_NESTED} deep in each other",
        statement.keyword_span,
        why="Nobody reads deeper.",
        help="Write the statements out, or make them flatter.",
    )
    return True


def _each(context: Context, statement: Statement, scope: Scope) -> Iterator[tuple[Statement, Scope]]:
    label, args = statement.label, statement.args or ()
    items = dereference(args[0].value, scope)[0] if len(args) == 1 and args[0].name == "in" else None
    if (
        not isinstance(label, Name)
        or len(label.parts) != 1
        or not isinstance(items, ListValue)
        or statement.body is None
    ):
        context.findings.error(
            "wrong-form",
            "`each` is followed by a name, a literal list and a body",
            statement.keyword_span,
            why="It repeats its body once for every item of the list.",
            help='Write `each x (in = ["a", "b"]) { … }`.',
        )
        return
    if not is_free(label):
        context.findings.error(
            "invalid-name",
            f"`{label.text}` means something else and can't be the name of an `each`",
            label.span,
            why="In the body it would stand for the items, and no longer for what it means everywhere.",
            help='Take another name: `each item (in = ["a", "b"]) { … }`.',
        )
        return
    if _is_too_nested(context, statement, scope):
        return
    owner = dereference(args[0].value, scope)[1]
    for item in items.items:
        bindings = {**scope.bindings, label.text: bind(item, owner)}
        inner = Scope(scope.library, bindings, scope.fragment, (*scope.trail, 0))
        context.expanded += ROUND_SIZE  # a round without a statement takes its time too
        if _is_too_long(context, statement, scope):
            return
        yield from expand(context, statement.body, inner)


def _use(context: Context, statement: Statement, scope: Scope) -> Iterator[tuple[Statement, Scope]]:
    label = statement.label
    if not isinstance(label, Name) or statement.body is not None or statement.heredoc is not None:
        context.findings.error(
            "wrong-form",
            "`use` is followed by a fragment's name and its arguments",
            statement.keyword_span,
            why="It stands for the fragment's statements.",
            help="Write `use NAME (a = 1)`.",
        )
        return
    fragment = scope.library.find(label.parts)
    if fragment is None:
        known = scope.library.names()
        context.findings.unknown("unknown-fragment", "a fragment of this file", label.text, label.span, known)
        return
    if id(fragment) in scope.trail:
        context.findings.error(
            "fragment-cycle",
            f"fragment `{fragment.name}` uses itself",
            label.span,
            why="It would never end.",
            help="Take the `use` out of the fragment's own body.",
        )
        return
    if _is_too_nested(context, statement, scope):
        return
    bindings = _bind(context, statement, fragment, scope)
    if bindings is not None:
        inner = Scope(fragment.home, bindings, fragment.name, (*scope.trail, id(fragment)))
        yield from expand(context, fragment.body, inner)


def _bind(
    context: Context, statement: Statement, fragment: Fragment, scope: Scope
) -> dict[str, Bound] | None:
    """The arguments by name, or None with errors noted."""
    found: dict[str, Bound] = {}
    left = list(fragment.params)
    is_whole = True
    for arg in statement.args or ():
        name = _parameter(context, arg, fragment, left)
        if name is None:
            is_whole = False
        elif name in found:
            is_whole = False
            _report_repeated(context, arg, name)
        else:
            found[name] = bind(arg.value, scope)
    missing = [name for name in fragment.params if name not in found]
    if missing and is_whole:
        context.findings.error(
            "missing-argument",
            f"`use {fragment.name}` lacks {listed(missing)}",
            statement.span,
            why=f"Fragment `{fragment.name}` takes {listed(fragment.params)}; none has a default.",
            help=f"Write `use {fragment.name} ({', '.join(f'{name} = …' for name in fragment.params)})`.",
        )
    return found if is_whole and not missing else None


def _parameter(context: Context, arg: Arg, fragment: Fragment, left: list[str]) -> str | None:
    """The parameter that an argument is for; positional ones take the next that is left."""
    if arg.name is None:
        if left:
            return left.pop(0)
        context.findings.error(
            "unknown-argument",
            f"fragment `{fragment.name}` takes no further argument",
            arg.span,
            why=f"It takes {listed(fragment.params) or 'none'}.",
            help="Remove the argument.",
        )
        return None
    if arg.name not in fragment.params:
        span = head(arg.span, len(arg.name))
        what = f"an argument of fragment `{fragment.name}`"
        context.findings.unknown("unknown-argument", what, arg.name, span, fragment.params)
        return None
    if arg.name in left:
        left.remove(arg.name)
    return arg.name


def _report_repeated(context: Context, arg: Arg, name: str) -> None:
    context.findings.error(
        "duplicate-argument",
        f"`{shorten(name)}` is given twice",
        arg.span,
        why="Only one of them could count.",
        help="Remove one.",
    )
