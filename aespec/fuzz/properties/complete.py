"""*complete*, the part that the spec wrote down: every accept passes, every partial gets what it says."""

from __future__ import annotations

from aespec.fuzz.bench import Acting
from aespec.fuzz.certificate import Property
from aespec.fuzz.study import Study
from aespec.fuzz.subject import Subject
from aespec.trial import BundleExample, TrialResult, example_agent

MISSING = "variants of the named freedoms aren't drawn yet"


def measure(study: Study) -> Property:
    """Every accept and every partial on every instance."""
    pairs = [
        (subject, example)
        for subject in study.subjects
        for kind in ("accept", "partial")
        for example in subject.examples.of_kind(kind)
    ]
    study.bench.say(f"accepts and partials, {len(pairs)} runs")
    jobs = [Acting(subject.bundle, example_agent(example), study.fast) for subject, example in pairs]
    results = [result for _, result in study.bench.try_all(jobs)]
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
        evidence.append(f"{kind} {name!r}: {got} on {count - wrong} of {count} instances")
    if not pairs:
        evidence.append("the spec has no accepts")
    verdict = "violated" if len(faults) > lost else "inconclusive"
    return Property("complete", verdict, len(pairs) - lost, len(faults) - lost, tuple(evidence), MISSING)


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
