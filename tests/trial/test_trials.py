"""Trials of a compiled spec in the embedded sandbox."""

import json
import os
from dataclasses import replace
from pathlib import Path

import jsonschema
import pytest

from aespec.sandbox import open_sandbox
from aespec.trial import (
    NOP,
    ORACLE,
    AgentError,
    Perturbation,
    collect,
    explain,
    find_agent,
    load_trial,
    open_state,
    result_to_json,
    run_trial,
    verify,
    write_trial,
)
from tests.trial.making import SPEC, compile_text

pytestmark = pytest.mark.needs("userns")
SCHEMA = json.loads((Path(__file__).parents[2] / "aespec/schemas/trial.schema.json").read_text())


@pytest.fixture(scope="module")
def sandbox():
    return open_sandbox("fork")


@pytest.fixture(scope="module")
def bundle(sandbox, tmp_path_factory):
    return compile_text(SPEC, tmp_path_factory.mktemp("trials"), sandbox)


def tried(bundle, sandbox, name):
    result = run_trial(bundle, find_agent(bundle, name), sandbox)
    jsonschema.validate(result_to_json(result), SCHEMA)
    return result


def test_the_oracle_passes(bundle, sandbox):
    result = tried(bundle, sandbox, "oracle")
    assert (result.outcome, result.reward, result.agent_status) == ("pass", 1.0, 0)
    assert result.verdicts() == {"sum": "pass", "sum.positive": "pass", "kept": "pass"}
    assert result.logs["agent.stdout"] == b"done\n"
    assert result.bundle == bundle.digest
    assert {"environment", "agent", "collect", "verifier", "verify"} <= result.seconds.keys()


def test_doing_nothing_fails_on_a_check(bundle, sandbox):
    result = tried(bundle, sandbox, "nop")
    assert (result.outcome, result.reward) == ("fail", 0.0)
    assert "sum" in result.failed()
    assert "kept" not in result.failed()


@pytest.mark.parametrize("name", ["written by a shell", "written anew"])
def test_accepts_pass(bundle, sandbox, name):
    assert tried(bundle, sandbox, f"accept:{name}").outcome == "pass"


@pytest.mark.parametrize(
    ("name", "failed"),
    [
        ("counts all", {"sum", "sum.positive"}),
        ("spoils the input", {"kept"}),
        ("no file", {"sum", "sum.positive"}),
    ],
)
def test_rejects_fail_where_they_should(bundle, sandbox, name, failed):
    result = tried(bundle, sandbox, f"reject:{name}")
    assert result.outcome == "fail"
    assert set(result.failed()) == failed


def test_a_script_of_the_users_own(bundle, sandbox, tmp_path):
    script = tmp_path / "mine.py"
    script.write_text(
        "import getpass, os\nprint(getpass.getuser(), os.getcwd(), os.path.exists('/solution'))\n"
    )
    result = tried(bundle, sandbox, str(script))
    assert result.agent == "script:mine.py"
    assert result.outcome == "fail"
    assert result.logs["agent.stdout"] == b"agent /app False\n"


def test_a_frozen_end_state_is_judged_again(bundle, sandbox):
    state = collect(bundle, ORACLE, sandbox)
    again = collect(bundle, ORACLE, sandbox)
    assert state.digest == again.digest != collect(bundle, NOP, sandbox).digest
    shift = Perturbation("all", env={"TZ": "Asia/Tokyo"}, umask=0o077, cores=1, is_reversed=True)
    first, shifted = verify(bundle, state, sandbox), verify(bundle, state, sandbox, shift)
    assert first.outcome == shifted.outcome == "pass"
    assert first.verdicts() == shifted.verdicts()


def test_an_example_that_does_not_fit_is_the_specs_fault(bundle, sandbox):
    agent = find_agent(bundle, "reject:counts all")
    broken = replace(agent.example, oracle_edits=(("not there", ""),))
    result = run_trial(bundle, replace(agent, example=broken), sandbox)
    assert (result.outcome, result.boundary) == ("error", "spec")
    assert "0 times" in result.message


