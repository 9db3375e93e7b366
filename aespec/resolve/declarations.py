"""Declared values: parameters, computed values and secrets, and the programs that compute them."""

from __future__ import annotations

import keyword

from aespec.model.expressions import Expr, Kind, Program, Ref, Text, iterate_refs
from aespec.model.task import Computed, Declaration, Param, Secret
from aespec.resolve.blocks import BLOCKS
from aespec.resolve.context import Context, Declared
from aespec.resolve.expressions import resolve_value, type_of
from aespec.resolve.findings import listed, shorten
from aespec.resolve.generators import drawn_type, resolve_generator
from aespec.resolve.kinds import BAD
from aespec.resolve.library import is_taken
from aespec.resolve.paths import static_path, written_below
from aespec.resolve.programs import GIVEN, LABELLED, Mention, ProgramFault, ProgramNames, read_program
from aespec.resolve.reading import Item, Reading, convert_label, read
from aespec.resolve.scope import Scope, dereference
from aespec.resolve.texts import place_span
from aespec.source import Span
from aespec.syntax.nodes import Heredoc, Value

BLOCK_OF = {
    "task.param": Kind.PARAM,
    "task.let": Kind.LET,
    "task.hidden": Kind.HIDDEN,
    "task.answer": Kind.ANSWER,
    "task.secret": Kind.SECRET,
}
"""Blocks that declare a value."""

MOST_VALUES = 1000
"""Declared values of a task; what follows them from one to the next takes time that grows faster."""

_PYTHON_WORDS = frozenset(keyword.kwlist)


def declare(context: Context, items: list[Item]) -> None:
    """Note every declared name, so that the order of statements doesn't matter."""
    taken: dict[str, Span] = {}
    for item in items:
        kind = BLOCK_OF[item.id]
        if item.statement.label is None:
            continue
        value, scope = dereference(item.statement.label, item.scope)
        before = len(context.findings)
        found = convert_label(context, value, BLOCKS[item.id], scope)
        # The reading of the statement itself notes a bad name again, and repeats are dropped.
        if found is BAD or not isinstance(found, str) or len(context.findings) > before:
            continue
        if found in _PYTHON_WORDS or found in GIVEN:
            context.findings.error(
                "invalid-name",
                f"`{found}` is not well formed as the name of a value",
                value.span,
                why="Programs find values under their names, and this name is taken there.",
                help=f"Rename it, such as `{found}_`.",
            )
        elif not is_taken(context, f"{kind.value}.{found}", value.span, taken, "two values are called"):
            context.values[(kind, found)] = Declared(value.span)
            if len(context.values) == MOST_VALUES + 1:
                _report_many(context, value.span)


def _report_many(context: Context, span: Span) -> None:
    context.findings.error(
        "too-large",
        f"the task declares more than {MOST_VALUES} values",
        span,
        why="Each is followed through all that it is made of.",
        help="Let one program emit a list or an object of them.",
    )


def resolve_declarations(context: Context, items: list[Item]) -> tuple[Declaration, ...]:
    """The declarations in the order written; generators first, since their types are known to the rest."""
    found: dict[int, Declaration] = {}
    early = ("task.param", "task.secret")
    order = sorted(range(len(items)), key=lambda index: items[index].id not in early)
    for index in order:
        item = items[index]
        reading = read(context, item.statement, BLOCKS[item.id], item.scope)
        made = _generated(context, item, reading) if item.id in early else _computed(context, item, reading)
        if made is not None:
            found[index] = made
    return tuple(found[index] for index in sorted(found))


def _generated(context: Context, item: Item, reading: Reading) -> Declaration | None:
    kind = BLOCK_OF[item.id]
    value = item.statement.value
    call = resolve_generator(context, value, item.scope) if value is not None else None
    if not isinstance(reading.label, str) or call is None:
        return None
    declared = context.values.get((kind, reading.label))
    if declared is not None:
        declared.type = drawn_type(context, call)
    make = Param if kind is Kind.PARAM else Secret
    return make(reading.label, call, span=reading.span)


