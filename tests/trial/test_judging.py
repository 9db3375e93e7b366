"""What a verifier wrote is read with distrust, and trouble of any kind is an outcome."""

import contextlib
import json
from pathlib import Path

import jsonschema
import pytest

from aespec.bundle import Bundle, Recipe
from aespec.sandbox.api import Outcome, SandboxError, UncarriableError
from aespec.sandbox.tars import Entry, pack
from aespec.trial import (
    NOP,
    EndState,
    ScriptText,
    TrialResult,
    explain,
    load_trial,
    result_to_json,
    run_trial,
    write_trial,
)
from aespec.trial.agents import Agent
from aespec.trial.archives import cross, digest_of, read_files
from aespec.trial.judging import read_reward
from tests.trial.making import FakeSandbox

SCHEMA = json.loads((Path(__file__).parents[2] / "aespec/schemas/trial.schema.json").read_text())
PASSED = {"reward.json": b'{"reward": 1.0}', "reward.txt": b"1.0\n"}


@pytest.fixture
def bundle(tmp_path):
    (tmp_path / "task.toml").write_text('artifacts = ["/app"]\n[agent]\ntimeout_sec = 5\n')
    recipe = Recipe("base", (), "environment", user="agent", workdir="/app")
    manifest = {"artifacts": ["/app"], "task": "t"}
    return Bundle(tmp_path, "t", "harbor", "0" * 64, manifest, recipe, Recipe("base", (), "tests"))


def judged(bundle, written, outcome=None, agent=NOP):
    def act(program, files):
        if "/tests/test.sh" in program.argv:
            files.update({f"/logs/verifier/{name}": data for name, data in written.items()})
            return outcome
        return Outcome(0, b"", b"")

    result = run_trial(bundle, agent, FakeSandbox(act))
    jsonschema.validate(result_to_json(result), SCHEMA)
    return result


def test_both_files_with_the_full_reward_pass(bundle):
    result = judged(bundle, PASSED, Outcome(3, b"", b""))
    assert (result.outcome, result.reward) == ("pass", 1.0)


@pytest.mark.parametrize(
    ("written", "words"),
    [
        ({}, "wrote no reward"),
        ({"reward.json": b"{"}, "not JSON"),
        ({"reward.json": b"[" * 100000}, "not JSON"),
        ({"reward.json": b"[1]"}, "no number"),
        ({"reward.json": b'{"reward": true}'}, "no number"),
        ({"reward.json": b'{"reward": NaN}'}, "not between"),
        ({"reward.json": b'{"reward": 1.5}'}, "not between"),
        ({"reward.json": b'{"reward": -5}'}, "not between"),
        ({"reward.txt": b"yes"}, "not a number"),
        ({"reward.txt": b"\xff"}, "not a number"),
        ({**PASSED, "reward-details.json": b'{"outcome": "fail"}'}, "says 'fail'"),
    ],
)
def test_a_reward_that_cannot_be_taken_is_the_verifiers_error(bundle, written, words):
    result = judged(bundle, written, Outcome(2, b"", b"x\n\x1b[31mboom\n"))
    assert (result.outcome, result.reward, result.boundary) == ("error", None, "verifier")
    assert words in result.message
    assert "status 2" in result.message
    assert "\\x1b[31mboom" in result.message


def test_rewards_are_read_as_harbor_reads_them():
    assert read_reward({"reward.json": b'{"reward": 0.25}', "reward.txt": b"1"}) == (0.25, None)
    assert read_reward({"reward.txt": b" 0.5\n"}) == (0.5, None)
    assert read_reward({"reward.json": b'{"reward": 1}'}) == (1.0, None)


@pytest.mark.parametrize("data", [b"[]", b'{"a": NaN}', b'{"a": "\\ud800"}', b"[" * 100_000, b"x"])
def test_details_that_cannot_be_kept_are_left_out(bundle, data, tmp_path):
    result = judged(bundle, {**PASSED, "reward-details.json": data})
    assert (result.outcome, result.details) == ("pass", None)
    write_trial(result, tmp_path / "kept")


def test_an_error_in_a_check_is_told(bundle):
    details = {"outcome": "error", "checks": [{"id": "a", "verdict": "error", "reason": "no disk"}]}
    result = judged(bundle, {"reward-details.json": json.dumps(details).encode()})
    assert "check a: no disk" in result.message


@pytest.mark.parametrize("boundary", ["image", "sandbox", "spec"])
def test_an_image_that_cannot_be_made_is_an_outcome(bundle, boundary):
    fault = SandboxError("step 3 failed", "read its output", boundary=boundary)
    result = run_trial(bundle, NOP, FakeSandbox(lambda *_: None, fault))
    assert (result.outcome, result.boundary) == ("error", boundary)
    assert result.message == "step 3 failed (read its output)"
    assert "ERROR" in explain(result)


def test_a_failing_oracle_is_told_with_its_last_words(bundle):
    (bundle.path / "solution").mkdir()

    def act(program, files):
        if "/tests/test.sh" in program.argv:
            files["/logs/verifier/reward.txt"] = b"0"
            return None
        return Outcome(1, b"", b"Traceback\nKeyError: 'x'\n")

    result = run_trial(bundle, Agent("oracle"), FakeSandbox(act))
    assert (result.outcome, result.boundary, result.agent_status) == ("fail", "oracle", 1)
    assert result.message == "oracle ended with status 1: KeyError: 'x'"


