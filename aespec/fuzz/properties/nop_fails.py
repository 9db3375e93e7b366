"""*nop-fails*: doing nothing, or something blind, gets nothing, and fails on checks, not on surroundings."""

from __future__ import annotations

from aespec.fuzz.bench import Acting, Judging
from aespec.fuzz.certificate import Property
from aespec.fuzz.states import files_of, with_files
from aespec.fuzz.study import Study
from aespec.fuzz.subject import Subject
from aespec.runtime.wording import counted
from aespec.trial import NOP, EndState, TrialResult

CONSTANTS = {
    "zero": b"0\n",
    "an empty object": b"{}\n",
    "an empty list": b"[]\n",
    "null": b"null\n",
    "one": b"1\n",
}
INPUTS_AT_MOST = 4
INSTANCES_AT_MOST = 3
"""Blind policies don't look at the instance, so a few instances say as much as all."""


def measure(study: Study) -> Property:
    """Nop three times on the first instance and once on the others, then every blind policy on a few."""
    jobs = [Acting(study.first.bundle, NOP, study.fast, number) for number in range(study.repeats.nop)]
    owners = [study.first] * len(jobs)
    for subject in study.subjects[1:]:
        jobs.append(Acting(subject.bundle, NOP, study.fast))
        owners.append(subject)
    study.bench.say(f"doing nothing, {counted(len(jobs), 'time')}")
    tried = [
        (subject, result) for subject, (_, result) in zip(owners, study.bench.try_all(jobs), strict=True)
    ]
    reference = [
        Acting(study.first.bundle, NOP, study.reference, number) for number in range(study.repeats.nop)
    ]
    tried += [(study.first, result) for _, result in study.bench.try_all(reference)]
    nops = len(tried)
    blind = 0
    for subject in study.subjects[:INSTANCES_AT_MOST]:
        policies = blind_states(study, subject)
        study.bench.say(f"{counted(len(policies), 'blind policy', 'blind policies')} on {subject.name}")
        results = study.bench.judge([Judging(subject.bundle, state, study.fast) for state in policies])
        tried += [(subject, result) for result in results]
        blind += len(policies)
    bad = [(subject, result) for subject, result in tried if _is_bad(result)]
    lost = [(subject, result) for subject, result in tried if result.is_lost]
    for subject, result in bad:
        slug = "farmed-reward" if result.reward else "verdictless-nop"
        study.report(slug, "error", "nop-fails", _tell(subject, result), subject, _agent(result))
    for subject, result in lost:
        study.report_trouble("nop-fails", result, subject)
    evidence = [
        f"doing nothing got nothing in {nops - _count(bad, 'nop')} of {counted(nops, 'run')}",
        f"blind policies got nothing in {blind - _count(bad, 'policy:')} of {counted(blind, 'end state')}",
    ]
    missing = [f"a verdict in {counted(len(lost), 'run')}"] if lost else []
    if not blind:
        missing.append("an output that a blind policy could write")
    verdict = "violated" if bad else "inconclusive" if missing else "holds"
    return Property(
        "nop-fails", verdict, len(tried) - len(lost), len(bad), tuple(evidence), "; ".join(missing)
    )


def blind_states(study: Study, subject: Subject) -> list[EndState]:
    """End states that no knowledge of the task went into, each once; the oracle's own is left out."""
    start, oracle, outputs = study.start(subject), study.oracle(subject), study.outputs(subject)
    if start.boundary or oracle.boundary or not outputs:
        return []
    states = [
        with_files(start, "policy:outputs emptied", dict.fromkeys(outputs, b"")),
        with_files(oracle, "policy:outputs deleted", dict.fromkeys(outputs)),
        with_files(start, "policy:instruction echoed", dict.fromkeys(outputs, subject.instruction.encode())),
    ]
    states += [
        with_files(start, f"policy:{name}", dict.fromkeys(outputs, data)) for name, data in CONSTANTS.items()
    ]
    inputs = [path for path in files_of(start) if path not in outputs and "/.git/" not in path]
    states += [
        with_files(start, f"policy:{path} copied", dict.fromkeys(outputs, files_of(start)[path]))
        for path in sorted(inputs)[:INPUTS_AT_MOST]
    ]
    seen = {start.digest, oracle.digest}
    found = []
    for state in states:
        if state.digest not in seen:
            seen.add(state.digest)
            found.append(state)
    return found


def _is_bad(result: TrialResult) -> bool:
    """Whether something was given, or nothing but without a check that failed, or no verdict."""
    return not result.is_lost and (bool(result.reward) or not result.failed())


def _tell(subject: Subject, result: TrialResult) -> str:
    who = "doing nothing" if result.agent == "nop" else f"a blind policy ({result.agent.partition(':')[2]})"
    if result.reward:
        return f"{who} gets reward {result.reward:g} on {subject.name}"
    if result.outcome == "error":
        return f"the verifier gives no verdict to {who} on {subject.name}: {result.message}"
    return f"{who} gets nothing on {subject.name}, but no check failed"


def _agent(result: TrialResult) -> str:
    return "nop" if result.agent == "nop" else ""


def _count(bad: list[tuple[Subject, TrialResult]], head: str) -> int:
    return sum(result.agent.startswith(head) for _, result in bad)
