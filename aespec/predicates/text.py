"""A text file says what it should, line by line; line ends and final blanks don't count."""

from __future__ import annotations

import re
from typing import Any, Dict, List

from aespec.runtime.decode import LIMIT_BYTES, decode_text, show
from aespec.runtime.lines import TRIMS, line_difference, normal_lines
from aespec.runtime.patterns import full_match
from aespec.runtime.signature import Param, Signature
from aespec.runtime.state import HELD, Missing, State, Trouble, Verdict, failed
from aespec.runtime.wording import counted

SIGNATURE = Signature(
    "text",
    "A text file in UTF-8 equals a text, holds lines, or matches a pattern as a whole.",
    (
        Param("path", "path", "The file, at most 16 MiB.", is_required=True),
        Param("equals", "text", "The text that it says."),
        Param("lines", "texts", "Its lines, all of them."),
        Param("order", "enum", "Whether `lines` come as given.", default="given", choices=("given", "any")),
        Param("contains_line", "texts", "Lines that are among its lines, each as a whole line."),
        Param("lacks_line", "texts", "Lines that are not among its lines; the file must still be there."),
        Param(
            "matches",
            "regex",
            "A pattern of Python's `re` that the whole text matches, its lines joined by LF.",
        ),
        Param("count", "integer", "How many lines it has."),
        Param(
            "trim",
            "enum",
            "What is ignored: `lines`: blanks at line ends and blank lines at the end; `final`: only line "
            "ends at the end; `all`: also blanks at line starts and blank lines at the start; `none`: "
            "nothing, CRLF is not LF.",
            default="lines",
            choices=TRIMS,
        ),
    ),
    requires_one_of=(("equals", "lines", "contains_line", "matches", "count"),),
)


def holds(state: State, args: Dict[str, Any]) -> Verdict:
    """Judge the claim."""
    path, trim = args["path"], args.get("trim", "lines")
    try:
        text = decode_text(state.read(path, LIMIT_BYTES))
    except Missing as missing:
        reason = str(missing)
        return failed(reason if path in reason else f"{path} {reason}")
    found = normal_lines(text, trim)
    reason = _fault(found, args, trim)
    return HELD if not reason else failed(f"{path}: {reason}")


def _fault(found: List[str], args: Dict[str, Any], trim: str) -> str:
    """The first thing that is wrong, or nothing."""
    is_asked = False
    if args.get("equals") is not None:
        is_asked = True
        reason = line_difference(found, normal_lines(args["equals"], trim))
        if reason:
            return reason
    if args.get("lines") is not None:
        is_asked = True
        reason = line_difference(found, normal_wanted(args["lines"], trim), args.get("order", "given"))
        if reason:
            return reason
    for line in normal_wanted(args.get("contains_line"), trim):
        is_asked = True
        if line not in found:
            return f"no line is {show(line)}"
    for line in normal_wanted(args.get("lacks_line"), trim):
        is_asked = True
        if line in found:
            return f"a line is {show(line)} and must not be"
    if args.get("count") is not None:
        is_asked = True
        if len(found) != args["count"]:
            return f"expected {counted(args['count'], 'line')}, found {len(found)}"
    if args.get("matches") is not None:
        is_asked = True
        return _mismatch(found, args["matches"])
    if not is_asked:
        raise Trouble("text: nothing is claimed of the text")
    return ""


def _mismatch(found: List[str], pattern: str) -> str:
    try:
        is_match = full_match(pattern, "\n".join(found))
    except re.error as error:
        raise Trouble(f"text: the pattern is invalid: {error}") from None
    if is_match is None:
        return "matching the pattern takes too long on this text"
    return "" if is_match else "the text does not match the pattern"


def normal_wanted(lines: Any, trim: str) -> List[str]:
    """Each wanted line as the trim leaves it; an empty text is an empty line."""
    if lines is None:
        return []
    result = []
    for line in [lines] if isinstance(lines, str) else lines:
        parts = normal_lines(line, trim)
        if len(parts) > 1:
            raise Trouble(f"text: {show(line)} is more than one line")
        result.append(parts[0] if parts else "")
    return result
