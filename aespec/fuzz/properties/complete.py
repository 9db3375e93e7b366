"""*complete*, the part that the spec wrote down: every accept passes, every partial gets what it says."""

from __future__ import annotations

from aespec.fuzz.bench import Acting
from aespec.fuzz.certificate import Property
from aespec.fuzz.study import Study
from aespec.fuzz.subject import Subject, name_all
from aespec.runtime.wording import counted
from aespec.trial import BundleExample, EndState, TrialResult, example_agent

MISSING = "variants of the named freedoms aren't drawn yet"


def measure(study: Study) -> Property:
    """Every accept and every partial on every instance."""
    pairs = [
        (subject, example)
        for subject in study.subjects
        for kind in ("accept", "partial")
        for example in subject.examples.of_kind(kind)
    ]
    study.bench.say(f"accepts and partials, {counted(len(pairs), 'run')}")
    jobs = [Acting(subject.bundle, example_agent(example), study.fast) for subject, example in pairs]
    tried = study.bench.try_all(jobs)
    results = [result for _, result in tried]
    _report_endings(study, [(*pair, *run) for pair, run in zip(pairs, tried, strict=True)])
    faults = [
        (subject, example, result)
        for (subject, example), result in zip(pairs, results, strict=True)
        if not _is_right(example, result)
    ]
    for subject, example, result in faults:
        _report(study, subject, example, result)
    lost = sum(result.is_lost for _, _, result in faults)
    evidence = []
    for name, kind in dict.fromkeys((example.name, example.kind) for _, example in pairs):
        count = sum(example.name == name and example.kind == kind for _, example in pairs)
        wrong = sum(example.name == name and example.kind == kind for _, example, _ in faults)
        got = "passes" if kind == "accept" else "gets its reward"
        evidence.append(f"{kind} {name!r}: {got} on {count - wrong} of {counted(count, 'instance')}")
    if not pairs:
        evidence.append("the spec has no accepts")
    verdict = "violated" if len(faults) > lost else "inconclusive"
    return Property("complete", verdict, len(pairs) - lost, len(faults) - lost, tuple(evidence), MISSING)


def _report_endings(study: Study, runs: list[tuple[Subject, BundleExample, EndState, TrialResult]]) -> None:
    """An accept whose program broke off and that passes may show less than it was written for."""
    groups: dict[str, list[tuple[Subject, BundleExample]]] = {}
    for subject, example, state, result in runs:
        if example.kind == "accept" and result.is_passed and state.message:
            groups.setdefault(state.message, []).append((subject, example))
    for message, found in groups.items():
        text = f"{message}, on {name_all([subject for subject, _ in found])}, and gets the full reward"
        subject, example = found[0]
        study.report("unclean-ending", "warning", "complete", text, subject, f"accept:{example.name}")


def _is_right(example: BundleExample, result: TrialResult) -> bool:
    if example.kind == "accept":
        return result.is_passed
    if result.reward is None:
        return False
    return example.reward is None or abs(result.reward - example.reward) < 1e-6


def _report(study: Study, subject: Subject, example: BundleExample, result: TrialResult) -> None:
    agent = f"{example.kind}:{example.name}"
    if result.outcome == "error":
        study.report_trouble("complete", result, subject)
    elif example.kind == "accept":
        why = f" ({result.message})" if result.message else ""
        message = f"accept {example.name!r} fails {', '.join(result.failed())} on {subject.name}{why}"
        study.report("rejected-accept", "error", "complete", message, subject, agent)
    else:
        message = f"partial {example.name!r} gets {result.reward:g} on {subject.name}, not {example.reward:g}"
        study.report("other-reward", "error", "complete", message, subject, agent)
