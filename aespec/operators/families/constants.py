"""A constant of a program is another one."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from aespec.model.chooser import Chooser, shuffled
from aespec.operators.api import Draft, Operator, Output, Scene
from aespec.operators.contents import rewrite, text_in
from aespec.operators.formats.programs import Python, is_docstring
from aespec.operators.near import misspelled
from aespec.operators.program_edits import code_lines, line_at, line_of, python_in, splice
from aespec.runtime.decode import show

_NUMBER = re.compile(r"(?<![\w.$@#-])\d+(?:\.\d+)?(?![\w.])")
_TRUTH = re.compile(r"\b(true|false|True|False)\b")
_OTHER_TRUTH = {"true": "false", "false": "true", "True": "False", "False": "True"}


def _changed(output: Output, scene: Scene, chooser: Chooser) -> Iterator[Draft]:
    program = python_in(output)
    if program is not None:
        for node in shuffled(_constants(program), chooser):
            yield from _of_python(output, program, node)
        return
    text = text_in(output)
    places = [
        (start + match.start(), match[0])
        for start, _, bare in code_lines(output)
        for pattern in (_NUMBER, _TRUTH)
        for match in pattern.finditer(bare)
    ]
    for at, raw in shuffled(places, chooser):
        other = _OTHER_TRUTH.get(raw) or _next(raw)
        edit = rewrite(output, text[:at] + other + text[at + len(raw) :])
        yield Draft(line_at(output, at), (edit,), f"the constant {raw} is {other} there")


def _next(raw: str) -> str:
    return f"{float(raw) + 1:g}" if "." in raw else str(int(raw) + 1)


def _constants(program: Python) -> list[ast.Constant]:
    """But for docstrings, annotations, and pieces of formatted texts, which have no place of their own."""
    left_out: set[int] = set()
    for node in ast.walk(program.tree):
        apart: list[ast.AST] = []
        if isinstance(node, ast.JoinedStr) or (isinstance(node, ast.stmt) and is_docstring(node)):
            apart = [node]
        elif isinstance(node, ast.arg | ast.AnnAssign) and node.annotation is not None:
            apart = [node.annotation]
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.returns is not None:
            apart = [node.returns]
        left_out |= {id(inner) for item in apart for inner in ast.walk(item)}
    return [
        node
        for node in ast.walk(program.tree)
        if isinstance(node, ast.Constant) and id(node) not in left_out and node.value is not None
    ]


def _of_python(output: Output, program: Python, node: ast.Constant) -> Iterator[Draft]:
    raw = program.source(node)
    value = node.value
    if isinstance(value, bool):
        other = str(not value)
    elif isinstance(value, int | float):
        other = repr(value + 1)
    elif isinstance(value, str) and re.match(rb"(['\"])(?!\1\1)", raw) and value != "__main__":
        other = repr(misspelled(value))
    else:
        return
    edit = splice(output, program.begin(node), program.end(node), other.encode())
    if edit is not None:
        says = f"the constant {show(raw.decode(), 40)} is {show(other, 40)} there"
        yield Draft(line_of(output, program.begin(node)), (edit,), says)


OPERATORS = ((Operator("other-constant", "constants", ("code",), "wrong"), _changed),)
