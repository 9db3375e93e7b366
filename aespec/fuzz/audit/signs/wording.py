"""Signs of what the tests ask for and nobody told: paths, fields, names and options (class 30).

A word counts as told where it stands in the instruction or in any file that the solver finds in the image.
"""

from __future__ import annotations

import ast
import posixpath
import re
import sys
from collections.abc import Iterable, Iterator

from aespec.fuzz.audit.signs.images import ANSWER_NAME
from aespec.fuzz.audit.signs.material import Material, Sign

_ROOTS = re.compile(
    r"/(?:app|home|root|workspace|work|data|outputs?|results?|srv|opt|repo|testbed|project|code|src|solution)/"
)
_PATH = re.compile(r"/[\w.+-]+(?:/[\w.+-]+)+")
_SYSTEM = re.compile(
    r"/(?:usr|etc|bin|sbin|lib|proc|dev|sys|tmp|run|logs|tests|root/\.(?:local|cache|cargo))/"
)
_BY_CUSTOM = frozenset(
    (
        "package.json",
        "cargo.toml",
        "makefile",
        "go.mod",
        "__init__.py",
        "dockerfile",
        "requirements.txt",
        "pyproject.toml",
        "readme.md",
        "head",
        "config",
        ".git",
    )
)
_CHOICE = re.compile(r"possible|candidate|alternat|indicator|common|option|either|locations|lib_paths|maybe")
_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_ -]{2,40}")
_PROGRAM = re.compile(r"(?:" + _ROOTS.pattern + r"|\./)(?!.*/(?:python|node|bash|sh)[\d.]*$)")
_FLAG = re.compile(r"--[a-z][a-z0-9-]+")
_SHOWN = 5
_WRITTEN_BY = """
write_text write_bytes mkdir makedirs copy copy2 copyfile copytree move rename replace touch unlink remove
dump savetxt save to_csv to_json setdefault
"""
_WRITERS = frozenset(_WRITTEN_BY.split())

# Fields of other programs' formats are told by those: media probes, notebooks, Kubernetes, Compose, SARIF.
_FOREIGN = re.compile(r"ffprobe|ffmpeg|ipynb|nbformat|kubectl|apiVersion|\.ya?ml|sarif|package\.json|geojson")


def find_untold(material: Material) -> Iterator[Sign]:
    """What the Python tests read and the solver isn't told."""
    paths: dict[str, str] = {}
    keys: dict[str, str] = {}
    names: dict[str, str] = {}
    flags: dict[str, str] = {}
    written = _written_by_tests(material) | _written_by_scripts(material)
    for name, tree in _judging(material):
        values = _values(tree)
        optional = _optional(tree, values)
        for node in ast.walk(tree):
            where = f"{name}:{getattr(node, 'lineno', 0)}"
            for path in _paths(node, values):
                if path not in optional and _is_untold_path(path, material, written):
                    paths.setdefault(path, where)
            for flag in _flags(node):
                if flag != "--help" and not material.knows(flag):
                    flags.setdefault(flag, where)
        for key, line in _keys(tree):
            if not _is_told(key, material) and key not in written and not _is_in_data(key, material):
                keys.setdefault(key, f"{name}:{line}")
        for imported, line in _imports(tree, material):
            if not material.knows(imported):
                names.setdefault(imported, f"{name}:{line}")
    yield from _sign("untold-path", "warning", "paths", paths, 0.7)
    yield from _sign("untold-name", "warning", "names in the solver's modules", names, 0.6)
    yield from _sign("untold-option", "warning", "options of the solver's programs", flags, 0.6)
    yield from _sign("untold-field", "advice", "fields", keys, 0.4)


def _judging(material: Material) -> Iterator[tuple[str, ast.Module]]:
    """The Python files that decide: those with tests, those that the script names, and what these import."""
    named = {
        name
        for name, tree in material.python.items()
        if posixpath.basename(name) in material.script_text
        or any(isinstance(node, ast.FunctionDef) and node.name.startswith("test") for node in ast.walk(tree))
    }
    for name in sorted(named):
        yield name, material.python[name]


