"""*stable*: the same end state always gets the same verdict, in other surroundings too."""

from __future__ import annotations

import json

from aespec.fuzz.bench import Judging
from aespec.fuzz.certificate import Property
from aespec.fuzz.statistics import bound_without_failure
from aespec.fuzz.study import Study
from aespec.fuzz.subject import Subject
from aespec.runtime.wording import counted
from aespec.trial import Perturbation, TrialResult

NOT_SHIFTED = ("date",)
"""What no sandbox here can shift: a clock that is really another one."""


def measure(study: Study) -> Property:
    """59 re-verifications of the frozen oracle state of the first instance, and a verdict per surrounding."""
    subject = study.first
    state = study.oracle(subject)
    if state.boundary is not None:
        return Property("stable", "inconclusive", missing="an end state of the oracle")
    count = study.repeats.stable
    study.bench.say(f"the oracle's end state, judged {counted(count, 'time')}")
    runs = study.bench.judge(
        [Judging(subject.bundle, state, study.fast, number) for number in range(1, count + 1)]
    )
    shifts = perturbations(subject)
    shifted = study.bench.judge([Judging(subject.bundle, state, study.fast, shift=shift) for shift in shifts])
    settled = [result for result in runs if not result.is_lost]
    if not settled:
        study.report_trouble("stable", runs[0], subject)
        return Property("stable", "inconclusive", missing="any verdict")
    usual = _signature(settled[0])
    flips = [result for result in settled if _signature(result) != usual]
    for result in flips:
        message = (
            f"judged again, the oracle's end state on {subject.name} gets {_tell(result)}, not {usual[0]}"
        )
        study.report("flickering-verdict", "error", "stable", message, subject, "oracle")
    moved, lost = [], [f"another {name}" for name in NOT_SHIFTED]
    for shift, result in zip(shifts, shifted, strict=True):
        if result.is_lost:
            lost.append(f"another {shift.name} ({result.message})")
        elif _signature(result) != usual:
            moved.append(shift.name)
            message = f"with another {shift.name} the oracle's end state gets {_tell(result)}, not {usual[0]}"
            study.report("surrounding-matters", "error", "stable", message, subject, "oracle")
    tried = len(settled) + len(shifts)
    evidence = [
        f"{len(settled) - len(flips)} of {counted(len(settled), 're-verification')} agree",
        "another "
        + ", ".join(shift.name for shift in shifts if shift.name not in moved)
        + ": the same verdict",
    ]
    if not flips:
        bound = bound_without_failure(len(settled))
        evidence.append(f"at most {bound:.1%} of verdicts flicker, at 95 % confidence")
    if usual[0] != "pass":
        lost.append("a passing oracle")
    verdict = "flaky" if flips else "violated" if moved else "inconclusive" if usual[0] != "pass" else "holds"
    # What can't be shifted here is said, and does not undo what was measured.
    missing = "not shifted: " + ", ".join(lost) if lost else ""
    return Property("stable", verdict, tried, len(flips) + len(moved), tuple(evidence), missing)


def perturbations(subject: Subject) -> list[Perturbation]:
    """Other surroundings for the verifier; the order of checks is turned around in checks.json."""
    told = json.loads(subject.checks_json)
    told["checks"] = list(reversed(told.get("checks", [])))
    reordered = json.dumps(told, sort_keys=True, indent=2).encode() + b"\n"
    return [
        Perturbation("locale", env={"LANG": "tr_TR.UTF-8", "LC_ALL": "POSIX"}),
        Perturbation("time zone", env={"TZ": "Pacific/Kiritimati"}),
        Perturbation("umask", umask=0o077),
        Perturbation("core count", cores=1),
        Perturbation("order of files", is_reversed=True),
        Perturbation("order of checks", checks=reordered),
    ]


def _signature(result: TrialResult) -> tuple[str, float | None, frozenset[tuple[str, str]]]:
    return result.outcome, result.reward, frozenset(result.verdicts().items())


def _tell(result: TrialResult) -> str:
    failed = ", ".join(result.failed())
    if result.outcome == "error":
        return f"error ({result.message})"
    return result.outcome + (f" ({failed})" if failed else "")
