"""A whole file to a task."""

from __future__ import annotations

from aespec import domains
from aespec.diagnostics.diagnostic import Diagnostic, Label, Severity
from aespec.domains import Domain
from aespec.model.task import Allow, Computed, Limits, Meta, Step, Task
from aespec.resolve.blocks import BLOCKS, EXPANDED
from aespec.resolve.context import Context
from aespec.resolve.declarations import BLOCK_OF, check_cycles, declare, resolve_declarations
from aespec.resolve.examples import read_examples, read_script
from aespec.resolve.findings import shorten
from aespec.resolve.library import check_version, read_library
from aespec.resolve.reading import Item, Reading, read, report_unknown
from aespec.resolve.scope import Library, Scope
from aespec.resolve.setup import check_reads, made_from, read_setup
from aespec.resolve.texts import resolve_text
from aespec.resolve.verify import declare_checks, read_verify
from aespec.source import Span
from aespec.syntax.nodes import Statement, TaskSyntax

FALLBACK_BASE = "debian:bookworm-slim"
"""The base where the domain is unknown; such a task has an error and isn't built."""


def resolve(tree: TaskSyntax) -> tuple[Task | None, tuple[Diagnostic, ...]]:
    """The task that a tree means, or None and what is wrong with it.

    Reads assets and used files beside `tree.source.path`, never outside of that folder. Never raises on a
    tree; without an error among the diagnostics there is a task.
    """
    context = Context(tree.source)
    check_version(context, tree)
    library = read_library(context, tree)
    scope = Scope(library)
    statement = _only_task(context, tree)
    task = _task(context, statement, scope) if statement is not None else None
    if not context.findings.has_errors:
        _note_unused(context, library)
    found = context.findings.sorted()
    return (None if context.findings.has_errors else task), found


def _only_task(context: Context, tree: TaskSyntax) -> Statement | None:
    tasks = []
    for statement in tree.statements:
        if statement.name == "task":
            tasks.append(statement)
        elif statement.name not in {"aes", "fragment", "use"}:
            report_unknown(context, BLOCKS["file"], statement)
    for extra in tasks[1:]:
        context.findings.error(
            "second-task",
            "a file holds one task",
            extra.keyword_span,
            why="A spec's file, lock and certificate belong to one task.",
            help='Move it into a file of its own; share fragments by `use NAME = "file.aes"`.',
            related=(Label(tasks[0].keyword_span, "the first stands here"),),
        )
    if not tasks:
        end = len(tree.source.text)
        context.findings.error(
            "missing-task",
            "the file has no task",
            Span(tree.source, max(0, end - 1), end),
            why="A spec describes exactly one task.",
            help='Add `task "name" { … }`.',
        )
    return tasks[0] if tasks else None


def _task(context: Context, statement: Statement, scope: Scope) -> Task | None:
    reading = read(context, statement, BLOCKS["file.task"], scope)
    values = [item for item in reading.items if item.id in BLOCK_OF]
    declare(context, values)
    verify_reading = _child(context, reading, "task.verify")
    if verify_reading is not None:
        declare_checks(context, verify_reading)
    domain = _domain(context, reading)
    declarations = resolve_declarations(context, values)
    setup_reading = _child(context, reading, "task.setup")
    setup = read_setup(context, setup_reading, domain.image if domain else FALLBACK_BASE)
    check_cycles(context, declarations, made_from(setup))
    reads = tuple(text for item in declarations if isinstance(item, Computed) for text in item.reads)
    if not context.findings.has_errors:
        check_reads(context, reads, setup)
    step = _step(context, reading, verify_reading)
    meta, limits, allows = _meta(context, reading), _limits(context, reading), _allows(context, reading)
    if step is None or not isinstance(reading.label, str):
        return None
    return Task(
        name=reading.label,
        domain=reading.get("domain", str) or "",
        title=reading.get("title", str) or "",
        setup=setup,
        steps=(step,),
        meta=meta,
        limits=limits,
        declarations=declarations,
        allows=allows,
        source=statement.span.source,
        span=statement.span,
    )


