"""*sound*, the part that the spec itself wrote down: every reject fails, on the rule that it breaks."""

from __future__ import annotations

from collections.abc import Callable

from aespec.fuzz.bench import Acting, Rung
from aespec.fuzz.certificate import Property
from aespec.fuzz.study import Study
from aespec.fuzz.subject import Subject, iterate_claims
from aespec.runtime.wording import counted
from aespec.trial import EndState, TrialResult, example_agent
from aespec.trial.result import objects

MISSING = (
    "independent mutants: edits of every leaf, mutants of the oracle's program, rollbacks, and the sampled "
    "rate, which aren't drawn yet"
)


def measure(study: Study, draw: Callable[[], Subject | None]) -> Property:
    """Every reject on every instance; what is idle everywhere is redrawn by `draw`, a further instance."""
    tried = bad = 0
    evidence: list[str] = []
    names = list(
        dict.fromkeys(item.name for subject in study.subjects for item in subject.examples.of_kind("reject"))
    )
    study.bench.say(f"{counted(len(names), 'reject')} on {counted(len(study.subjects), 'instance')}")
    results = _try(study, list(study.subjects), names)
    for name in names:
        runs = results[name]
        exercised = [run for run in runs if not _is_idle(study, run[0], run[1])]
        redrawn = 0
        while not exercised and redrawn < study.repeats.extra_instances:
            subject = draw()
            if subject is None:
                break
            redrawn += 1
            runs += _try(study, [subject], [name])[name]
            exercised = [run for run in runs if not _is_idle(study, run[0], run[1])]
        tried += len(exercised)
        faults, extra = _judge(study, name, exercised)
        bad += faults
        if not exercised and runs:
            bad += 1
            message = (
                f"reject {name!r} ends in the oracle's own state wherever it was tried: "
                f"on {counted(len(runs), 'instance')}"
            )
            study.report("idle-reject", "error", "sound", message, runs[0][0], f"reject:{name}")
        idle = f", idle on {len(runs) - len(exercised)}" if len(runs) > len(exercised) else ""
        right = f"fails as it should on {len(exercised) - faults} of {counted(len(exercised), 'instance')}"
        evidence.append(f"reject {name!r}: {right}{idle}{extra}")
    if not names:
        evidence.append("the spec has no rejects")
    if any(_names_a_bare_rule(subject) for subject in study.subjects):
        evidence.append(
            "which rule of a check fails isn't told apart where rules have no predicates of their own"
        )
    verdict = "violated" if bad else "inconclusive"
    return Property("sound", verdict, tried, bad, tuple(evidence), MISSING)


Run = tuple[Subject, EndState, TrialResult]


def _try(
    study: Study, subjects: list[Subject], names: list[str], rung: Rung | None = None
) -> dict[str, list[Run]]:
    pairs = [
        (subject, example)
        for subject in subjects
        for example in subject.examples.of_kind("reject")
        if example.name in names
    ]
    jobs = [Acting(subject.bundle, example_agent(item), rung or study.fast) for subject, item in pairs]
    found: dict[str, list[Run]] = {name: [] for name in names}
    for (subject, item), pair in zip(pairs, study.bench.try_all(jobs), strict=True):
        found[item.name].append((subject, *pair))
    return found


def _is_idle(study: Study, subject: Subject, state: EndState) -> bool:
    return state.boundary is None and not state.refusal and state.digest == study.oracle(subject).digest


def _judge(study: Study, name: str, runs: list[Run]) -> tuple[int, str]:
    """How many of the runs are wrong, and which other checks fail along with the ones meant."""
    bad = 0
    extra: set[str] = set()
    for subject, _, result in runs:
        breaks = next(item.breaks for item in subject.examples.of_kind("reject") if item.name == name)
        failed = set(result.failed())
        missed = [wanted for wanted in breaks if wanted not in failed]
        agent = f"reject:{name}"
        if result.outcome == "error":
            bad += not result.is_lost
            study.report_trouble("sound", result, subject)
        elif result.outcome == "pass":
            bad += 1
            confirmed = _confirm(study, subject, name, result)
            message = f"reject {name!r} gets the full reward on {subject.name}{confirmed}"
            study.report("accepted-reject", "error", "sound", message, subject, agent)
        elif missed:
            bad += 1
            others = ", ".join(sorted(failed)) or result.message or "nothing"
            message = f"reject {name!r} fails {others} on {subject.name}, but not {', '.join(missed)}"
            study.report("unbroken-rule", "error", "sound", message, subject, agent)
        extra |= failed - set(breaks) - _followers(subject, breaks, failed)
    return bad, f"; also fails {', '.join(sorted(extra))}" if extra else ""


def _followers(subject: Subject, breaks: tuple[str, ...], failed: set[str]) -> set[str]:
    """What fails along without saying more.

    That is all of a check that is meant, rules without predicates, and checks whose failing rule is named.
    """
    found: set[str] = set()
    for check in subject.checks:
        name = str(check.get("id"))
        rules = {
            str(rule.get("id")): not any(iterate_claims(rule.get("when")))
            for rule in objects(check.get("rules"))
        }
        found |= {rule for rule, is_bare in rules.items() if is_bare}
        if any(wanted == name or wanted in rules for wanted in breaks):
            found |= {name, *rules}
        elif any(rule in failed and not is_bare for rule, is_bare in rules.items()):
            found.add(name)
    return found


def _names_a_bare_rule(subject: Subject) -> bool:
    """Whether a reject breaks a rule that has no predicates, and so takes its check's verdict."""
    named = {wanted for example in subject.examples.of_kind("reject") for wanted in example.breaks}
    return any(
        str(rule.get("id")) in named and not any(iterate_claims(rule.get("when")))
        for check in subject.checks
        for rule in objects(check.get("rules"))
    )


def _confirm(study: Study, subject: Subject, name: str, result: TrialResult) -> str:
    """What the reference says to a counterexample; a disagreement is a fault of the tool."""
    again = _try(study, [subject], [name], study.reference)[name][0][2]
    if again.outcome == result.outcome:
        return f", in {study.reference.name} too"
    if again.outcome != "error":
        verdicts = f"{study.fast.name} says {result.outcome} and {study.reference.name} {again.outcome}"
        message = f"{verdicts} to reject {name!r} on {subject.name}"
        study.report("rungs-disagree", "error", "sound", message, subject, f"reject:{name}")
    return f" ({study.reference.name}: {again.outcome})"
