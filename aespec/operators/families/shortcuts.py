"""A program takes a short cut: it returns a constant, ends early, or passes over errors."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from aespec.model.chooser import Chooser, shuffled
from aespec.model.edit import Edit
from aespec.operators.api import Draft, Operator, Output, Scene
from aespec.operators.contents import rewrite, text_in
from aespec.operators.kinds import language_of
from aespec.operators.program_edits import FUNCTIONS, body_of, code_lines, line_at, line_of, python_in, splice

_RETURN = re.compile(r"\breturn\s+(?![;\s])([^;{}\n]+?)(?=\s*;|\s*$)")
CONSTANTS = (b"None", b"0", b'""', b"[]", b"True")


def _hollow(output: Output, scene: Scene, chooser: Chooser) -> Iterator[Draft]:
    """A whole function that only returns a constant."""
    program = python_in(output)
    functions = [node for node in ast.walk(program.tree) if isinstance(node, FUNCTIONS)] if program else []
    for node in shuffled(functions, chooser):
        assert program is not None
        body = body_of(node)
        if not body or (len(body) == 1 and isinstance(body[0], ast.Pass)):
            continue
        for constant in CONSTANTS:
            edit = splice(output, program.begin(body[0]), program.end(body[-1]), b"return " + constant)
            if edit is not None:
                says = f"the function {node.name} only returns {constant.decode()}"
                yield Draft(line_of(output, program.begin(node)), (edit,), says)


def _constant(output: Output, scene: Scene, chooser: Chooser) -> Iterator[Draft]:
    """One return gives a constant."""
    program = python_in(output)
    if program is None:
        yield from _constant_in_lines(output, chooser)
        return
    values = [
        node.value
        for node in ast.walk(program.tree)
        if isinstance(node, ast.Return) and node.value is not None
    ]
    for value in shuffled(values, chooser):
        other = b"0" if isinstance(value, ast.Constant) and value.value is None else b"None"
        edit = splice(output, program.begin(value), program.end(value), other)
        if edit is not None:
            says = f"it returns {other.decode()} there"
            yield Draft(line_of(output, program.begin(value)), (edit,), says)


def _constant_in_lines(output: Output, chooser: Chooser) -> Iterator[Draft]:
    text = text_in(output)
    found = [
        (start + match.start(1), start + match.end(1))
        for start, _, bare in code_lines(output)
        for match in _RETURN.finditer(bare)
    ]
    for start, end in shuffled(found, chooser):
        other = "1" if text[start:end].strip() == "0" else "0"
        edit = rewrite(output, text[:start] + other + text[end:])
        yield Draft(line_at(output, start), (edit,), f"it returns {other} there")


def _early(output: Output, scene: Scene, chooser: Chooser) -> Iterator[Draft]:
    """The whole program ends at its start as if all were well, then single functions."""
    yield from _exit(output)
    program = python_in(output)
    functions = [node for node in ast.walk(program.tree) if isinstance(node, FUNCTIONS)] if program else []
    for node in shuffled(functions, chooser):
        assert program is not None
        body = body_of(node)
        if body and not isinstance(body[0], ast.Return):
            at = program.begin(body[0])
            edit = _inserted(output, at, b"return None", body[0])
            if edit is not None:
                yield Draft(line_of(output, at), (edit,), f"the function {node.name} returns at once")


def _inserted(output: Output, at: int, statement: bytes, before: ast.stmt) -> Edit | None:
    program = python_in(output)
    assert program is not None
    first = min([before, *getattr(before, "decorator_list", [])], key=program.begin)
    at = program.begin(first) - (1 if first is not before else 0)
    column = at - (program.data.rfind(b"\n", 0, at) + 1)
    indent = program.data[at - column : at]
    joint = b"\n" + indent if not indent.strip() else b"; "
    return splice(output, at, at, statement + joint)


def _exit(output: Output) -> Iterator[Draft]:
    text = text_in(output)
    program = python_in(output)
    language = language_of(output.path, text.encode())
    if program is not None:
        body = body_of(program.tree)
        edit = _inserted(output, program.begin(body[0]), b"raise SystemExit(0)", body[0]) if body else None
        if edit is not None:
            yield Draft(output.path, (edit,), "it ends at once as if all were well")
        return
    statement = {"shell": "exit 0", "script": "process.exit(0);"}.get(language, "")
    if statement and text:
        head = re.match(r"(?:#![^\n]*\n)?", text)
        at = head.end() if head is not None else 0
        edit = rewrite(output, f"{text[:at]}{statement}\n{text[at:]}")
        yield Draft(output.path, (edit,), "it ends at once as if all were well")


def _silenced(output: Output, scene: Scene, chooser: Chooser) -> Iterator[Draft]:
    """What is done about an error is nothing."""
    program = python_in(output)
    if program is None:
        return
    handlers = [node for node in ast.walk(program.tree) if isinstance(node, ast.ExceptHandler)]
    for node in shuffled(handlers, chooser):
        edit = splice(output, program.begin(node.body[0]), program.end(node.body[-1]), b"pass")
        if edit is not None:
            yield Draft(line_of(output, program.begin(node)), (edit,), "an error is passed over there")


OPERATORS = (
    (Operator("hollow-function", "shortcuts", ("code",), "wrong"), _hollow),
    (Operator("constant-return", "shortcuts", ("code",), "wrong"), _constant),
    (Operator("early-end", "shortcuts", ("code",), "wrong"), _early),
    (Operator("error-passed-over", "shortcuts", ("code",), "wrong"), _silenced),
)
