"""The fragments of a file and of those that it uses, read from beside it."""

from __future__ import annotations

from pathlib import Path

from aespec.diagnostics.diagnostic import Diagnostic, Fix, Label, Severity, TextEdit
from aespec.model.places import first_line
from aespec.resolve.context import Context, is_free
from aespec.resolve.files import FileFault, find_beside
from aespec.resolve.findings import shorten
from aespec.resolve.kinds import ID
from aespec.resolve.reading import LONGEST_NAME
from aespec.resolve.scope import Fragment, Library, iterate_names
from aespec.source import Source, Span
from aespec.syntax.nodes import Name, Statement, String, TaskSyntax

LANGUAGE_VERSION = 1
"""The version of the language that this code reads."""

MOST_FILES = 64
"""Used files in all; more is a mistake."""

DECLARATIONS = frozenset({"param", "let", "hidden", "answer", "secret"})
"""Blocks that name a value of the task (`hidden` with a text in `verify` is a file)."""


def check_version(context: Context, tree: TaskSyntax) -> None:
    """Note a missing or unknown `aes = 1`."""
    end = min(len(tree.source.text), 1)
    first = tree.statements[0].keyword_span if tree.statements else Span(tree.source, 0, end)
    found = [item for item in tree.statements if item.name == "aes" and item.label is None]
    if not found or found[0] is not tree.statements[0]:
        context.findings.error(
            "missing-version",
            "the file doesn't begin with `aes = 1`" if not found else "`aes = 1` isn't the first statement",
            found[0].keyword_span if found else first,
            why="The first line tells which version of the language the rest is in.",
            help="Write `aes = 1` as the first line.",
            fix=None if found else Fix("write it", (TextEdit(Span(tree.source, 0, 0), "aes = 1\n"),)),
        )
    for item in found[1:]:
        context.findings.error(
            "duplicate-block",
            "`aes` stands here a second time",
            item.keyword_span,
            why="A file has one version.",
            help="Remove it.",
        )
    for item in found[:1]:
        value = constant(item)
        if value != LANGUAGE_VERSION:
            context.findings.error(
                "unsupported-version",
                f"this is version {shorten(str(value))} of the language; {LANGUAGE_VERSION} is known here",
                item.span,
                why="A newer version may mean something else by the same words.",
                help=f"Write `aes = {LANGUAGE_VERSION}`, or install an aespec that knows that version.",
            )


def constant(statement: Statement) -> object:
    """The plain number of a statement's value, or its text as written."""
    from aespec.syntax.nodes import Number

    value = statement.value
    if isinstance(value, Number) and value.is_integer and not value.unit and value.number.adjusted() < 9:
        return int(value.number)
    return value.span.text if value is not None else "nothing"


def read_library(context: Context, tree: TaskSyntax, trail: tuple[Path, ...] = ()) -> Library:
    """The fragments of a tree and of the files that it uses; faults are noted."""
    library = Library()
    for statement in tree.statements:
        if statement.name == "fragment":
            _add_fragment(context, library, statement)
        elif statement.name == "use":
            _add_file(context, library, statement, tree.source, trail)
    return library


def _name_of(context: Context, statement: Statement, taken: dict[str, Span]) -> str | None:
    label = statement.label
    if not isinstance(label, Name) or len(label.parts) != 1 or not ID.fullmatch(label.text):
        context.findings.error(
            "invalid-name",
            f"`{statement.name}` is followed by a bare name",
            label.span if label else statement.keyword_span,
            why="It is made of lower-case letters, digits, `_` and `-`.",
            help=f"Write `{statement.name} NAME …`.",
        )
        return None
    if len(label.text) > LONGEST_NAME:
        return None
    what = "two fragments are called" if statement.name == "fragment" else "two files are called"
    return None if is_taken(context, label.text, label.span, taken, what) else label.text


def is_taken(context: Context, name: str, span: Span, taken: dict[str, Span], what: str) -> bool:
    """Whether a name was there before; notes it if so (`what` begins the headline), else keeps it."""
    first = taken.setdefault(name, span)
    if first is span:
        return False
    context.findings.error(
        "duplicate-name",
        f"{what} `{shorten(name)}`",
        span,
        why="A name means one thing.",
        help="Rename one of them.",
        related=(Label(first_line(first), "the first stands here"),),
    )
    return True


