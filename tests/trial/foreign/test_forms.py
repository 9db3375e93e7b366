"""Probes and judgements as JSON: what is written reads back equal, and fits its schema."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aespec.model.edit import Edit
from aespec.trial.probe import (
    BASES,
    Judgement,
    Probe,
    judgement_from_json,
    judgement_to_json,
    probe_from_json,
    probe_to_json,
)
from tests.compiler.schemas import validate

TEXTS = st.text(st.characters(exclude_categories=("Cs",)), max_size=20)
NUMBERS = st.floats(-10, 10) | st.integers(0, 3).map(float)
EDITS = st.one_of(
    st.builds(lambda name, text: Edit("/" + name, "", "put", {"text": text}), TEXTS, TEXTS),
    st.builds(lambda name: Edit("/" + name, "", "delete"), TEXTS),
    st.builds(lambda name, value: Edit("/" + name, "/a", "set", value), TEXTS, TEXTS | st.none()),
)
PROBES = st.builds(
    Probe, TEXTS, st.sampled_from(BASES), st.lists(EDITS, max_size=3).map(tuple), TEXTS, st.booleans()
)
BOUNDARIES = st.sampled_from(["spec", "image", "oracle", "verifier", "sandbox"])
SHARED = {
    "rewards": st.dictionaries(TEXTS, NUMBERS, max_size=3),
    "message": TEXTS,
    "failed": st.lists(TEXTS, max_size=3).map(tuple),
    "output": TEXTS,
    "agent_output": TEXTS,
    "agent_status": st.none() | st.integers(0, 255),
    "seconds": st.dictionaries(TEXTS, st.floats(0, 100), max_size=2),
    "cpu_s": st.none() | st.floats(0, 100),
}
JUDGEMENTS = st.one_of(
    st.builds(Judgement, st.sampled_from(["pass", "fail"]), NUMBERS, boundary=st.none(), **SHARED),
    st.builds(Judgement, st.just("error"), st.none(), boundary=BOUNDARIES, **SHARED),
)


@given(PROBES)
def test_a_probe_reads_back_equal(probe):
    told = json.loads(json.dumps(probe_to_json(probe)))
    validate("probe", told)
    for edit in told["edits"]:
        validate("edit", edit)
    assert probe_from_json(told) == probe


@given(JUDGEMENTS)
def test_a_judgement_reads_back_equal(judgement):
    told = json.loads(json.dumps(judgement_to_json(judgement)))
    validate("judgement", told)
    assert judgement_from_json(told) == judgement


def test_what_is_left_out_of_a_probe_is_as_usual():
    assert probe_from_json({"name": "x"}) == Probe("x")


@pytest.mark.parametrize(
    "told",
    [
        None,
        [],
        {},
        {"name": 3},
        {"name": "x", "base": "end"},
        {"name": "x", "edits": {}},
        {"name": "x", "edits": [{"path": "a"}]},
        {"name": "x", "script": None},
        {"name": "x", "is_live": 1},
        {"name": "x", "more": 1},
    ],
)
def test_what_is_no_probe_is_refused(told):
    with pytest.raises(ValueError, match=r"."):
        probe_from_json(told)


@pytest.mark.parametrize("told", [None, {}, {"outcome": "won"}, "pass"])
def test_what_is_no_judgement_is_refused(told):
    with pytest.raises(ValueError, match="outcome"):
        judgement_from_json(told)
