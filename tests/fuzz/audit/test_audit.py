"""An audit over pretended verifiers: what it must find, what it must not accuse, how it ends."""

import json
from pathlib import Path

import pytest

from aespec.fuzz.audit import AuditOptions, audit, audit_to_json, channel
from aespec.fuzz.audit.audit import examine
from aespec.report.audit import render_audit
from aespec.trial.probe import Judgement, probe_from_json
from tests.compiler.schemas import validate
from tests.fuzz.audit.pretence import PretendedHarness, pretend_task

INSTRUCTION = """\
`/app/in.csv` has lines of name and amount. Write `/app/out.json`: an object with `total`, the sum of the
amounts, and `count`, the number of lines.
"""
INPUTS = {"/app/in.csv": b"ann,3\nbob,40\ncid,12\n"}
OUTPUTS = {"/app/out.json": b'{"total": 55, "count": 3}\n'}


def sound(files):
    return json.loads(files["/app/out.json"]) == {"total": 55, "count": 3}


def count_only(files):
    return json.loads(files["/app/out.json"])["count"] == 3


def exists_only(files):
    return "/app/out.json" in files


def non_empty_only(files):
    return len(files["/app/out.json"]) > 0


def by_the_byte(files):
    return files["/app/out.json"] == OUTPUTS["/app/out.json"]


def anything(files):
    return True


@pytest.fixture
def audited(tmp_path):
    def run(verifier, *, outputs=OUTPUTS, options=None, **rest):
        task = pretend_task(tmp_path / "task", INSTRUCTION, **rest.pop("task", {}))
        harness = PretendedHarness(verifier, outputs, INPUTS, **rest)
        chosen = options or AuditOptions(cache=tmp_path / "cache", workers=1)
        return examine(task, harness, options=chosen), harness

    return run


def slugs(found, *severities):
    wanted = severities or ("error", "warning")
    return {item.slug for item in found.certificate.findings if item.severity in wanted}


def test_a_sound_verifier_is_not_accused(audited):
    found, _ = audited(sound)
    assert slugs(found) == set()
    assert found.certificate.valid is None, "what the author meant isn't measured"


@pytest.mark.parametrize(
    ("verifier", "slug", "severity"),
    [
        (count_only, "unread-field", "warning"),
        (exists_only, "destroyed-outputs-pass", "error"),
        (non_empty_only, "destroyed-outputs-pass", "error"),
        (by_the_byte, "too-strict", "warning"),
        (anything, "nop-passes", "error"),
    ],
)
def test_a_weak_verifier_is_found_out(audited, verifier, slug, severity):
    found, _ = audited(verifier)
    assert slug in slugs(found, severity)


def test_a_counterexample_can_be_judged_again(audited):
    found, harness = audited(count_only)
    finding = next(item for item in found.certificate.findings if item.slug == "unread-field")
    told = json.loads(Path(finding.counterexample).read_text())
    assert harness.judge(probe_from_json(told["probe"])).is_passed
    assert "total" in finding.difference
    assert finding.counterexample in finding.replay


def test_an_output_that_nobody_asked_for_is_nobodys_business(audited):
    found, _ = audited(sound, outputs={**OUTPUTS, "/app/notes.log": b"3 lines read\n"})
    assert slugs(found) == set()


def test_an_output_that_was_asked_for_and_is_not_read_is_told(tmp_path):
    task = pretend_task(tmp_path / "task", INSTRUCTION + "Write `/app/names.txt`, the names, one a line.")
    harness = PretendedHarness(sound, {**OUTPUTS, "/app/names.txt": b"ann\nbob\ncid\n"}, INPUTS)
    found = examine(task, harness, options=AuditOptions(cache=tmp_path / "cache", workers=1))
    assert "unread-output" in slugs(found, "warning")


def test_a_verdict_that_flickers_is_told(audited):
    def flickers(probe, count):
        return Judgement("fail", reward=0.0) if probe.base == "oracle" and count % 3 == 0 else None

    found, _ = audited(sound, answer=flickers)
    assert "unsteady-verdict" in slugs(found, "error")
    assert found.certificate.valid is False


