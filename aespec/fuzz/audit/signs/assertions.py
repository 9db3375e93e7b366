"""Signs in Python tests: what is asserted says little, says nothing, or depends on luck or the clock."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field

from aespec.fuzz.audit.signs.material import Material, Sign

Function = ast.FunctionDef | ast.AsyncFunctionDef

_EXISTENCE = "exists is_file is_dir isfile isdir islink lexists which access is_symlink isinstance hasattr"
_ASKS_EXISTENCE = frozenset(_EXISTENCE.split())
_LISTERS = "glob iglob rglob iterdir listdir scandir walk find_all findall finditer"
_LISTING = frozenset(_LISTERS.split())
_SIZES = frozenset(("len", "getsize"))
_DRAWERS = "random randint randrange choice choices sample shuffle uniform gauss normal rand randn integers"
_DRAWS = frozenset(_DRAWERS.split())
_CLOCKS = frozenset(("now", "utcnow", "today"))


def find_in_tests(material: Material) -> Iterator[Sign]:
    """The signs in the Python files of a task's tests that are run as tests."""
    files = {name: tree for name, tree in material.python.items() if _functions(tree)}
    yield from _existence(files)
    yield from _vacuous(files)
    yield from _drawn(files)
    yield from _clocks(files)


def _functions(tree: ast.Module) -> list[Function]:
    """Test functions and methods."""
    return [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test")
    ]


def _called(node: ast.AST) -> str:
    if not isinstance(node, ast.Call):
        return ""
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")


def _existence(files: dict[str, ast.Module]) -> Iterator[Sign]:
    """All assertions of all files ask whether something is there, how large it is, or of what type."""
    asserts = [node for tree in files.values() for node in ast.walk(tree) if isinstance(node, ast.Assert)]
    others = [node for tree in files.values() for node in ast.walk(tree) if _decides_otherwise(node)]
    if not asserts or others or not all(_is_weak(node.test) for node in asserts):
        return
    names = ", ".join(sorted(files))
    yield Sign(
        "existence-tests",
        "warning",
        "sound",
        f"nothing that {names} asserts looks at a content: only whether something is there, its size or type",
        0.7,
    )


def _decides_otherwise(node: ast.AST) -> bool:
    """Something but `assert` that can fail a test."""
    if isinstance(node, ast.Raise):
        return True
    name = _called(node)
    if name in ("fail", "raises", "check_call", "check_output", "exit", "raise_for_status"):
        return True
    if name == "run" and isinstance(node, ast.Call):
        return any(keyword.arg == "check" for keyword in node.keywords)
    return name.startswith(("assert_", "assert")) and name not in ("assertTrue", "assertFalse")


def _is_weak(test: ast.expr) -> bool:
    if isinstance(test, ast.BoolOp):
        return all(_is_weak(value) for value in test.values)
    if isinstance(test, ast.UnaryOp):
        return isinstance(test.op, ast.Not) and _is_weak(test.operand)
    if isinstance(test, ast.Compare):
        if isinstance(test.ops[0], ast.Is | ast.IsNot) and _is_constant(test.comparators[0]):
            return True
        is_bound = isinstance(test.ops[0], ast.Gt | ast.GtE | ast.NotEq)
        return is_bound and _is_size(test.left) and _is_constant(test.comparators[0])
    return _called(test) in _ASKS_EXISTENCE


def _is_size(node: ast.expr) -> bool:
    return _called(node) in _SIZES or (isinstance(node, ast.Attribute) and node.attr == "st_size")


def _is_constant(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant)


@dataclass(slots=True)
class _Loops:
    """The assertions of a function: those in loops, by what is gone through, and those outside."""

    inside: dict[str, ast.expr] = field(default_factory=dict)
    outside: int = 0


