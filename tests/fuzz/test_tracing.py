"""What a verifier is seen to read and run, and that watching it changes no verdict."""

from dataclasses import replace

import pytest

from aespec.fuzz.audit.hook import FIELD, LOG, RECORD
from aespec.fuzz.audit.tampering import tampered_files, tamperings
from aespec.fuzz.audit.tracing import XTRACE, read_trace, trace_verifier, with_trace
from aespec.fuzz.cheats import TaskFacts
from aespec.operators.scene import make_scene
from aespec.runtime.memory import Node
from aespec.sandbox import open_sandbox
from aespec.trial.foreign import open_harness
from aespec.trial.probe import Judgement, Probe
from tests.fuzz.planted import (
    BY_PLACED_CHECKER,
    CAREFUL_OUT,
    IN_WORKDIR,
    OUT,
    PLAIN,
    RUN_PYTHON,
    VERDICT,
    Planted,
    weak,
)

real = pytest.mark.needs("userns", "uid-range", "base-image")


def log(*records):
    return "".join(FIELD.join(record) + RECORD for record in records).encode()


def trace_of(*records, shell=""):
    return read_trace(Judgement("pass", files={LOG: log(*records), XTRACE: shell.encode()}))


def test_points_are_told_by_what_came_first():
    found = trace_of(
        ("read", "/app/ref.json"),
        ("write", "/app/ref.json"),
        ("write", "/tmp/made"),
        ("read", "/tmp/made"),
        ("list", "/app/data"),
        ("read", "/usr/lib/x.py"),
        ("read", "/tests/data"),
        ("read", "/app/../etc/passwd"),
    ).tampers
    told = [(point.path, point.is_read, point.is_written, point.is_listed) for point in found]
    assert told == [
        ("/app/ref.json", True, True, False),
        ("/tmp/made", False, True, False),
        ("/app/data", False, False, True),
    ]


def test_programs_by_bare_name_and_by_path():
    trace = trace_of(
        ("run", "/app", "/usr/bin/jq", "jq", ".total", "out.json"),
        ("run", "/app", "", "./check.sh"),
        ("shell", "sudo diff /app/a /app/b && cd x"),
        shell=f"{RECORD}{RECORD}grep -q 'a b' /app/log{RECORD}[ 1 = 1 ]",
    )
    assert [point.name for point in trace.shadows] == ["jq", "sudo", "diff", "grep"]
    assert trace.shadows[0].path == "/usr/bin/jq"
    assert trace.programs == ("/app/check.sh",)
    assert {point.path for point in trace.tampers} == {"/app/out.json", "/app/a", "/app/b", "/app/log"}


@pytest.mark.parametrize(
    "data", [b"", b"\xff\x1e\x1f", b"run\x1e", b"read\x1e\x1e\x1f\x1e", b"run\x1fa\x1f\x1f\x1e"]
)
def test_a_log_that_somebody_spoilt_is_read_as_far_as_it_goes(data):
    read_trace(Judgement("pass", files={LOG: data, XTRACE: data}))


def test_facts_take_what_was_run_first():
    trace = trace_of(
        ("run", "/", "/usr/bin/sed", "sed"), ("read", "/opt/grader/check.py"), ("read", "/app/ref.txt")
    )
    facts = with_trace(TaskFacts(tools=("jq",), outputs=("/app/out",)), trace)
    assert set(facts.tools) == {"sed", "jq"}
    assert facts.subjects == ("/opt/grader/check.py",)
    assert "/app/ref.txt" in facts.helpers
    assert with_trace(TaskFacts(subjects=("/app/a.py",)), trace).subjects == ("/app/a.py",)


class Right:
    """A harness whose oracle is the planted task's right end state."""

    def __init__(self, planted, folder, sandbox):
        self.planted = planted
        self.inner = open_harness(planted.write(folder), sandbox)

    def judge(self, probe, shift=None, *, is_cold=False):
        base = self.planted.right() if probe.base == "oracle" else probe
        return self.inner.judge(base, shift, is_cold=True)

    def read(self, path, **more):
        return self.inner.read(path, **more)


@pytest.fixture(scope="module")
def sandbox():
    opened = open_sandbox("fork")
    yield opened
    opened.close()


