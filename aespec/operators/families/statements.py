"""A statement of a program is missing."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from aespec.model.chooser import Chooser, shuffled
from aespec.operators.api import Draft, Operator, Output, Scene
from aespec.operators.contents import data_before, rewrite, text_in
from aespec.operators.formats.programs import Python, is_docstring
from aespec.operators.kinds import language_of
from aespec.operators.program_edits import code_lines, line_at, line_of, python_in, splice, statements_of
from aespec.runtime.decode import show

_CONTROL = re.compile(
    r"^\s*(?:[{}()\[\]]+[;,]?$|(?:if|elif|else|fi|for|while|until|do|done|case|esac|then|switch|try|catch|finally|"
    r"func|fn|function|class|struct|enum|interface|impl|import|from|package|use|using|include|require|export|"
    r"public|private|protected|static|void|int|end|def|module|begin|local|declare|var|let|const|type|default)\b"
    r"|.*[{(\\,|&]$|.*;;$|set\s|#|\w+\(\)|@|\.)"
)
_TOLD = re.compile(rb"^\s*(?:print\(|log(?:ger|ging)?\.|sys\.std(?:out|err)\.|warnings\.)")


def _dropped(output: Output, scene: Scene, chooser: Chooser) -> Iterator[Draft]:
    program = python_in(output)
    yield from _of_python(output, program, chooser) if program is not None else _of_lines(output, chooser)


def _of_python(output: Output, program: Python, chooser: Chooser) -> Iterator[Draft]:
    """What does something first; where a name is only bound, its absence shows at once."""
    known = data_before(output)
    doing: list[ast.stmt] = []
    binding: list[ast.stmt] = []
    for node in statements_of(program):
        if (
            isinstance(node, ast.AugAssign | ast.Raise | ast.Continue | ast.Break | ast.Delete)
            or (
                isinstance(node, ast.Expr)
                and not is_docstring(node)
                and not _TOLD.match(program.source(node))
            )
            or (isinstance(node, ast.If | ast.For | ast.While) and not _is_start(node))
        ):
            doing.append(node)
        elif isinstance(node, ast.Assign | ast.Return):
            binding.append(node)
    for group in (doing, binding):
        new = [node for node in group if not known or program.source(node) not in known]
        for node in [
            *shuffled(new, chooser),
            *shuffled([node for node in group if node not in new], chooser),
        ]:
            edit = splice(output, program.begin(node), program.end(node), b"pass")
            if edit is not None:
                told = show(program.source(node).decode().split("\n")[0], 60)
                yield Draft(line_of(output, program.begin(node)), (edit,), f"the statement {told} is missing")


def _is_start(node: ast.stmt) -> bool:
    """Whether it is `if __name__ == "__main__"`: without it nothing runs, which says little."""
    return isinstance(node, ast.If) and "__name__" in ast.dump(node.test)


def _of_lines(output: Output, chooser: Chooser) -> Iterator[Draft]:
    text = text_in(output)
    stand_in = ":" if language_of(output.path, text.encode()) == "shell" else ""
    lines = [item for item in code_lines(output) if not _CONTROL.match(item[2].rstrip())]
    for start, end, bare in shuffled(lines, chooser):
        line = text[start:end]
        indent = len(line) - len(line.lstrip())
        behind = text[end : end + 200].lstrip()
        # What goes on in the next line is no statement of its own.
        if "<<" in bare or behind[:1] in (".", "|", "&", "+", "?", ":") or bare.count("(") != bare.count(")"):
            continue
        edit = rewrite(output, text[:start] + line[:indent] + stand_in + text[end:])
        yield Draft(line_at(output, start), (edit,), f"the statement {show(line.strip(), 60)} is missing")


OPERATORS = ((Operator("dropped-statement", "statements", ("code",), "wrong"), _dropped),)
