"""Edits of programs: places in Python by its syntax tree, in other languages by line and pattern."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from aespec.model.edit import Edit
from aespec.model.edit_forms import change
from aespec.operators.api import Output
from aespec.operators.contents import data_of, text_in
from aespec.operators.formats.programs import Python, is_docstring, masked, read_python
from aespec.operators.kinds import language_of

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def python_in(output: Output) -> Python | None:
    """The Python program that an output is, or None."""
    data = data_of(output)
    return read_python(data) if language_of(output.path, data) == "python" else None


def statements_of(program: Python) -> Iterator[ast.stmt]:
    """Every statement, outer ones first."""
    return (node for node in ast.walk(program.tree) if isinstance(node, ast.stmt))


def splice(output: Output, start: int, end: int, new: bytes) -> Edit | None:
    """The edit that puts other bytes from `start` to `end`; None where Python can't read the outcome."""
    data = data_of(output)
    changed = data[:start] + new + data[end:]
    if python_in(output) is not None and read_python(changed) is None:
        return None
    return change(output.path, data, changed)


def between(program: Python, left: ast.AST, right: ast.AST, token: bytes) -> int | None:
    """Where a token stands between two expressions, as an offset in bytes; comments there are passed over."""
    low, high = program.end(left), program.begin(right)
    gap = re.sub(rb"#[^\n]*", lambda match: b" " * len(match[0]), program.data[low:high])
    at = re.search(rb"(?<![\w<>=!*/])" + re.escape(token) + rb"(?![\w<>=*/])", gap)
    return low + at.start() if at is not None else None


def line_at(output: Output, start: int) -> str:
    """The address of the line at an offset in characters."""
    return f"{output.path}#{text_in(output).count(chr(10), 0, start) + 1}"


def line_of(output: Output, start: int) -> str:
    """The address of the line at an offset in bytes."""
    number = data_of(output).count(b"\n", 0, start) + 1
    return f"{output.path}#{number}"


def body_of(node: ast.Module | ast.FunctionDef | ast.AsyncFunctionDef) -> list[ast.stmt]:
    """The statements of a module or function behind its docstring and the imports from `__future__`."""
    return [
        item
        for item in node.body
        if not is_docstring(item) and not (isinstance(item, ast.ImportFrom) and item.module == "__future__")
    ]


def code_lines(output: Output) -> list[tuple[int, int, str]]:
    """Of a program that isn't Python each line with code: its start and end in characters, and how it looks.

    Comments and texts in it are blotted out; what stands in a heredoc is no code.
    """
    text = text_in(output)
    language = language_of(output.path, text.encode())
    if language in ("python", ""):
        return []
    found: list[tuple[int, int, str]] = []
    start, heredoc = 0, ""
    for line, bare in zip(text.split("\n"), masked(text, language).split("\n"), strict=True):
        end = start + len(line)
        if heredoc:
            heredoc = "" if line.strip() == heredoc else heredoc
        elif bare.strip() and not line.startswith("#!"):
            found.append((start, end, bare))
            opened = re.search(r"<<-?\s*['\"]?(\w+)", line) if language in ("shell", "hash") else None
            heredoc = opened[1] if opened is not None else ""
        start = end + 1
    return found
