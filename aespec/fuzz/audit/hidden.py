"""Answers within the solver's reach: what the search for leaks finds, weighed and, where it can be, tried."""

from __future__ import annotations

from aespec.fuzz.audit.channel import test_files
from aespec.fuzz.audit.inquiry import Inquiry
from aespec.fuzz.audit.leaks import Leak, search_leaks
from aespec.fuzz.audit.prober import Request
from aespec.fuzz.audit.witness import is_confirmed
from aespec.fuzz.certificate import Property
from aespec.fuzz.cheats import read_facts
from aespec.trial.foreign import uploads

WHOLE = ("copy", "blob", "layer")
"""Leaks that hold a whole file of the answer, the solution or the tests, and not some words of it."""

SHOWN = 6


def try_leaks(inquiry: Inquiry, _seed: int) -> None:
    """Search the agent's container; fills the property *leak-free*."""
    if inquiry.scene is None:
        return
    tests = test_files(inquiry.task)
    found = search_leaks(
        inquiry.prober.harness,
        inquiry.scene,
        tests=tests,
        solution={item.path: item.data for item in uploads.solution(inquiry.task) if item.data is not None},
        literals=(inquiry.facts or read_facts(inquiry.task, tests, inquiry.changes)).literals,
        dockerfile=inquiry.task.environment.dockerfile or "",
    )
    if found.problem:
        inquiry.notes.append(found.problem)
        inquiry.properties["leak-free"] = Property("leak-free", "inconclusive", missing=found.problem)
        return
    errors = sum(_report(inquiry, leak) for leak in found.leaks[:SHOWN])
    evidence = [f"{leak.kind} in {leak.place}" for leak in found.leaks[:SHOWN]] or [
        "no text of solution, tests or answers of eight characters or more was found in the agent's container"
    ]
    whole = [leak for leak in found.leaks if leak.kind in WHOLE]
    verdict = "violated" if errors else "inconclusive" if found.leaks else "holds"
    missing = "whether what was found gives the answer away" if verdict == "inconclusive" else ""
    inquiry.properties["leak-free"] = Property(
        "leak-free", verdict, 1, int(bool(whole)), tuple(evidence), missing
    )


def _report(inquiry: Inquiry, leak: Leak) -> bool:
    """Report a leak; whether it is an error: what was found makes an end state that passes."""
    is_winning = False
    if leak.probe is not None:
        judgement = inquiry.prober.judge_one(Request(leak.probe))
        is_winning = judgement is not None and judgement.is_passed and is_confirmed(inquiry, leak.probe)
    severity = "error" if is_winning else "warning" if leak.kind in WHOLE else "advice"
    ending = ": what stands there passes as it is" if is_winning else ""
    inquiry.report(
        "leaked-answer",
        severity,
        "leak-free",
        f"{leak.says}{ending}",
        probe=leak.probe if is_winning else None,
        difference="\n".join(leak.samples),
        rank=1.0,
    )
    return is_winning