def _add_fragment(context: Context, library: Library, statement: Statement) -> None:
    taken = {name: fragment.span for name, fragment in library.fragments.items()}
    name = _name_of(context, statement, taken)
    params: dict[str, Span] = {}
    for arg in statement.args or ():
        if arg.name is None and isinstance(arg.value, Name) and is_free(arg.value):
            is_taken(context, arg.value.text, arg.span, params, "two arguments are called")
        else:
            _report_parameter(context, arg.span)
    if statement.body is None:
        context.findings.error(
            "wrong-form",
            "`fragment` takes a body in braces",
            statement.keyword_span,
            why="It holds the statements to be used again.",
            help="Write `fragment NAME (a, b) { … }`.",
        )
        return
    _refuse_declarations(context, statement.body)
    if name is not None and isinstance(statement.label, Name):
        span = statement.label.span
        library.fragments[name] = Fragment(name, tuple(params), statement.body, library, span)
        _note_idle_parameters(context, name, params, statement.body)


def _note_idle_parameters(
    context: Context, name: str, params: dict[str, Span], body: tuple[Statement, ...]
) -> None:
    named = set(iterate_names(body)) if params else set()
    for param, span in params.items():
        if param not in named:
            context.findings.add(
                Diagnostic(
                    "unused-argument",
                    Severity.WARNING,
                    f"fragment `{shorten(name)}` never uses its argument `{shorten(param)}`",
                    span,
                    why="Whoever uses the fragment has to give it, and it changes nothing.",
                    help="Use it, or remove it, here and where the fragment is used.",
                )
            )


def _report_parameter(context: Context, span: Span) -> None:
    context.findings.error(
        "invalid-name",
        "an argument of a fragment is a bare name that means nothing else",
        span,
        why="Arguments have no default and no type of their own.",
        help="Write `fragment NAME (a, b) { … }`.",
    )


def _refuse_declarations(context: Context, body: tuple[Statement, ...]) -> None:
    for statement in body:
        is_file = statement.name == "hidden" and isinstance(statement.label, String)
        if statement.name in DECLARATIONS and statement.label is not None and not is_file:
            context.findings.error(
                "not-in-fragment",
                f"a fragment can't declare `{statement.name}`",
                statement.keyword_span,
                why="Values belong to the task, where a reader looks for them; a fragment is given them.",
                help="Declare it in the task and pass it as an argument.",
            )


def _add_file(
    context: Context, library: Library, statement: Statement, source: Source, trail: tuple[Path, ...]
) -> None:
    if statement.value is None:
        context.findings.error(
            "wrong-form",
            "outside of a body, `use` brings another file",
            statement.keyword_span,
            why="Fragments are used where their statements are to stand.",
            help='Write `use NAME = "file.aes"`.',
        )
        return
    name = _name_of(context, statement, dict.fromkeys(library.files, statement.keyword_span))
    if not isinstance(statement.value, String):
        context.findings.error(
            "wrong-type",
            "the file to use is a quoted text",
            statement.value.span,
            why="It is the name of a file beside this one.",
            help='Write `use NAME = "file.aes"`.',
        )
        return
    tree = _read_used(context, statement.value, source, trail)
    if tree is not None and name is not None:
        path = tree.source.path
        library.files[name] = read_library(context, tree, (*trail, path) if path else trail)


def _read_used(context: Context, name: String, source: Source, trail: tuple[Path, ...]) -> TaskSyntax | None:
    from aespec.syntax import parse, read_source

    found = find_beside(source.path.parent if source.path else None, name.value)
    if isinstance(found, FileFault):
        report_file(context, found, name.value, name.span)
        return None
    own = source.path.resolve() if source.path else found
    context.files_used += 1
    if found in trail or found == own or context.files_used > MOST_FILES:
        context.findings.error(
            "file-cycle",
            f"`{shorten(name.value)}` is used by a file that it uses itself",
            name.span,
            why="Files that use each other in a circle would never end.",
            help="Move the fragments that both need into a third file.",
        )
        return None
    text, faults = read_source(found, name=name.value)
    context.findings.extend(faults)
    if text is None:
        return None
    tree, faults = parse(text)
    context.findings.extend(faults)
    check_version(context, tree)
    for statement in tree.statements:
        if statement.name not in {"aes", "use", "fragment"}:
            context.findings.error(
                "misplaced-block",
                f"a used file holds fragments, not `{shorten(statement.name)}`",
                statement.keyword_span,
                why="Only its fragments are taken; what else it says would be lost without a word.",
                help="Move it into the file of the task.",
            )
    return tree


def report_file(context: Context, fault: FileFault, name: str, span: Span) -> None:
    """Note why a file beside the spec can't be used."""
    context.findings.error(
        fault.slug,
        f"the file `{shorten(name)}` {fault.text}",
        span,
        why="A spec and what lies beside it are all that a task is made of.",
        help=fault.help,
    )
