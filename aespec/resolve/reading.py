"""Reads one statement by the table of blocks: label, arguments, attributes, and what its body holds."""

from __future__ import annotations

from dataclasses import field
from typing import TypeVar

from aespec.diagnostics.diagnostic import Label
from aespec.model.expressions import Text
from aespec.model.places import head
from aespec.records import dataclass
from aespec.resolve.blocks import BLOCKS, EXPANDED, LANGUAGES, RESERVED_WORDS, places_of
from aespec.resolve.context import Context
from aespec.resolve.converters import CONVERTERS, convert
from aespec.resolve.expansion import expand
from aespec.resolve.findings import listed, shorten, suggest
from aespec.resolve.kinds import ACCOUNT, BAD, FILE_NAME, ID, IDENTIFIER, TASK_NAME, matching
from aespec.resolve.schema import Block, Field
from aespec.resolve.scope import Scope, dereference
from aespec.resolve.signatures import find_signature, signature_names
from aespec.resolve.texts import resolve_text
from aespec.source import Span
from aespec.syntax.nodes import Arg, Heredoc, Name, Statement, String, Value

T = TypeVar("T")
CLAIM = "claim"
"""The id of an item that is a predicate."""

LONGEST_NAME = 64
"""Characters of a name; it becomes part of ids, image tags and folder names, which hold no more than 128."""


@dataclass(frozen=True, slots=True)
class Item:
    """A statement of a body: the id of its block, or CLAIM."""

    id: str
    statement: Statement
    scope: Scope


@dataclass(slots=True)
class Reading:
    """A statement after its block's table. `values` has arguments and attributes, with their defaults."""

    statement: Statement
    block: Block
    scope: Scope
    label: object = None
    sentence: Text | None = None
    values: dict[str, object] = field(default_factory=dict)
    given: dict[str, Span] = field(default_factory=dict)
    items: list[Item] = field(default_factory=list)
    is_whole: bool = True

    @property
    def span(self) -> Span:
        """Where it stands."""
        return self.statement.span

    def get(self, name: str, kind: type[T]) -> T | None:
        """The value of that name if it is of that type, else None."""
        value = self.values.get(name)
        return value if isinstance(value, kind) else None

    def need(self, name: str, kind: type[T]) -> T:
        """The value of a field with a default, of which the table says that it has that type."""
        value = self.values[name]
        if not isinstance(value, kind):
            raise TypeError(f"{self.block.id}: {name} is {value!r}, not {kind.__name__}")
        return value

    def named(self, block_id: str) -> list[Item]:
        """The items of one kind."""
        return [item for item in self.items if item.id == block_id]


def read(context: Context, statement: Statement, block: Block, scope: Scope) -> Reading:
    """Read a statement; whatever is wrong is noted, and what remains is still there to go on with."""
    reading = Reading(statement, block, scope)
    errors = len(context.findings)
    _check_tail(context, reading)
    _read_label(context, reading)
    _read_sentence(context, reading)
    if not block.is_open_call:
        read_arguments(context, reading)
    if statement.body is not None and not block.is_open_call:
        _read_body(context, reading)
    _fill(context, reading)
    reading.is_whole = len(context.findings) == errors
    return reading


def _tail(statement: Statement) -> str:
    if statement.body is not None:
        return "body"
    if statement.heredoc is not None:
        return "heredoc"
    return "value" if statement.value is not None else "none"


_FORMS = {
    "body": "a body in braces",
    "heredoc": "a text (`<<<tag` … `>>>`)",
    "value": "`=` and a value",
    "none": "nothing after it",
    "call": "arguments in parentheses and nothing else",
}


def _check_tail(context: Context, reading: Reading) -> None:
    statement, block = reading.statement, reading.block
    tail = _tail(statement)
    wanted = tuple("none" if item == "call" else item for item in block.tails)
    if tail in wanted and not (block.tails == ("call",) and statement.args is None):
        if statement.heredoc is not None:
            check_language(context, statement.heredoc, block)
        return
    forms = " or ".join(_FORMS[item] for item in block.tails)
    context.findings.error(
        "wrong-form",
        f"`{block.keyword}` takes {forms}",
        statement.keyword_span,
        why=block.doc,
        help=f"Write `{block.example}`." if block.example else f"Write `{block.keyword}` with {forms}.",
    )


_SHELLS = frozenset({"bash", "shell", "zsh", "dash", "ksh"})


