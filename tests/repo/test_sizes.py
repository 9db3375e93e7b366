"""The budget that keeps the code readable: short functions, short modules, nothing public without a word."""

import ast

from tests.repo import sources

LONGEST_FUNCTION = 70
LONG_FOR_ONE_IN_TEN = 30
LONGEST_MODULE = 500
CODE = ("aespec", "domains")


def test_no_function_is_over_the_limit():
    long = [
        f"{sources.shown(path)}:{node.lineno} {node.name}: {sources.length(node)} lines"
        for path in sources.modules(*CODE, "tests", "benchmarks")
        for node in sources.functions(sources.tree(path))
        if sources.length(node) > LONGEST_FUNCTION
    ]
    assert not long, "\n".join(long)


def test_nine_functions_in_ten_are_short():
    lengths = sorted(
        sources.length(node)
        for path in sources.modules(*CODE)
        for node in sources.functions(sources.tree(path))
    )
    assert lengths, "no function was found: the test looks in the wrong place"
    ninetieth = lengths[int(0.9 * (len(lengths) - 1))]
    assert ninetieth <= LONG_FOR_ONE_IN_TEN, f"the 90th percentile is {ninetieth} lines"


def test_no_module_is_over_the_limit():
    long = [
        f"{sources.shown(path)}: {lines} lines"
        for path in sources.modules(*CODE, "tests", "benchmarks")
        if (lines := len(path.read_text(encoding="utf-8").splitlines())) > LONGEST_MODULE
    ]
    assert not long, "\n".join(long)


def undocumented(module: ast.Module) -> list[tuple[str, int]]:
    """Public classes, functions and methods without a docstring; a method of a private class is private."""
    found = []

    def look(body, prefix):
        for node in body:
            if not isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                continue
            if node.name.startswith("_") or is_exempt(node):
                continue
            if not ast.get_docstring(node):
                found.append((prefix + node.name, node.lineno))
            if isinstance(node, ast.ClassDef):
                look(node.body, f"{prefix}{node.name}.")

    look(module.body, "")
    return found


def is_exempt(node) -> bool:
    """An overload or an override says nothing that its main definition doesn't."""
    names = {getattr(item, "id", getattr(item, "attr", "")) for item in node.decorator_list}
    return bool(names & {"overload", "override"})


def test_every_public_name_is_explained():
    missing = [
        f"{sources.shown(path)}:{line} {name}"
        for path in sources.modules(*CODE)
        for name, line in undocumented(sources.tree(path))
    ]
    missing += [
        f"{sources.shown(path)}:1 the module itself"
        for path in sources.modules(*CODE)
        if not path.name.startswith("_") and not ast.get_docstring(sources.tree(path))
    ]
    assert not missing, "\n".join(missing)


def test_the_gate_sees_what_it_must():
    module = ast.parse(
        'class A:\n  "x"\n  def b(self): ...\n  def _c(self): ...\ndef d(): ...\ndef e(): "x"\n'
    )
    assert undocumented(module) == [("A.b", 3), ("d", 5)]