def _written_by_scripts(material: Material) -> set[str]:
    """Files that the test script makes, and the names of the files that lie in tests/."""
    found = {posixpath.basename(name).lower() for name in material.tests}
    for command in material.script:
        last = (
            command.words[-1:] if command.words and command.words[0] in ("cp", "mv", "tee", "touch") else ()
        )
        for path in (*command.writes, *last):
            found |= {path, posixpath.basename(path).lower()}
    return found


def _is_in_data(key: str, material: Material) -> bool:
    """Whether the field stands in data that lies with the tests: then it is theirs."""
    return any(key in text for name, text in material.tests.items() if not name.endswith((".py", ".sh")))


def _sign(slug: str, severity: str, what: str, found: dict[str, str], rank: float) -> Iterator[Sign]:
    if not found:
        return
    shown = ", ".join(f"{word} ({where})" for word, where in list(found.items())[:_SHOWN])
    more = f" and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
    message = (
        f"the tests read {what} that neither the instruction nor a file of the image names: {shown}{more}"
    )
    yield Sign(slug, severity, "stated", message, rank)


def _values(tree: ast.Module) -> dict[str, str]:
    """Names that are given a text or a path once in the module."""
    found: dict[str, str] = {}
    twice: set[str] = set()
    for node in ast.walk(tree):
        if not isinstance(node, ast.Assign) or not isinstance(node.targets[0], ast.Name):
            continue
        name = node.targets[0].id
        text = _text(node.value, found)
        if text is None or found.get(name, text) != text:
            twice.add(name)
        else:
            found[name] = text
    return {name: text for name, text in found.items() if name not in twice}


def _text(node: ast.AST, values: dict[str, str]) -> str | None:
    """A text or path that an expression stands for; None where it can't be told."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else None
    if isinstance(node, ast.Name):
        return values.get(node.id)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div | ast.Add):
        left, right = _text(node.left, values), _text(node.right, values)
        if left is None or right is None:
            return None
        return posixpath.join(left, right) if isinstance(node.op, ast.Div) else left + right
    if isinstance(node, ast.Call):
        parts = [_text(item, values) for item in node.args]
        known = [part for part in parts if part is not None]
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if name in ("Path", "PurePath", "PosixPath", "join", "str") and known and len(known) == len(parts):
            return posixpath.join(*known) if len(known) > 1 else known[0]
    return None


def _optional(tree: ast.Module, values: dict[str, str]) -> set[str]:
    """Paths that needn't be there: asked for by an `if`, one of several, or given to a program to write."""
    found: set[str] = set()
    for node in ast.walk(tree):
        parts: list[ast.AST] = []
        if isinstance(node, ast.If | ast.IfExp) and not isinstance(node.test, ast.UnaryOp):
            parts = [*ast.walk(node.test)]
        elif isinstance(node, ast.Assign | ast.For | ast.comprehension):
            target = node.targets[0] if isinstance(node, ast.Assign) else node.target
            value = node.value if isinstance(node, ast.Assign) else node.iter
            if isinstance(value, ast.List | ast.Tuple) and _CHOICE.search(ast.unparse(target)):
                parts = list(value.elts)
        elif isinstance(node, ast.List | ast.Tuple) and node.elts and not _is_reader(node.elts[0]):
            first = _text(node.elts[0], values) or ""
            parts = list(node.elts[1:]) if isinstance(node, ast.List) and _looks_run(first) else []
        found |= {text for part in parts if (text := _text(part, values)) is not None}
    return found


def _looks_run(word: str) -> bool:
    return bool(word) and " " not in word and (not word.startswith("/") or bool(_PROGRAM.match(word)))


