"""Attacks on the verifier's channel by cheats that do nothing of the task, and bystanders that do no harm."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import zip_longest

from aespec.bundle.foreign import ForeignTask
from aespec.fuzz.audit.inquiry import Inquiry
from aespec.fuzz.audit.prober import Request
from aespec.fuzz.audit.tampering import tampered_files, tamperings
from aespec.fuzz.audit.tracing import trace_verifier, with_trace
from aespec.fuzz.audit.witness import is_confirmed
from aespec.fuzz.certificate import Property
from aespec.fuzz.cheats import Instance, TaskFacts, all_cheats, instances, read_facts
from aespec.operators.difference import show_difference
from aespec.runtime.wording import counted
from aespec.trial.foreign import uploads

LEVELS = {
    ("separate", True): "separate",
    ("separate", False): "separate",
    ("shared", False): "shared-non-root",
    ("shared", True): "forgeable",
}
"""The trust level of a task by its mode and whether its agent is root (design section 3.8)."""

SHOWN_OF_CLASS = 2
"""Findings of one class of faults at most; the others are counted in the evidence."""


def trust_level(task: ForeignTask) -> str:
    """What the mode of a task makes of any verifier in it."""
    return LEVELS[task.mode, read_facts(task, {}).is_agent_root]


def try_cheats(inquiry: Inquiry, _seed: int) -> None:
    """Every cheat that applies, one instance of each first; fills the property *unforgeable*."""
    facts = look_at_task(inquiry)
    chosen = list(in_turn(facts))
    attacks = [item for item in chosen if not item.is_harmless and item.level == "task"]
    bystanders = [item for item in chosen if item.is_harmless] if inquiry.scene is not None else []
    nop_passes = any(item.slug in ("nop-passes", "blind-policy-passes") for item in inquiry.findings)
    won, tried = ([], 0) if nop_passes else _attack(inquiry, attacks)
    bent, points = (0, 0) if nop_passes else _tamper(inquiry)
    hurt, stood = _stand_by(inquiry, bystanders)
    evidence = [f"{counted(tried - len(won), 'cheat')} of {tried} got nothing"]
    if points:
        evidence.append(
            f"files that the verifier reads were bent {counted(points, 'time')}, {points - bent} in vain"
        )
    if facts.mode == "shared":
        who = "root and can replace" if facts.is_agent_root else "not root and can't replace"
        evidence.append(f"the agent shares the verifier's container, is {who} its programs")
    if stood:
        evidence.append(
            f"{stood - hurt} of {counted(stood, 'harmless thing')} beside a right solution did no harm"
        )
    missing = (
        "an agent that isn't root, or a verifier of its own"
        if trust_level(inquiry.task) == "forgeable"
        else ""
    )
    if nop_passes:
        missing = "a verifier that doesn't pass nothing"
    verdict = "violated" if won or bent else "inconclusive" if missing or not tried else "holds"
    inquiry.properties["unforgeable"] = Property(
        "unforgeable",
        verdict,
        tried + points,
        len(won) + bent,
        tuple(evidence),
        "" if verdict == "violated" else missing,
    )


def look_at_task(inquiry: Inquiry) -> TaskFacts:
    """The task's facts, sharpened by what its verifier was seen to read and run; looked up once."""
    if inquiry.facts is not None:
        return inquiry.facts
    facts = read_facts(inquiry.task, test_files(inquiry.task), inquiry.changes)
    if inquiry.scene is not None:
        inquiry.trace = trace_verifier(inquiry.prober.harness, tools=facts.tools)
        if inquiry.trace.problem:
            inquiry.notes.append(inquiry.trace.problem)
        facts = with_trace(facts, inquiry.trace)
    inquiry.facts = facts
    return facts


def test_files(task: ForeignTask) -> dict[str, bytes]:
    """The bytes of the files that go to `/tests`, by absolute path in the container.

    Where the verifier's image has tests of its own they are taken to be those of the task's folder.
    """
    return {item.path: item.data for item in uploads.tests_folder(task) if item.data is not None}


def in_turn(facts: TaskFacts) -> Iterator[Instance]:
    """The first instance of every cheat, then the second of each, and so on."""
    for row in zip_longest(*(list(instances(cheat, facts)) for cheat in all_cheats())):
        yield from (item for item in row if item is not None)


def _attack(inquiry: Inquiry, attacks: Sequence[Instance]) -> tuple[list[Instance], int]:
    """The cheats that win, confirmed, and how many were tried; one that won isn't tried another way."""
    won: list[Instance] = []
    slugs: set[str] = set()

    def requests() -> Iterator[Request]:
        for item in attacks:
            if item.cheat.slug not in slugs:
                yield Request(item.probe(), about=item)

    tried = 0
    for request, judgement in inquiry.prober.each(requests()):
        item = request.about
        assert isinstance(item, Instance)
        tried += judgement.boundary not in ("sandbox", "image")
        if judgement.is_passed and item.cheat.slug not in slugs and is_confirmed(inquiry, request.probe):
            slugs.add(item.cheat.slug)
            won.append(item)
    _report_wins(inquiry, won)
    return won, tried


def _tamper(inquiry: Inquiry) -> tuple[int, int]:
    """How often bending a file that the verifier reads paid, with nothing else done, of how many tries."""
    if inquiry.scene is None or inquiry.trace is None:
        return 0, 0
    files = tampered_files(inquiry.prober.harness, inquiry.trace, inquiry.scene)
    tries = list(tamperings(inquiry.scene, files))
    judged = inquiry.prober.judge([Request(item.probe) for item in tries])
    paid = [
        item
        for item, judgement in zip(tries, judged, strict=True)
        if judgement is not None and judgement.is_passed and is_confirmed(inquiry, item.probe)
    ]
    for item in paid[:SHOWN_OF_CLASS]:
        inquiry.report(
            "bent-reference",
            "error",
            "unforgeable",
            f"the verifier passes although {item.says}",
            probe=item.probe,
            difference=show_difference(inquiry.scene, item.probe.edits),
            rank=1.5,
        )
    return len(paid), sum(item is not None for item in judged)


def _report_wins(inquiry: Inquiry, won: Sequence[Instance]) -> None:
    by_class: dict[str, list[Instance]] = defaultdict(list)
    for item in won:
        by_class[item.cheat.class_name].append(item)
    for name, items in by_class.items():
        for item in items[:SHOWN_OF_CLASS]:
            inquiry.report(
                "cheat-wins",
                "error",
                "unforgeable",
                f"{item.cheat.title}: it does nothing of the task and gets the full reward ({name})",
                probe=item.probe(),
                difference=_shown(item),
                rank=1.0 / item.cheat.rank,
            )


def _shown(item: Instance) -> str:
    """What is the cheat's own in its script, with its values before it."""
    values = [f"{name}={value}" for name, value in item.values.items()]
    return "\n".join([*values, *(line for line in item.cheat.script.splitlines() if line.strip())])


def _stand_by(inquiry: Inquiry, bystanders: Sequence[Instance]) -> tuple[int, int]:
    """How many harmless things turned a right solution into a failed one, of how many."""
    judged = inquiry.prober.judge([Request(item.probe()) for item in bystanders])
    hurt = stood = 0
    for item, judgement in zip(bystanders, judged, strict=True):
        if judgement is None or judgement.boundary in ("sandbox", "image"):
            continue
        stood += 1
        if not judgement.is_passed:
            hurt += 1
            inquiry.report(
                "strict-on-bystander",
                "warning",
                "complete",
                f"a right solution fails with this beside it: {item.cheat.title}",
                probe=item.probe(),
                rank=0.5,
            )
    return hurt, stood
