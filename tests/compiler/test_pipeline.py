"""From a file to a plan: every phase's faults come out as diagnostics, and nothing heavy is imported."""

import subprocess
import sys

import pytest

from aespec.bundle.lock import write_lock
from aespec.compiler import compile_instance, load, load_text
from aespec.model.lock import Lock, LockedImage
from aespec.source import Source
from tests.bundle.making import evaluated, tiny
from tests.compiler.golden import FOLDER

GOOD = (FOLDER / "minimal.aes").read_text()


def slugs(found):
    return [item.slug for item in found]


def test_a_good_spec_is_loaded(tmp_path):
    (tmp_path / "a.aes").write_text(GOOD)
    task, found = load(tmp_path / "a.aes")
    assert task is not None
    assert task.name == "minimal"
    assert not [item for item in found if item.is_error]


@pytest.mark.parametrize(
    ("text", "slug"),
    [
        (b"\xff\xfe", "wrong-encoding"),
        (b"aes = 1\ntask {", "unclosed-bracket"),
        (GOOD.replace("domain = terminal", "domain = kitchen").encode(), "unknown-domain"),
        (GOOD.replace('text("/app/greeting.txt"', 'text("/app/other.txt"').encode(), "unstated-path"),
    ],
    ids=["reading", "parsing", "resolving", "checking"],
)
def test_a_fault_of_any_phase_leaves_no_task(tmp_path, text, slug):
    (tmp_path / "a.aes").write_bytes(text)
    task, found = load(tmp_path / "a.aes")
    assert task is None
    assert slug in slugs(item for item in found if item.is_error)


def test_no_file_is_a_diagnostic(tmp_path):
    task, found = load(tmp_path / "none.aes")
    assert task is None
    assert found[0].is_error


def test_the_lock_beside_a_spec_is_taken(tmp_path):
    (tmp_path / "a.aes").write_text(GOOD)
    assert "unpinned" in slugs(load(tmp_path / "a.aes")[1])
    lock = Lock("a.aes", {"debian:bookworm-slim": LockedImage("sha256:" + "a" * 64)}, {"python3": "3.11"})
    (tmp_path / "a.aes.lock").write_bytes(write_lock(lock))
    assert "unpinned" not in slugs(load(tmp_path / "a.aes")[1])


def test_a_broken_lock_is_never_passed_over(tmp_path):
    (tmp_path / "a.aes").write_text(GOOD)
    (tmp_path / "a.aes.lock").write_text("{}")
    task, found = load(tmp_path / "a.aes")
    assert task is None
    assert "lock-unreadable" in slugs(found)


def test_a_text_is_loaded_without_a_file():
    task, _ = load_text(Source("made.aes", GOOD))
    assert task is not None


def test_there_must_be_such_a_target():
    with pytest.raises(LookupError, match="harbor"):
        compile_instance(tiny(), evaluated(tiny()), "harbinger")


def test_loading_imports_neither_templates_nor_targets(tmp_path):
    (tmp_path / "a.aes").write_text(GOOD)
    program = (
        "import sys; from pathlib import Path; from aespec.compiler import load; load(Path(sys.argv[1]));"
        "heavy = {'jinja2', 'docker', 'hypothesis', 'aespec.targets.harbor'};"
        "print(sorted(heavy & sys.modules.keys()))"
    )
    command = [sys.executable, "-c", program, str(tmp_path / "a.aes")]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip() == "[]"
