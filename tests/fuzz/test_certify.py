"""Certification of small specs in the embedded sandbox: sound ones, and ones with a known fault."""

import contextlib
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import jsonschema
import pytest

from aespec.fuzz import CertifyOptions, certificate_to_json, certify, certify_bundles
from aespec.fuzz.study import Repeats
from aespec.resources import cache_folder
from aespec.sandbox import open_sandbox
from tests.trial.making import SPEC, compile_text

pytestmark = pytest.mark.needs("userns")
SCHEMA = json.loads((Path(__file__).parents[2] / "aespec/schemas/certificate.schema.json").read_text())
FEW = Repeats(oracle=2, reference=1, stable=2, nop=1, extra_instances=2)


@pytest.fixture(scope="module")
def sandbox():
    return open_sandbox("fork")


@pytest.fixture
def certified(sandbox, tmp_path):
    def run(text, *, reference=True, **options):
        path = tmp_path / "spec.aes"
        path.write_text(text)
        options = {"instances": 1, "repeats": FEW, "cache": tmp_path / "cache", **options}
        options["wants_reference"] = reference
        certificate, _ = certify(path, sandbox, options=CertifyOptions(**options))
        jsonschema.validate(certificate_to_json(certificate), SCHEMA)
        return certificate

    return run


def verdicts(certificate):
    return {item.name: item.verdict for item in certificate.properties}


def errors(certificate):
    return {(item.property, item.slug) for item in certificate.findings if item.severity == "error"}


def changed(*swaps):
    text = SPEC
    for old, new in swaps:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    return text


def test_a_sound_spec_has_no_error(certified):
    certificate = certified(SPEC, instances=3)
    assert errors(certificate) == set()
    assert certificate.valid is None
    found = verdicts(certificate)
    held = ("solvable", "stable", "nop-fails", "stated", "leak-free")
    assert {name: found[name] for name in held} == dict.fromkeys(held, "holds")
    later = ("sound", "complete", "guess-resistant", "unforgeable", "family")
    assert {name: found[name] for name in later} == dict.fromkeys(later, "inconclusive")
    told = certificate_to_json(certificate)
    assert told["cost"]["executions"]["fork"] > 20
    assert told["cost"]["executions"]["cold fork"] == 4
    assert told["cost"]["executions"].keys() == {"fork", told["trust"]["reference"]}
    assert told["environment"]["reference"].startswith("cold fork (")
    solvable = next(item for item in certificate.properties if item.name == "solvable")
    assert any(line.endswith(" in cold fork") for line in solvable.evidence)
    assert len(set(told["digests"]["bundles"])) == 3
    family = next(item for item in certificate.properties if item.name == "family")
    assert family.evidence[0] == "varies = answer"
    assert (family.tried, family.bad) == (3, 0)


def is_fresh(path, started):
    with contextlib.suppress(OSError):
        return path.stat().st_mtime >= started
    return False


