"""A command loads only what it uses: each of these costs a tenth of a second or more."""

import json
import re
import subprocess
import sys

import pytest

from tests.repo import sources

HEAVY = ("docker", "hypothesis", "jinja2", "httpx", "requests", "urllib3", "numpy", "rich")
EXAMPLES = sorted((sources.ROOT / "domains").glob("*/examples/*.aes"))
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
    assert EXAMPLES, "no example to lint"
    ran = loaded_by("lint", str(EXAMPLES[0]))
    assert ran["status"] in (0, 1), ran
    assert heavy(ran) == []


def test_lint_loads_nothing_that_only_other_commands_need():
    """Modules of our own: what makes and runs bundles, what prints and mends, and what explains a slip."""
    ran = loaded_by("lint", str(EXAMPLES[0]))
    later = (
        *(f"aespec.{name}" for name in ("targets", "sandbox", "evaluate", "trial", "fuzz", "report")),
        *(f"aespec.bundle.{name}" for name in ("disk", "plan", "recipe", "manifest")),
        *(f"aespec.syntax.{name}" for name in ("mistakes", "slips", "printer", "formatter")),
        "aespec.model.instance",
        "lark",
    )
    missing = [name for name in later if not any(sources.ROOT.glob(f"{name.replace('.', '/')}*"))]
    assert missing == ["lark"], "a name in this list is that of no module any more"
    loaded = set(ran["modules"])
    assert [name for name in later if name in loaded] == []


def test_every_record_that_lint_loads_is_made_without_compiling_its_methods():
    """Half a millisecond each, and there are more than a hundred."""
    ran = loaded_by("lint", str(EXAMPLES[0]))
    names = [name for name in ran["modules"] if name.startswith("aespec.") and name != "aespec.records"]
    places = [sources.ROOT / name.replace(".", "/") for name in names]
    files = [file for place in places for file in (place.with_suffix(".py"), place / "__init__.py")]
    texts = {sources.shown(file): file.read_text() for file in files if file.is_file()}
    assert sum("from aespec.records import dataclass" in text for text in texts.values()) > 10
    standard = re.compile(r"^from dataclasses.*\bdataclass\b", re.MULTILINE)
    assert [name for name, text in texts.items() if standard.search(text)] == []


def test_the_package_itself_is_light():
    program = "import sys, aespec; print(sorted({n.partition('.')[0] for n in sys.modules}))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert not [name for name in (*HEAVY, "lark", "click") if f"'{name}'" in done.stdout]


@pytest.mark.parametrize("name", ["docker", "hypothesis", "jinja2"])
def test_a_heavy_module_would_be_seen(name):
    assert heavy({"modules": [f"{name}.anything"]}) == [name]
