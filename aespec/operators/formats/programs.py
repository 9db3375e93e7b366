"""Programs: Python by its syntax tree, others line by line with comments and texts blotted out."""

from __future__ import annotations

import ast
import re
from functools import lru_cache
from typing import Any, NamedTuple

PYTHON_LIMIT_BYTES = 512 * 1024


class Python(NamedTuple):
    """A Python program: its tree, its bytes, and where each line begins in them."""

    tree: ast.Module
    data: bytes
    starts: tuple[int, ...]

    def begin(self, node: ast.AST) -> int:
        """The offset in bytes at which a node begins; its decorators stand before that."""
        place: Any = node
        return int(self.starts[place.lineno - 1] + place.col_offset)

    def end(self, node: ast.AST) -> int:
        """The offset in bytes behind the node."""
        place: Any = node
        return int(self.starts[place.end_lineno - 1] + place.end_col_offset)

    def source(self, node: ast.AST) -> bytes:
        """The node as written."""
        return self.data[self.begin(node) : self.end(node)]


@lru_cache(maxsize=64)
def read_python(data: bytes) -> Python | None:
    """The program, or None where it is none that this Python can read, or too large."""
    if (
        len(data) > PYTHON_LIMIT_BYTES
        or b"\0" in data
        or b"\f" in data
        or b"\r" in data.replace(b"\r\n", b"")
    ):
        return None
    try:
        data.decode("utf-8")
        tree = _parse(data)
        starts = [0]
        for line in data.splitlines(keepends=True):
            starts.append(starts[-1] + len(line))
        return Python(tree, data, tuple(starts))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _parse(data: bytes) -> ast.Module:
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(data)


@lru_cache(maxsize=64)
def python_meaning(data: bytes) -> str | None:
    """The program without what doesn't run: comments, layout, docstrings, names of plain local variables."""
    program = read_python(data)
    if program is None:
        return None
    try:
        tree = _parse(data)
        for node in ast.walk(tree):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                _drop_docstring(node)
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                _number_locals(node)
        return ast.dump(tree)
    except (RecursionError, ValueError):
        return None


def is_docstring(node: ast.stmt) -> bool:
    """Whether a statement is a text that stands for itself."""
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


def local_names(function: ast.FunctionDef | ast.AsyncFunctionDef) -> list[str]:
    """The plain local variables, in the order met: assigned in the function and seen by nothing else.

    Empty where a name could be reached in another way (nested scopes, `global`, `locals()`, `del`).
    """
    inside = [node for statement in function.body for node in ast.walk(statement)]
    scopes = (
        ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda, ast.Global, ast.Nonlocal, ast.Match,
        ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.Import, ast.ImportFrom, ast.Try,
    )  # fmt: skip
    if any(isinstance(node, scopes) for node in inside):
        return []
    names = [node for node in inside if isinstance(node, ast.Name)]
    if any(node.id in ("locals", "vars", "eval", "exec", "dir", "globals") for node in names):
        return []
    arguments = {node.arg for node in ast.walk(function.args) if isinstance(node, ast.arg)}
    stored = dict.fromkeys(node.id for node in names if isinstance(node.ctx, ast.Store))
    return [name for name in stored if name not in arguments and not name.startswith("__")]


def _number_locals(function: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
    numbers = {name: f"local-{index}" for index, name in enumerate(local_names(function))}
    for statement in function.body:
        for node in ast.walk(statement):
            if isinstance(node, ast.Name) and node.id in numbers:
                node.id = numbers[node.id]


def _drop_docstring(node: ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) -> None:
    node.body = [item for item in node.body if not is_docstring(item)]


COMMENTS = {"shell": "#", "hash": "#", "python": "#", "c": "//", "script": "//", "dashes": "--"}
"""What begins a comment that ends with the line, by language."""

_MASKS = {
    "#": re.compile(r"\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'|(?<![^\s;(])#[^\n]*", re.DOTALL),
    "//": re.compile(
        r"\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`|//[^\n]*|/\*.*?(?:\*/|\Z)", re.DOTALL
    ),
    "--": re.compile(r"\"[^\"\n]*\"|'(?:[^'\n]|'')*'|--[^\n]*", re.DOTALL),
}


@lru_cache(maxsize=32)
def masked(text: str, language: str) -> str:
    """The program as long as it is, with a blank for each character of its comments, and `_` within texts.

    The quotes themselves stay. It is a guess where a language has stranger texts (heredocs, patterns).
    """
    mark = COMMENTS.get(language, "#")

    def blot(match: re.Match[str]) -> str:
        piece = match[0]
        if piece.startswith((mark, "/*")):
            return re.sub(r"[^\n]", " ", piece)
        return piece[0] + re.sub(r"[^\n]", "_", piece[1:-1]) + piece[-1]

    return _MASKS[mark].sub(blot, text)


def lines_meaning(text: str, language: str) -> tuple[str, ...]:
    """A program's lines without comments, blank lines and blanks at line ends."""
    bare = masked(text, language)
    found = []
    for line, shown in zip(text.split("\n"), bare.split("\n"), strict=True):
        # What the mask has blanks for at a line's end is a comment; its start may be told apart only there.
        told = line[: len(shown.rstrip())].rstrip()
        if told:
            found.append(told)
    return tuple(found)