SEPARATE = replace(PLAIN.weak, settings={"mode": "separate", "artifacts": list(OUT)})
REFERENCE = Planted(
    weak("cmp -s /app/out.txt /app/expected.txt", "ok=$?"), {}, OUT, image="RUN echo 42 > /app/expected.txt\n"
)
BY_SH = Planted(
    "#!/bin/sh\ncd /app\nwc -l < out.txt > /dev/null\ngrep -qx 42 out.txt\nok=$?\n" + VERDICT, {}, OUT
)


@real
@pytest.mark.parametrize(
    ("planted", "read", "run"),
    [
        (IN_WORKDIR.weak, {"/app/out.txt", "/app/test_outputs.py"}, {"cp", "python3"}),
        (CAREFUL_OUT, {"/app/out.txt"}, {"rm", "mktemp", "cp", "env"}),
        (RUN_PYTHON.weak, {"/app/run.py"}, {"diff"}),
        (BY_PLACED_CHECKER.weak, {"/opt/grader/check.py", "/app/out.txt"}, {"python3"}),
        (SEPARATE, {"/app/out.txt"}, {"pytest"}),
        (REFERENCE, {"/app/out.txt", "/app/expected.txt"}, {"cmp"}),
        (BY_SH, {"/app/out.txt"}, {"wc", "grep"}),
    ],
    ids=["pytest in the folder", "isolated pytest", "a program", "a placed checker", "separate", "cmp", "sh"],
)
def test_what_a_real_verifier_reads_and_runs(planted, read, run, sandbox, tmp_path):
    trace = trace_verifier(Right(planted, tmp_path / "task", sandbox))
    assert not trace.problem
    assert read <= {point.path for point in trace.tampers if point.is_read}
    assert run <= {point.name for point in trace.shadows}


VENV = Planted(
    weak("/opt/venv/bin/python -m pytest -q /tests/test_outputs.py", "ok=$?"),
    PLAIN.weak.tests,
    OUT,
    image="RUN python3 -m venv --without-pip --system-site-packages /opt/venv\n",
)


@real
def test_a_python_of_a_virtual_environment_is_watched_too(sandbox, tmp_path):
    trace = trace_verifier(Right(VENV, tmp_path / "task", sandbox))
    assert not trace.problem
    assert "/app/out.txt" in {point.path for point in trace.tampers if point.is_read}


MINDS_SHELL = Planted(weak('[ -z "$BASH_ENV" ] && grep -qx 42 /app/out.txt', "ok=$?"), {}, OUT)
MINDS_XTRACE = Planted(weak("case $- in *x*) false ;; *) grep -qx 42 /app/out.txt ;; esac", "ok=$?"), {}, OUT)


@real
def test_where_watching_changes_the_verdict_less_or_nothing_is_watched(sandbox, tmp_path):
    nothing = trace_verifier(Right(MINDS_SHELL, tmp_path / "shell", sandbox))
    assert "changed its verdict" in nothing.problem
    assert not nothing.tampers
    less = trace_verifier(Right(MINDS_XTRACE, tmp_path / "trace", sandbox))
    assert "only Python" in less.problem


def test_without_a_verdict_there_is_nothing_to_compare_with():
    class Broken:
        def judge(self, probe, shift=None, *, is_cold=False):
            return Judgement("error", message="no reward")

    assert "no reward" in trace_verifier(Broken()).problem


@real
def test_a_writable_reference_is_found_by_what_the_verifier_reads(sandbox, tmp_path):
    harness = Right(REFERENCE, tmp_path / "task", sandbox)
    scene = make_scene({"/app/out.txt": None}, {"/app/out.txt": Node(data=b"42\n")})
    files = tampered_files(harness, trace_verifier(harness), scene)
    assert files.keys() == {"/app/expected.txt"}
    passed = [item.says for item in tamperings(scene, files) if harness.judge(item.probe).is_passed]
    assert any("the same nothing" in says for says in passed)
    assert not harness.judge(Probe("nop", "start")).is_passed


def test_a_copy_that_is_the_right_answer_is_no_tampering():
    scene = make_scene({"/app/out.txt": None}, {"/app/out.txt": Node(data=b"42\n")})
    found = [item.says for item in tamperings(scene, {"/app/in.txt": Node(data=b"42\n")})]
    assert not any("copies" in says for says in found)
    other = [item.says for item in tamperings(scene, {"/app/in.txt": Node(data=b"41\n")})]
    assert any("copies" in says for says in other)
