"""How a harness reads and runs things, on a sandbox that does what the test says."""

import json
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from aespec.model.edit import Edit
from aespec.sandbox.api import Outcome, SandboxError
from aespec.sandbox.tars import Entry
from aespec.trial.foreign import open_harness
from aespec.trial.foreign.harness import PATIENCE_AT_LEAST_S
from aespec.trial.judging import Perturbation
from aespec.trial.probe import Probe, judgement_from_json, judgement_to_json
from tests.compiler.schemas import validate
from tests.trial.foreign.fakes import FakeBuilder, acting, is_solution, is_verifier, writing
from tests.trial.foreign.tasks import write_task

NOP = Probe("nop", "start")
ORACLE = Probe("oracle", "oracle")
TEXT = "/logs/verifier/reward.txt"
SOLVES = writing({"/app/sum.txt": b"42\n"})


def grades(program, files):
    """A verifier that wants the right sum."""
    files[TEXT] = b"1" if files.get("/app/sum.txt") == b"42\n" else b"0"


@pytest.fixture
def task(tmp_path):
    return write_task(tmp_path / "task", storage_mb=1024)


def harness_of(task, verify=grades, solve=SOLVES, script=None, **options):
    """A harness on a fake sandbox, and that sandbox."""
    builder = FakeBuilder(acting(solve, verify, script), **options)
    return open_harness(task, builder), builder


def test_the_oracle_passes_doing_nothing_fails_and_an_edit_decides(task):
    harness, _ = harness_of(task)
    assert harness.judge(ORACLE).is_passed
    assert harness.judge(Probe("again", "solution")).is_passed
    assert (harness.judge(NOP).outcome, harness.judge(NOP).reward) == ("fail", 0.0)
    wrong = Probe("wrong", edits=(Edit("/app/sum.txt", "", "swap", {"old": "42", "new": "43"}),))
    assert harness.judge(wrong).outcome == "fail"
    assert harness.judge(wrong, is_cold=True).outcome == "fail"
    assert harness.judge(ORACLE).is_passed, "no probe leaves anything to the next"


def test_programs_are_run_as_harbor_runs_them(task):
    settings = {
        "agent_user": "worker",
        "verifier_user": "judge",
        "solution_env": {"A": "s"},
        "verifier_env": {"A": "v"},
        "network": {"agent": True, "verifier": True},
    }
    harness, builder = harness_of(replace(task, **settings))
    harness.judge(Probe("x", "solution"), is_cold=True)
    solution = next(program for program in reversed(builder.programs) if is_solution(program))
    verifier = next(program for program in reversed(builder.programs) if is_verifier(program))
    assert solution.argv == (
        "/usr/bin/env",
        "bash",
        "-c",
        "(/solution/solve.sh) > /logs/agent/oracle.txt 2>&1",
    )
    assert verifier.argv[3] == "(/tests/test.sh) > /logs/verifier/test-stdout.txt 2>&1"
    assert (solution.user, solution.cwd, solution.env["A"], solution.timeout_s) == (
        "worker",
        "/app",
        "s",
        120.0,
    )
    assert solution.env["DEBIAN_FRONTEND"] == "noninteractive"
    assert (verifier.user, verifier.cwd, verifier.env["A"], verifier.timeout_s) == (
        "judge",
        "/app",
        "v",
        120.0,
    )
    assert verifier.has_network


def test_rewards_that_lie_there_are_gone_before_the_tests(task):
    def looks(program, files):
        assert TEXT not in files
        assert "/logs/verifier/reward.json" not in files
        assert "/logs/verifier/note" in files, "nothing else is removed"

    planted = writing(
        {TEXT: b"1", "/logs/verifier/reward.json": b'{"reward": 1}', "/logs/verifier/note": b""}
    )
    harness, _ = harness_of(task, looks, solve=planted)
    judgement = harness.judge(Probe("planted", "solution"))
    assert (judgement.outcome, judgement.boundary) == ("error", "verifier")
    assert "wrote no reward (RewardFileNotFoundError)" in judgement.message


def test_tests_are_merged_into_what_stands_there(task):
    seen = []

    def looks(program, files):
        seen.append((files["/tests/test.sh"][:2], files.get("/tests/mine.py")))
        grades(program, files)

    harness, _ = harness_of(task, looks, script=writing({"/tests/mine.py": b"x", "/tests/test.sh": b"fake"}))
    assert harness.judge(Probe("merge", "start", script="plant")).outcome == "fail"
    assert seen[-1] == (b"#!", b"x"), "the test script is Harbor's, the rest stays"


