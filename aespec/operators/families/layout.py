"""The same content laid out differently: indentation, escapes, comments, blank lines, a formatter's hand."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator

from aespec.model.chooser import Chooser
from aespec.operators.api import Draft, Operator, Output, Scene
from aespec.operators.contents import data_of, rewrite, text_in
from aespec.operators.formats.nodes import replaced
from aespec.operators.formats.programs import COMMENTS
from aespec.operators.json_edits import dumped, parsed_json
from aespec.operators.kinds import language_of
from aespec.operators.leaves import nodes_of
from aespec.operators.program_edits import body_of, python_in


def _indented(output: Output, scene: Scene, chooser: Chooser) -> Iterator[Draft]:
    parsed = parsed_json(output)
    if parsed is None:
        return
    compact = dumped(output, parsed.value, indent=None, separators=(",", ":"))
    yield Draft(output.path, (rewrite(output, compact),), "it is written without blanks")
    if not parsed.is_lines:
        wide = dumped(output, parsed.value, indent=4)
        yield Draft(output.path, (rewrite(output, wide),), "it is indented by four blanks")
    else:
        spaced = dumped(output, parsed.value, separators=(", ", " : "))
        yield Draft(output.path, (rewrite(output, spaced),), "it is written with more blanks")


def _escaped(output: Output, scene: Scene, chooser: Chooser) -> Iterator[Draft]:
    """One text after another with an escape in place of a letter, and the other way round."""
    text = text_in(output)
    for node in nodes_of("json", text):
        if isinstance(node.value, str) and node.value:
            plain = json.dumps(node.value, ensure_ascii=False)
            escape = json.dumps(node.value)
            if escape == plain:
                escape = f'"\\u{ord(node.value[0]):04x}{plain[2:]}' if plain[1] != "\\" else plain
            other = plain if text[node.start : node.end] == escape else escape
            changed = replaced(text, node, other)
            says = "a letter is written as an escape" if other == escape else "a letter stands for its escape"
            yield Draft(f"{output.path}", (rewrite(output, changed),), says)


def _commented(output: Output, scene: Scene, chooser: Chooser) -> Iterator[Draft]:
    text = text_in(output)
    if not text.strip():
        return
    end = "" if text.endswith("\n") else "\n"
    if output.kind == "xml":
        edit = rewrite(output, f"{text.rstrip()}\n<!-- checked -->\n")
    else:
        mark = COMMENTS.get(language_of(output.path, text.encode()), "#") if output.kind == "code" else "#"
        edit = rewrite(output, f"{text}{end}{mark} checked\n")
    yield Draft(output.path, (edit,), "a comment stands at its end")


def _spaced(output: Output, scene: Scene, chooser: Chooser) -> Iterator[Draft]:
    """A blank line between two statements of a program's outermost level, or two settings of one."""
    text = text_in(output)
    program = python_in(output)
    if program is not None:
        for node in body_of(program.tree)[1:]:
            if program.data[: program.begin(node)].endswith(b"\n"):
                at = len(program.data[: program.begin(node)].decode())
                edit = rewrite(output, f"{text[:at]}\n{text[at:]}")
                yield Draft(output.path, (edit,), "a blank line stands between two statements")
                return
    elif output.kind in ("yaml", "toml"):
        places = [match.end() for match in re.finditer(r"\n(?=[\w\[])", text)]
        for at in places[-1:]:
            edit = rewrite(output, f"{text[:at]}\n{text[at:]}")
            yield Draft(output.path, (edit,), "a blank line stands between two settings")


def _reformatted(output: Output, scene: Scene, chooser: Chooser) -> Iterator[Draft]:
    """Python as its own printer writes it; what stands above the first statement stays."""
    program = python_in(output)
    if program is None:
        return
    head = re.match(rb"(?:[ \t]*(?:#[^\n]*)?\n)*", data_of(output))
    kept = head[0].decode() if head is not None else ""
    try:
        printed = ast.unparse(program.tree)
    except (RecursionError, ValueError):
        return
    yield Draft(output.path, (rewrite(output, f"{kept}{printed}\n"),), "a formatter has gone over it")


OPERATORS = (
    (Operator("indentation", "layout", ("json",), "right"), _indented),
    (Operator("escapes", "layout", ("json",), "right"), _escaped),
    (Operator("comment", "layout", ("yaml", "toml", "xml", "code"), "right"), _commented),
    (Operator("blank-line", "layout", ("yaml", "toml", "code"), "right"), _spaced),
    (Operator("reformatted", "layout", ("code",), "right"), _reformatted),
)
