"""One trial of somebody else's task for a person: by the command, and read back by `aespec why`."""

import json
from pathlib import Path

import jsonschema
import pytest
from click.testing import CliRunner

from aespec.cli.app import app
from aespec.trial import AgentError, explain, load_trial, result_to_json
from aespec.trial.foreign import find_probe, load_probe
from aespec.trial.foreign.trials import trial_of
from aespec.trial.probe import Judgement, Probe, probe_to_json
from tests.trial.foreign.tasks import INPUTS, PYTEST, PYTHON, TEST_SUM, write_task

SCHEMA = json.loads((Path(__file__).parents[3] / "aespec/schemas/trial.schema.json").read_text())
PROBE = {
    "name": "wrong",
    "edits": [{"path": "/app/sum.txt", "pointer": "", "operation": "put", "value": {"text": "43"}}],
}


@pytest.fixture
def task(tmp_path):
    return write_task(tmp_path / "task")


def run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments], catch_exceptions=False)


@pytest.mark.needs("userns", "uid-range", "base-image")
def test_the_command_judges_oracle_nop_a_script_and_a_probe(task, tmp_path):
    (tmp_path / "probe.json").write_text(json.dumps(PROBE))
    (tmp_path / "right.sh").write_text("echo 42 > sum.txt\n")
    expected = {"oracle": 0, "nop": 1, tmp_path / "right.sh": 0, tmp_path / "probe.json": 1}
    for agent, status in expected.items():
        done = run("trial", task.path, "--agent", agent, "--format", "json")
        assert done.exit_code == status, done.output
        told = json.loads(done.stdout)
        jsonschema.validate(told, SCHEMA)
        assert told["outcome"] == ("fail" if status else "pass")


@pytest.mark.needs("userns", "uid-range", "base-image", "package-index")
def test_failed_tests_and_last_words_are_told(tmp_path):
    made = write_task(
        tmp_path / "task", dockerfile=PYTHON + INPUTS, test=PYTEST, more={"tests/test_sum.py": TEST_SUM}
    )
    done = run("trial", made.path, "--agent", "nop", "-o", tmp_path / "kept")
    assert done.exit_code == 1
    assert "FAIL  check test_sum.py::test_there" in done.stdout
    assert "2 failed" in run("why", tmp_path / "kept").stdout


def test_a_broken_task_and_an_unknown_agent_are_told(task, tmp_path):
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "task.toml").write_text("x = [")
    done = run("trial", tmp_path / "broken", "--agent", "nop")
    assert done.exit_code == 1
    assert "no TOML" in done.output
    with pytest.raises(AgentError, match="name oracle, nop, a script or a probe"):
        find_probe(task, "reject:x")
    with pytest.raises(AgentError, match="can't be read"):
        find_probe(task, str(tmp_path / "none.sh"))


@pytest.mark.parametrize("text", ["", "{", "[]", '{"probe": 3}', '{"name": 3}', "[" * 100_000])
def test_what_is_no_probe_is_refused(tmp_path, text):
    (tmp_path / "p.json").write_text(text)
    with pytest.raises(AgentError, match="can't be read as a probe"):
        load_probe(tmp_path / "p.json")


def test_a_counterexample_s_file_holds_its_probe_and_the_task_that_it_fits(tmp_path):
    probe = Probe("x", "solution", script="echo 1")
    kept = {"schema": 1, "task": "t", "digest": "d" * 64, "says": "x", "probe": probe_to_json(probe)}
    (tmp_path / "p.json").write_text(json.dumps(kept))
    found = load_probe(tmp_path / "p.json")
    assert (found.probe, found.digest, found.agent) == (probe, "d" * 64, "probe:x")


@pytest.mark.parametrize(
    ("name", "text", "start"),
    [
        ("a.sh", "echo hi\n", "echo hi"),
        ("a.sh", "#!/bin/bash\necho ${x[0]}\n", "cat > /tmp/.aespec-agent <<"),
        ("a.py", "print(1)", "cat > /tmp/.aespec-agent <<"),
    ],
)
def test_a_script_is_run_by_its_own_interpreter(task, tmp_path, name, text, start):
    (tmp_path / name).write_text(text)
    found = find_probe(task, str(tmp_path / name))
    assert found.agent == f"script:{name}"
    assert found.probe.script.startswith(start)
    assert text.rstrip() in found.probe.script
    assert (found.probe.base, found.probe.is_live) == ("start", True)


def test_hostile_words_are_harmless_and_what_is_odd_fits_the_form(task):
    hostile = "\x1b]0;owned\x07" + "y" * 100_000
    judgement = Judgement(
        "fail", -3.5, {"a": -7.0, "b\x1b[2J": 0.0}, message=hostile, failed=(hostile,), output=hostile
    )
    result = trial_of(task, "fork", "oracle", judgement)
    jsonschema.validate(result_to_json(result), SCHEMA)
    assert result.boundary == "oracle"
    text = explain(result, is_full=True)
    assert "\x1b" not in text
    assert "rewards: a -7" in text


def test_a_kept_trial_reads_back(task, tmp_path):
    from aespec.trial import write_trial

    result = trial_of(task, "fork", "nop", Judgement("fail", 0.0, {"reward": 0.0}, output="last words\n"))
    kept = load_trial(write_trial(result, tmp_path / "kept"))
    assert "last words" in explain(kept, is_full=True)