def check_language(context: Context, heredoc: Heredoc, block: Block) -> None:
    """Note a tag that the block doesn't take, or that nobody knows."""
    allowed = block.languages or LANGUAGES
    if heredoc.tag in allowed or (heredoc.tag == "" and not block.languages):
        return
    span = Span(
        heredoc.span.source, heredoc.span.start, heredoc.span.start + heredoc.level + len(heredoc.tag)
    )
    tag = heredoc.tag or "no tag"
    nearest = suggest(heredoc.tag, allowed)
    if block.languages:
        is_shell = heredoc.tag.lower() in _SHELLS and "sh" in allowed
        meant = "sh" if is_shell else nearest
        fitting = [meant] if meant else [name for name in block.languages if name and name != "ui"]
        way_out = f"Write {listed(f'<<<{name}' for name in fitting).replace(' and ', ' or ')}."
    else:
        way_out = f"Write `<<<{nearest}`." if nearest else "Write `<<<text`, which fits everything."
    context.findings.error(
        "unknown-language",
        f"`{shorten(tag)}` is not a language for `{block.keyword}`",
        span,
        why="The tag tells what runs the text, or how values are quoted in it.",
        help=way_out,
    )


def _read_label(context: Context, reading: Reading) -> None:
    statement, block = reading.statement, reading.block
    label = statement.label
    if not block.label:
        if label is not None:
            _refuse_label(context, reading, label.span)
        return
    if label is None:
        context.findings.error(
            "missing-argument",
            f"`{block.keyword}` lacks its {_LABELS.get(block.label, 'name')}",
            statement.keyword_span,
            why=block.doc,
            help=f"Write `{block.example}`." if block.example else f"Write `{block.keyword} …` with it.",
        )
        return
    value, scope = dereference(label, reading.scope)
    found = convert_label(context, value, block, scope)
    reading.label = None if found is BAD else found


_LABELS = {
    "text": "name in quotes",
    "setup-path": "path in quotes",
    "setup-path-or-folder": "path in quotes",
    "repo-path": "path in quotes",
    "file-name": "file name in quotes",
    "account-name": "account name",
    "secret": "secret",
}


def _refuse_label(context: Context, reading: Reading, span: Span) -> None:
    block = reading.block
    if block.args:
        way_out = f"Write `{block.example or block.keyword + '(…)'}`: what it needs stands in parentheses."
    else:
        way_out = "Remove it."
    context.findings.error("wrong-form", f"`{block.keyword}` has no name", span, why=block.doc, help=way_out)


_PATTERNS = {
    "value-name": (IDENTIFIER, "lower-case letters, digits and `_`, so that programs can write `p.name`"),
    "name": (ID, "lower-case letters, digits, `_` and `-`"),
    "id": (ID, "lower-case letters, digits, `_` and `-`"),
    "task-name": (TASK_NAME, "lower-case letters and digits, `-` between them"),
    "account-name": (ACCOUNT, "a lower-case letter, then lower-case letters, digits, `_` and `-`, 32 in all"),
    "file-name": (FILE_NAME, "letters, digits, `_`, `.`, `-`, and `/` between parts"),
}
_IN_QUOTES = ("task-name", "file-name", "text")


def convert_label(context: Context, value: Value, block: Block, scope: Scope) -> object:
    """What follows the keyword, by the kind of label that the block has."""
    kind = block.label
    field = Field(f"{_LABELS.get(kind, 'name').split(' in ')[0]} of {block.keyword}", kind, block.doc)
    if kind in CONVERTERS and kind != "account-name":
        if kind == "text" and not isinstance(value, String):
            return _wrong_label(context, block, value, "a name in quotes")
        return convert(context, value, field, scope)
    pattern, what = _PATTERNS[kind]
    if kind in _IN_QUOTES:
        if not isinstance(value, String):
            return _wrong_label(context, block, value, "a name in quotes")
        text = value.value
    elif isinstance(value, Name) and len(value.parts) == 1:
        text = value.parts[0]
    elif isinstance(value, String) and kind == "account-name":
        text = value.value
    else:
        return _wrong_label(context, block, value, "a bare name")
    if len(text) > LONGEST_NAME:
        return _wrong_label(context, block, value, f"a name of at most {LONGEST_NAME} characters")
    return matching(context, text, pattern, what, field, value.span)


