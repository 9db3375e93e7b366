"""Counts, certificates, journals and end states by themselves."""

import json

import pytest

from aespec.fuzz.certificate import PROPERTIES, Certificate, Finding, Property, decide
from aespec.fuzz.journal import Journal
from aespec.fuzz.properties.leak_free import HIDDEN_LINE
from aespec.fuzz.states import changed_files, files_of, with_files
from aespec.fuzz.statistics import bound_without_failure, wilson
from aespec.fuzz.tokens import tokens_of, written_forms
from aespec.sandbox.tars import Entry, pack
from aespec.trial import EndState, TrialResult
from aespec.trial.archives import digest_of


def state(name="oracle", **files):
    archive = pack([Entry(f"/app/{path}", data) for path, data in files.items()])
    return EndState(name, archive, digest_of(archive), status=0)


def test_wilson_intervals():
    assert wilson(0, 0) is None
    assert wilson(0, 59) == (0.0, 0.0611)
    assert wilson(1, 10) == (0.0179, 0.4042)
    assert wilson(10, 10)[1] == 1.0
    assert bound_without_failure(59) == pytest.approx(0.05, abs=0.001)
    assert bound_without_failure(0) == 1.0


def of(*given):
    return Certificate(
        "t", tuple(Property(name, verdict) for name, verdict in zip(PROPERTIES, given, strict=True))
    )


def test_validity_follows_the_verdicts():
    assert of(*["holds"] * 11).valid is True
    assert of(*["holds"] * 10, "inconclusive").valid is None
    assert of(*["holds"] * 10, "not-measured").valid is None
    assert of(*["holds"] * 9, "violated", "inconclusive").valid is False
    assert of(*["holds"] * 10, "flaky").valid is False
    assert Certificate("t", (Property("builds", "holds"),)).valid is None
    assert "not decided: family" in of(*["holds"] * 10, "inconclusive").scope
    assert [decide(1, "x"), decide(0, "x"), decide(0)] == ["violated", "inconclusive", "holds"]


def test_the_digest_names_spec_lock_and_bundles():
    first = Certificate("t", (), digests={"spec": "a", "lock": None, "bundles": ["b"]}, made_on="2026-01-01")
    again = Certificate("t", (Property("builds", "holds"),), digests={**first.digests, "tool": "other"})
    other = Certificate("t", (), digests={**first.digests, "lock": "c"})
    assert first.digest == again.digest != other.digest


def test_end_states_are_changed_file_by_file():
    before, after = state(a=b"1", b=b"2"), state(a=b"1", b=b"3", c=b"4")
    assert changed_files(before, after) == ("/app/b", "/app/c")
    made = with_files(after, "policy:x", {"/app/b": b"", "/app/c": None, "/app/d": b"5"})
    assert files_of(made) == {"/app/a": b"1", "/app/b": b"", "/app/d": b"5"}
    assert made.agent == "policy:x"
    assert with_files(after, "x", {}).digest == after.digest


def test_tokens_are_leaves_as_text():
    value = {"totals": {"rent": 1200.0, "flag": True, "none": None}, "ids": ["t-17", ""]}
    assert dict(tokens_of(value)) == {"totals/rent": "1200", "ids/0": "t-17"}
    assert '{"rent":1200,"x":1}' in written_forms({"x": 1, "rent": 1200})
    assert written_forms(3) == written_forms([]) == set()
    assert HIDDEN_LINE > 8


def test_a_journal_survives_a_torn_line_and_a_damaged_archive(tmp_path):
    folder = tmp_path / "j"
    journal = Journal(folder)
    kept = state(a=b"1")
    result = TrialResult("t", "0" * 64, "oracle", "fork", "pass", 1.0)
    lost = TrialResult("t", "0" * 64, "oracle", "fork", "error", boundary="sandbox")
    journal.keep_state("s", kept)
    journal.keep_result("r", result)
    journal.keep_result("l", lost)
    with (folder / "finished.jsonl").open("a") as stream:
        stream.write('{"key": "torn", "res')
    again = Journal(folder)
    assert again.resumed == 2
    assert again.state("s") == kept
    assert again.result("r") == result
    assert again.result("l") is None
    assert again.result("torn") is None
    (archive,) = (folder / "states").iterdir()
    archive.write_bytes(b"damaged")
    assert Journal(folder).state("s") is None
    again.finish()
    assert not folder.exists()
    assert Journal(None).state("s") is None


def test_an_unwritable_journal_only_forgets(tmp_path):
    (tmp_path / "file").write_text("x")
    journal = Journal(tmp_path / "file" / "below")
    journal.keep_state("s", state(a=b"1"))
    journal.keep_result("r", TrialResult("t", "0" * 64, "nop", "fork", "fail", 0.0))
    assert journal.result("r").outcome == "fail"


def test_findings_are_plain_data():
    finding = Finding("leak", "error", "leak-free", "x")
    assert json.loads(json.dumps(finding.message)) == "x"


def test_the_time_of_a_child_that_still_runs_is_counted():
    import subprocess
    import sys

    from aespec.fuzz.cost import used_s

    before = used_s()
    text = """
import time
while time.process_time() < 0.6: pass
print(flush=True)
input()
"""
    with subprocess.Popen(
        [sys.executable, "-c", text], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as child:
        child.stdout.readline()
        assert used_s() - before >= 0.45
        child.communicate(b"\n")
    assert used_s() - before >= 0.45