def test_a_solution_that_fails_leaves_the_rest_undecided(audited):
    found, _ = audited(sound, outputs={"/app/out.json": b'{"total": 1, "count": 3}\n'})
    assert "failing-oracle" in slugs(found, "error")
    verdicts = {item.name: item.verdict for item in found.certificate.properties}
    assert verdicts["solvable"] == "violated"
    assert verdicts["sound"] == verdicts["stable"] == "not-measured"


def test_what_the_machine_failed_at_accuses_nobody(audited):
    lost = Judgement("error", boundary="sandbox", message="no space is left")
    found, _ = audited(sound, answer=lambda probe, count: lost)
    assert {item.slug for item in found.certificate.findings if item.severity == "error"} == {"no-sandbox"}


def test_an_image_that_does_not_build_is_told_once(audited):
    lost = Judgement("error", boundary="image", message="step 3 failed\nE: no such package")
    found, harness = audited(sound, answer=lambda probe, count: lost)
    assert slugs(found, "error") == {"unbuilt-image"}
    assert len(harness.judged) == 1


def test_a_budget_of_probes_is_kept(audited, tmp_path):
    options = AuditOptions(probes=25, cache=tmp_path / "cache", workers=1)
    found, harness = audited(count_only, options=options)
    assert found.is_partial
    assert len(harness.judged) < 25 + 12, "gates and confirmations are beside the budget"
    assert "the budget ran out" in " ".join(found.notes)
    told = [line for part in found.certificate.properties for line in part.evidence]
    assert not [line for line in told if "0 of 0" in line], "what wasn't tried is no count"


def test_an_interruption_ends_with_what_was_found(audited):
    def interrupted(probe, count):
        if count > 60:
            raise KeyboardInterrupt
        return

    found, _ = audited(exists_only, answer=interrupted)
    assert found.is_partial
    assert "destroyed-outputs-pass" in slugs(found, "error")


def test_an_interrupted_audit_goes_on_where_it_stood(audited):
    def interrupted(probe, count):
        if count > 60:
            raise KeyboardInterrupt
        return

    audited(count_only, answer=interrupted)
    whole, second = audited(count_only)
    assert not whole.is_partial
    _, third = audited(count_only)
    assert len(second.judged) <= len(third.judged) - 55


def test_the_same_audit_twice_says_the_same(audited):
    first, second = audited(count_only)[0], audited(count_only)[0]
    assert first.certificate.findings == second.certificate.findings
    assert first.sensitivity == second.sensitivity


def test_what_is_printed_fits_its_schema(audited):
    validate("certificate", audit_to_json(audited(count_only)[0]))


def test_a_folder_that_is_no_task_is_told_in_the_same_form(tmp_path):
    found = audit(tmp_path, None)
    assert slugs(found, "error")
    validate("certificate", audit_to_json(found))


def test_the_map_tells_what_is_read(audited):
    found, _ = audited(count_only)
    rows = {row["leaf"]: row for row in found.sensitivity}
    assert rows["/app/out.json#/total"]["noticed"] == 0
    assert rows["/app/out.json#/count"]["noticed"] == rows["/app/out.json#/count"]["tried"] > 0


def test_the_text_tells_everything_and_no_control_characters(audited):
    found, _ = audited(count_only, outputs={"/app/out.json": b'{"total": 55, "count": 3, "x": "\\u001b[2J"}'})
    text = render_audit(found)
    assert "\x1b" not in text
    assert all(item.slug in text for item in found.certificate.findings)
    assert render_audit(audit_to_json(found)) == text


def test_the_tests_of_an_image_of_its_own_are_known_by_the_tasks_folder(tmp_path):
    own = pretend_task(tmp_path / "own", "x", has_own_tests=True)
    brought = pretend_task(tmp_path / "brought", "x")
    assert channel.test_files(own)["/tests/test.sh"] == channel.test_files(brought)["/tests/test.sh"]
