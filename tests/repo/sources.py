"""The project's own files, as the tests of the repository see them."""

import ast
import functools
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


@functools.cache
def project_files() -> tuple[Path, ...]:
    """Every file that is or would be committed, sorted; from an unpacked sdist, every file below the top."""
    listed = subprocess.run(
        ["git", "-C", str(ROOT), "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        capture_output=True,
        check=False,
    )
    if listed.returncode == 0:
        paths = [ROOT / name for name in listed.stdout.decode().split("\0") if name]
    else:
        paths = [path for path in ROOT.rglob("*") if "__pycache__" not in path.parts]
    return tuple(sorted(path for path in paths if path.is_file() and not path.is_symlink()))


def modules(*below: str) -> tuple[Path, ...]:
    """The Python files below the named folders; what is recorded in tests/golden is output, not source."""
    tops = [ROOT / name for name in below]
    return tuple(
        path
        for path in project_files()
        if path.suffix == ".py"
        and any(path.is_relative_to(top) for top in tops)
        and not path.is_relative_to(ROOT / "tests/golden")
    )


@functools.cache
def tree(path: Path) -> ast.Module:
    """The syntax tree of a module of the project."""
    return ast.parse(path.read_text(encoding="utf-8"), filename=str(path))


def functions(module: ast.Module) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """Every function and method, nested ones too."""
    for node in ast.walk(module):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def length(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Lines from `def` to the last, docstring and comments included, decorators not."""
    return node.end_lineno - node.lineno + 1


def imported(module: ast.Module) -> Iterator[tuple[str, int]]:
    """Each absolute module that a module imports anywhere, with its line; relative imports as `.name`."""
    for node in ast.walk(module):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield "." * node.level + (node.module or ""), node.lineno


def shown(path: Path) -> str:
    """The path as a reader of a failure wants it."""
    return str(path.relative_to(ROOT))


def is_standard(name: str) -> bool:
    """Whether the absolute module belongs to the standard library of the Python that runs the tests."""
    return name.partition(".")[0] in sys.stdlib_module_names
