"""The rules are found by a scan, described alike, and decided on by `allow`."""

import ast
import subprocess
import sys
from pathlib import Path

from aespec import rules
from aespec.diagnostics.diagnostic import Severity
from aespec.model.lock import Lock, LockedImage
from aespec.rules.registry import NOT_RULES
from tests.resolve.specs import LEDGER, resolve_text, sample

FOLDER = Path(rules.__file__).parent


def checked(text, lock=None, folder=None):
    task, faults = resolve_text(text, folder)
    assert faults == ()
    return rules.check(task, lock)


def found(text, lock=None):
    return sorted(fault.slug for fault in checked(text, lock)[1])


def test_a_rule_is_a_module_named_by_its_slug():
    names = {path.stem for path in FOLDER.glob("*.py")} - NOT_RULES - {"__init__"}
    assert {slug.replace("-", "_") for slug in rules.all_rules()} == names
    assert list(rules.all_rules()) == sorted(rules.all_rules())


def test_no_list_names_the_rules():
    for path in (FOLDER / "registry.py", FOLDER / "__init__.py"):
        texts = [
            node.value for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Constant)
        ]
        assert not set(rules.all_rules()) & set(texts)


def test_only_some_errors_may_be_allowed():
    errors = {slug for slug, item in rules.all_rules().items() if item.rule.severity is Severity.ERROR}
    allowable = {slug for slug in errors if rules.all_rules()[slug].rule.may_be_allowed}
    assert allowable == {"oracle-knows-answer", "unstated-detail", "unstated-path"}


def test_the_sample_of_the_design_has_no_error():
    task, faults = checked(LEDGER)
    assert task is not None
    assert sorted(fault.slug for fault in faults) == ["few-accepts", "unpinned", "unpinned"]


def test_a_lock_pins_what_the_spec_leaves_open():
    text = LEDGER.replace('apt  = ["python3"]', 'apt  = ["python3"]\n    pip = ["rich", "uvicorn[standard]"]')
    lock = Lock(
        "a.aes",
        images={"debian:bookworm-slim": LockedImage("sha256:" + "0" * 64)},
        apt={"python3": "3.11.2-1+b1"},
        pip={"rich": "13.7.0", "uvicorn": "0.30.0"},
    )
    assert found(text).count("unpinned") == 3
    assert found(text, lock) == ["few-accepts"]
    assert found(text, Lock("a.aes")).count("unpinned") == 3


def test_a_checked_task_is_the_task_and_errors_take_it_away():
    task, faults = resolve_text(LEDGER)
    assert rules.check(task)[0] is task
    task, _ = resolve_text(LEDGER.replace('{ unchanged("/app/ledger.csv") }', '{ says = "Keep it." }'))
    checked_task, faults = rules.check(task)
    assert checked_task is None
    assert "idle-check" in {fault.slug for fault in faults}


def test_the_order_of_findings_is_that_of_the_text():
    text = sample(task="param a = bool()\n  param b = bool()", check='file("/app/x")').replace(
        "\n  setup", "\n\n  setup"
    )
    places = [fault.span.start for fault in checked(text)[1]]
    assert places == sorted(places)
    assert checked(text) == checked(text)


def test_linting_imports_nothing_heavy():
    code = (
        "import sys\n"
        "from aespec.resolve import resolve\nfrom aespec.rules import check\n"
        "from aespec.source import Source\nfrom aespec.syntax import parse\n"
        f"task, faults = resolve(parse(Source('a.aes', {LEDGER!r}))[0])\nassert not faults, faults\n"
        "check(task)\n"
        "heavy = {'docker', 'hypothesis', 'jinja2', 'httpx', 'rich', 'importlib.metadata', 'asyncio'}\n"
        "print(sorted(heavy & set(sys.modules)))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