def _computed(context: Context, item: Item, reading: Reading) -> Computed | None:
    kind, statement = BLOCK_OF[item.id], item.statement
    refs, reads = split_sources(reading)
    body: Expr | Program | None = None
    if statement.heredoc is not None:
        body = resolve_program(context, statement.heredoc, refs, item.scope, must_emit=True)
    elif isinstance(statement.value, Heredoc):
        _refuse_text_value(context, reading)
    elif statement.value is not None:
        body = _plain(context, statement.value, reading)
    if body is None or not isinstance(reading.label, str):
        return None
    declared = context.values.get((kind, reading.label))
    if declared is not None and not isinstance(body, Program):
        declared.type = type_of(context, body)
    return Computed(kind, reading.label, body, reads, span=reading.span)


def _refuse_text_value(context: Context, reading: Reading) -> None:
    context.findings.error(
        "wrong-form",
        f"a program of `{reading.block.keyword}` follows its name without `=`",
        reading.span,
        why="`= value` is a value, a text after the name is a program.",
        help=f"Write `{reading.block.keyword} NAME <<<python`.",
    )


def _plain(context: Context, value: Value, reading: Reading) -> Expr | None:
    if "from" in reading.given:
        context.findings.error(
            "unknown-argument",
            "`from` is for programs",
            reading.given["from"],
            why="A value names what it needs itself.",
            help="Remove `from`, or write a program.",
        )
    return resolve_value(context, value, reading.scope)


def split_sources(reading: Reading) -> tuple[tuple[Ref, ...], tuple[Text, ...]]:
    """The values and the paths of `from`."""
    sources = reading.get("from", tuple) or ()
    refs = tuple(item for item in sources if isinstance(item, Ref))
    return refs, tuple(item for item in sources if isinstance(item, Text))


def resolve_program(
    context: Context, heredoc: Heredoc, sources: tuple[Ref, ...], scope: Scope, *, must_emit: bool
) -> Program | None:
    """A Python program with the values that it uses; None, with an error noted, for one that is none."""
    _check_sources(context, sources)
    if heredoc.tag != "python":
        return None
    names = read_program(heredoc.text)
    if isinstance(names, ProgramFault):
        from aespec.resolve.program_faults import report_fault

        report_fault(context, heredoc, names, "program")
        return None
    if must_emit and "emit" not in names.loaded:
        context.findings.error(
            "program-without-emit",
            "the program never emits its value",
            Span(
                heredoc.span.source, heredoc.span.start, heredoc.span.start + heredoc.level + len(heredoc.tag)
            ),
            why="`emit(value)` gives the value back; what it prints is lost.",
            help="Add `emit(value)`, once.",
        )
    uses = _uses(context, heredoc, names, sources, scope)
    return Program("python", heredoc.text, uses, span=heredoc.span)


def _check_sources(context: Context, sources: tuple[Ref, ...]) -> None:
    """Each value of `from` is found under its own name, which must be free."""
    seen: dict[str, Ref] = {}
    for ref in sources:
        if ref.path:
            _refuse_source(context, ref, "a part of a value can't be given", "Name the whole value.")
        elif ref.name in GIVEN:
            _refuse_source(context, ref, f"`{ref.name}` has a meaning of its own in programs", "Rename it.")
        elif ref.name in seen:
            text = f"two values are called `{ref.name}` in this program"
            _refuse_source(context, ref, text, "Rename one of them.")
        seen[ref.name] = ref


def _refuse_source(context: Context, ref: Ref, headline: str, help: str) -> None:
    context.findings.error(
        "duplicate-name", headline, ref.span, why="A program finds each value under its own name.", help=help
    )


def _uses(
    context: Context, heredoc: Heredoc, names: ProgramNames, sources: tuple[Ref, ...], scope: Scope
) -> tuple[Ref, ...]:
    found: dict[tuple[Kind, str], Ref] = {(ref.kind, ref.name): ref for ref in sources}
    for mention in names.mentions:
        ref = _mentioned(context, heredoc, mention, names, scope)
        if ref is not None:
            found.setdefault((ref.kind, ref.name), ref)
    for prefix in names.whole - names.bound:
        kind = Kind.PARAM if prefix == "p" else Kind.LET
        for name in context.names(kind) if not scope.fragment else ():
            context.values[(kind, name)].is_used = True
            found.setdefault((kind, name), Ref(kind, name, span=heredoc.span))
    return tuple(found.values())


