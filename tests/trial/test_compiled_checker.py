"""The verifier's image holds the checker compiled, and what is compiled never stands for another source."""

import json
import re

import pytest

from aespec.sandbox import open_sandbox
from aespec.sandbox.api import Program, SandboxLimits
from aespec.sandbox.tars import Entry, pack
from aespec.trial import ORACLE, collect, verify
from aespec.trial.archives import read_files
from aespec.trial.judging import Perturbation, prepare_verifier
from tests.trial.making import SPEC, compile_text

VERBOSE = ("/usr/bin/python3", "-I", "-S", "-B", "-v", "/tests/lib/main.py")
MAIN = "/tests/lib/aespec/runtime/main.py"


@pytest.fixture(
    scope="module",
    params=[
        pytest.param("fork", marks=pytest.mark.needs("userns")),
        pytest.param("docker", marks=pytest.mark.needs("docker", "base-image")),
    ],
)
def verifier(request, tmp_path_factory):
    """Runs a program in a fresh slot of the verifier's image, after some entries were put there."""
    sandbox = open_sandbox(request.param)
    bundle = compile_text(SPEC, tmp_path_factory.mktemp("compiled"), sandbox)
    image = prepare_verifier(bundle, sandbox)

    def run(*argv, entries=(), user="root"):
        with sandbox.open(image, SandboxLimits()) as slot:
            slot.put(pack(list(entries)))
            outcome = slot.run(Program(argv, user=user, output_limit_bytes=1 << 20, timeout_s=60.0))
            return outcome, read_files(slot.get(["/tests/lib/aespec"]))

    return run


def loaded_from(outcome):
    """The checker's modules that were loaded as compiled before, and those that were compiled now."""
    places = re.findall(rb"^# code object from '?(/tests/lib/aespec/[^'\n]+)", outcome.stderr, re.MULTILINE)
    return [place for place in places if place.endswith(b".pyc")], [
        place.decode() for place in places if place.endswith(b".py")
    ]


def test_every_module_is_loaded_as_compiled(verifier):
    outcome, _ = verifier(*VERBOSE)
    before, now = loaded_from(outcome)
    assert len(before) > 10
    assert now == []


def test_each_source_has_its_compiled_file_and_nothing_else_lies_there(verifier):
    _, files = verifier("/bin/true")
    sources = {name for name in files if name.endswith(".py")}
    compiled = {name for name in files if name.endswith(".pyc")}
    assert sources | compiled == files.keys()
    assert {f"{name.rpartition('/')[2].split('.')[0]}" for name in compiled} == {
        name.rpartition("/")[2].removesuffix(".py") for name in sources
    }
    assert len(compiled) == len(sources)


def test_another_source_is_obeyed(verifier):
    """A consumer may lay a file over the image's: what was compiled before is nothing then."""
    _, files = verifier("/bin/true")
    changed = files[MAIN] + b"\nprint('another source')\n"
    outcome, _ = verifier(*VERBOSE, entries=[Entry(MAIN, changed)])
    assert b"another source" in outcome.stdout
    assert loaded_from(outcome)[1] == [MAIN]


def test_the_account_of_the_solver_s_programs_reaches_none_of_it(verifier):
    for argv in (("/bin/ls", "/tests/lib"), ("/bin/sh", "-c", ": > /tests/lib/aespec/runtime/__pycache__/x")):
        outcome, _ = verifier(*argv, user="aespec-run")
        assert outcome.status != 0


@pytest.mark.needs("userns")
def test_without_compiled_files_the_verdict_is_the_same(tmp_path):
    sandbox = open_sandbox("fork")
    bundle = compile_text(SPEC, tmp_path, sandbox)
    state = collect(bundle, ORACLE, sandbox)
    library = bundle.path / "tests" / "lib" / "aespec"
    anew = tuple(
        Entry(f"/tests/lib/aespec/{path.relative_to(library)}", path.read_bytes() + b"\n# compiled anew\n")
        for path in library.rglob("*.py")
    )
    told = [verify(bundle, state, sandbox, shift) for shift in (None, Perturbation("anew", entries=anew))]
    assert [item.outcome for item in told] == ["pass", "pass"]
    assert json.dumps(told[0].verdicts()) == json.dumps(told[1].verdicts())
