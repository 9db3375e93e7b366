"""Certificates and trials as texts."""

import json
from pathlib import Path

import jsonschema

from aespec.fuzz.certificate import PROPERTIES, Certificate, Finding, Property, certificate_to_json
from aespec.model.json_text import write_json
from aespec.report import render_certificate, render_trial
from aespec.trial import TrialResult, result_to_json

SCHEMAS = Path(__file__).parents[2] / "aespec" / "schemas"
MADE = Certificate(
    "ledger",
    (
        Property("builds", "holds", 10, 0, ("10 of 10 images made",)),
        Property("solvable", "violated", 23, 1, ("the oracle passed 22 of 23 runs",)),
        *(Property(name, "inconclusive", missing="words " * 30) for name in PROPERTIES[2:]),
    ),
    (
        Finding(
            "failing-oracle",
            "error",
            "solvable",
            "it fails\x1b[2J " + "long " * 40,
            "aespec trial x --agent oracle",
        ),
    ),
    trust={"mode": "separate", "level": "separate", "reference": "docker"},
    digests={
        "spec": None,
        "lock": None,
        "bundles": [],
        "images": {},
        "tool": "aespec 0",
        "operators": "0" * 64,
    },
    seeds={"family": 0, "instances": [0, 1]},
    instances=2,
    environment={"sandbox": "fork", "tier": "full", "reference": "docker", "is_reproducible": False},
    cost={"cpu_s": 1.5, "wall_s": 2.0, "executions": {"fork": 12}},
    made_on="2026-01-01",
)


def test_a_certificate_is_readable():
    text = render_certificate(MADE)
    assert text.startswith("ledger: NOT VALID as far as machines can tell\n")
    assert "x solvable" in text
    assert "0.8% … 21.0%" in text
    assert "error[failing-oracle] solvable: it fails\\x1b[2J" in text
    assert "see it again: aespec trial x --agent oracle" in text
    assert "not reproducible" in text
    assert "can't show that the author meant the right thing" in text
    assert "\x1b" not in text
    assert max(map(len, text.splitlines())) <= 125
    for name in PROPERTIES:
        assert name in text


def test_the_same_text_from_its_json():
    told = json.loads(write_json(certificate_to_json(MADE)))
    jsonschema.validate(told, json.loads((SCHEMAS / "certificate.schema.json").read_text()))
    assert render_certificate(told) == render_certificate(MADE)


def test_a_damaged_document_does_not_break_the_text():
    assert render_certificate({"properties": [{}, 3], "findings": "no", "valid": "yes"})


def test_a_trial_is_readable():
    result = TrialResult("t", "0" * 64, "nop", "fork", "fail", 0.0, seconds={"verify": 0.25})
    jsonschema.validate(
        json.loads(write_json(result_to_json(result))),
        json.loads((SCHEMAS / "trial.schema.json").read_text()),
    )
    assert "nop  FAIL  reward 0" in render_trial(result)
    assert "verify 0.25 s" in render_trial(result)


def test_rejects_that_went_right_take_one_line():
    evidence = (
        "reject 'a': fails as it should on 3 of 3 instances",
        "reject 'b: c': fails as it should on 2 of 2 instances, idle on 1; also fails kept",
        "reject 'd': fails as it should on 1 of 3 instances",
        "reject 'e': fails as it should on 0 of 0 instances, idle on 3",
    )
    made = Certificate("t", (Property("sound", "violated", 8, 3, evidence),))
    text = render_certificate(made)
    assert "rejects that fail as they should on every instance: 2 of 4" in text
    assert "'a'" not in text
    assert "reject 'b: c': idle on 1; also fails kept" in text
    assert "reject 'd': fails as it should on 1 of 3" in text
    assert "reject 'e': fails as it should on 0 of 0 instances, idle on 3" in text
    assert certificate_to_json(made)["properties"][0]["evidence"] == list(evidence)


def test_numbers_and_their_nouns_agree():
    one = (Property("builds", "holds"), *(Property(name, "inconclusive") for name in PROPERTIES[1:]))
    text = render_certificate(Certificate("t", one, MADE.findings, instances=1))
    assert "1 of 11 properties holds, the others aren't decided" in text
    assert "1 finding:" in text
    assert "1 instance;" in text
    all_but_one = (*(Property(name, "holds") for name in PROPERTIES[1:]), Property("builds", "inconclusive"))
    text = render_certificate(Certificate("t", all_but_one, MADE.findings * 2, instances=2))
    assert "10 of 11 properties hold, the other isn't decided" in text
    assert "2 findings:" in text
    assert "2 instances;" in text


def test_a_message_of_several_lines_stays_several_lines_and_gets_no_hold_of_the_terminal():
    message = "the image isn't built: step 3\nE: no package \x1b[2Jx\n\n  at line 4\r\n" + "long " * 40
    missing = "an image\nwith \x1b]0;title\x07 a log"
    made = Certificate(
        "t",
        (Property("builds", "violated", 1, 1, ("seen\nin\x9b two",), missing),),
        (Finding("unbuilt-image", "error", "builds", message),),
    )
    text = render_certificate(made, width=100)
    assert "\n      E: no package \\x1b[2Jx\n        at line 4\\x0d\n      long long" in text
    assert "  builds          seen\n                    in\\x9b two\n" in text
    assert "missing: an image\n                    with \\x1b]0;title\\x07 a log\n" in text
    assert not [char for char in text if char != "\n" and not char.isprintable()]
    assert max(map(len, text.splitlines())) <= 100
    assert json.loads(write_json(certificate_to_json(made)))["findings"][0]["message"] == message