def test_unknown_agents_are_named(bundle, tmp_path):
    with pytest.raises(AgentError, match="'counts all'"):
        find_agent(bundle, "reject:counts al")
    with pytest.raises(AgentError, match="can't be read"):
        find_agent(bundle, str(tmp_path / "missing.sh"))


def test_a_trial_is_kept_and_explained(bundle, sandbox, tmp_path):
    result = tried(bundle, sandbox, "reject:counts all")
    kept = write_trial(result, tmp_path / "trial")
    assert write_trial(result, tmp_path / "trial").name == "trial-2"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["trial", "trial-2"]
    assert (kept / "artifacts.tar").read_bytes() == result.artifacts
    assert (kept / "logs" / "verifier" / "reward.json").is_file()
    jsonschema.validate(json.loads((kept / "trial.json").read_text()), SCHEMA)
    text = explain(load_trial(kept))
    assert "FAIL  check sum" in text
    assert "FAIL  rule sum.positive" in text
    assert "pass  check kept" in text
    assert "json sum/0" in text


def test_what_a_killed_process_left_beside_a_trial_goes(bundle, sandbox, tmp_path):
    old, young, other = (tmp_path / name for name in (".trial-abcd1234", ".trial-abcd1235", ".trial-notes"))
    for folder in (old, young, other):
        folder.mkdir()
        (folder / "trial.json").write_text("{")
    for folder in (old, other):
        os.utime(folder, (0, 0))
    write_trial(tried(bundle, sandbox, "nop"), tmp_path / "trial")
    assert sorted(path.name for path in tmp_path.iterdir()) == [young.name, other.name, "trial"]


def test_looking_around(bundle, sandbox):
    with open_state(bundle, "oracle", sandbox) as shell:
        assert shell.cwd == "/app"
        assert shell.run("cat sum.json").stdout.startswith(b'{"total"')
        shell.run("cd /tmp; x=1")
        assert shell.cwd == "/tmp"
        assert shell.run("pwd; whoami; echo $x").stdout == b"/tmp\nagent\n\n"
        assert shell.run("exit 7").status == 7
        assert shell.run("touch /app/mine && echo yes").stdout == b"yes\n"
    with open_state(bundle, "start", sandbox) as shell:
        assert shell.run("ls").stdout == b"numbers.txt\n"
    with pytest.raises(AgentError, match="not kept yet"), open_state(bundle, "mutant:3", sandbox):
        pass


def test_a_solver_cannot_turn_a_failure_into_no_verdict(sandbox, bundle, tmp_path):
    large = tmp_path / "large.sh"
    large.write_text("for n in 1 2; do truncate -s 300M /app/big$n; done\n")
    result = tried(bundle, sandbox, str(large))
    assert (result.outcome, result.reward) == ("fail", 0.0), result.message
    assert "larger than" in result.message


HANGING = """\
aes = 1
task "hang" {
  domain = terminal
  title = "Print a word"
  meta { difficulty = easy  license = "CC0-1.0" }
  limits { verify_time = 6s }
  setup { base = "debian:bookworm-slim" }
  instruction <<<md
    Write a shell script `/app/run.sh` that prints `hello`.
  >>>
  oracle <<<sh
    echo 'echo hello' > /app/run.sh
  >>>
  verify {
    check says {
      says = "`sh /app/run.sh` prints `hello`, also with the words `a`, `b` or `c` behind it."
      command(["sh", "/app/run.sh"], stdout = "hello\\n")
      command(["sh", "/app/run.sh", "a"], stdout = "hello\\n")
      command(["sh", "/app/run.sh", "b"], stdout = "hello\\n")
      command(["sh", "/app/run.sh", "c"], stdout = "hello\\n")
    }
  }
}
"""


@pytest.mark.parametrize("script", ["sleep 1000", "sleep 2; echo hello"])
def test_programs_that_hang_fail(sandbox, tmp_path, script):
    made = compile_text(HANGING, tmp_path, sandbox)
    assert tried(made, sandbox, "oracle").is_passed
    hang = tmp_path / "hang.sh"
    hang.write_text(f"echo '{script}' > /app/run.sh\n")
    result = tried(made, sandbox, str(hang))
    assert (result.outcome, result.reward) == ("fail", 0.0), result.message
