"""*solvable*: the oracle gets the full reward every time, and from what the solver sees."""

from __future__ import annotations

import re
from difflib import SequenceMatcher

from aespec.fuzz.bench import Acting, Rung
from aespec.fuzz.certificate import Property
from aespec.fuzz.study import Study
from aespec.fuzz.subject import Subject, name_all
from aespec.fuzz.tokens import TOKEN_LENGTH, tokens_of
from aespec.runtime.wording import counted
from aespec.trial import ORACLE, EndState, TrialResult

_WORDS = re.compile(r"\w+|\W")


def measure(study: Study) -> Property:
    """20 oracle runs in the fast sandbox, spread over the instances, and 3 in the reference."""
    repeats = study.repeats
    fast = _runs(study, study.fast, max(repeats.oracle, len(study.subjects)))
    reference = _runs(study, study.reference, repeats.reference)
    pairs = fast + reference
    bad = [(subject, result) for subject, _, result in pairs if _is_bad(result)]
    lost = [(subject, result) for subject, _, result in pairs if result.is_lost]
    _report(study, bad, lost)
    _report_endings(study, pairs)
    known = _text_faults(study)
    faults = [
        message
        for message, may_be_allowed in known
        if study.report("cheating-oracle", "error", "solvable", message, may_be_allowed=may_be_allowed)
    ]
    evidence = [_count(fast, study.fast), _count(reference, study.reference)]
    evidence += _differences(fast)
    if not known:
        evidence.append("its text holds no answer and no secret, and is the same but for what is stated")
    passed = [result for _, _, result in pairs if result.is_passed]
    verdict = "holds"
    if faults or (bad and not passed):
        verdict = "violated"
    elif bad:
        verdict = "flaky"
    elif lost:
        verdict = "inconclusive"
    missing = f"a verdict in {counted(len(lost), 'run')}" if lost else ""
    return Property("solvable", verdict, len(pairs) - len(lost), len(bad), tuple(evidence), missing)


def _is_bad(result: TrialResult) -> bool:
    return not result.is_passed and not result.is_lost


def _runs(study: Study, rung: Rung, count: int) -> list[tuple[Subject, EndState, TrialResult]]:
    study.bench.say(f"the oracle, {counted(count, 'time')} in {rung.name}")
    subjects = [study.subjects[number % len(study.subjects)] for number in range(count)]
    jobs = [
        Acting(subject.bundle, ORACLE, rung, number=index // len(study.subjects))
        for index, subject in enumerate(subjects)
    ]
    return [(subject, *pair) for subject, pair in zip(subjects, study.bench.try_all(jobs), strict=True)]


def _count(runs: list[tuple[Subject, EndState, TrialResult]], rung: Rung) -> str:
    passed = sum(result.is_passed for _, _, result in runs)
    return f"the oracle passed {passed} of {counted(len(runs), 'run')} in {rung.name}"


def _report(
    study: Study, bad: list[tuple[Subject, TrialResult]], lost: list[tuple[Subject, TrialResult]]
) -> None:
    groups: dict[tuple[str, str], list[tuple[Subject, TrialResult]]] = {}
    for subject, result in bad:
        why = f" ({result.message})" if result.message else ""
        failed = ", ".join(result.failed()) or (
            "no check" if result.outcome == "fail" else "to get a verdict"
        )
        groups.setdefault((failed, why), []).append((subject, result))
    for (failed, why), runs in groups.items():
        where = " and ".join(dict.fromkeys(result.sandbox for _, result in runs))
        message = f"the oracle fails {failed} on {name_all([item for item, _ in runs])} in {where}{why}"
        study.report("failing-oracle", "error", "solvable", message, runs[0][0], "oracle")
    for subject, result in lost:
        study.report_trouble("solvable", result, subject)


def _report_endings(study: Study, runs: list[tuple[Subject, EndState, TrialResult]]) -> None:
    """A program that broke off and still left a right state: by chance or by a slip, worth a look."""
    groups: dict[str, list[Subject]] = {}
    for subject, state, result in runs:
        if result.is_passed and state.message:
            groups.setdefault(state.message, []).append(subject)
    for message, subjects in groups.items():
        text = f"{message}, on {name_all(subjects)}, and gets the full reward"
        study.report("unclean-ending", "warning", "solvable", text, subjects[0], "oracle")


def _differences(runs: list[tuple[Subject, EndState, TrialResult]]) -> list[str]:
    states: dict[int, set[str]] = {}
    for subject, state, _ in runs:
        states.setdefault(subject.seed, set()).add(state.digest)
    varying = [seed for seed, digests in states.items() if len(digests) > 1]
    if not varying:
        return []
    return [f"it leaves other bytes from run to run on {len(varying)} of {counted(len(states), 'instance')}"]


def _text_faults(study: Study) -> list[tuple[str, bool]]:
    """What in the oracle's text a solver couldn't have written, each with whether a spec may decide on it."""
    found = []
    for subject in study.subjects:
        text = subject.examples.oracle.text
        for kind in ("answer", "secret"):
            for name, token in tokens_of(subject.values.get(kind, {})):
                if len(token) >= TOKEN_LENGTH and token in text and token not in subject.instruction:
                    what = f"{kind}.{name} of {subject.name}"
                    found.append((f"the oracle's text holds {what}, which isn't stated", kind == "answer"))
    if any(_is_other_text(study.subjects[0], subject) for subject in study.subjects[1:]):
        message = "the oracle's text differs between instances by more than what the instruction states"
        found.append((message, False))
    return list(dict.fromkeys(found))


def _is_other_text(one: Subject, other: Subject) -> bool:
    """Whether two oracles differ elsewhere than within the stated values of their instances.

    They are compared word by word: a short value, like 7, also stands where it is no value.
    """
    words, others = (_WORDS.findall(subject.examples.oracle.text) for subject in (one, other))
    for operation, start, end, start_2, end_2 in SequenceMatcher(None, words, others, False).get_opcodes():
        if operation == "equal":
            continue
        for subject, part in ((one, words[start:end]), (other, others[start_2:end_2])):
            if not any("".join(part) in shown for shown in subject.stated().values()):
                return True
    return False
