"""Blind policies: end states reached without doing the work, made from the outputs' names and shapes only.

Each starts from the start state and puts something in the place of every output at once. One that passes
shows a verifier that doesn't look at what was done, whatever the author meant by it.
"""

from __future__ import annotations

import ast
import copy
import json
import random
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from aespec.model.edit import Edit
from aespec.model.edit_forms import put
from aespec.model.expressions import Json
from aespec.operators.api import Output, Scene
from aespec.operators.formats.containers import pack_container, read_container
from aespec.operators.formats.databases import change_database, quoted, read_database
from aespec.operators.formats.json_text import Parsed, read_json
from aespec.operators.formats.programs import read_python
from aespec.operators.formats.tables import read_table, write_table
from aespec.operators.kinds import language_of, text_of
from aespec.operators.meaning import means_the_same
from aespec.runtime.memory import Node
from aespec.trial.probe import Probe

FILES_LIMIT = 200
BYTES_LIMIT = 16 * 1024**2
"""Outputs beyond these are left as they are in the start state."""

INPUTS_TRIED = 3

CONSTANTS = ("0", "1", "true", "[]", "{}", "null", "OK")
"""What every output holds under a constant policy, each with a line end."""


@dataclass(frozen=True, slots=True)
class Policy:
    """One blind policy. `says` is a clause for a reader: it follows "passes although"."""

    name: str
    says: str
    probe: Probe = field(repr=False)


Content = Callable[[Output], bytes | None]
"""What a policy puts in an output's place; None is no file at all."""


def blind_policies(scene: Scene) -> Iterator[Policy]:
    """The policies that make sense for what the oracle left, the most telling first, the same on every run.

    None that leaves the start state as it is, and none by which every output says what the oracle's says.
    """
    outputs = _files(scene)
    seen: set[tuple[bytes | None, ...]] = set()
    for name, says, content in _policies(scene, outputs):
        made = {output.path: content(output) for output in outputs}
        if _is_nothing(outputs, made) or _is_right(scene, outputs, made):
            continue
        edits = tuple(edit for output in outputs for edit in _edits(output, made[output.path]))
        if tuple(made.values()) not in seen:
            seen.add(tuple(made.values()))
            yield Policy(name, says, Probe(f"blind policy: {name}", "start", edits))


def _files(scene: Scene) -> tuple[Output, ...]:
    room = BYTES_LIMIT
    found: list[Output] = []
    for output in scene.outputs:
        if output.after is not None and output.after.kind == "file" and len(found) < FILES_LIMIT:
            room -= len(output.after.data)
            if room < 0:
                break
            found.append(output)
    return tuple(found)


def _is_nothing(outputs: tuple[Output, ...], made: dict[str, bytes | None]) -> bool:
    """Whether the start state stays as it is."""
    return all(made[output.path] == _data(output.before) for output in outputs)


def _is_right(scene: Scene, outputs: tuple[Output, ...], made: dict[str, bytes | None]) -> bool:
    """Whether all of it says what the oracle's end state says: such a pass would be right."""
    if any(output.kind == "deleted" and output.before is not None for output in scene.outputs):
        return False
    for output in outputs:
        data = made[output.path]
        if data is None or not means_the_same(output.kind, output.path, _after(output), data):
            return False
    return True


def _edits(output: Output, data: bytes | None) -> tuple[Edit, ...]:
    if data is None:
        return (Edit(output.path, "", "delete"),) if output.before is not None else ()
    if data == _data(output.before):
        return ()
    assert output.after is not None
    return (put(output.path, data, output.after.mode),)


def _after(output: Output) -> bytes:
    assert output.after is not None
    return output.after.data


def _data(node: Node | None) -> bytes | None:
    return node.data if node is not None and node.kind == "file" else None


def _policies(scene: Scene, outputs: tuple[Output, ...]) -> Iterator[tuple[str, str, Content]]:
    yield "emptied", "every output is an empty file", lambda output: b""
    yield "deleted", "no output is there", lambda output: None
    if any(output.kind == "code" for output in outputs):
        for value in ("None", "0", "''", "the first argument"):
            name = f"stubs that return {value}"
            yield name, f"every function of the outputs only returns {value}", _stub(value)
    yield "defaults", "every value in the outputs is zero or empty", _defaults
    yield "headers", "of every output only the first line, or the names of the fields, is there", _headers
    yield "scrambled", "every letter and digit of the outputs was drawn at random", _scrambled
    yield "junk", "the outputs are random bytes of the same size", _junk
    yield "zeros", "the outputs are zero bytes of the same size", lambda output: b"\0" * len(_after(output))
    for text in CONSTANTS:
        yield f"constant {text}", f"every output holds just {text}", _constant(text)
    if scene.instruction:
        yield "instruction", "every output is a copy of the instruction", _copy(scene.instruction.encode())
    for path, data in sorted(scene.inputs.items(), key=lambda item: (-len(item[1]), item[0]))[:INPUTS_TRIED]:
        yield f"copy of {path}", f"every output is a copy of {path}", _copy(data)


def _constant(text: str) -> Content:
    return _copy(f"{text}\n".encode())


def _copy(data: bytes) -> Content:
    return lambda output: data


def _drawn(output: Output) -> random.Random:
    """Draws that depend on the path alone, so that a policy is the same on every run."""
    return random.Random(output.path.encode("utf-8", "surrogateescape"))


def _junk(output: Output) -> bytes:
    return _drawn(output).randbytes(len(_after(output)))