@pytest.mark.parametrize(
    ("outcome", "output", "words"),
    [
        (Outcome(None, b"", b"", is_timed_out=True), "", "ran longer than 120 s (VerifierTimeoutError)"),
        (Outcome(3, b"", b""), "Traceback\nKeyError: 'x'\n", "it ended with status 3; KeyError: 'x'"),
        (Outcome(None, b"", b"", signal=9), "", "it was ended by signal 9"),
        (Outcome(127, b"", b"/usr/bin/env: 'bash': No such file or directory\n"), "", "no bash"),
        (Outcome(1, b"", b""), "x: No space left on device\n", "its disk was full"),
        (
            Outcome(254, b"", b""),
            "bash: fork: retry: Resource temporarily unavailable\n",
            "memory or processes",
        ),
        (
            Outcome(126, b"", b""),
            "bash: /tests/test.sh: cannot execute: required file not found\n",
            "is missing",
        ),
        (Outcome(0, b"", b""), "curl: (6) Could not resolve host: example.org\n", "reach the network"),
    ],
)
def test_no_reward_is_told_with_its_likely_cause(task, outcome, output, words):
    log = writing({"/logs/verifier/test-stdout.txt": output.encode()}, outcome)
    harness, _ = harness_of(task, log)
    judgement = harness.judge(NOP, is_cold=True)
    assert (judgement.outcome, judgement.reward, judgement.boundary) == ("error", None, "verifier")
    assert words in judgement.message


def test_a_timeout_is_an_error_even_with_a_reward(task):
    harness, _ = harness_of(task, writing({TEXT: b"1"}, Outcome(None, b"", b"", is_timed_out=True)))
    assert harness.judge(NOP, is_cold=True).outcome == "error"


def test_the_exit_status_counts_for_nothing(task):
    harness, _ = harness_of(task, writing({TEXT: b"1"}, Outcome(3, b"", b"")))
    assert harness.judge(NOP).is_passed


def test_a_verifier_that_should_have_a_network_and_has_none_is_the_machines_trouble(task):
    def fails(program, files):
        files[TEXT] = b"0"
        files["/logs/verifier/test-stdout.txt"] = b"curl: (6) Could not resolve host: example.org\n"

    online = replace(task, network={"agent": True, "verifier": True})
    judgement = harness_of(online, fails)[0].judge(ORACLE, is_cold=True)
    assert (judgement.outcome, judgement.boundary) == ("error", "sandbox")
    assert "couldn't reach the network from here" in judgement.message
    judgement = harness_of(task, fails)[0].judge(ORACLE, is_cold=True)
    assert judgement.outcome == "fail", (
        "without one by the task's own word it is the verdict that Harbor gives"
    )


def test_a_disk_that_is_full_by_the_machine_s_limit_is_the_machine_s_trouble(task):
    def fills(program, files):
        files[TEXT] = b"0"
        files["/logs/verifier/test-stdout.txt"] = b"dd: error: No space left on device\n"

    small, large = replace(task, disk_bytes=1 << 30), replace(task, disk_bytes=1 << 40)
    assert harness_of(small, fills)[0].judge(NOP, is_cold=True).outcome == "fail"
    judgement = harness_of(large, fills)[0].judge(NOP, is_cold=True)
    assert (judgement.outcome, judgement.boundary) == ("error", "sandbox")
    assert "4096 MiB of disk" in judgement.message


@pytest.mark.parametrize("boundary", ["image", "sandbox", "spec"])
def test_an_image_that_cannot_be_made_is_an_outcome_of_every_probe(task, boundary):
    harness, _ = harness_of(task, fault=SandboxError("step 3 failed", "read its output", boundary=boundary))
    for probe in (NOP, ORACLE, Probe("s", "solution")):
        judgement = harness.judge(probe)
        assert (judgement.outcome, judgement.boundary) == ("error", boundary)
        assert judgement.message == "step 3 failed (read its output)"
    with pytest.raises(SandboxError):
        harness.changes()
    assert isinstance(harness.notes(), tuple)