def _wrong_label(context: Context, block: Block, value: Value, wanted: str) -> object:
    context.findings.error(
        "wrong-form",
        f"`{block.keyword}` is followed by {wanted}",
        value.span,
        why=block.doc,
        help=f"Write `{block.example}`." if block.example else f"Write {wanted}.",
    )
    return BAD


def _read_sentence(context: Context, reading: Reading) -> None:
    statement, block = reading.statement, reading.block
    sentence = statement.sentence
    if block.sentence and sentence is None:
        context.findings.error(
            "missing-argument",
            f"`{block.keyword}` lacks its sentence",
            statement.keyword_span,
            why=block.doc,
            help=f"Write `{block.example}`.",
        )
    elif not block.sentence and sentence is not None:
        context.findings.error(
            "wrong-form",
            f"`{block.keyword}` takes no sentence",
            sentence.span,
            why=block.doc,
            help="Remove it; sentences for the solver stand in `says` and `rule`.",
        )
    elif sentence is not None:
        reading.sentence = resolve_text(context, sentence, reading.scope, slots="refuse")


def read_arguments(context: Context, reading: Reading) -> None:
    """Bind the arguments: positional ones in order where the statement has no label."""
    block = reading.block
    left = [] if block.label else [item.name for item in block.args]
    for arg in reading.statement.args or ():
        name = left[0] if arg.name is None and left else arg.name
        if name is None:
            _refuse_positional(context, arg, block)
            continue
        parameter = block.arg(name)
        if parameter is None:
            _unknown_argument(context, arg, name, block)
            continue
        if name in left:
            left.remove(name)
        _take(context, reading, parameter, arg.value, arg.span)


def _refuse_positional(context: Context, arg: Arg, block: Block) -> None:
    names = listed(item.name for item in block.args)
    context.findings.error(
        "unknown-argument",
        f"`{block.keyword}` takes no {'further ' if not block.label else ''}argument without a name",
        arg.span,
        why=f"Its arguments are {names}." if names else "It takes none.",
        help="Write `name = value`." if names else "Remove it.",
    )


def _unknown_argument(context: Context, arg: Arg, name: str, block: Block) -> None:
    if block.field(name) is not None:
        context.findings.error(
            "wrong-form",
            f"`{name}` stands in the body of `{block.keyword}`, not in its parentheses",
            arg.span,
            why=block.doc,
            help=f"Write `{block.keyword} {{ {name} = … }}`.",
        )
        return
    known = [item.name for item in block.args]
    span = head(arg.span, len(name))
    context.findings.unknown("unknown-argument", f"an argument of `{block.keyword}`", name, span, known)


def _take(context: Context, reading: Reading, parameter: Field, value: Value, span: Span) -> None:
    """Convert a value and keep it under its name, which may come once."""
    first = reading.given.get(parameter.name)
    if first is not None:
        context.findings.error(
            "duplicate-argument",
            f"`{parameter.name}` is given twice",
            span,
            why="Only one of them could count.",
            help="Remove one.",
            related=(Label(first, "the first stands here"),),
        )
        return
    reading.given[parameter.name] = span
    found = convert(context, value, parameter, reading.scope)
    if found is not BAD:
        reading.values[parameter.name] = found


def _fill(context: Context, reading: Reading) -> None:
    """Defaults, and what is missing."""
    block = reading.block
    for parameter in (*block.args, *block.attributes):
        if parameter.name in reading.given:
            if parameter.name not in reading.values:
                reading.values[parameter.name] = parameter.default
            continue
        reading.values[parameter.name] = parameter.default
        if parameter.is_required:
            context.findings.error(
                "missing-argument" if parameter in block.args else "missing-attribute",
                f"`{block.keyword}` lacks `{parameter.name}`",
                reading.statement.keyword_span,
                why=parameter.doc,
                help=_addition(block, parameter),
            )


def _addition(block: Block, parameter: Field) -> str:
    if parameter in block.args and block.example:
        return f"Add `{parameter.name} = …`, as in `{block.example}`."
    return f"Add `{parameter.name} = …` to `{block.keyword}`."


def _read_body(context: Context, reading: Reading) -> None:
    seen: dict[str, Span] = {}
    for statement, scope in expand(context, reading.statement.body or (), reading.scope):
        item = _classify(context, reading, statement, scope)
        if item is None:
            continue
        if item.id != CLAIM and BLOCKS[item.id].times in {"once", "needed"}:
            first = seen.setdefault(item.id, statement.keyword_span)
            if first is not statement.keyword_span:
                _report_second(context, statement, first)
                continue
        reading.items.append(item)
    for child in reading.block.children:
        needed = BLOCKS[child].times
        if needed in {"needed", "some"} and not reading.named(child):
            _report_missing(context, reading, BLOCKS[child])


