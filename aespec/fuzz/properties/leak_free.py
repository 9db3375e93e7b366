"""*leak-free*: no secret, no hidden program and no ready-made answer stands where the solver can see it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from aespec.fuzz.certificate import Property, decide
from aespec.fuzz.study import Study
from aespec.fuzz.subject import Subject
from aespec.fuzz.tokens import TOKEN_LENGTH, tokens_of, written_forms
from aespec.runtime.wording import counted
from aespec.sandbox.api import Program, SandboxError, SandboxLimits
from aespec.sandbox.tars import Entry, pack
from aespec.trial.acting import prepare_environment

SECRET_LENGTH = 6
HIDDEN_LINE = 24
"""A line of a program from this many characters on is told from others."""

SCAN_TIME_S = 300.0
_SYSTEM = ("proc", "sys", "dev", "usr", "lib", "lib32", "lib64", "bin", "sbin")
"""Folders of the built image that hold packages and the kernel's views, not the start state."""

_SCAN = """\
cd / && for name in * .[!.]*; do
    case "$name" in {skip}|.aespec-leaks) continue ;; esac
    [ -e "$name" ] && grep -rlaF -f /.aespec-leaks -- "$name" 2>/dev/null
done
exit 0
"""


@dataclass(frozen=True, slots=True)
class Leak:
    """A value found at a place; `is_sure` where it can't be a coincidence."""

    value: str
    place: str
    is_sure: bool = True
    note: str = field(default="", compare=False)


def measure(study: Study) -> Property:
    """Look through instruction, environment variables, build context (histories too) and the built image."""
    tried = 0
    leaks: list[tuple[Subject, Leak]] = []
    missing: list[str] = []
    for subject in study.subjects:
        places = _places(subject)
        tried += len(places)
        leaks += [(subject, leak) for leak in _secrets(subject, places)]
        leaks += [(subject, leak) for leak in _hidden(subject, places)]
        leaks += [(subject, leak) for leak in _whole_answers(subject, places)]
    leaks += _answer_tokens(study)
    study.bench.say("looking through the built image for secrets and answers")
    scanned = _scan_image(study, study.first, missing)
    leaks += [(study.first, leak) for leak in scanned]
    sure = [(subject, leak) for subject, leak in leaks if leak.is_sure]
    for subject, leak in leaks:
        message = f"{leak.value} of {subject.name} stands in {leak.place}{leak.note}"
        slug, severity = ("leak", "error") if leak.is_sure else ("answer-in-sight", "warning")
        study.report(slug, severity, "leak-free", message)
    where = counted(len(study.subjects), "instance")
    evidence = [f"{counted(tried, 'place')} of {where} searched: texts, variables, build context"]
    if not missing:
        evidence.append("the built image of the first instance searched, system folders left out")
    return Property(
        "leak-free", decide(len(sure), missing), tried, len(sure), tuple(evidence), "; ".join(missing)
    )


def _places(subject: Subject) -> dict[str, bytes]:
    """Everything that reaches the solver as far as the bundle holds it, by a name for messages."""
    places = {f"environment/{name}": data for name, data in subject.context.items()}
    places["the instruction"] = subject.instruction.encode()
    for name, value in subject.bundle.environment.env:
        places[f"the variable {name}"] = value.encode()
    return places


def _planted(subject: Subject) -> set[str]:
    """The secrets that setup plants to be found."""
    told = subject.bundle.manifest.get("planted")
    return {str(name) for name in told} if isinstance(told, list) else set()


def _secrets(subject: Subject, places: Mapping[str, bytes]) -> Iterator[Leak]:
    planted = _planted(subject)
    for place, token in tokens_of(subject.values.get("secret", {})):
        name = place.partition("/")[0]
        if len(token) < SECRET_LENGTH:
            continue
        for where, data in places.items():
            if token.encode() in data and (name not in planted or where == "the instruction"):
                yield Leak(f"secret.{place}", where)


