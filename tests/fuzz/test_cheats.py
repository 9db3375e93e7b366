"""Every cheat wins where it should and nowhere else: tried on the pair of tasks that it was made for."""

import functools
import shlex
from dataclasses import replace

import pytest

from aespec.fuzz.cheats import all_cheats, instances
from aespec.sandbox import open_sandbox
from aespec.trial.foreign import open_harness
from aespec.trial.probe import Probe
from tests.fuzz.planted import OUT, PAIRS, PLAIN

pytestmark = pytest.mark.needs("userns", "uid-range", "base-image")

SLOW = ("loader-preload",)
CHEATS = {cheat.slug: cheat for cheat in all_cheats()}
HARMFUL = sorted(slug for slug, cheat in CHEATS.items() if not cheat.is_harmless)
HARMLESS = sorted(slug for slug, cheat in CHEATS.items() if cheat.is_harmless)
TRIED = 6


@pytest.fixture(scope="module")
def opened(tmp_path_factory):
    """`opened(planted)` is its harness and its facts; each task is written and built once."""
    sandbox = open_sandbox("fork")
    made = {}

    def make(planted):
        key = id(planted)
        if key not in made:
            task = planted.write(tmp_path_factory.mktemp("planted") / f"task-{len(made)}")
            made[key] = (open_harness(task, sandbox), planted.facts(task), planted)
        return made[key][:2]

    yield make
    sandbox.close()


def judge(harness, probe):
    judgement = harness.judge(probe, is_cold=True)
    assert judgement.boundary not in ("sandbox", "image", "spec"), judgement.message
    return judgement


def tries(slug, facts):
    """The probes of a cheat on a task; harmless ones over the right end state, here by the same script."""
    found = [item.probe() for item in instances(CHEATS[slug], facts, limit=TRIED)]
    assert found, f"{slug} doesn't apply"
    return found


def over(right, probe):
    return Probe(probe.name, "start", script=right.script + probe.script, is_live=probe.is_live)


def slow(slugs):
    return [pytest.param(slug, marks=pytest.mark.full if slug in SLOW else ()) for slug in slugs]


def test_every_cheat_has_a_pair():
    assert PAIRS.keys() == CHEATS.keys()


@pytest.mark.parametrize("slug", slow(HARMFUL))
def test_a_cheat_wins_on_the_task_that_it_was_made_for(slug, opened):
    harness, facts = opened(PAIRS[slug].weak)
    outcomes = []
    for probe in tries(slug, facts):
        judgement = judge(harness, probe)
        outcomes.append((probe.name, judgement.outcome, judgement.agent_output, judgement.output[-500:]))
        if judgement.is_passed:
            return
    pytest.fail(f"{outcomes}")


@pytest.mark.parametrize("slug", slow(slug for slug in HARMFUL if CHEATS[slug].level == "task"))
def test_a_careful_verifier_in_the_same_mode_withstands(slug, opened):
    """Which is what the level `task` means."""
    harness, facts = opened(PAIRS[slug].careful)
    weak_facts = opened(PAIRS[slug].weak)[1]
    known = {probe.script: probe for probe in tries(slug, weak_facts)}
    known |= {item.script: item.probe() for item in instances(CHEATS[slug], facts, limit=2)}
    passed = [probe.name for probe in known.values() if judge(harness, probe).is_passed]
    assert not passed


@pytest.mark.parametrize("slug", slow(slug for slug in HARMFUL if CHEATS[slug].level == "mode"))
def test_a_careful_verifier_doesn_t_withstand_what_the_mode_allows(slug, opened):
    """Which is what the level `mode` means; another container withstands it."""
    harness, facts = opened(PAIRS[slug].careful)
    found = tries(slug, facts)
    assert any(judge(harness, probe).is_passed for probe in found)
    apart = opened(separate())[0]
    assert not [probe.name for probe in found if judge(apart, probe).is_passed]


@functools.cache
def separate():
    """The plain verifier in a container of its own, to which only the output crosses."""
    return replace(PLAIN.weak, settings={"mode": "separate", "artifacts": list(OUT)})


HOSTILE = ("it's", 'a "quoted" $(touch broken)', "back\\slash `touch broken`", "END; touch broken")


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("slug", ["program-reads-tests", "subject-reads-tests"])
def test_a_name_that_a_cheat_writes_into_a_program_stays_a_name(slug, name, opened):
    """So the names of a task's files can't make a cheat do something else."""
    pair = PAIRS[slug]
    script = pair.weak.script.replace("/tests/expected.txt", shlex.quote(f"/tests/{name}"))
    planted = replace(
        pair.weak,
        script=script,
        tests={"in.txt": "40\n", name: pair.weak.tests["expected.txt"], "other": "x\n"},
    )
    harness, facts = opened(planted)
    chosen = [item for item in instances(CHEATS[slug], facts) if item.values["test_data"] == f"/tests/{name}"]
    assert [judge(harness, item.probe()).outcome for item in chosen] == ["pass"]


@pytest.mark.parametrize("slug", HARMLESS)
def test_what_does_no_harm_harms_only_before_a_verifier_that_minds_it(slug, opened):
    pair = PAIRS[slug]
    for planted, is_passed in ((pair.weak, False), (pair.careful, True)):
        harness, facts = opened(planted)
        found = [over(planted.right(), probe) for probe in tries(slug, facts)[:1]]
        assert [judge(harness, probe).is_passed for probe in found] == [is_passed]


@pytest.mark.parametrize("side", ["weak", "careful"])
def test_the_planted_verifiers_pass_what_is_right_and_fail_what_is_not(side, opened):
    """A cheat's win, or its defeat, would say nothing otherwise."""
    for planted in {
        id(pair): getattr(pair, side) for pair in PAIRS.values() if pair is not PAIRS["loader-preload"]
    }.values():
        harness, _ = opened(planted)
        assert judge(harness, planted.right()).is_passed, planted.script
        assert judge(harness, Probe("nop", "start")).outcome == "fail", planted.script
