"""A local variable of a program has another name."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from aespec.model.chooser import Chooser, shuffled
from aespec.model.edit_forms import change
from aespec.operators.api import Draft, Operator, Output, Scene
from aespec.operators.contents import data_of
from aespec.operators.formats.programs import Python, local_names
from aespec.operators.program_edits import FUNCTIONS, line_of, python_in


def _renamed(output: Output, scene: Scene, chooser: Chooser) -> Iterator[Draft]:
    program = python_in(output)
    functions = [node for node in ast.walk(program.tree) if isinstance(node, FUNCTIONS)] if program else []
    for node in shuffled(functions, chooser):
        assert program is not None
        for name in local_names(node):
            other = f"{name}_value"
            data = _with_name(program, node, name, other)
            if data is not None:
                edit = change(output.path, data_of(output), data)
                says = f"the local variable {name} is named {other}"
                yield Draft(line_of(output, program.begin(node)), (edit,), says)


def _with_name(program: Python, function: ast.stmt, name: str, other: str) -> bytes | None:
    """None where the name stands in a formatted text: Python tells no place for it there."""
    places: list[int] = []
    for node in ast.walk(function):
        inside = [item for item in ast.walk(node) if isinstance(item, ast.Name)]
        if isinstance(node, ast.JoinedStr) and any(item.id == name for item in inside):
            return None
        if isinstance(node, ast.Name) and node.id == name:
            places.append(program.begin(node))
    data = program.data
    if other.encode() in data:
        return None
    for place in sorted(set(places), reverse=True):
        data = data[:place] + other.encode() + data[place + len(name.encode()) :]
    return data


OPERATORS = ((Operator("renamed-local", "renaming", ("code",), "right"), _renamed),)
