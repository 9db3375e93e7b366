"""Certification of small specs in the embedded sandbox: sound ones, and ones with a known fault."""

import json
from pathlib import Path

import jsonschema
import pytest

from aespec.fuzz import CertifyOptions, certificate_to_json, certify, certify_bundles
from aespec.fuzz.study import Repeats
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
    def run(text, **options):
        path = tmp_path / "spec.aes"
        path.write_text(text)
        options = {"instances": 1, "repeats": FEW, "cache": tmp_path / "cache", **options}
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
    assert told["cost"]["executions"]["fork-cold"] == 4
    assert len(set(told["digests"]["bundles"])) == 3
    family = next(item for item in certificate.properties if item.name == "family")
    assert family.evidence[0] == "varies = answer"
    assert (family.tried, family.bad) == (3, 0)


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
