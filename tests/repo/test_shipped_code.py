"""What ships into bundles runs on Python 3.9 with nothing but its standard library.

The image of a task is the author's; the oldest Python still met in them is that of Debian 11.
"""

import ast
import shutil
import subprocess

import pytest

from tests import components
from tests.repo import sources

OLDEST = (3, 9)
# Runs a spec's programs in the evaluator's root, on that root's Python.
DRIVER = sources.ROOT / "aespec/evaluate/driver.py"
# Watches the verifiers of other people's tasks, on whatever Python their images have.
HOOK = sources.ROOT / "aespec/fuzz/audit/hook.py"
# Meddles with the services of other people's tasks, on the same.
SERVING = sources.ROOT / "aespec/fuzz/audit/serving.py"
# Stands in the place of other people's programs.
STAND_IN = sources.ROOT / "aespec/fuzz/audit/stand_in.py"


def shipped():
    """The runtime, each predicate's own module (it states its SIGNATURE), the driver, what audits run."""
    runtime = sources.modules("aespec/runtime")
    predicates = [path for path in sources.modules("aespec/predicates") if states_signature(path)]
    return [*runtime, *predicates, DRIVER, HOOK, SERVING, STAND_IN]


def states_signature(path):
    targets = [
        target
        for node in sources.tree(path).body
        if isinstance(node, ast.Assign | ast.AnnAssign)
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
    ]
    return any(isinstance(target, ast.Name) and target.id == "SIGNATURE" for target in targets)


def strangers(module):
    """What a shipped module imports beyond the standard library and the runtime."""
    return [
        (name, line)
        for name, line in sources.imported(module)
        if not sources.is_standard(name)
        and name != "aespec.runtime"
        and not name.startswith("aespec.runtime.")
    ]


def test_shipped_code_parses_on_the_oldest_python():
    for path in shipped():
        ast.parse(path.read_text(encoding="utf-8"), filename=str(path), feature_version=OLDEST)


def test_shipped_code_imports_only_the_standard_library():
    found = [
        f"{sources.shown(path)}:{line} {name}"
        for path in shipped()
        for name, line in strangers(sources.tree(path))
    ]
    assert not found, "\n".join(found)


def test_a_stranger_is_seen():
    module = ast.parse(
        "import os.path\nfrom aespec.runtime import state\nimport lark\nfrom aespec import model\n"
    )
    assert strangers(module) == [("lark", 3), ("aespec", 4)]


@pytest.mark.needs("python3.9")
def test_shipped_code_starts_on_the_oldest_python(tmp_path):
    library = tmp_path / "aespec"
    names = []
    for path in shipped():
        relative = path.relative_to(sources.ROOT / "aespec")
        target = library / relative
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, target)
        names.append(".".join(["aespec", *relative.with_suffix("").parts]).removesuffix(".__init__"))
    (library / "__init__.py").touch()
    assert names
    # An entry module may run when imported by its own name only behind `__main__`; so every name is imported.
    program = "import sys; sys.path.insert(0, sys.argv[1])\nfor name in sys.argv[2:]: __import__(name)"
    command = [
        str(components.find_python("3.9")),
        "-I",
        "-S",
        "-B",
        "-W",
        "error",
        "-c",
        program,
        str(tmp_path),
    ]
    done = subprocess.run([*command, *sorted(names)], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
