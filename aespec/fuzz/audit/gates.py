"""The gates of an audit: it builds, the solution passes, doing nothing doesn't, the verdict is steady."""

from __future__ import annotations

from collections.abc import Sequence

from aespec.bundle.foreign import ForeignTask
from aespec.fuzz.audit.inquiry import FROZEN, NOP, ORACLE, Inquiry, tell_fault
from aespec.fuzz.audit.prober import Request
from aespec.fuzz.certificate import Property
from aespec.runtime.wording import counted
from aespec.trial.foreign import LONGEST_RUN_S
from aespec.trial.judging import Perturbation
from aespec.trial.probe import Judgement, Probe

ORACLE_RUNS = 3
NOP_RUNS = 3
STEADY_AT_MOST = 20
"""Verdicts on the frozen end state: 20 without a disagreement bound the flake rate at 14 % (95 %, exact)."""

SURROUNDINGS = (
    Perturbation("locale", env={"LC_ALL": "C.UTF-8", "LANG": "C.UTF-8"}),
    Perturbation("turkish", env={"LC_ALL": "tr_TR.UTF-8", "LANG": "tr_TR.UTF-8"}),
    Perturbation("zone", env={"TZ": "Pacific/Kiritimati"}),
    Perturbation("one core", cores=1),
    Perturbation("umask", umask=0o077),
    Perturbation("reversed", is_reversed=True),
    Perturbation("hash seed", env={"PYTHONHASHSEED": "7"}),
)
"""Surroundings that a verdict must not depend on. The date can't be shifted: namespaces share the clock."""


def measure_builds(inquiry: Inquiry) -> Property:
    """Whether the images can be made, and the verifier comes to a verdict at all: the first nop tells."""
    inquiry.prober.say("building, and doing nothing")
    (first,) = inquiry.judge([NOP], is_cold=True)
    if first is None:
        return Property("builds", "inconclusive", missing="time: the budget ran out")
    if first.boundary == "image":
        inquiry.report("unbuilt-image", "error", "builds", first.message)
        return Property("builds", "violated", 1, 1, (first.message.splitlines()[0],))
    if first.boundary == "sandbox":
        inquiry.report("no-sandbox", "error", "builds", first.message)
        return Property("builds", "not-measured", missing=first.message.splitlines()[0])
    return Property("builds", "holds", 1, 0, ("the agent's image and the verifier's could be made",))


def measure_solvable(inquiry: Inquiry) -> Property:
    """The solution run afresh, each time in its own sandbox, from the unmodified test script."""
    if inquiry.task.solution is None:
        return Property("solvable", "not-measured", missing="a solution: the task has none")
    inquiry.prober.say("running the solution")
    judged = _repeat(inquiry, ORACLE, ORACLE_RUNS)
    bad = [item for item in judged if not item.is_passed and not _is_lost(item)]
    lost = [item for item in judged if _is_lost(item)]
    tried = len(judged) - len(lost)
    if bad:
        slug = "failing-oracle" if len(bad) == tried else "flickering-oracle"
        inquiry.report(slug, "error", "solvable", _tell_oracle(bad[0], len(bad), tried), probe=ORACLE)
    for item in lost[:1]:
        inquiry.report("no-verdict", "error", "solvable", tell_fault(item), probe=ORACLE)
    evidence = (f"the solution passed in {tried - len(bad)} of {counted(tried, 'run')}",)
    verdict = "violated" if bad and len(bad) == tried else "flaky" if bad else "holds"
    if not tried:
        return Property("solvable", "inconclusive", missing="a verdict on the solution")
    return Property("solvable", verdict, tried, len(bad), evidence)


def measure_nop(inquiry: Inquiry) -> Property:
    """Doing nothing, in fresh sandboxes, gets nothing, and by a verdict: an error is no 0."""
    judged = _repeat(inquiry, NOP, NOP_RUNS)
    paid = [item for item in judged if item.is_passed]
    broken = [item for item in judged if item.outcome == "error" and not _is_lost(item)]
    tried = sum(not _is_lost(item) for item in judged)
    if paid:
        message = f"doing nothing gets the full reward, in {len(paid)} of {counted(tried, 'run')}"
        inquiry.report("nop-passes", "error", "nop-fails", message, probe=NOP)
    part = [item.reward for item in judged if item.reward and not item.is_passed]
    if part:
        message = f"doing nothing gets a part of the reward: {part[0]:g}"
        inquiry.report("nop-earns", "warning", "nop-fails", message, probe=NOP)
    if broken:
        severity = "error" if len(broken) == tried and inquiry.task.solution is None else "warning"
        message = f"doing nothing leads to no verdict: {broken[0].message or 'no reward was written'}"
        inquiry.report("verdictless-nop", severity, "nop-fails", message, probe=NOP)
    bad = len(paid)
    evidence = (f"doing nothing got nothing in {tried - bad} of {counted(tried, 'run')}",)
    if not tried:
        return Property("nop-fails", "inconclusive", missing="a verdict on doing nothing")
    return Property("nop-fails", "violated" if bad else "holds", tried, bad, evidence)


