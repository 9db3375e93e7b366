"""What breaks a claim about a text, what keeps it, and how it is told."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from aespec.model.chooser import Chooser, rotated
from aespec.model.edit import Edit
from aespec.model.edit_forms import put
from aespec.predicates import text as shipped
from aespec.predicates.arguments import misfits
from aespec.predicates.misses import destroyed, text_misses
from aespec.predicates.wording import listed
from aespec.runtime.decode import LIMIT_BYTES, decode_text
from aespec.runtime.lines import normal_lines
from aespec.runtime.memory import MemoryState
from aespec.runtime.state import State, Trouble

Args = Mapping[str, Any]

IGNORED = {
    "lines": "Blanks at line ends, blank lines at the end and the kind of line end don't count.",
    "final": "Line ends at the end of the file and the kind of line end don't count.",
    "all": "Blanks at the start and end of lines, blank lines at the start and end and the kind of line end "
    "don't count.",
    "none": "Every character counts, line ends too.",
}


def says(args: Args) -> str:
    """The sentence for the solver; lines that must be there are not shown, they may be answers."""
    path = f"`{args['path']}`"
    parts = []
    if args.get("equals") is not None or args.get("lines") is not None:
        parts.append("holds the right text")
    if args.get("contains_line") is not None:
        parts.append("has the right line" + ("s" if len(listed(args["contains_line"])) > 1 else ""))
    if args.get("lacks_line") is not None:
        parts.append("lacks what must not be there")
    if args.get("count") is not None:
        parts.append(f"has {args['count']} line{'' if args['count'] == 1 else 's'}")
    if args.get("matches") is not None:
        parts.append(f"as a whole matches the pattern `{args['matches']}`")
    return f"{path} {' and '.join(parts)}."


def promises(args: Args) -> tuple[str, ...]:
    """What is ignored and whether order counts."""
    found = ["The file is text in UTF-8.", IGNORED[args.get("trim", "lines")]]
    if args.get("lines") is not None and args.get("order", "given") == "any":
        found.append("The order of the lines is free.")
    return tuple(found)


def reads(args: Args) -> tuple[str, ...]:
    """The file."""
    return (str(args["path"]),)


def literals(args: Args) -> tuple[str | int | float, ...]:
    """The path, the number of lines and the pattern."""
    named = (args.get(name) for name in ("path", "count", "matches"))
    return tuple(value for value in named if value is not None)


def faults(args: Args) -> tuple[str, ...]:
    """What is wrong with the arguments themselves."""
    if wrong := misfits(shipped.SIGNATURE, args):
        return wrong
    if not any(args.get(name) is not None for group in shipped.SIGNATURE.requires_one_of for name in group):
        return ("nothing is claimed that an empty file would not meet",)
    try:
        if args.get("matches") is not None:
            re.compile(args["matches"])
        shipped.holds(MemoryState.of({args["path"]: b""}), dict(args))
    except (Trouble, re.error) as trouble:
        return (str(trouble),)
    return ()


def needs(args: Args) -> tuple[str, ...]:
    """Bytes only."""
    return shipped.SIGNATURE.needs


def violations(args: Args, state: State, chooser: Chooser) -> Iterator[tuple[Edit, ...]]:
    """A letter off, a line lost, doubled, swapped or more; then the text destroyed."""
    path = args["path"]
    found = normal_lines(decode_text(state.read(path, LIMIT_BYTES)), args.get("trim", "lines"))
    is_whole = args.get("equals") is not None or args.get("lines") is not None
    if is_whole:
        for index in rotated([index for index, line in enumerate(found) if line], chooser)[:3]:
            for other in text_misses(found[index]):
                yield _put(path, [*found[:index], other, *found[index + 1 :]])
    if is_whole or args.get("count") is not None:
        yield _put(path, [*found, "x"])
        if found and found[-1]:
            yield _put(path, found[:-1])
            yield _put(path, [*found, found[-1]])
    if args.get("equals") is not None or (
        args.get("lines") is not None and args.get("order", "given") == "given"
    ):
        yield from _swapped(path, found)
    for line in shipped.normal_wanted(args.get("contains_line"), args.get("trim", "lines")):
        for other in ("x", f"not {line}", f"{line} x", line[:-1] if line[:-1] != line.rstrip() else "x"):
            if other != line:
                yield _put(path, [other if item == line else item for item in found])
    for line in shipped.normal_wanted(args.get("lacks_line"), args.get("trim", "lines")):
        if line:
            yield _put(path, [*found, line])
    yield (put(path, b"\xff"),)
    yield from _destroyed(args, path)


def _destroyed(args: Args, path: str) -> Iterator[tuple[Edit, ...]]:
    """Gone always breaks the claim; empty only where an empty text doesn't hold."""
    empty = MemoryState.of({path: b""})
    for edits in destroyed(path):
        if edits[0].operation == "delete" or not shipped.holds(empty, dict(args)).is_held:
            yield edits


def _swapped(path: str, found: list[str]) -> Iterator[tuple[Edit, ...]]:
    for index, (one, other) in enumerate(zip(found, found[1:], strict=False)):
        # A blank line that moves to the end would be trimmed away, and that is another edit.
        if one != other and one and other:
            yield _put(path, [*found[:index], other, one, *found[index + 2 :]])
            return


def variants(args: Args, state: State, chooser: Chooser) -> Iterator[tuple[Edit, ...]]:
    """Other line ends, a byte order mark, blanks where they don't count, another order where it is free."""
    path, trim = args["path"], args.get("trim", "lines")
    text = decode_text(state.read(path, LIMIT_BYTES))
    yield (put(path, b"\xef\xbb\xbf" + text.encode()),)
    if trim == "none":
        return
    found = normal_lines(text, trim)
    yield (put(path, "\r\n".join(found)),)
    yield (put(path, "\n".join(found) + "\n\n\n"),)
    if trim in ("lines", "all"):
        yield (put(path, "".join(f"{line}  \n" for line in found)),)
    if trim == "all":
        yield (put(path, "\n" + "".join(f"  {line}\n" for line in found)),)
    is_bound = any(args.get(name) is not None for name in ("equals", "matches"))
    if args.get("lines") is not None and args.get("order") == "any" and not is_bound:
        ordered = [line for line in found if line]
        if len(ordered) == len(found):
            yield _put(path, found[::-1])


def _put(path: str, lines: list[str]) -> tuple[Edit, ...]:
    return (put(path, "".join(f"{line}\n" for line in lines)),)
