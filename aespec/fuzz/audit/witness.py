"""Whether what is to be called an error is one: judged again cold, and by a reference if there is one."""

from __future__ import annotations

from aespec.fuzz.audit.inquiry import Inquiry
from aespec.fuzz.audit.prober import Request
from aespec.trial.probe import Probe


def is_confirmed(inquiry: Inquiry, probe: Probe) -> bool:
    """Whether the probe passes again, from the task's own images and its unmodified test script.

    A disagreement is the tool's own fault and is said in the notes. Where the budget is spent nothing is
    confirmed, so nothing is accused.
    """
    again = inquiry.prober.judge_one(Request(probe, number=1, is_cold=True), is_free=True)
    if again is None or not again.is_passed:
        inquiry.notes.append(f"not confirmed from the task's own images: {probe.name}")
        return False
    if inquiry.reference is None:
        return True
    there = inquiry.reference.judge_one(Request(probe, is_cold=True))
    if there is None or there.outcome == "error":
        inquiry.notes.append(f"not judged by the reference: {probe.name}")
        return True
    if not there.is_passed:
        inquiry.notes.append(f"sandboxes disagree, which is this tool's fault: {probe.name}")
    return there.is_passed
