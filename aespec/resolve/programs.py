"""What a Python program of a spec names, found by reading it; it is never run here."""

from __future__ import annotations

import ast
import re
import warnings
from bisect import bisect_left, bisect_right
from dataclasses import field

from aespec.records import dataclass

LARGEST_PROGRAM = 1024**2
"""Characters. A program has some hundred lines; one that is larger holds data, which is an asset."""

GIVEN = frozenset({"p", "let", "rng", "now", "emit"})
"""Names that every program finds."""

LABELLED = frozenset({"hidden", "answer", "secret"})
"""Prefixes of values that a program must be given by `from`."""


@dataclass(frozen=True, slots=True)
class Mention:
    """A dotted name of a program (`p.rows`), with the characters at which it stands."""

    prefix: str
    name: str
    start: int
    end: int


@dataclass(slots=True)
class ProgramNames:
    """What a program mentions. `whole` are prefixes that it uses as values themselves (`dict(p)`)."""

    mentions: list[Mention] = field(default_factory=list)
    whole: set[str] = field(default_factory=set)
    bound: set[str] = field(default_factory=set)
    loaded: set[str] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class ProgramFault:
    """Why a program can't be read, from a character to another, and what to do about it.

    `opener` is the character at which the bracket opens that is still open there.
    """

    text: str
    start: int
    end: int
    help: str = ""
    opener: int | None = None


def read_program(text: str) -> ProgramNames | ProgramFault:
    """The names in a program, or why Python doesn't take it."""
    if len(text) > LARGEST_PROGRAM:
        return ProgramFault(f"is longer than {LARGEST_PROGRAM // 1024} Ki characters", 0, 0)
    starts = [0, *(index + 1 for index, char in enumerate(text) if char == "\n")]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text)
    except SyntaxError as slip:
        from aespec.resolve.program_faults import read_slip

        return read_slip(slip, text, starts)
    except (ValueError, RecursionError, MemoryError) as trouble:
        reason = "is nested too deeply" if not isinstance(trouble, ValueError) else str(trouble)
        return ProgramFault(reason, 0, 0)
    return _collect(tree, text, starts)


class _Lines:
    """Turns Python's line and byte column into a character offset."""

    def __init__(self, text: str, starts: list[int]) -> None:
        self.text = text
        self._starts = starts
        self._is_plain = text.isascii()

    def offset(self, line: int, column: int) -> int:
        start = self._starts[min(line, len(self._starts)) - 1]
        if self._is_plain:
            return start + column
        stop = self.text.find("\n", start)
        encoded = self.text[start : len(self.text) if stop < 0 else stop].encode("utf-8", "surrogatepass")
        return start + len(encoded[:column].decode("utf-8", "ignore"))


_PREFIXES = frozenset({"p", "let"}) | LABELLED
_ASKED = re.compile(r"\b(?:p|let|hidden|answer|secret|emit)\b")


def _collect(tree: ast.Module, text: str, starts: list[int]) -> ProgramNames:
    """The names, found by walking only what spans a line on which one of the words stands."""
    names = ProgramNames()
    asked = sorted({bisect_right(starts, match.start()) for match in _ASKED.finditer(text)})
    lines = _Lines(text, starts)
    parts: set[int] = set()
    stack: list[ast.AST] = [tree] if asked else []
    while stack:
        node = stack.pop()
        attributes = node.__dict__
        if isinstance(node, ast.JoinedStr):
            # Before Python 3.12 what stands in a formatted text has lines of its own, counted otherwise.
            for inner in ast.walk(node):
                _note(inner, names, parts, lines)
            continue
        first = attributes.get("lineno")
        if first is not None and not attributes.get("decorator_list"):
            at = bisect_left(asked, first)
            if at == len(asked) or asked[at] > attributes["end_lineno"]:
                continue
        _note(node, names, parts, lines)
        for value in attributes.values():
            if isinstance(value, ast.AST):
                stack.append(value)
            elif isinstance(value, list):
                stack.extend(item for item in value if isinstance(item, ast.AST))
    names.mentions.sort(key=lambda mention: mention.start)
    return names


def _note(node: ast.AST, names: ProgramNames, parts: set[int], lines: _Lines) -> None:
    kind = node.__class__
    if isinstance(node, ast.Name):
        if isinstance(node.ctx, ast.Load):
            names.loaded.add(node.id)
            if node.id in {"p", "let"} and id(node) not in parts:
                names.whole.add(node.id)
        else:
            names.bound.add(node.id)
    elif isinstance(node, ast.Attribute | ast.Subscript):
        if isinstance(node.value, ast.Name) and node.value.id in _PREFIXES:
            key = _key(node)
            if key is not None:
                parts.add(id(node.value))
                names.mentions.append(_mention(node.value, key, node, lines))
    elif kind in _BINDERS:
        _note_binding(node, names)


def _key(node: ast.Attribute | ast.Subscript) -> str | None:
    if isinstance(node, ast.Attribute):
        return node.attr
    if isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, str):
        return node.slice.value
    return None


def _mention(base: ast.Name, key: str, node: ast.expr, lines: _Lines) -> Mention:
    start = lines.offset(base.lineno, base.col_offset)
    end = lines.offset(node.end_lineno or base.lineno, node.end_col_offset or base.col_offset)
    if not lines.text.startswith(base.id, start):
        # In a formatted text of several lines; the first mention in the program will do.
        start = max(lines.text.find(f"{base.id}.{key}"), 0)
        end = start + len(base.id) + len(key) + 1
    return Mention(base.id, key, start, end)


def _note_binding(node: ast.AST, names: ProgramNames) -> None:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        names.bound.add(node.name)
    elif isinstance(node, ast.arg):
        names.bound.add(node.arg)
    elif isinstance(node, ast.alias):
        names.bound.add((node.asname or node.name).split(".")[0])
    elif isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar) and node.name:
        names.bound.add(node.name)


_BINDERS = frozenset(
    {
        ast.FunctionDef,
        ast.AsyncFunctionDef,
        ast.ClassDef,
        ast.arg,
        ast.alias,
        ast.ExceptHandler,
        ast.MatchAs,
        ast.MatchStar,
    }
)
