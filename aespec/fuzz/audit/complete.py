"""Right end states that are refused: variants that a reader takes for equal, one family after the other."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from aespec.fuzz.audit.drawing import draw
from aespec.fuzz.audit.inquiry import Inquiry
from aespec.fuzz.audit.outputs import is_told
from aespec.fuzz.audit.prober import Request
from aespec.fuzz.certificate import Property
from aespec.operators.api import Mutant, Output
from aespec.operators.difference import show_difference
from aespec.runtime.wording import counted
from aespec.trial.probe import Judgement


def try_variants(inquiry: Inquiry, seed: int) -> None:
    """Draw, judge and report; fills the property *complete*."""
    scene = inquiry.scene
    assert scene is not None

    def requests() -> Iterator[Request]:
        for mutant in draw(scene, ("right",), seed):
            yield Request(inquiry.changed(f"{mutant.operator}: {mutant.says}", mutant.edits), about=mutant)

    outputs = {output.path: output for output in scene.outputs}
    refused: dict[tuple[str, str], list[tuple[Mutant, Judgement]]] = defaultdict(list)
    tried = 0
    for request, judgement in inquiry.prober.each(requests()):
        mutant = request.about
        assert isinstance(mutant, Mutant)
        if mutant.polarity != "right" or judgement.boundary in ("sandbox", "image"):
            continue
        tried += 1
        if not judgement.is_passed:
            refused[mutant.leaf.partition("#")[0], mutant.operator].append((mutant, judgement))
    for (path, _), cases in refused.items():
        _report(inquiry, outputs.get(path), cases)
    bad = sum(len(cases) for cases in refused.values())
    evidence = (f"{tried - bad} of {counted(tried, 'end state')} that reads the same passed",)
    verdict, missing = ("inconclusive", "whether exactness was asked for") if bad else ("holds", "")
    if not tried:
        verdict, missing = "inconclusive", "a variant that could be tried"
    inquiry.properties["complete"] = Property("complete", verdict, tried, bad, evidence, missing)


def _report(inquiry: Inquiry, output: Output | None, cases: list[tuple[Mutant, Judgement]]) -> None:
    scene = inquiry.scene
    assert scene is not None
    if output is None or (not is_told(output, scene) and len(scene.outputs) > 1):
        return
    mutant, judgement = min(cases, key=lambda case: sum(len(str(edit.value)) for edit in case[0].edits))
    why = f"; failed: {', '.join(judgement.failed[:3])}" if judgement.failed else ""
    if judgement.outcome == "error":
        why = f"; no verdict: {judgement.message}"
    inquiry.report(
        "too-strict",
        "warning" if mutant.family in PLAIN else "advice",
        "complete",
        f"{output.path} is refused although {mutant.says}{why}",
        probe=inquiry.changed(mutant.operator, mutant.edits),
        difference=show_difference(scene, mutant.edits),
        rank=1.0 if mutant.family in PLAIN else 0.0,
    )


PLAIN = ("line-end", "key-order", "number-spelling", "layout", "quoting")
"""Families of variants that any reader takes for equal; the others may well have been meant to matter."""
