"""A comparison, a calculation or a connective of a program is another one; arguments have changed places."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping

from aespec.model.chooser import Chooser, shuffled
from aespec.operators.api import Draft, Operator, Output, Scene
from aespec.operators.contents import rewrite, text_in
from aespec.operators.formats.programs import Python
from aespec.operators.program_edits import between, code_lines, line_at, line_of, python_in, splice
from aespec.runtime.decode import show

COMPARISONS: Mapping[type[ast.AST], tuple[str, str]] = {
    ast.Lt: ("<", "<="),
    ast.LtE: ("<=", "<"),
    ast.Gt: (">", ">="),
    ast.GtE: (">=", ">"),
    ast.Eq: ("==", "!="),
    ast.NotEq: ("!=", "=="),
    ast.In: ("in", "not in"),
    ast.Is: ("is", "is not"),
}
CALCULATIONS: Mapping[type[ast.AST], tuple[str, str]] = {
    ast.Add: ("+", "-"),
    ast.Sub: ("-", "+"),
    ast.Mult: ("*", "+"),
    ast.Div: ("/", "*"),
    ast.FloorDiv: ("//", "*"),
    ast.Mod: ("%", "*"),
}
CONNECTIVES: Mapping[type[ast.AST], tuple[str, str]] = {ast.And: ("and", "or"), ast.Or: ("or", "and")}

_SIGNS = {
    "<=": "<",
    ">=": ">",
    "==": "!=",
    "!=": "==",
    "&&": "||",
    "||": "&&",
    "<": "<=",
    ">": ">=",
    "+": "-",
    "-": "+",
    "*": "+",
    "/": "*",
    "-eq": "-ne",
    "-ne": "-eq",
    "-lt": "-le",
    "-gt": "-ge",
    "-le": "-lt",
    "-ge": "-gt",
    "-z": "-n",
    "-n": "-z",
}
_SIGN = re.compile(
    r"(?<=[\w\s)\]])(?<=\s)(<=|>=|==|!=|&&|\|\||[<>+*/-]|-(?:eq|ne|lt|gt|le|ge|z|n))(?=\s+[\w($\"'])"
)


def _signs(output: Output, scene: Scene, chooser: Chooser) -> Iterator[Draft]:
    program = python_in(output)
    if program is not None:
        places = [place for node in ast.walk(program.tree) for place in _of_python(program, node)]
        for at, old, new in shuffled(places, chooser):
            edit = splice(output, at, at + len(old), new.encode())
            if edit is not None:
                yield Draft(line_of(output, at), (edit,), f"{old} is {new} there")
        return
    text = text_in(output)
    found = [
        (start + match.start(1), match[1])
        for start, _, bare in code_lines(output)
        for match in _SIGN.finditer(bare)
    ]
    for at, old in shuffled(found, chooser):
        edit = rewrite(output, text[:at] + _SIGNS[old] + text[at + len(old) :])
        yield Draft(line_at(output, at), (edit,), f"{old} is {_SIGNS[old]} there")


def _of_python(program: Python, node: ast.AST) -> Iterator[tuple[int, str, str]]:
    pairs: list[tuple[ast.AST, ast.AST, tuple[str, str] | None]] = []
    if isinstance(node, ast.Compare):
        left = node.left
        for operator, right in zip(node.ops, node.comparators, strict=True):
            pairs.append((left, right, COMPARISONS.get(type(operator))))
            left = right
    elif isinstance(node, ast.BinOp):
        pairs.append((node.left, node.right, CALCULATIONS.get(type(node.op))))
    elif isinstance(node, ast.BoolOp):
        pairs.append((node.values[0], node.values[1], CONNECTIVES.get(type(node.op))))
    elif isinstance(node, ast.AugAssign):
        signs = CALCULATIONS.get(type(node.op))
        pairs.append((node.target, node.value, (f"{signs[0]}=", f"{signs[1]}=") if signs else None))
    for one, other, change in pairs:
        if change is not None and hasattr(one, "lineno") and hasattr(other, "lineno"):
            at = between(program, one, other, change[0].encode())
            if at is not None:
                yield at, *change


def _conditions(output: Output, scene: Scene, chooser: Chooser) -> Iterator[Draft]:
    """A condition the other way round."""
    program = python_in(output)
    if program is None:
        return
    tests = [
        node.test
        for node in ast.walk(program.tree)
        if isinstance(node, ast.If | ast.While | ast.IfExp) and "__name__" not in ast.dump(node.test)
    ]
    for test in shuffled(tests, chooser):
        source = program.source(test)
        edit = splice(output, program.begin(test), program.end(test), b"(not (" + source + b"))")
        if edit is not None:
            says = f"the condition {show(source.decode(), 60)} is the other way round"
            yield Draft(line_of(output, program.begin(test)), (edit,), says)


def _arguments(output: Output, scene: Scene, chooser: Chooser) -> Iterator[Draft]:
    program = python_in(output)
    if program is None:
        return
    calls = [
        node
        for node in ast.walk(program.tree)
        if isinstance(node, ast.Call)
        and len(node.args) > 1
        and not any(
            isinstance(item, ast.Starred | ast.GeneratorExp | ast.JoinedStr) for item in node.args[:2]
        )
    ]
    for call in shuffled(calls, chooser):
        one, other = call.args[:2]
        start, end = program.begin(one), program.end(other)
        gap = program.data[program.end(one) : program.begin(other)]
        edit = splice(output, start, end, program.source(other) + gap + program.source(one))
        if edit is not None and program.source(one) != program.source(other):
            says = f"the arguments of {show(program.source(call).decode(), 60)} have changed places"
            yield Draft(line_of(output, start), (edit,), says)


OPERATORS = (
    (Operator("other-operator", "expressions", ("code",), "wrong"), _signs),
    (Operator("negated-condition", "expressions", ("code",), "wrong"), _conditions),
    (Operator("swapped-arguments", "expressions", ("code",), "wrong"), _arguments),
)
