"""What a Python test file imports, runs, opens and compares with, read without running it."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field

LIMIT_BYTES = 1 << 18

_RUNNER_NAMES = "run call check_call check_output Popen getoutput getstatusoutput system popen spawn"
_RUNNERS = frozenset(_RUNNER_NAMES.split())
_COMPARING = ("assert", "equal", "approx", "isclose", "match", "search", "startswith", "endswith", "count")


@dataclass(slots=True)
class PythonFacts:
    """In the order of the source, each once.

    `modules` are dotted names that are imported, `commands` the words of programs that are run, `scripts`
    those given as one text to a shell, `paths` every absolute path among the strings, `literals` what values
    are compared with.
    """

    modules: dict[str, None] = field(default_factory=dict)
    commands: dict[tuple[str, ...], None] = field(default_factory=dict)
    scripts: dict[str, None] = field(default_factory=dict)
    paths: dict[str, None] = field(default_factory=dict)
    literals: dict[str, None] = field(default_factory=dict)


def read_python(data: bytes) -> PythonFacts:
    """The facts of a source; nothing of one that can't be parsed or is larger than `LIMIT_BYTES`."""
    found = PythonFacts()
    if len(data) > LIMIT_BYTES:
        return found
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(data)
        for node in ast.walk(tree):
            _look(node, found)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return found
    return found


def _look(node: ast.AST, found: PythonFacts) -> None:
    if isinstance(node, ast.Import):
        found.modules.update(dict.fromkeys(alias.name for alias in node.names))
    elif isinstance(node, ast.ImportFrom):
        if node.module and not node.level:
            found.modules[node.module] = None
    elif isinstance(node, ast.Constant):
        if isinstance(node.value, str) and node.value.startswith("/") and "\n" not in node.value:
            found.paths[node.value] = None
    elif isinstance(node, ast.Compare):
        for side in (*node.comparators, node.left):
            found.literals.update(dict.fromkeys(_literals(side)))
    elif isinstance(node, ast.Call):
        _look_at_call(node, found)


def _look_at_call(node: ast.Call, found: PythonFacts) -> None:
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    if any(part in str(name).lower() for part in _COMPARING):
        for argument in node.args:
            found.literals.update(dict.fromkeys(_literals(argument)))
    if name == "import_module" and node.args and isinstance(node.args[0], ast.Constant):
        found.modules[str(node.args[0].value)] = None
    if name not in _RUNNERS or not node.args:
        return
    first = node.args[0]
    if isinstance(first, ast.Constant) and isinstance(first.value, str):
        found.scripts[first.value] = None
    elif isinstance(first, ast.JoinedStr):
        parts = [part.value if isinstance(part, ast.Constant) else "x" for part in first.values]
        found.scripts["".join(str(part) for part in parts)] = None
    elif isinstance(first, ast.List | ast.Tuple) and first.elts:
        words = [item.value if isinstance(item, ast.Constant) else "" for item in first.elts]
        if isinstance(words[0], str) and words[0]:
            found.commands[tuple(str(word) for word in words)] = None


def _literals(node: ast.expr) -> Iterator[str]:
    """The texts and numbers in an expression that is compared with, as they would be written to a file."""
    if isinstance(node, ast.Constant):
        value = node.value
        if isinstance(value, str) and value.strip():
            yield value
        elif isinstance(value, int | float) and not isinstance(value, bool):
            yield repr(value)
    elif isinstance(node, ast.List | ast.Tuple | ast.Set):
        for item in node.elts:
            yield from _literals(item)
    elif isinstance(node, ast.Dict):
        for item in node.values:
            yield from _literals(item)
    elif (
        isinstance(node, ast.UnaryOp)
        and isinstance(node.op, ast.USub)
        and isinstance(node.operand, ast.Constant)
    ):
        value = node.operand.value
        if isinstance(value, int | float) and not isinstance(value, bool):
            yield repr(-value)
