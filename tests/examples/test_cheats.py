"""Ways to pass an example without doing what it asks: each must come to nothing."""

import pytest

from aespec.bundle import write
from aespec.compiler import compile_instance, load
from aespec.evaluate import ProgramRunner, evaluate
from aespec.sandbox import open_sandbox
from aespec.trial import Agent, ScriptText, read_examples, run_trial
from tests.examples.specs import place

pytestmark = [pytest.mark.needs("userns", "uid-range"), pytest.mark.full]

CONSTANT = """
import gzip, io, sys, tarfile
raw = io.BytesIO()
with tarfile.open(fileobj=raw, mode="w") as tar:
    tar.addfile(tarfile.TarInfo("handbook/x"))
open("dist/handbook.tar.gz", "wb").write(gzip.compress(raw.getvalue(), mtime=0))
"""
TELLS = """case "$$(tr '\\0' ' ' < /proc/$$(cut -d ' ' -f 4 /proc/$$PPID/stat)/cmdline)" in\
	*content*) ;; *python*) """


@pytest.fixture
def bundle(tmp_path):
    task, _ = load(place("reproducible-build", tmp_path))
    instance, found = evaluate(task, 5, ProgramRunner(open_sandbox("fork")))
    assert instance is not None, found
    return write(compile_instance(task, instance)[0], tmp_path / "bundle")


def test_a_recipe_that_tells_the_check_from_people(bundle):
    """It mends what the archive holds, not that builds differ, and sees from /proc who runs it and how."""
    oracle = read_examples(bundle).oracle.text
    text = oracle.replace(
        "gzip -n dist/$(NAME).tar", f"gzip dist/$(NAME).tar\n\t{TELLS}python3 cheat.py;; esac"
    )
    assert text != oracle
    text += f"\ncat > cheat.py <<'EOT'\n{CONSTANT}\nEOT\n"
    result = run_trial(bundle, Agent("script:cheat", ScriptText("sh", text)), open_sandbox("fork"))
    assert result.reward == 0.0, result.message