def _report_second(context: Context, statement: Statement, first: Span) -> None:
    context.findings.error(
        "duplicate-block",
        f"`{statement.name}` stands here a second time",
        statement.keyword_span,
        why="There is one of it.",
        help="Join the two.",
        related=(Label(first, "the first stands here"),),
    )


def _report_missing(context: Context, reading: Reading, child: Block) -> None:
    context.findings.error(
        "missing-block",
        f"`{reading.block.keyword}` has no `{child.keyword}`",
        reading.statement.keyword_span,
        why=child.doc,
        help=f"Add `{child.example or opening(child)}`.",
    )


_OPENINGS = {"body": " { … }", "heredoc": " <<<{tag} … >>>", "value": " = …", "call": "(…)", "none": ""}


def opening(block: Block) -> str:
    """How a block is written, as far as every one of its kind is."""
    quoted = block.label in {*_IN_QUOTES, "account-name"} or "path" in block.label
    label = "" if not block.label else ' "…"' if quoted else " NAME"
    tag = block.languages[0] if block.languages else "text"
    return f"{block.keyword}{label}{_OPENINGS[block.tails[0]].replace('{tag}', tag)}"


def _classify(context: Context, reading: Reading, statement: Statement, scope: Scope) -> Item | None:
    """What a statement of a body is; attributes are taken at once."""
    block, name = reading.block, statement.name
    parameter = block.field(name)
    child = block.children_by_keyword.get(name)
    if parameter is not None and (child is None or statement.value is not None):
        _read_attribute(context, reading, parameter, statement, scope)
        return None
    if child is not None:
        return Item(child, statement, scope)
    if block.takes_predicates and find_signature(name) is not None:
        return Item(CLAIM, statement, scope)
    report_unknown(context, block, statement)
    return None


def _read_attribute(
    context: Context, reading: Reading, parameter: Field, statement: Statement, scope: Scope
) -> None:
    value = statement.value if statement.value is not None else statement.heredoc
    is_plain = statement.label is None and statement.args is None and statement.sentence is None
    if value is None or not is_plain:
        context.findings.error(
            "wrong-form",
            f"`{parameter.name}` is an attribute",
            statement.keyword_span,
            why=parameter.doc,
            help=f"Write `{parameter.name} = …`.",
        )
        reading.given.setdefault(parameter.name, statement.keyword_span)
        return
    outer, reading.scope = reading.scope, scope
    _take(context, reading, parameter, value, statement.keyword_span)
    reading.scope = outer


def report_unknown(context: Context, block: Block, statement: Statement) -> None:
    """Note a statement that can't stand in a block: reserved, misplaced, or unknown with a suggestion."""
    name, span = statement.name, statement.keyword_span
    if name in RESERVED_WORDS:
        context.findings.error(
            "reserved-word",
            f"`{name}` is reserved",
            span,
            why=f"{RESERVED_WORDS[name].capitalize()}.",
            help="Remove it.",
        )
        return
    own = {item.name for item in block.attributes} | set(block.children_by_keyword)
    known = own | set(EXPANDED) | (set(signature_names()) if block.takes_predicates else set())
    places = places_of(name)
    elsewhere = "check" if find_signature(name) is not None and not block.takes_predicates else ""
    if (places or elsewhere) and suggest(name, own) is None:
        where = listed([BLOCKS[place].keyword for place in places] or [elsewhere])
        context.findings.error(
            "misplaced-block",
            f"`{name}` can't stand in `{block.keyword}`",
            span,
            why=f"It stands in {where}.",
            help=f"Move it into {where}.",
        )
        return
    is_call = statement.args is not None and _tail(statement) == "none" and statement.label is None
    if block.takes_predicates and is_call:
        context.findings.unknown("unknown-predicate", "a predicate", name, span, known)
    elif statement.value is not None and statement.label is None:
        context.findings.unknown("unknown-attribute", f"an attribute of `{block.keyword}`", name, span, known)
    else:
        context.findings.unknown("unknown-block", f"a block of `{block.keyword}`", name, span, known)