def test_a_probe_that_does_not_fit_is_its_own_fault(task):
    harness, _ = harness_of(task)
    judgement = harness.judge(Probe("x", edits=(Edit("/app/none", "", "delete"),)))
    assert (judgement.outcome, judgement.boundary) == ("error", "spec")
    assert "/app/none" in judgement.message


def test_without_a_solution_only_the_start_state_can_be_judged(tmp_path):
    harness, _ = harness_of(write_task(tmp_path / "task", solve=None))
    assert harness.judge(NOP).outcome == "fail"
    for base in ("oracle", "solution"):
        judgement = harness.judge(Probe("x", base))
        assert (judgement.outcome, judgement.boundary) == ("error", "oracle")
        assert "no solution" in judgement.message
    with pytest.raises(SandboxError, match="no solution"):
        harness.changes()


def test_a_solution_that_fails_is_judged_and_its_last_words_told(task):
    log = {"/logs/agent/oracle.txt": b"Traceback\nKeyError: \x1b[31mx\n"}
    harness, _ = harness_of(task, solve=writing(log, Outcome(1, b"", b"")))
    judgement = harness.judge(ORACLE)
    assert (judgement.outcome, judgement.agent_status) == ("fail", 1)
    assert judgement.message == "the solution: it ended with status 1; KeyError: \\x1b[31mx"
    assert judgement.agent_output.endswith("KeyError: \x1b[31mx\n")


def test_a_reward_below_one_is_full_where_the_solution_gets_no_more(task):
    def part(program, files):
        files[TEXT] = b"0.8" if "/app/sum.txt" in files else b"0.5"

    harness, _ = harness_of(task, part)
    assert harness.judge(ORACLE).is_passed
    assert harness.judge(NOP).outcome == "fail"
    assert any("gets 0.8, not 1" in note for note in harness.notes())


@pytest.mark.parametrize("reward", [b"0", b"-1"])
def test_a_solution_without_a_reward_makes_nothing_of_it_full(task, reward):
    harness, _ = harness_of(task, writing({TEXT: reward}))
    assert harness.judge(ORACLE).outcome == "fail"
    assert harness.judge(NOP).outcome == "fail"


def test_an_end_state_that_cannot_be_frozen_is_made_afresh_for_each_probe(task):
    builder = FakeBuilder(acting(SOLVES, grades))
    builder.too_large = ("/app/sum.txt",)
    harness = open_harness(task, builder)
    assert harness.judge(ORACLE).is_passed
    edit = Edit("/app/a.txt", "", "put", {"text": "1"})
    assert harness.judge(Probe("x", edits=(edit,))).is_passed
    assert sum(is_solution(program) for program in builder.programs) >= 3
    assert any("run afresh each time" in note for note in harness.notes())


def test_a_probe_may_take_ten_times_the_oracle_s_time_and_a_cold_one_all_of_it(task):
    harness, builder = harness_of(replace(task, verifier_timeout_s=600.0))
    harness.judge(ORACLE)
    builder.programs.clear()
    harness.judge(NOP)
    harness.judge(NOP, is_cold=True)
    warm, cold = [program.timeout_s for program in builder.programs if is_verifier(program)]
    assert (warm, cold) == (PATIENCE_AT_LEAST_S, 600.0)


def test_surroundings_reach_the_verifier_alone(task):
    harness, builder = harness_of(task)
    shift = Perturbation("all", env={"TZ": "Asia/Tokyo"}, umask=0o077, cores=1)
    assert harness.judge(Probe("x", "solution"), shift).is_passed
    solution = next(program for program in reversed(builder.programs) if is_solution(program))
    verifier = next(program for program in reversed(builder.programs) if is_verifier(program))
    assert (verifier.env["TZ"], verifier.umask, verifier.cores) == ("Asia/Tokyo", 0o077, 1)
    assert (solution.env.get("TZ"), solution.umask, solution.cores) == (None, 0o022, None)


def test_files_are_laid_over_and_handed_out_for_observation(task):
    def traced(program, files):
        grades(program, files)
        files["/trace/log"] = files.get("/trace/in", b"") * 2

    harness, _ = harness_of(task, traced)
    shift = Perturbation("trace", entries=(Entry("/trace/in", b"ab"),), keep=("/trace", "/none"))
    assert harness.judge(ORACLE, shift).files == {"/trace/in": b"ab", "/trace/log": b"abab"}
    assert harness.judge(ORACLE).files == {}


