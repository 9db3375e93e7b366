"""What went wrong while a task was evaluated, as diagnostics that point into the spec."""

from __future__ import annotations

import re

from aespec.diagnostics.diagnostic import Diagnostic, Severity
from aespec.evaluate.programs import Failure
from aespec.model.expressions import Program
from aespec.source import Source, Span

KINDS = {
    "failed": (
        "failing-program",
        "{what} fails: {message}",
        "Mend the program; it runs without network, with the standard library and the names given to it.",
    ),
    "slow": (
        "slow-program",
        "{what} takes too long: {message}",
        "Make it cheaper, or draw less: every instance runs it once.",
    ),
    "ended": (
        "failing-program",
        "{what} ends without an answer: {message}",
        "Let the program run to its end; don't end or replace the interpreter.",
    ),
    "large": (
        "oversized-output",
        "{what} makes too much: {message}",
        "Make less; a program may make 32 MiB in 10,000 files within 1 GiB of memory.",
    ),
    "emit": (
        "missing-emit",
        "{what} doesn't emit as it should: {message}",
        "Call emit(value) exactly once in a program that computes a value; `generate` prints or writes.",
    ),
    "type": (
        "untyped-result",
        "{what} emits what JSON can't hold: {message}",
        "Emit null, true, false, finite numbers, text, lists and maps with text keys.",
    ),
    "files": (
        "irregular-files",
        "{what} leaves something that can't become a fixture: {message}",
        "Write plain files below the folder that the step names.",
    ),
    "random": (
        "unseeded-draw",
        "{what} draws from the machine: {message}",
        "Use `rng`, a random.Random seeded by the instance, so that the same seed gives the same task.",
    ),
}

_ABSOLUTE = re.compile(r"^(?:FileNotFoundError|PermissionError|NotADirectoryError): .*: '/([^']+)'\Z")
"""How Python tells that an absolute path isn't there, though `app/x` may be."""


def explain_failure(what: str, program: Program, failure: Failure) -> Diagnostic:
    """A failure of a program, at the line of it in the spec where that is known."""
    slug, headline, remedy = KINDS.get(failure.kind, KINDS["failed"])
    absolute = _ABSOLUTE.search(failure.message)
    if absolute:
        remedy = (
            f"Files of the start state lie below the current folder: open `{absolute[1]}`, and name "
            f"`/{absolute[1]}` in `from`."
        )
    return Diagnostic(
        slug=slug,
        severity=Severity.ERROR,
        headline=headline.format(what=what, message=failure.message),
        span=line_span(program, failure.line),
        why="A task whose values can't be computed has no instance.",
        help=remedy,
    )


def line_span(program: Program, line: int | None) -> Span:
    """The place in the spec of a line (counted from 1) of a program; the whole program where it isn't found.

    The program's text had its indentation taken off, so its lines are found again by what stands in them.
    """
    source = program.span.source
    lines = program.text.split("\n")
    if line is None or not 1 <= line <= len(lines):
        return program.span
    first = source.position(program.span.start)[0]
    last = source.position(program.span.end)[0]
    wanted = [text.strip() for text in lines]
    while wanted and not wanted[-1]:
        wanted.pop()
    for start in range(first, last + 1):
        if _stand_at(source, start, last, wanted):
            number = start + line - 1
            text = source.line_text(number)
            begin = source.line_starts[number - 1]
            return Span(source, begin + len(text) - len(text.lstrip()), begin + len(text.rstrip()))
    return program.span


def _stand_at(source: Source, start: int, last: int, wanted: list[str]) -> bool:
    if start + len(wanted) - 1 > last:
        return False
    return all(source.line_text(start + index).strip() == text for index, text in enumerate(wanted))


def error(slug: str, headline: str, span: Span | None, why: str, help: str) -> Diagnostic:
    """An error diagnostic."""
    return Diagnostic(slug, Severity.ERROR, headline, span, why, help)
