"""Blind policies put before the verifier: what passes without a look at the task is wrong anyhow."""

from __future__ import annotations

from aespec.fuzz.audit.inquiry import Inquiry
from aespec.fuzz.audit.policies import blind_policies
from aespec.fuzz.audit.prober import Request
from aespec.fuzz.audit.witness import is_confirmed
from aespec.fuzz.certificate import Property
from aespec.operators.difference import show_difference
from aespec.runtime.wording import counted

DESTROYED = ("emptied", "deleted", "junk", "zeros", "scrambled")
SHOWN = 2
"""Findings on blind policies at most: one that passes says what there is to say."""


def try_policies(inquiry: Inquiry, _seed: int) -> None:
    """Every policy from the start state; adds to the property *nop-fails*."""
    if inquiry.scene is None:
        return
    policies = list(blind_policies(inquiry.scene))
    judged = inquiry.prober.judge([Request(policy.probe) for policy in policies])
    tried = [item for item in zip(policies, judged, strict=True) if item[1] is not None]
    passed = [policy for policy, judgement in tried if judgement is not None and judgement.is_passed]
    passed.sort(key=lambda policy: policy.name not in DESTROYED)
    nop_passes = any(finding.slug == "nop-passes" for finding in inquiry.findings)
    confirmed = 0
    for policy in passed:
        if nop_passes or confirmed == SHOWN or not is_confirmed(inquiry, policy.probe):
            continue
        confirmed += 1
        slug = "destroyed-outputs-pass" if policy.name in DESTROYED else "blind-policy-passes"
        message = f"the verifier passes although {policy.says}"
        inquiry.report(
            slug,
            "error",
            "nop-fails",
            message,
            probe=policy.probe,
            difference=show_difference(inquiry.scene, policy.probe.edits),
            rank=2.0,
        )
    before = inquiry.properties.get("nop-fails")
    if before is not None and tried:
        evidence = (
            *before.evidence,
            f"blind policies got nothing in {len(tried) - len(passed)} of {counted(len(tried), 'end state')}",
        )
        bad = before.bad + len(passed)
        inquiry.properties["nop-fails"] = Property(
            "nop-fails", "violated" if bad else before.verdict, before.tried + len(tried), bad, evidence
        )