def _is_reader(node: ast.expr) -> bool:
    readers = (
        "cat",
        "diff",
        "cmp",
        "grep",
        "wc",
        "head",
        "tail",
        "file",
        "test",
        "stat",
        "ls",
        "jq",
        "sha256sum",
    )
    return isinstance(node, ast.Constant) and node.value in (
        *readers,
        "python",
        "python3",
        "node",
        "bash",
        "sh",
    )


def _paths(node: ast.AST, values: dict[str, str]) -> Iterator[str]:
    """Absolute paths that an expression opens, asks for or hands on."""
    if isinstance(node, ast.Call):
        candidates: Iterable[ast.AST] = [*node.args, node]
    elif isinstance(node, ast.Assign):
        candidates = [node.value]
    elif isinstance(node, ast.BinOp):
        candidates = [node]
    else:
        return
    for item in candidates:
        text = _text(item, values)
        if text is not None and _PATH.fullmatch(text):
            yield text


def _is_untold_path(path: str, material: Material, written: set[str]) -> bool:
    workdir = material.task.environment.workdir or "/app"
    if _SYSTEM.match(path) or not (_ROOTS.match(path) or path.startswith(f"{workdir.rstrip('/')}/")):
        return False
    base = posixpath.basename(path).lower()
    if base in _BY_CUSTOM or path in written or base in written or ANSWER_NAME.search(base):
        return False  # a reference is no output that was asked for, and told elsewhere
    # A folder is often told by what lies in it, and a module by its name without the ending.
    parts = path.strip("/").split("/")
    for depth in range(2, len(parts) - 1):
        # A tree that is told by its top, such as a library's sources, needn't be told leaf by leaf.
        if material.knows("/" + "/".join(parts[:depth])) and len(parts) - depth >= 2:
            return False
    stem = base.partition(".")[0]
    return not (material.knows(base) or (len(stem) >= 4 and "." in base and _has_word(stem, material)))


def _has_word(word: str, material: Material) -> bool:
    return re.search(rf"(?<![\w-]){re.escape(word)}(?![\w-])", material.told) is not None


def _is_told(key: str, material: Material) -> bool:
    """Whether a field's name is told, perhaps with blanks or hyphens, or as words of their own."""
    low = key.lower()
    spellings = {low, low.replace("_", " "), low.replace("_", "-"), low.replace("_", "")}
    return any(spelling in material.told or spelling in material.seen for spelling in spellings)


def _written_by_tests(material: Material) -> set[str]:
    """Texts that the tests themselves put somewhere: keys of their own tables, files that they write."""
    found: set[str] = set()
    for tree in material.python.values():
        values = _values(tree)
        for node in ast.walk(tree):
            if isinstance(node, ast.Dict):
                keys = [key.value for key in node.keys if isinstance(key, ast.Constant)]
                found |= {key for key in keys if isinstance(key, str) and _is_word(key)}
            elif isinstance(node, ast.Assign | ast.AugAssign):
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                for target in targets:
                    if isinstance(target, ast.Subscript) and isinstance(target.slice, ast.Constant):
                        found.add(str(target.slice.value))
            elif isinstance(node, ast.Call):
                name = (
                    node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
                )
                if name in (
                    "write_text",
                    "write_bytes",
                    "mkdir",
                    "makedirs",
                    "copy",
                    "copyfile",
                    "setdefault",
                ):
                    targets_of = [
                        *node.args,
                        node.func.value if isinstance(node.func, ast.Attribute) else node,
                    ]
                    found |= {text for item in targets_of if (text := _text(item, values))}
                elif name == "open":
                    held = [node.func.value] if isinstance(node.func, ast.Attribute) else node.args[:1]
                    if any(_is_for_writing(item) for item in node.args):
                        found |= {text for item in held if (text := _text(item, values))}
    return found | {posixpath.basename(text).lower() for text in found if text.startswith("/")}


def _is_for_writing(mode: ast.expr) -> bool:
    return isinstance(mode, ast.Constant) and re.fullmatch(r"[wax][bt+]*", str(mode.value)) is not None