_METHODS = frozenset({"items", "keys", "values", "get"})


def _mentioned(
    context: Context, heredoc: Heredoc, mention: Mention, names: ProgramNames, scope: Scope
) -> Ref | None:
    """The value that a dotted name of a program stands for; None for a variable of the program's own."""
    is_own = mention.prefix in names.bound
    kind = Kind.PARAM if mention.prefix == "p" else Kind(mention.prefix)
    if is_own and (mention.prefix in LABELLED or (kind, mention.name) not in context.values):
        return None
    if mention.name in _METHODS and (kind, mention.name) not in context.values:
        names.whole.add(mention.prefix)
        return None
    span = place_span(heredoc, mention.start, mention.end)
    if mention.prefix in LABELLED:
        _report_not_given(context, mention, span)
        return None
    return context.reference((mention.prefix, mention.name), span, scope)


def _report_not_given(context: Context, mention: Mention, span: Span) -> None:
    context.findings.error(
        "not-in-from",
        f"the program names `{mention.prefix}.{mention.name}`, which it isn't given",
        span,
        why="Hidden values, answers and secrets enter a program through `from`, so that their way is seen.",
        help=f"Add it to `from = [{mention.prefix}.{mention.name}]` and write `{mention.name}` here.",
    )


def check_cycles(
    context: Context, declarations: tuple[Declaration, ...], made: dict[str, tuple[Ref, ...]]
) -> None:
    """Note values that need themselves. `made` tells for each path of setup what its step is made of."""
    table = {_key(item): _needs(item, made) for item in declarations}
    state: dict[tuple[Kind, str], int] = {}
    for key in table:
        if key not in state:
            _walk(context, key, table, state)


def _key(item: Declaration) -> tuple[Kind, str]:
    if isinstance(item, Param):
        return Kind.PARAM, item.name
    return (Kind.SECRET, item.name) if isinstance(item, Secret) else (item.kind, item.name)


def _needs(item: Declaration, made: dict[str, tuple[Ref, ...]]) -> tuple[Ref, ...]:
    if not isinstance(item, Computed):
        return tuple(iterate_refs(item.generator))
    refs = list(item.body.uses if isinstance(item.body, Program) else iterate_refs(item.body))
    for text in item.reads:
        path = static_path(text)
        for written, uses in made.items():
            if path is not None and written_below(path, [written]):
                refs.extend(Ref(ref.kind, ref.name, span=text.span) for ref in uses)
    return tuple(refs)


def _walk(
    context: Context,
    start: tuple[Kind, str],
    table: dict[tuple[Kind, str], tuple[Ref, ...]],
    state: dict[tuple[Kind, str], int],
) -> None:
    """Depth first without recursion: 1 is on the way, 2 is done."""
    trail = [start]
    iterators = [iter(table[start])]
    state[start] = 1
    while iterators:
        ref = next(iterators[-1], None)
        if ref is None:
            state[trail.pop()] = 2
            iterators.pop()
            continue
        key = (ref.kind, ref.name)
        if state.get(key) == 1:
            _report_cycle(context, ref, [*trail[trail.index(key) :], key])
        elif key in table and key not in state:
            state[key] = 1
            trail.append(key)
            iterators.append(iter(table[key]))


def _report_cycle(context: Context, ref: Ref, trail: list[tuple[Kind, str]]) -> None:
    names = [f"{kind.value}.{name}" for kind, name in trail]
    by_file = f", by way of {shorten(ref.span.text)}" if ref.span.text.startswith(('"', "'")) else ""
    context.findings.error(
        "value-cycle",
        f"`{names[0]}` needs itself",
        ref.span,
        why=f"The way round: {' → '.join(names)}{by_file}.",
        help=f"Take one of {listed(dict.fromkeys(names))} out of the circle.",
    )
