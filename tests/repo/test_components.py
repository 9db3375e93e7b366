"""A missing component is never passed over in silence."""

import pytest

from tests import components


@pytest.fixture
def absent(monkeypatch):
    """A component that is not there."""

    def probe():
        raise components.Missing("it was sold")

    monkeypatch.setitem(components.PROBES, "piano", probe)
    yield "piano"
    components.missing.cache_clear()


def test_a_missing_component_skips_with_its_reason(absent, monkeypatch):
    monkeypatch.delenv("AESPEC_REQUIRE_ALL", raising=False)
    with pytest.raises(pytest.skip.Exception, match="needs piano: it was sold"):
        components.require(absent)


def test_a_missing_component_fails_where_all_are_required(absent, monkeypatch):
    monkeypatch.setenv("AESPEC_REQUIRE_ALL", "1")
    with pytest.raises(pytest.fail.Exception, match="piano is required here: it was sold"):
        components.require(absent)


def test_a_component_is_probed_once(absent, monkeypatch):
    asked = []
    monkeypatch.setitem(components.PROBES, "piano", lambda: asked.append(1))
    assert components.missing(absent) is None
    assert components.missing(absent) is None
    assert asked == [1]


def test_an_unknown_component_is_a_mistake_of_the_test(request):
    request.node.add_marker(pytest.mark.needs("no-such-thing"))
    with pytest.raises(pytest.UsageError, match="no-such-thing"):
        components.needed_by(request.node)


@pytest.mark.parametrize("name", sorted(components.PROBES))
def test_each_probe_answers(name):
    """A probe says yes, or no with a way out; it never breaks."""
    reason = components.missing(name)
    assert reason is None or len(reason) > 20
