"""A command loads only what it uses: each of these costs a tenth of a second or more."""

import json
import subprocess
import sys

import pytest

from tests.repo import sources

HEAVY = ("docker", "hypothesis", "jinja2", "httpx", "requests", "urllib3", "numpy", "rich")
PROGRAM = """
import io, json, sys, contextlib
from aespec.cli import main
sys.argv = ["aespec", *json.loads(sys.argv[1])]
status = 0
with contextlib.redirect_stdout(io.StringIO()) as shown:
    try:
        main()
    except SystemExit as stop:
        status = stop.code or 0
print(json.dumps({"status": status, "shown": shown.getvalue(), "modules": sorted(sys.modules)}))
"""


def loaded_by(*arguments):
    command = [sys.executable, "-c", PROGRAM, json.dumps(arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def heavy(ran, *more):
    return sorted({name.partition(".")[0] for name in ran["modules"]} & {*HEAVY, *more})


def test_version_loads_nothing_heavy():
    ran = loaded_by("--version")
    assert ran["status"] == 0
    assert "aespec" in ran["shown"]
    assert heavy(ran, "lark") == []


def test_lint_loads_neither_engine_nor_tester_nor_templates():
    examples = sorted((sources.ROOT / "domains").glob("*/examples/*.aes"))
    assert examples, "no example to lint"
    ran = loaded_by("lint", str(examples[0]))
    assert ran["status"] in (0, 1), ran
    assert heavy(ran) == []


def test_the_package_itself_is_light():
    program = "import sys, aespec; print(sorted({n.partition('.')[0] for n in sys.modules}))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert not [name for name in (*HEAVY, "lark", "click") if f"'{name}'" in done.stdout]


@pytest.mark.parametrize("name", ["docker", "hypothesis", "jinja2"])
def test_a_heavy_module_would_be_seen(name):
    assert heavy({"modules": [f"{name}.anything"]}) == [name]