# --- what the verifier installs ---------------------------------------------------------------------------

TOOL = "/root/.local/bin/tool"


class Installer:
    """A verifier that wants a tool: it brings it, where there is a network, and takes its time."""

    def __init__(self, offline=True):
        self.offline = offline
        self.installed = 0

    def __call__(self, program, files):
        if TOOL not in files:
            if not program.has_network:
                files[TEXT] = b"0"
                files["/logs/verifier/test-stdout.txt"] = b"curl: (6) Could not resolve host: x\n"
                return
            self.installed += 1
            files[TOOL] = b"tool"
        if not program.has_network and not self.offline:
            files[TEXT] = b"0"
            return
        grades(program, files)


@pytest.fixture
def online(task):
    return replace(task, network={"agent": True, "verifier": True})


def test_what_a_verifier_installs_serves_the_further_probes_without_a_network(online):
    installer = Installer()
    harness, builder = harness_of(online, installer)
    assert harness.judge(ORACLE).is_passed
    brought = installer.installed
    builder.programs.clear()
    assert harness.judge(ORACLE).is_passed
    assert harness.judge(NOP).outcome == "fail"
    assert harness.judge(Probe("s", "solution")).is_passed
    assert installer.installed == brought
    assert not any(program.has_network for program in builder.programs if is_verifier(program))
    harness.judge(ORACLE, is_cold=True)
    assert installer.installed == brought + 1, "a cold probe begins with nothing"
    assert len(harness.notes()) == 2


def test_a_verifier_that_needs_the_network_each_time_keeps_it(online):
    installer = Installer(offline=False)
    harness, builder = harness_of(online, installer)
    assert harness.judge(ORACLE).is_passed
    brought = installer.installed
    builder.programs.clear()
    assert harness.judge(ORACLE).is_passed
    assert installer.installed == brought
    assert all(program.has_network for program in builder.programs if is_verifier(program))


def test_what_changes_a_verdict_is_not_kept(online):
    def fickle(program, files):
        if TOOL in files:
            files[TEXT] = b"1"  # it takes its own tool for the agent's work
            return
        files[TOOL] = b"tool"
        grades(program, files)

    harness, _ = harness_of(online, fickle)
    assert harness.judge(ORACLE).is_passed
    assert harness.judge(NOP).outcome == "fail"
    assert harness.notes() == ()


def test_a_word_of_a_missing_network_that_is_new_is_followed_up(online):
    def asks_late(program, files):
        grades(program, files)
        if files.get("/app/sum.txt") == b"43\n" and not program.has_network:
            files["/logs/verifier/test-stdout.txt"] = b"curl: (6) Could not resolve host: x\n"
        elif files.get("/app/sum.txt") == b"43\n":
            files[TEXT] = b"1"

    harness, _ = harness_of(online, asks_late)
    probe = Probe("x", edits=(Edit("/app/sum.txt", "", "put", {"text": "43\n"}),))
    assert harness.judge(probe).is_passed


# --- whatever a verifier leaves -----------------------------------------------------------------------------

NOISE = st.one_of(
    st.binary(max_size=60),
    st.sampled_from([b"1", b'{"reward": 1}', b'{"a": [1]}', b"[" * 50_000, b'{"results": {"tests": [{}]}}']),
)
LEFT = st.dictionaries(
    st.sampled_from(["reward.txt", "reward.json", "ctrf.json", "test-stdout.txt", "odd\udcff", "a/b"]), NOISE
)
ENDS = st.builds(
    Outcome,
    st.none() | st.integers(0, 255),
    st.binary(max_size=20),
    st.binary(max_size=20),
    st.booleans(),
    signal=st.none() | st.integers(1, 64),
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(LEFT, ENDS)
def test_whatever_a_verifier_leaves_is_a_judgement_that_can_be_written_down(task, left, end):
    files = {f"/logs/verifier/{name}": data for name, data in left.items()}
    harness, _ = harness_of(task, writing(files, end))
    judgement = harness.judge(NOP, is_cold=True)
    told = json.loads(json.dumps(judgement_to_json(judgement)))
    validate("judgement", told)
    assert judgement_from_json(told) == replace(judgement, files={})
