"""*family*: the instances are different tasks, and the answer of one is no answer to another."""

from __future__ import annotations

import hashlib

from aespec.fuzz.bench import Judging
from aespec.fuzz.certificate import Property
from aespec.fuzz.states import files_of, with_files
from aespec.fuzz.study import Study
from aespec.fuzz.subject import Subject
from aespec.model.json_text import json_digest
from aespec.runtime.wording import counted
from aespec.trial import EndState

INSTANCES = 5
"""How many instances the definition of "certified" asks for."""


def measure(study: Study) -> Property:
    """Each instance's outputs, put into the start state of one with another answer, must fail there."""
    subjects = study.subjects
    varies = what_varies(study)
    evidence = [
        f"varies = {varies}",
        f"{counted(len(subjects), 'instance')}, {counted(_tasks(study, varies), 'task')} to be counted",
    ]
    pairs, idle = _transplants(study)
    study.bench.say(f"end states of other instances, {counted(len(pairs), 'run')}")
    results = study.bench.judge([Judging(other.bundle, state, study.fast) for _, other, state in pairs])
    bad = 0
    for (donor, other, _), result in zip(pairs, results, strict=True):
        if result.is_passed:
            bad += 1
            message = f"what the oracle writes on {donor.name} gets the full reward on {other.name}"
            study.report("transplanted-answer", "error", "family", message)
        elif result.is_lost:
            study.report_trouble("family", result, other)
    if pairs:
        evidence.append(
            f"{len(pairs) - bad} of {counted(len(pairs), 'transplanted output')} refused elsewhere"
        )
    if idle:
        evidence.append(f"the same on instances with other answers: {counted(idle, 'output')}")
    missing = []
    if not pairs and len(subjects) > 1:
        evidence.append(f"no end state was tried elsewhere: all rests on varies = {varies}")
        missing += _missing_trials(study, varies, idle)
    if len(subjects) < INSTANCES:
        missing.append(f"{counted(INSTANCES - len(subjects), 'more instance')} (`--instances {INSTANCES}`)")
    if varies == "nothing" and len(subjects) > 1:
        missing.append("a parameter: all instances are the same task")
    if any(result.is_lost for result in results):
        missing.append("a verdict in some runs")
    verdict = "violated" if bad else "inconclusive" if missing else "holds"
    return Property("family", verdict, len(pairs), bad, tuple(evidence), "; ".join(missing))


def _transplants(study: Study) -> tuple[list[tuple[Subject, Subject, EndState]], int]:
    """For each instance a donor with another answer and other outputs; how many have only equal outputs."""
    subjects = study.subjects
    answers = {subject.seed: json_digest(subject.values.get("answer", {})) for subject in subjects}
    pairs: list[tuple[Subject, Subject, EndState]] = []
    idle = 0
    for index, other in enumerate(subjects):
        donors = [subjects[(index + step) % len(subjects)] for step in range(1, len(subjects))]
        donors = [donor for donor in donors if answers[donor.seed] != answers[other.seed]]
        for donor in donors:
            state = transplant(study, donor, other)
            if state is not None:
                pairs.append((donor, other, state))
                break
        else:
            idle += bool(donors)
    return pairs, idle


def _missing_trials(study: Study, varies: str, idle: int) -> list[str]:
    """Why it isn't enough that no end state was tried elsewhere; nothing where there are no answers."""
    if idle:
        return ["an output that differs where the answers do"]
    if varies != "nothing" and any(subject.values.get("answer") for subject in study.subjects):
        return ["instances with other answers: those with equal ones count as one task"]
    return []


def transplant(study: Study, donor: Subject, other: Subject) -> EndState | None:
    """The start state of `other` with what the donor's oracle wrote; None where its own writes the same."""
    if any(state.boundary for state in (study.oracle(donor), study.start(other), study.oracle(other))):
        return None
    written = {path: files_of(study.oracle(donor)).get(path) for path in study.outputs(donor)}
    state = with_files(study.start(other), f"oracle of {donor.name}", written)
    own = files_of(study.oracle(other))
    mine = files_of(state)
    if all(mine.get(path) == own.get(path) for path in {*study.outputs(other), *study.outputs(donor)}):
        return None
    return state


def what_varies(study: Study) -> str:
    """What differs between the instances: `answer`, else `fixture`, else `text`, else `nothing`."""
    views = {
        "answer": {json_digest(subject.values.get("answer", {})) for subject in study.subjects},
        "fixture": {json_digest(_context(subject)) for subject in study.subjects},
        "text": {subject.instruction for subject in study.subjects},
    }
    return next((name for name, found in views.items() if len(found) > 1), "nothing")


def _tasks(study: Study, varies: str) -> int:
    """Instances with equal answers count as one task; without answers, those with equal start states do."""
    if varies == "answer" or any(subject.values.get("answer") for subject in study.subjects):
        return len({json_digest(subject.values.get("answer", {})) for subject in study.subjects})
    return (
        1 if varies in ("text", "nothing") else len({json_digest(_context(item)) for item in study.subjects})
    )


def _context(subject: Subject) -> dict[str, str]:
    return {name: hashlib.sha256(data).hexdigest() for name, data in subject.context.items()}