def _vacuous(files: dict[str, ast.Module]) -> Iterator[Sign]:
    """Tests that assert only for each of what may be nothing at all, and what no other test asks about."""
    found: list[str] = []
    total = 0
    for name, tree in files.items():
        constants = _constants(tree)
        asked = _asked_outside(tree)
        for function in _functions(tree):
            total += 1
            loops = _Loops()
            for statement in function.body:
                _sort(statement, None, loops)
            if loops.outside or not loops.inside:
                continue
            sources = _sources(function)
            if all(
                _may_be_empty(item, sources, constants)
                and not _is_guarded(item, function)
                and not (_marks(item, sources) & asked)
                for item in loops.inside.values()
            ):
                what = next(iter(loops.inside))
                found.append(f"{name}:{function.lineno} {function.name} (for each of {what[:60]})")
    if found:
        more = f" and {len(found) - 3} more" if len(found) > 3 else ""
        is_all = len(found) == total
        yield Sign(
            "vacuous-loop",
            "warning" if is_all else "advice",
            "sound",
            f"these tests hold where there is nothing to go through: {'; '.join(found[:3])}{more}",
            0.7 if is_all else 0.4,
        )
    yield from _parametrized(files)


def _marks(item: ast.AST, sources: dict[str, ast.expr], depth: int = 0) -> set[str]:
    """The texts in an expression (fields, patterns, places), also of the names that it is made from."""
    found = {
        node.value
        for node in ast.walk(item)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    if depth < 4:
        for node in ast.walk(item):
            if isinstance(node, ast.Name) and node.id in sources and sources[node.id] is not item:
                found |= _marks(sources[node.id], sources, depth + 1)
    return found


def _asked_outside(tree: ast.Module) -> set[str]:
    """The texts in assertions that stand in no loop: something is asked about those fields or places."""
    found: set[str] = set()
    for function in _functions(tree):
        sources = _sources(function)
        waiting: list[ast.AST] = list(function.body)
        while waiting:
            node = waiting.pop()
            if isinstance(node, ast.For | ast.AsyncFor):
                continue
            if isinstance(node, ast.Assert):
                is_all = _called(node.test) == "all"
                found |= set() if is_all else _marks(node.test, sources)
                continue
            waiting += ast.iter_child_nodes(node)
    return found


def _sort(node: ast.AST, loop: ast.expr | None, loops: _Loops) -> None:
    if isinstance(node, ast.Assert):
        call = node.test
        if loop is None and _called(call) == "all" and isinstance(call, ast.Call) and call.args:
            made = call.args[0]
            if isinstance(made, ast.GeneratorExp | ast.ListComp):
                loops.inside[ast.unparse(made.generators[0].iter)] = made.generators[0].iter
                return
        if loop is None:
            loops.outside += 1
        else:
            loops.inside[ast.unparse(loop)] = loop
        return
    if isinstance(node, ast.Raise) or _called(node) in ("fail", "raises") or _calls_a_checker(node):
        loops.outside += loop is None
        return
    inner = loop
    if isinstance(node, ast.For | ast.AsyncFor):
        inner = loop if loop is not None else node.iter
        for child in node.body:
            _sort(child, inner, loops)
        return
    for part in ast.iter_child_nodes(node):
        _sort(part, inner, loops)


def _calls_a_checker(node: ast.AST) -> bool:
    """A call of a helper that may well assert something itself."""
    name = _called(node).lower()
    return any(
        part in name for part in ("assert", "check", "verify", "validate", "expect", "ensure", "require")
    )


def _constants(tree: ast.Module) -> set[str]:
    """Names at the top of a module that are given something written out."""
    return {
        target.id
        for node in tree.body
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
        if isinstance(target, ast.Name)
    }


def _sources(function: Function) -> dict[str, ast.expr]:
    return {
        target.id: node.value
        for node in ast.walk(function)
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }


def _may_be_empty(item: ast.expr, sources: dict[str, ast.expr], constants: set[str], depth: int = 0) -> bool:
    """Whether what is gone through comes from files that are looked for, or from what they hold."""
    if depth > 6:
        return False
    if isinstance(item, ast.Name):
        if item.id in sources and item.id not in constants:
            return _may_be_empty(sources[item.id], sources, constants, depth + 1)
        return False
    if isinstance(item, ast.Call):
        name = _called(item)
        if name in _LISTING:
            return True
        if name in ("enumerate", "sorted", "list", "reversed", "set", "tuple", "iter", "filter", "map"):
            return any(_may_be_empty(arg, sources, constants, depth + 1) for arg in item.args[-1:])
        if name in ("items", "values", "keys") and isinstance(item.func, ast.Attribute):
            return _may_be_empty(item.func.value, sources, constants, depth + 1)
        return name in (
            "splitlines",
            "readlines",
            "loads",
            "load",
            "DictReader",
            "reader",
            "fetchall",
            "json",
        )
    if isinstance(item, ast.ListComp | ast.GeneratorExp | ast.SetComp):
        return _may_be_empty(item.generators[0].iter, sources, constants, depth + 1)
    if isinstance(item, ast.Subscript):
        return _may_be_empty(item.value, sources, constants, depth + 1)
    return False


def _is_guarded(item: ast.expr, function: Function) -> bool:
    """Whether the function asks elsewhere about what is gone through: its length, its truth, its parts."""
    names = {node.id for node in ast.walk(item) if isinstance(node, ast.Name)}
    for node in ast.walk(function):
        if isinstance(node, ast.If | ast.While):
            asked: ast.AST = node.test
        elif isinstance(node, ast.Call) and _called(node) in ("skip", "fail"):
            return True
        else:
            continue
        if names & {inner.id for inner in ast.walk(asked) if isinstance(inner, ast.Name)}:
            return True
    return False


def _parametrized(files: dict[str, ast.Module]) -> Iterator[Sign]:
    """Tests made for each of what is found on disk when they are collected."""
    for name, tree in files.items():
        sources = {
            target.id: node.value
            for node in tree.body
            if isinstance(node, ast.Assign)
            for target in node.targets
            if isinstance(target, ast.Name)
        }
        for function in _functions(tree):
            for mark in function.decorator_list:
                if _called(mark) != "parametrize" or not isinstance(mark, ast.Call) or len(mark.args) < 2:
                    continue
                values = mark.args[1]
                if isinstance(values, ast.Name):
                    values = sources.get(values.id, values)
                if any(_called(node) in _LISTING for node in ast.walk(values)):
                    yield Sign(
                        "empty-parametrize",
                        "warning",
                        "sound",
                        f"{name}:{function.lineno} {function.name} is made for each of what is found on disk;"
                        " where nothing is, nothing is tested",
                        0.6,
                    )


def _drawn(files: dict[str, ast.Module]) -> Iterator[Sign]:
    """Random draws without a seed."""
    for name, tree in files.items():
        modules = {
            (alias.asname or alias.name)
            for node in ast.walk(tree)
            if isinstance(node, ast.Import)
            for alias in node.names
            if alias.name in ("random", "numpy", "numpy.random")
        }
        if not modules:
            continue
        calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
        is_seeded = any(
            _called(node) in ("seed", "manual_seed")
            or (_called(node) in ("Random", "default_rng", "RandomState", "PRNGKey") and node.args)
            for node in calls
        )
        draws = [
            node
            for node in calls
            if _called(node) in _DRAWS
            and isinstance(node.func, ast.Attribute)
            and ast.unparse(node.func.value).partition(".")[0] in modules
        ]
        if draws and not is_seeded:
            yield Sign(
                "unseeded-draw",
                "advice",
                "stable",
                f"{name}:{draws[0].lineno} draws at random without a seed: a verdict may change from run to"
                " run, and can't be repeated",
                0.5,
            )


def _clocks(files: dict[str, ast.Module]) -> Iterator[Sign]:
    """Assertions about the date of the day, and about how long something took."""
    for name, tree in files.items():
        for function in _functions(tree):
            sources = _sources(function)
            for node in ast.walk(function):
                if isinstance(node, ast.Assert) and (what := _asks_the_clock(node.test, sources)):
                    yield Sign(
                        "clock-in-tests",
                        "advice",
                        "stable",
                        f"{name}:{node.lineno} {function.name} {what}",
                        0.4,
                    )
                    return


def _asks_the_clock(test: ast.expr, sources: dict[str, ast.expr]) -> str:
    nodes = [*ast.walk(test)]
    for node in list(nodes):
        if isinstance(node, ast.Name) and node.id in sources:
            nodes += ast.walk(sources[node.id])
    names = {_called(node) for node in nodes}
    if names & _CLOCKS:
        return "asserts something about today's date"
    if names & {"perf_counter", "monotonic", "process_time"} or any(
        ast.unparse(node) == "time.time()" for node in nodes if isinstance(node, ast.Call)
    ):
        limits = [
            node.value
            for node in ast.walk(test)
            if isinstance(node, ast.Constant) and isinstance(node.value, int | float)
        ]
        if limits and 0 < min(limits) <= 2:
            return f"asserts that something takes less than {min(limits):g} s"
    return ""