def _is_word(value: object) -> bool:
    return isinstance(value, str)


def _keys(tree: ast.Module) -> Iterator[tuple[str, int]]:
    """Names of fields that are read of what was loaded from a file: `data["key"]`, `"key" in data`."""
    for function in ast.walk(tree):
        if not isinstance(function, ast.FunctionDef) or _FOREIGN.search(ast.unparse(function)):
            continue
        loaded = _loaded(function)
        either = {
            id(part)
            for node in ast.walk(function)
            if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.Or)
            for part in ast.walk(node)
        }
        for node in ast.walk(function):
            found = None if id(node) in either else _key_read(node, loaded)
            if found is not None and _KEY.fullmatch(found):
                yield found, getattr(node, "lineno", 0)


def _key_read(node: ast.AST, loaded: set[str]) -> str | None:
    key: ast.AST | None = None
    if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load) and _root(node.value) in loaded:
        key = node.slice
    elif isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.In | ast.NotIn):
        holder = node.comparators[0]
        is_part = isinstance(holder, ast.Name | ast.Subscript) and _root(holder) in loaded
        key = node.left if is_part else None
    return key.value if isinstance(key, ast.Constant) and isinstance(key.value, str) else None


def _root(node: ast.AST | None) -> str:
    """The name that a chain of subscripts begins with."""
    while isinstance(node, ast.Subscript):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def _loaded(function: ast.FunctionDef) -> set[str]:
    """Names of a function that hold what was parsed of a file or of an answer, or the parts of it."""
    found: set[str] = set()
    for _ in range(3):
        for node in ast.walk(function):
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                name, value = node.targets[0].id, node.value
            elif isinstance(node, ast.For) and isinstance(node.target, ast.Name):
                name, value = node.target.id, node.iter
            else:
                continue
            loads = (
                isinstance(value, ast.Call)
                and isinstance(value.func, ast.Attribute)
                and value.func.attr in ("load", "loads", "safe_load", "json")
            )
            if loads or (isinstance(value, ast.Name | ast.Subscript) and _root(value) in found):
                found.add(name)
    return found


def _imports(tree: ast.Module, material: Material) -> Iterator[tuple[str, int]]:
    """Names that are taken from modules that the solver writes."""
    own = {posixpath.splitext(posixpath.basename(name))[0] for name in material.python}
    installed = (material.task.environment.dockerfile or "").lower() + material.script_text.lower()
    for node in ast.walk(tree):
        if not isinstance(node, ast.ImportFrom) or node.level or not node.module:
            continue
        top = node.module.partition(".")[0]
        distribution = top.lower().replace("_", "-")
        if top in sys.stdlib_module_names or top in own or top in _COMMON or top.startswith("test"):
            continue
        if re.search(rf"\b{re.escape(distribution)}\b", installed) and not _is_file_of_image(top, material):
            continue
        if not _is_file_of_image(top, material) and not _has_word(top.lower(), material):
            continue
        for alias in node.names:
            if alias.name != "*":
                yield alias.name, node.lineno


def _is_file_of_image(module: str, material: Material) -> bool:
    return any(f"/{module}.py" in one.place or f"/{module}/" in one.place for one in material.copied)


_MODULES = "pytest numpy pandas scipy sklearn torch PIL cv2 yaml requests bs4 lxml matplotlib networkx sympy"
_COMMON = frozenset(_MODULES.split())


def _flags(node: ast.AST) -> Iterator[str]:
    """Options that are given to a program of the solver's, named by its path or behind an interpreter."""
    if not isinstance(node, ast.List | ast.Tuple):
        return
    words = [item.value if isinstance(item, ast.Constant) else "" for item in node.elts]
    program = next((word for word in words[:2] if isinstance(word, str) and _PROGRAM.match(word)), None)
    if program is not None:
        yield from (
            word.partition("=")[0]
            for word in words[words.index(program) + 1 :]
            if isinstance(word, str) and _FLAG.match(word)
        )