def test_a_run_that_is_ended_takes_its_folder_with_it_and_says_what_it_keeps(tmp_path):
    (tmp_path / "tmp").mkdir()
    path = tmp_path / "spec.aes"
    path.write_text(SPEC)
    env = {**os.environ, "TMPDIR": str(tmp_path / "tmp"), "AESPEC_CACHE": str(cache_folder())}
    journals, kept, started = cache_folder() / "certify", "*/finished.jsonl", time.time()
    argv = [sys.executable, "-m", "aespec", "certify", str(path), "--sandbox", "fork", "--reference", "none"]
    with subprocess.Popen(argv, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as child:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and not any(
            is_fresh(path, started) for path in journals.glob(kept)
        ):
            time.sleep(0.1)
        child.terminate()
        _, said = child.communicate(timeout=60)
    assert child.returncode == 143, said
    assert said.startswith("aespec: stopped; ")
    journal = Path(said.partition(" finished runs are kept in ")[2].partition(";")[0])
    assert (journal / "finished.jsonl").is_file(), said
    shutil.rmtree(journal)
    assert list((tmp_path / "tmp").glob("aespec-*")) == []


WEAK = {
    "a check that nop passes": (
        [
            ('json("/app/sum.json", equals = { total = answer.total })', 'file("/app/numbers.txt")'),
            ("Write the sum to `/app/sum.json`", "Write the sum of `/app/numbers.txt` to `/app/sum.json`"),
        ],
        {("nop-fails", "farmed-reward"), ("sound", "accepted-reject")},
    ),
    "a verifier that looks at the shape only": (
        [("equals = { total = answer.total }", "type = object")],
        {("sound", "accepted-reject"), ("nop-fails", "farmed-reward"), ("family", "transplanted-answer")},
    ),
    "a reject on the wrong rule": (
        [('"no file" (breaks = sum)', '"no file" (breaks = kept)')],
        {("sound", "unbroken-rule")},
    ),
    "an accept that the verifier refuses": (
        [("printf '{ \"total\" : %s }'", 'printf \'{ "total" : "%s" }\'')],
        {("complete", "rejected-accept")},
    ),
    "an instance that never exercises the rule": (
        [("rng.randrange(-50, 100)", "rng.randrange(0, 100)")],
        {("sound", "idle-reject")},
    ),
    "an oracle that fails": (
        [("total += n", "total += n + 1")],
        {("solvable", "failing-oracle")},
    ),
}


@pytest.mark.parametrize("name", WEAK)
def test_a_known_weakness_is_found(certified, name):
    swaps, wanted = WEAK[name]
    only = ("builds", *(name for name, _ in wanted))
    certificate = certified(changed(*swaps), only=only, instances=2 if "family" in only else 1)
    found = errors(certificate)
    assert wanted <= found, [item.message for item in certificate.findings]
    assert certificate.valid is False
    measured = {item.name for item in certificate.properties if item.verdict != "not-measured"}
    assert measured == set(only)
    for item in certificate.findings:
        assert item.replay.startswith("aespec ")


def test_an_oracle_that_fails_everywhere_leaves_one_finding(certified):
    certificate = certified(changed(("total += n", "total += n + 1")), instances=2, reference=False)
    found = verdicts(certificate)
    assert found["solvable"] == "violated"
    assert found["stated"] == found["leak-free"] == "holds"
    rest = ("stable", "nop-fails", "sound", "complete", "guess-resistant", "unforgeable", "family")
    assert {found[name] for name in rest} == {"not-measured"}
    assert [item.slug for item in certificate.findings] == ["failing-oracle"]
    assert "and 1 other in fork" in certificate.findings[0].message
    assert "an engine was not asked for" in certificate.environment["reference"]


def test_programs_that_break_off_are_told(certified):
    certificate = certified(
        changed(
            ('print("done")', 'raise SystemExit("late")'),
            (r'"\n" + text + "\n")', r'"\n" + text + "\n"); open("/none")'),
            ("oracle()\n", "try: oracle()\n    except Exception: pass\n"),
        ),
        only=("builds", "solvable", "complete"),
    )
    assert errors(certificate) == set()
    told = [(item.property, item.severity) for item in certificate.findings if item.slug == "unclean-ending"]
    assert told == [("solvable", "warning"), ("complete", "warning")]
    messages = [item.message for item in certificate.findings]
    assert messages[0].startswith("oracle ended with status 1: late, on instance")
    assert "No such file or directory: '/none', on instance" in messages[1]


def test_checks_that_fail_along_are_told_and_rules_of_the_same_check_are_not(certified):
    certificate = certified(SPEC, only=("builds", "sound"))
    sound = next(item for item in certificate.properties if item.name == "sound")
    assert not any("also fails" in line for line in sound.evidence)
    assert "isn't told apart" in sound.evidence[-1]


@pytest.mark.parametrize(
    ("answer", "missing"),
    [("7", "instances with other answers"), ("p.count", "an output that differs where the answers do")],
)
def test_a_family_without_transplants_does_not_hold_by_them(certified, answer, missing):
    text = changed(
        ('emit(sum(n for n in map(int, open("app/numbers.txt")) if n >= 0))', f"emit({answer})"),
        ("equals = { total = answer.total }", "type = object"),
        ('json.dump({"total": total}', 'json.dump({"total": 1}'),
    )
    certificate = certified(text, instances=2, only=("builds", "family"))
    family = next(item for item in certificate.properties if item.name == "family")
    assert (family.verdict, family.tried) == ("inconclusive", 0)
    assert missing in family.missing
    assert any("all rests on varies = " in line for line in family.evidence)


def test_what_the_spec_allows_is_told_in_the_certificate_and_is_no_finding(certified):
    text = changed(('as `{\\"total\\": N}`.', "as JSON."), ("= { total =", "= { amount ="))
    text = text.replace('"total"', '"amount"')
    allows = """
  allow(unstated-detail, because = "the key follows from the task's title")
  allow(answer-in-sight, because = "there was one once")
}
"""
    certificate = certified(text.rstrip().removesuffix("}") + allows)
    found = {item.name: item for item in certificate.properties}
    assert found["stated"].verdict == "holds"
    assert [
        line for line in found["stated"].evidence if "because the key follows from the task's title" in line
    ]
    assert {item.slug for item in certificate.findings} == {"unused-allow"}
    (idle,) = certificate.findings
    assert (idle.severity, idle.property) == ("advice", "leak-free")


def test_a_spec_that_does_not_compile_gets_a_certificate(certified):
    certificate = certified(SPEC.replace("answer.total }", "answer.totl }"))
    assert certificate.valid is False
    assert verdicts(certificate)["builds"] == "violated"
    assert {item.property for item in certificate.findings} == {"builds"}
    assert set(list(verdicts(certificate).values())[1:]) == {"not-measured"}


def test_a_program_that_fails_is_a_finding(certified):
    certificate = certified(SPEC.replace("emit(sum(", "emit(sun("))
    assert ("builds", "failing-program") in errors(certificate)
    assert certificate.valid is False


def test_out_of_time_says_what_was_not_measured(certified):
    certificate = certified(SPEC, budget_s=0.0)
    found = verdicts(certificate)
    assert found["solvable"] == found["stable"] == "inconclusive"
    assert certificate.valid is None
    assert "budget" in next(item.missing for item in certificate.properties if item.name == "stable")


def test_a_killed_run_goes_on_where_it_stood(certified, monkeypatch, tmp_path):
    from aespec.fuzz.properties import complete

    class KilledError(Exception):
        pass

    def killed(study):
        raise KilledError

    asked = {"only": ("builds", "sound", "complete"), "instances": 1}
    with monkeypatch.context() as patch:
        patch.setattr(complete, "measure", killed)
        with pytest.raises(KilledError):
            certified(SPEC, **asked)
    (journal,) = (tmp_path / "cache").iterdir()
    assert (journal / "finished.jsonl").read_text().count("\n") >= 7
    resumed = certified(SPEC, **asked)
    assert resumed.cost["executions"]["fork"] == 4
    assert list((tmp_path / "cache").iterdir()) == []
    whole = certified(SPEC, **asked)
    assert whole.cost["executions"]["fork"] >= 11
    assert [item.verdict for item in whole.properties] == [item.verdict for item in resumed.properties]
    assert whole.properties == resumed.properties


def test_a_bundle_is_certified_as_it_lies(sandbox, tmp_path):
    bundle = compile_text(SPEC, tmp_path, sandbox)
    options = CertifyOptions(only=("builds", "stated", "leak-free", "complete"), cache=tmp_path / "cache")
    certificate = certify_bundles([bundle], sandbox, options=options)
    jsonschema.validate(certificate_to_json(certificate), SCHEMA)
    assert verdicts(certificate)["stated"] == verdicts(certificate)["leak-free"] == "holds"
    assert certificate.instances == 1
    (bundle.path / "aespec" / "values.json").unlink()
    broken = certify_bundles([bundle], sandbox, options=options)
    assert verdicts(broken)["builds"] == "not-measured"
    assert "values.json" in broken.findings[0].message