def measure_stable(inquiry: Inquiry) -> Property:
    """The frozen end state judged again and again, then in other surroundings; all must pass."""
    inquiry.prober.say("judging the solution's end state again")
    steady = inquiry.prober.judge([Request(FROZEN, number) for number in range(STEADY_AT_MOST)])
    judged = [item for item in steady if item is not None and not _is_lost(item)]
    failed = [item for item in judged if not item.is_passed]
    if failed and len(failed) < len(judged):
        message = (
            f"the verdict on one and the same end state flickers: {len(failed)} of "
            f"{counted(len(judged), 'judgement')} {_why(failed[0])}"
        )
        inquiry.report("unsteady-verdict", "error", "stable", message, probe=FROZEN)
    shifted = inquiry.prober.judge([Request(FROZEN, 0, shift) for shift in SURROUNDINGS])
    turned = [
        (shift, item)
        for shift, item in zip(SURROUNDINGS, shifted, strict=True)
        if item is not None and not item.is_passed and not _is_lost(item)
    ]
    if failed:
        turned = []
    for shift, item in turned:
        message = f"in another surrounding ({shift.name}) the solution's end state doesn't pass: {_why(item)}"
        inquiry.report("surrounding-dependence", "warning", "stable", message, probe=FROZEN)
    others = sum(item is not None for item in shifted)
    tried = len(judged) + others
    bad = len(failed) + len(turned)
    evidence = (
        f"the frozen end state passed {len(judged) - len(failed)} of {counted(len(judged), 'time')}",
        f"in other surroundings it passed {others - len(turned)} of {counted(others, 'time')}"
        if others
        else "other surroundings weren't tried: the budget ran out",
        "another date wasn't tried: namespaces share the machine's clock",
    )
    if not tried:
        return Property("stable", "inconclusive", missing="time: the budget ran out")
    flickers = bool(failed) and len(failed) < len(judged)
    if not bad and not others:
        return Property(
            "stable", "inconclusive", tried, bad, evidence, "other surroundings: the budget ran out"
        )
    return Property("stable", "flaky" if flickers else "violated" if bad else "holds", tried, bad, evidence)


def is_hopeless(inquiry: Inquiry) -> bool:
    """Whether the first runs, of nothing and of the solution, all ended at their limits of time.

    Then so will what would be tried next, one limit after the other.
    """
    return bool(inquiry.late) and all(inquiry.late.values())


def _is_late(task: ForeignTask, judgement: Judgement) -> bool:
    """Whether a run that didn't pass took as long as its verifier or its solution may."""
    took = judgement.seconds
    session = took.get("session", 0.0)
    return not judgement.is_passed and (
        took.get("verify", 0.0) + session >= min(task.verifier_timeout_s, LONGEST_RUN_S)
        or took.get("agent", 0.0) + session >= min(task.agent_timeout_s, LONGEST_RUN_S)
    )


def _repeat(inquiry: Inquiry, probe: Probe, times: int) -> list[Judgement]:
    """A probe several times, the first one cold; then as the verifier's warm state allows.

    One that runs into its limit of time is not repeated: that may be hours.
    """
    first = inquiry.judge([probe], is_cold=True)
    inquiry.late[probe.name] = any(item is not None and _is_late(inquiry.task, item) for item in first)
    if inquiry.late[probe.name]:
        times = 1
    rest = inquiry.prober.judge([Request(probe, number) for number in range(1, times)])
    return [item for item in [*first, *rest] if item is not None]


def _is_lost(judgement: Judgement) -> bool:
    return judgement.outcome == "error" and judgement.boundary in ("sandbox", "image")


def _tell_oracle(judgement: Judgement, bad: int, tried: int) -> str:
    head = f"the task's own solution doesn't pass, in {bad} of {counted(tried, 'run')}"
    if judgement.outcome == "error":
        return f"{head}: {tell_fault(judgement)}"
    status = judgement.agent_status
    ending = f"; its script ended with status {status}" if status else ""
    return f"{head}: {_why(judgement)}{ending}"


def _why(judgement: Judgement) -> str:
    """Why a verdict isn't a pass: the tests that failed, else the reward, else what kept it from one."""
    if judgement.outcome == "error":
        return tell_fault(judgement)
    return f"failed: {_names(judgement.failed)}" if judgement.failed else f"reward {judgement.reward or 0:g}"


def _names(names: Sequence[str], shown: int = 3) -> str:
    rest = len(names) - shown
    return ", ".join(names[:shown]) + (f" and {rest} more" if rest > 0 else "")