def test_an_agent_that_takes_too_long_is_still_judged(bundle):
    slow = Outcome(None, b"", b"", is_timed_out=True)

    def act(program, files):
        if "/tests/test.sh" in program.argv:
            files["/logs/verifier/reward.txt"] = b"1"
            return None
        assert program.timeout_s == 5.0
        return slow

    result = run_trial(bundle, Agent("script:x", ScriptText("sh", "sleep 9")), FakeSandbox(act))
    assert (result.outcome, result.agent_status) == ("pass", None)
    assert "longer than 5 s" in result.message


def test_a_broken_task_file_is_the_specs_fault(bundle):
    (bundle.path / "task.toml").write_text("[[[")
    result = run_trial(bundle, NOP, FakeSandbox(lambda *_: None))
    assert (result.outcome, result.boundary) == ("error", "spec")


def test_what_crosses_is_roots_and_regular(tmp_path):
    import io
    import tarfile

    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as tar:
        for name, kind, link in (
            ("app", tarfile.DIRTYPE, ""),
            ("app/a", tarfile.REGTYPE, ""),
            ("app/b", tarfile.LNKTYPE, "app/a"),
            ("app/l", tarfile.SYMTYPE, "/etc/passwd"),
            ("app/p", tarfile.FIFOTYPE, ""),
            ("app/d", tarfile.CHRTYPE, ""),
        ):
            member = tarfile.TarInfo(name)
            member.type, member.linkname, member.uid, member.mode = kind, link, 1000, 0o4755
            member.size = 1 if kind == tarfile.REGTYPE else 0
            tar.addfile(member, io.BytesIO(b"x") if kind == tarfile.REGTYPE else None)
    crossed = cross(stream.getvalue(), [Entry("/logs", None, 0o755)])
    with tarfile.open(fileobj=io.BytesIO(crossed)) as tar:
        members = {member.name: member for member in tar}
    assert set(members) == {"app", "app/a", "app/b", "app/l", "logs"}
    assert {member.uid for member in members.values()} == {0}
    assert members["app/b"].isreg()
    assert read_files(crossed) == {"/app/a": b"x", "/app/b": b"x"}


def test_a_digest_tells_content_and_not_owners():
    entry = Entry("/a", b"1", 0o644, 1000, 1000)
    assert digest_of(pack([entry])) == digest_of(pack([Entry("/a", b"1", 0o644)]))
    others = [Entry("/a", b"2"), Entry("/a", b"1", 0o755), Entry("/b", b"1"), Entry("/a", None)]
    assert len({digest_of(pack([item])) for item in [entry, *others]}) == 5


def test_hostile_words_are_harmless_in_an_explanation():
    reason = "\x1b]0;owned\x07" + "y" * 10_000
    details = {
        "checks": [{"id": "a\x1b[2J", "verdict": "fail", "reason": reason, "rules": "no", "claims": [3]}]
    }
    result = TrialResult("t\n", "0" * 64, "nop", "fork", "fail", 0.0, details=details)
    text = explain(result)
    assert "\x1b" not in text
    assert len(text) < 5000


def test_an_end_state_of_nothing_keeps_its_boundary(bundle):
    from aespec.trial import verify

    state = EndState("oracle", b"", "", message="no", boundary="image")
    assert verify(bundle, state, FakeSandbox(lambda *_: None)).boundary == "image"


def test_an_end_state_that_is_too_large_is_the_agents_failure(bundle):
    def act(program, files):
        assert "/tests/test.sh" not in program.argv, "there is nothing to judge"

    class Full(FakeSandbox):
        @contextlib.contextmanager
        def open(self, image, limits):
            with super().open(image, limits) as slot:
                slot.get = lambda paths, limit_bytes: (_ for _ in ()).throw(UncarriableError("too large"))
                yield slot

    result = run_trial(bundle, Agent("script:x", ScriptText("sh", "fill")), Full(act))
    jsonschema.validate(result_to_json(result), SCHEMA)
    assert (result.outcome, result.reward, result.boundary) == ("fail", 0.0, None)
    assert "can't be carried to the verifier: too large" in explain(result)
    assert run_trial(bundle, Agent("nop"), Full(act)).outcome == "fail"


def test_a_reason_stands_once_and_why_tells_the_sentences_and_the_last_words(tmp_path):
    claims = [
        {"id": "a/1", "predicate": "json", "verdict": "fail", "reason": "expected 3" + "!" * 1000},
        {"id": "a/2", "predicate": "json", "verdict": "fail", "reason": "expected 3" + "!" * 1000},
    ]
    rule = {"id": "a.r", "verdict": "fail", "reason": claims[0]["reason"]}
    details = {"checks": [{**rule, "id": "a", "rules": [rule], "claims": claims}]}
    logs = {"agent.stderr": b"one\nlast \x1b[31mwords\n", "verifier.stderr": b""}
    sentences = {"a": "Write the sum.", "a.r": "Refunds\x1b[2J count."}
    result = TrialResult(
        "t", "0" * 64, "nop", "fork", "fail", 0.0, details=details, logs=logs, sentences=sentences
    )
    text = explain(result)
    assert text.count("expected 3") == 1
    assert "Write the sum" not in text
    kept = load_trial(write_trial(result, tmp_path / "kept"))
    full = explain(kept, is_full=True)
    assert "expected 3" + "!" * 1000 + "\n" in full
    assert "“Write the sum.”" in full
    assert "“Refunds\\x1b[2J count.”" in full
    assert "    last \\x1b[31mwords\n" in full
    assert "\x1b" not in full