def _hidden(subject: Subject, places: Mapping[str, bytes]) -> Iterator[Leak]:
    for name, data in subject.hidden.items():
        lines = {line.strip() for line in data.splitlines() if len(line.strip()) >= HIDDEN_LINE}
        for where, content in places.items():
            if (len(data.strip()) >= HIDDEN_LINE and data.strip() in content) or (
                len(lines) > 2 and all(line in content for line in lines)
            ):
                yield Leak(f"the hidden file {name}", where)


def _whole_answers(subject: Subject, places: Mapping[str, bytes]) -> Iterator[Leak]:
    """An answer that is a list or map, written down as a whole."""
    for name, value in subject.values.get("answer", {}).items():
        forms = written_forms(value)
        for where, content in places.items():
            if any(form.encode() in content for form in forms):
                yield Leak(f"answer.{name}", where)


def _answer_tokens(study: Study) -> Iterator[tuple[Subject, Leak]]:
    """Answers in the instruction or in a variable.

    A leaf that differs between instances and stands there on each of them is a leak. One that is the same
    everywhere may be a word of the task: that is told, as a warning, only where the whole answer is so. What
    stands in a file of the start state may be what the solver is to pick out.
    """
    found: dict[str, list[tuple[Subject, str]]] = {}
    for subject in study.subjects:
        for place, token in tokens_of(subject.values.get("answer", {})):
            # Which exception a case raises must be told: it is part of what is asked for.
            if not place.endswith("/raises"):
                found.setdefault(place, []).append((subject, token))
    for where in ("the instruction", "a variable"):
        same: dict[str, list[bool]] = {}
        for place, pairs in found.items():
            is_long = all(len(token) >= TOKEN_LENGTH for _, token in pairs)
            is_there = is_long and all(token in _text_of(subject, where) for subject, token in pairs)
            if is_there and len({token for _, token in pairs}) > 1:
                yield pairs[0][0], Leak(f"answer.{place}", where)
            same.setdefault(place.partition("/")[0], []).append(is_there)
        for name, there in same.items():
            if all(there) and len({str(item.values["answer"][name]) for item in study.subjects}) == 1:
                yield (
                    study.first,
                    Leak(f"answer.{name}", where, is_sure=False, note=_SAME),
                )


_SAME = (
    ", the same on all instances: leave it if it is a word of the task, else take it out of the text or let"
    " it vary with a parameter"
)


def _text_of(subject: Subject, where: str) -> str:
    if where == "the instruction":
        return subject.instruction
    return "\n".join(value for _, value in subject.bundle.environment.env)


def _scan_image(study: Study, subject: Subject, missing: list[str]) -> list[Leak]:
    """Search the built start state for secrets that weren't planted, whole answers and hidden files."""
    planted = _planted(subject)
    wanted: dict[str, str] = {}
    for place, token in tokens_of(subject.values.get("secret", {})):
        if place.partition("/")[0] not in planted and len(token) >= SECRET_LENGTH:
            wanted[token] = f"secret.{place}"
    for name, value in subject.values.get("answer", {}).items():
        for form in written_forms(value):
            if "\n" not in form:
                wanted[form] = f"answer.{name}"
    for name, data in subject.hidden.items():
        text = data.decode("utf-8", "replace").strip()
        if len(text) >= HIDDEN_LINE and "\n" not in text:
            wanted[text] = f"the hidden file {name}"
    if not wanted:
        return []
    script = _SCAN.replace("{skip}", "|".join(_SYSTEM))
    try:
        image = prepare_environment(subject.bundle, study.fast.sandbox)
        with study.fast.sandbox.open(image, SandboxLimits()) as slot:
            slot.put(pack([Entry("/.aespec-leaks", ("\n".join(sorted(wanted)) + "\n").encode(), 0o600)]))
            outcome = slot.run(Program(("/bin/sh", "-c", script), timeout_s=SCAN_TIME_S))
    except SandboxError as fault:
        missing.append(f"a search of the built image ({fault})")
        return []
    if outcome.status != 0:
        missing.append("a search of the built image to its end")
    what = ", ".join(sorted(set(wanted.values())))
    return [
        Leak(f"one of {what}", f"/{path} of the built image")
        for path in sorted(outcome.stdout.decode("utf-8", "replace").splitlines())
    ]
