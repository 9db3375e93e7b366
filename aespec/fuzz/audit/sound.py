"""Wrong end states that pass: mutants of every output, drawn, judged, sorted by what they say, shrunk."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from aespec.fuzz.audit.drawing import Tallies, Tally, draw, rows_of
from aespec.fuzz.audit.inquiry import Inquiry
from aespec.fuzz.audit.outputs import is_key_told, is_told, pattern_of
from aespec.fuzz.audit.prober import Request
from aespec.fuzz.certificate import Property
from aespec.model.edit import Edit
from aespec.operators.api import Mutant, Output, Scene
from aespec.operators.difference import show_difference
from aespec.operators.shrinking import shrink
from aespec.runtime.wording import counted

SHRINK_CALLS = 24
SHOWN = 12
"""Findings on survivors at most, the most telling ones; the map tells of the others."""

WEAK_KILL_RATE = 0.6
WEAK_AT_LEAST = 8
"""Of mutants of a program's statements some change nothing that anyone could see; of eight, most do."""


@dataclass(frozen=True, slots=True)
class Survivor:
    """A wrong end state that passed, with what it says of the verifier and how much that weighs."""

    slug: str
    message: str
    mutant: Mutant
    rank: float


def try_mutants(inquiry: Inquiry, seed: int) -> None:
    """Draw, judge and report; fills the property *sound* and the sensitivity map."""
    scene = inquiry.scene
    assert scene is not None
    tallies = Tallies()

    def requests() -> Iterator[Request]:
        for mutant in draw(scene, ("wrong", "depends"), seed, tallies.is_settled):
            yield Request(inquiry.changed(f"{mutant.operator}: {mutant.says}", mutant.edits), about=mutant)

    counts = Tally()
    for request, judgement in inquiry.prober.each(requests()):
        mutant = request.about
        assert isinstance(mutant, Mutant)
        tallies.add(mutant, judgement)
        if mutant.polarity == "wrong" and judgement.boundary not in ("sandbox", "image"):
            counts.tried += 1
            counts.noticed += not judgement.is_passed
    told = {output.path: is_told(output, scene) for output in scene.outputs}
    inquiry.sensitivity.extend(rows_of(tallies, told))
    survivors = list(find_survivors(scene, tallies))
    for survivor in sorted(survivors, key=lambda item: -item.rank)[:SHOWN]:
        _report(inquiry, survivor)
    inquiry.properties["sound"] = _property(counts, len(survivors))


def _property(counts: Tally, survivors: int) -> Property:
    """On somebody else's task a survivor is a question, no verdict: what is wrong only the author knows."""
    if not counts.tried:
        return Property("sound", "inconclusive", missing="time: the budget ran out")
    passed = counts.tried - counts.noticed
    seen = f"{counts.noticed} of {counted(counts.tried, 'changed end state')} were noticed"
    evidence = (seen, f"{counted(survivors, 'kind')} of change that a reader would call wrong passed")
    missing = "which of the changes that passed are wrong: only the author knows" if passed else ""
    return Property("sound", "inconclusive" if passed else "holds", counts.tried, passed, evidence, missing)


def find_survivors(scene: Scene, tallies: Tallies) -> Iterator[Survivor]:
    """What the survivors say of each output, the most telling thing only."""
    for output in scene.outputs:
        weight = 2.0 if is_told(output, scene) else 0.0
        if not weight and len(scene.outputs) > 1:
            continue  # by-products of a solution are nobody's business
        whole = [
            mutant
            for (path, _), tally in tallies.by_operator.items()
            if path == output.path
            for mutant in tally.survivors
            if mutant.polarity == "wrong" and "#" not in mutant.leaf
        ]
        tried = sum(tally.tried for pattern, tally in tallies.by_pattern.items() if pattern == output.path)
        if whole and tried:
            yield _whole_file(output, whole, tallies, weight)
            if _passes_as_junk(whole):
                continue
        if output.kind == "code":
            yield from _program(output, tallies, weight)
        else:
            yield from _fields(output, scene, tallies, weight)


def _whole_file(output: Output, whole: Sequence[Mutant], tallies: Tallies, weight: float) -> Survivor:
    gone = [mutant for mutant in whole if mutant.family == "missing"]
    junk = [mutant for mutant in whole if mutant.family == "junk"]
    if gone:
        message = f"{output.path} can be missing: no check needs it"
        return Survivor("unread-output", message, gone[0], weight + 3)
    if junk:
        message = f"of {output.path} only that it is there is checked: {junk[0].says}, and it passes"
        return Survivor("hollow-output", message, junk[0], weight + 2.5)
    message = f"{output.path} passes although {whole[0].says}"
    return Survivor("surviving-change", message, whole[0], weight + 1)


def _passes_as_junk(whole: Sequence[Mutant]) -> bool:
    return any(mutant.family in ("missing", "junk") for mutant in whole)


def _fields(output: Output, scene: Scene, tallies: Tallies, weight: float) -> Iterator[Survivor]:
    """Fields, columns or lines of which a change isn't noticed."""
    for pattern, tally in tallies.by_pattern.items():
        if pattern.partition("#")[0] != output.path or "#" not in pattern:
            continue
        wrong = [mutant for mutant in tally.survivors if mutant.polarity == "wrong"]
        if not wrong or not is_key_told(pattern, scene):
            continue
        if not tally.noticed:
            message = f"{_name(pattern)} isn't read: of {counted(tally.tried, 'change')} none was noticed"
            yield Survivor("unread-field", message, wrong[0], weight + 1.5)
        elif len(wrong) * 3 >= tally.tried:
            message = (
                f"{_name(pattern)} is read in part: of {counted(tally.tried, 'change')} {len(wrong)} passed"
            )
            yield Survivor("partly-read-field", message, wrong[0], weight + 1)


def _program(output: Output, tallies: Tallies, weight: float) -> Iterator[Survivor]:
    """A program whose statements can be broken without a test that minds."""
    found = [
        tally
        for pattern, tally in tallies.by_pattern.items()
        if pattern.partition("#")[0] == output.path and "#" in pattern
    ]
    tried, noticed = sum(tally.tried for tally in found), sum(tally.noticed for tally in found)
    wrong = [mutant for tally in found for mutant in tally.survivors if mutant.polarity == "wrong"]
    if tried < WEAK_AT_LEAST or not wrong or noticed > WEAK_KILL_RATE * tried:
        return
    broken = f"{counted(tried, 'change')} of the program {output.path}"
    message = f"of {broken} only {noticed} were noticed; this one passes"
    yield Survivor("weak-tests", message, wrong[0], weight + 1 - noticed / tried)


def _name(pattern: str) -> str:
    path, mark, selector = pattern.partition("#")
    return f"{selector} of {path}" if mark else path


def _report(inquiry: Inquiry, survivor: Survivor) -> None:
    """Shrink a survivor to the smallest edits that pass, and report it with its difference."""
    scene = inquiry.scene
    assert scene is not None

    def survives(edits: Sequence[Edit]) -> bool:
        judgement = inquiry.prober.judge_one(Request(inquiry.changed(survivor.mutant.operator, edits)))
        return judgement is not None and judgement.is_passed

    edits = shrink(survivor.mutant, scene, survives, calls=SHRINK_CALLS)
    inquiry.report(
        survivor.slug,
        "warning",
        "sound",
        survivor.message,
        probe=inquiry.changed(survivor.mutant.operator, edits),
        difference=show_difference(scene, edits),
        rank=survivor.rank,
    )


__all__ = ["Survivor", "find_survivors", "pattern_of", "try_mutants"]