def _child(context: Context, reading: Reading, block_id: str) -> Reading | None:
    for item in reading.named(block_id):
        return read(context, item.statement, BLOCKS[block_id], item.scope)
    return None


def _domain(context: Context, reading: Reading) -> Domain | None:
    name = reading.get("domain", str)
    if name is None:
        return None
    domain, faults = domains.find(name)
    context.findings.extend(faults)
    if domain is None and not faults:
        span = next((item.value.span for item in _attributes(reading, "domain") if item.value), reading.span)
        context.findings.unknown("unknown-domain", "a domain", name, span, set(domains.names()))
    return domain


def _attributes(reading: Reading, name: str) -> list[Statement]:
    return [item for item in reading.statement.body or () if item.name == name]


def _step(context: Context, reading: Reading, verify_reading: Reading | None) -> Step | None:
    verify = read_verify(context, verify_reading) if verify_reading is not None else None
    instruction = _child(context, reading, "task.instruction")
    oracle_reading = _child(context, reading, "task.oracle")
    oracle = read_script(context, oracle_reading) if oracle_reading is not None else None
    text = None
    if instruction is not None and instruction.statement.heredoc is not None:
        text = resolve_text(context, instruction.statement.heredoc, instruction.scope, slots="take")
        if not instruction.statement.heredoc.text.strip():
            _report_empty(context, instruction.statement)
    if verify is None:
        return None
    kinds = ("task.accept", "task.reject", "task.partial")
    items: list[Item] = [item for item in reading.items if item.id in kinds]
    examples = read_examples(context, items, verify, oracle)
    if text is None or oracle is None or instruction is None:
        return None
    return Step(
        text,
        oracle,
        verify,
        tuple(item for item in examples if item.kind == "accept"),
        tuple(item for item in examples if item.kind == "reject"),
        tuple(item for item in examples if item.kind == "partial"),
        instruction_span=instruction.span,
    )


def _report_empty(context: Context, statement: Statement) -> None:
    context.findings.error(
        "empty-text",
        "the instruction is empty",
        statement.keyword_span,
        why="It is what the solver reads first.",
        help="Say what the situation is; the checks' sentences follow it.",
    )


def _meta(context: Context, reading: Reading) -> Meta:
    inner = _child(context, reading, "task.meta")
    if inner is None:
        return Meta()
    return Meta(
        inner.need("difficulty", str),
        inner.need("tags", tuple),
        inner.need("license", str),
        inner.need("authors", tuple),
        inner.need("source", str),
        inner.need("category", str),
        inner.get("expert_time", float),
        frozenset(inner.given),
    )


def _limits(context: Context, reading: Reading) -> Limits:
    inner = _child(context, reading, "task.limits")
    if inner is None:
        return Limits()
    network = inner.values["network"]
    return Limits(
        inner.need("cpu", float),
        inner.need("memory", int),
        inner.need("disk", int),
        inner.need("agent_time", float),
        inner.need("verify_time", float),
        inner.need("build_time", float),
        network if isinstance(network, str | tuple) else "none",
    )


def _allows(context: Context, reading: Reading) -> tuple[Allow, ...]:
    found = []
    for item in reading.named("task.allow"):
        inner = read(context, item.statement, BLOCKS[item.id], item.scope)
        slug, because = inner.get("slug", str), inner.get("because", str)
        if because is not None and len(because.split()) < 2:
            context.findings.error(
                "empty-text",
                "`because` gives no reason",
                inner.given.get("because", inner.span),
                why="Whoever reads the spec later must be able to judge the decision.",
                help="Say in a few words why it is right here.",
            )
        if slug is not None and because is not None:
            found.append(Allow(slug, because, span=inner.span))
    return tuple(found)


def _note_unused(context: Context, library: Library) -> None:
    """Advice on fragments and files that nothing uses; a used file may well hold more than is needed here."""
    for name, fragment in library.fragments.items():
        if name not in library.used:
            context.findings.add(
                Diagnostic(
                    "unused-fragment",
                    Severity.ADVICE,
                    f"fragment `{shorten(name)}` is never used",
                    fragment.span,
                    why="It says nothing about this task.",
                    help=f"Remove it, or write `{EXPANDED[0]} {name}` where it belongs.",
                )
            )
