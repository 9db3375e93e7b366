"""Every script that starts Python looks for it in the same places, which are written down once."""

import re

from aespec.bundle.interpreters import PYTHONS
from aespec.model.task import Setup
from tests.bundle.making import script, tiny
from tests.compiler.planning import planned, read
from tests.repo import sources

LOOP = re.compile(r"^for python in (.+); do$", re.MULTILINE)


def test_the_scripts_of_a_bundle_look_in_the_same_places():
    plan = planned(tiny(oracle=script("x", "python"), setup=Setup("debian", workdir="/app")))
    scripts = {path: read(plan, path) for path in plan.files if path.endswith(".sh")}
    looking = {path: LOOP.findall(text) for path, text in scripts.items() if "python" in text}
    assert {"tests/test.sh", "solution/solve.sh"} <= looking.keys()
    assert {tuple(found) for found in looking.values()} == {(" ".join(PYTHONS),)}


def test_the_places_are_written_down_once():
    last = PYTHONS[-1]
    texts = [
        path
        for path in sources.project_files()
        if path.suffix in {".py", ".j2"} and "tests" not in path.parts
    ]
    holding = [sources.shown(path) for path in texts if last in path.read_text(encoding="utf-8")]
    assert holding == ["aespec/bundle/interpreters.py"]
