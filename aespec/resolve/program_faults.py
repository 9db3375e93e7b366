"""Why Python doesn't take a program, in the words of other diagnostics; imported only where it doesn't."""

from __future__ import annotations

import io
import re
import tokenize

from aespec.diagnostics.diagnostic import Label
from aespec.resolve.context import Context
from aespec.resolve.findings import shorten
from aespec.resolve.programs import ProgramFault
from aespec.resolve.texts import place_span
from aespec.syntax.nodes import Heredoc

_CLOSING = {"(": ")", "[": "]", "{": "}"}
_NEVER_CLOSED = re.compile(r"'(.)' was never closed")
_MISMATCH = re.compile(r"closing parenthesis '(.)' does not match opening parenthesis '(.)'")
_UNMATCHED = re.compile(r"unmatched '(.)'")
_PLACE = re.compile(r"\{\{[ \t]*[A-Za-z_][\w.-]*[ \t]*\}\}")


def report_fault(context: Context, heredoc: Heredoc, fault: ProgramFault, what: str) -> None:
    """Note that a `program` (into which nothing is spliced) or a `script` isn't Python."""
    way_out = fault.help or f"Mend the {what}."
    if what == "program" and _PLACE.search(heredoc.text):
        way_out += " Nothing is spliced into it: where it says `{{ p.x }}` it has to say `p.x`."
    related: tuple[Label, ...] = ()
    if fault.opener is not None:
        span = place_span(heredoc, fault.opener, fault.opener + 1)
        related = (Label(span, "this bracket is still open"),)
    context.findings.error(
        "program-syntax",
        f"the {what} {shorten(fault.text, 100)}",
        place_span(heredoc, fault.start, fault.end),
        why="It is read as Python 3 before it is ever run.",
        help=way_out,
        related=related,
    )


def read_slip(slip: SyntaxError, text: str, starts: list[int]) -> ProgramFault:
    """What Python says of a program, with its place in characters; `starts` are where its lines begin."""
    line = min(max(slip.lineno or 1, 1), len(starts))
    start = min(starts[line - 1] + max((slip.offset or 1) - 1, 0), len(text))
    end = start + 1
    if slip.end_lineno == slip.lineno and slip.end_offset and slip.end_offset > (slip.offset or 1):
        end = starts[line - 1] + slip.end_offset - 1
    reason, way_out = _explain(slip.msg)
    opener = _open_bracket(text, starts) if _MISMATCH.match(slip.msg) else None
    return ProgramFault(f"doesn't parse: {reason}", start, min(end, len(text)), way_out, opener)


def _explain(message: str) -> tuple[str, str]:
    """What Python says of brackets, as a spec's own are spoken of, and what to do; all else as it is."""
    if found := _NEVER_CLOSED.match(message):
        return f"`{found[1]}` is not closed", f"Write `{_CLOSING[found[1]]}` where it should end."
    if found := _MISMATCH.match(message):
        closing = _CLOSING[found[2]]
        return f"`{found[1]}` can't close `{found[2]}`", f"Write `{closing}` where `{found[2]}` should end."
    if found := _UNMATCHED.match(message):
        return f"`{found[1]}` closes nothing", "Remove it, or open its bracket before."
    # Lines are counted from the program's first there, and from the file's here.
    return re.sub(r" on line \d+", "", message), ""


def _open_bracket(text: str, starts: list[int]) -> int | None:
    """Where the bracket opens that another kind of bracket would close."""
    opened: list[tuple[str, int]] = []
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.OP and token.string in _CLOSING:
                opened.append((token.string, starts[token.start[0] - 1] + token.start[1]))
            elif token.type == tokenize.OP and token.string in _CLOSING.values() and opened:
                opener, place = opened.pop()
                if _CLOSING[opener] != token.string:
                    return place
    except (tokenize.TokenError, SyntaxError):
        pass
    return None