def _scrambled(output: Output) -> bytes | None:
    """Letters for letters and digits for digits; the names of fields and columns stay."""
    text = text_of(_after(output))
    if text is None:
        return _junk(output)
    draw = _drawn(output)
    if output.kind == "json":
        value = read_json(text)
        if value is not None:
            return _rewritten(value, lambda leaf: _scramble_leaf(leaf, draw))
    head, mark, rest = text.partition("\n") if output.kind == "table" else ("", "", text)
    return (head + mark + _scramble(rest, draw)).encode()


def _scramble(text: str, draw: random.Random) -> str:
    def other(found: re.Match[str]) -> str:
        char = found.group()
        pool = "123456789" if char.isdigit() else "bcdfghjkmnpqrstvwxz"
        return draw.choice([item for item in pool if item != char.lower()])

    return re.sub(r"[A-Za-z0-9]", other, text)


def _scramble_leaf(leaf: Json, draw: random.Random) -> Json:
    if isinstance(leaf, bool):
        return not leaf
    if isinstance(leaf, int | float):
        return type(leaf)(draw.randrange(1, 10**6))
    return _scramble(leaf, draw) if isinstance(leaf, str) else leaf


def _defaults(output: Output) -> bytes | None:
    hollow = {"archive": _hollow_members, "sqlite": _blank_records}.get(output.kind)
    made = hollow(_after(output)) if hollow is not None else None
    if made is not None:
        return made
    text = text_of(_after(output))
    if text is None:
        return b"\0" * len(_after(output))
    if output.kind == "code":
        return _stub("None")(output)
    if output.kind == "json":
        value = read_json(text)
        if value is not None:
            return _rewritten(value, _default_of)
    if output.kind == "table":
        table = read_table(output.path, text)
        if table is not None:
            return write_table(table, [[_default_cell(cell) for cell in row] for row in table.rows]).encode()
    return re.sub(r"\d+", "0", text).encode()


def _hollow_members(data: bytes) -> bytes | None:
    """The archive with every name in it, and nothing in any file."""
    container = read_container(data)
    if container is None:
        return None
    members = [member._replace(data=None if member.data is None else b"") for member in container.members]
    return pack_container(container, tuple(members))


_BLANK = "CASE typeof({0}) WHEN 'text' THEN '' WHEN 'null' THEN NULL ELSE 0 END"


def _blank_records(data: bytes) -> bytes | None:
    """The database with all its rows, and every value in them zero or empty where no key forbids it."""
    contents = read_database(data)
    if contents is None:
        return None
    statements: list[tuple[str, tuple[()]]] = []
    for rows in contents.tables:
        for column in map(quoted, rows.columns):
            value = _BLANK.format(column)
            statements.append((f"UPDATE OR IGNORE {quoted(rows.name)} SET {column} = {value}", ()))  # noqa: S608
    return change_database(data, *statements)


def _default_of(leaf: Json) -> Json:
    if isinstance(leaf, bool):
        return False
    if isinstance(leaf, int | float):
        return type(leaf)(0)
    return "" if isinstance(leaf, str) else None


def _default_cell(cell: str) -> str:
    return "0" if re.fullmatch(r"[-+]?[\d.]+", cell.strip()) else ""


def _headers(output: Output) -> bytes | None:
    text = text_of(_after(output))
    if text is None:
        return _after(output)[:64]
    if output.kind == "json":
        value = read_json(text)
        if value is not None and isinstance(value.value, dict):
            return _rewritten(value, lambda leaf: None)
        return b"[]\n"
    return (text.partition("\n")[0] + "\n").encode()


def _rewritten(parsed: Parsed, change: Callable[[Json], Json]) -> bytes:
    """The documents with every leaf changed, one to a line where they were so."""
    changed = [_map_json(value, change) for value in parsed.values]
    indent = None if parsed.is_lines else 2
    written = [json.dumps(value, indent=indent, ensure_ascii=False) + "\n" for value in changed]
    return "".join(written).encode("utf-8", "surrogatepass")


def _map_json(value: Json, change: Callable[[Json], Json]) -> Json:
    """The value with every leaf changed; names and lengths stay."""
    if isinstance(value, dict):
        return {key: _map_json(item, change) for key, item in value.items()}
    if isinstance(value, list):
        return [_map_json(item, change) for item in value]
    return change(value)


def _stub(value: str) -> Content:
    """Code whose functions do nothing but return; other outputs get their defaults."""

    def content(output: Output) -> bytes | None:
        data = _after(output)
        language = language_of(output.path, data)
        if output.kind != "code":
            return _defaults(output)
        if language == "python":
            return _stub_python(data, value)
        return b"#!/bin/sh\nexit 0\n" if language == "shell" else b""

    return content


def _stub_python(data: bytes, value: str) -> bytes:
    """The program with every function's body gone, and nothing run at its end; b"" for what can't be read."""
    program = read_python(data)
    if program is None:
        return b""
    tree = copy.deepcopy(program.tree)
    tree.body = [
        node for node in tree.body if not isinstance(node, ast.If | ast.Expr | ast.For | ast.While | ast.With)
    ]
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            named = [argument.arg for argument in (*node.args.posonlyargs, *node.args.args)]
            first = next((name for name in named if name not in ("self", "cls")), "None")
            told = first if value == "the first argument" else value
            is_initial = node.name == "__init__"
            node.body = [ast.Return(ast.parse("None" if is_initial else told, mode="eval").body)]
    try:
        return (ast.unparse(ast.fix_missing_locations(tree)) + "\n").encode("utf-8", "surrogateescape")
    except RecursionError:
        return b""
