"""Every claim holds on its witness and its right alternatives, and fails on each near miss."""

import pytest

from aespec import predicates
from aespec.runtime.state import Missing
from tests.predicates import samples


def judged(sample, state, args):
    try:
        return predicates.find(sample.predicate).holds(state, args)
    except Missing as missing:
        pytest.fail(f"holds must answer, not raise: {missing}")


@pytest.mark.parametrize("sample", samples.ALL, ids=samples.name)
def test_witness(sample):
    signature = predicates.find(sample.predicate).signature
    for args in (sample.args, signature.complete(sample.args)):
        verdict = judged(sample, sample.state, args)
        assert verdict.is_held, verdict.reason


@pytest.mark.parametrize("sample", samples.ALL, ids=samples.name)
def test_near_misses(sample):
    assert len(sample.misses) >= 5
    signature = predicates.find(sample.predicate).signature
    for miss in sample.misses:
        state = sample.changed(miss)
        for args in (sample.args, signature.complete(sample.args)):
            verdict = judged(sample, state, args)
            assert not verdict.is_held, miss
            assert verdict.reason, miss
            assert len(verdict.reason) < 400
            verdict.reason.encode("utf-8")


@pytest.mark.parametrize("sample", samples.ALL, ids=samples.name)
def test_right_alternatives(sample):
    for change in sample.also:
        verdict = judged(sample, sample.changed(change), sample.args)
        assert verdict.is_held, (change, verdict.reason)


def test_every_predicate_of_bytes_has_samples():
    sampled = {sample.predicate for sample in samples.ALL}
    assert sampled == {
        item.name for item in predicates.all_predicates() if "program" not in item.signature.needs
    }


def test_the_registry():
    assert predicates.names() == ("command", "file", "function", "json", "table", "text", "unchanged")
    assert predicates.find("nothing") is None
    assert predicates.find("json_laws") is None
    assert predicates.find("misses") is None
    with pytest.raises(KeyError):
        predicates.laws("nothing")
    for item in predicates.all_predicates():
        assert item.name == item.signature.name
        assert item.signature.params[0].is_required
        assert item.laws is predicates.laws(item.name)
