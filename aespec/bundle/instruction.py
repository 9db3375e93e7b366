"""What the solver reads: the narrative, the sentences of checks and rules, and what comparators promise."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from aespec.bundle.claims import PlannedCheck, PlannedClaim, PlannedCondition, iterate_claims
from aespec.bundle.faults import Faults
from aespec.model.expressions import CheckSlot, Json, Kind, Ref, Text, Values
from aespec.model.rendering import MissingValueError, render
from aespec.model.task import Task
from aespec.predicates import laws


def render_instruction(
    task: Task,
    values: Values,
    checks: Sequence[PlannedCheck],
    faults: Faults,
    files: Collection[str] = frozenset(),
) -> str:
    """The text of `instruction.md`; `files` are the paths that are known to be files of the start state.

    A check stands where `{{ check.NAME }}` puts it, the others where `{{ checks }}` puts them, and without
    that at the end; so each stands there at least once.
    """
    text = task.step.instruction
    named = {part.check for part in text.parts if isinstance(part, CheckSlot)}
    sections = _sections(text, checks, named, files)
    rest = "\n".join(_as_item(sections[check.id]) for check in checks if check.id not in named)
    try:
        body = render(text, values, {**sections, "": rest})
    except MissingValueError as missing:
        faults.error("value-missing", str(missing), missing.ref.span, help="Give the declaration that value.")
        return ""
    except KeyError as unknown:
        faults.error(
            "check-unknown",
            f"the instruction names the check {unknown.args[0]!r}, which isn't there",
            text.span,
        )
        return ""
    if "" not in named and rest:
        body = f"{body.rstrip()}\n\n{rest}" if body.strip() else rest
    return faults.encodable(body.rstrip() + "\n", text.span)


def _promises(claim: PlannedClaim, files: Collection[str]) -> Sequence[str]:
    """What a claim promises; nothing lies below a path that is a file, so no new file there is spoken of."""
    is_file = claim.predicate == "unchanged" and claim.args["path"] in files
    return laws(claim.predicate).promises({**claim.args, "strict": True} if is_file else claim.args)


def _sections(
    text: Text, checks: Sequence[PlannedCheck], named: set[str], files: Collection[str]
) -> dict[str, str]:
    """The section of each check by its id. A promise that holds for all is said once, where it comes first
    in reading order.
    """
    by_id = {check.id: check for check in checks}
    order: list[str] = []
    for part in text.parts:
        if isinstance(part, CheckSlot):
            order += [part.check] if part.check else [item for item in by_id if item not in named]
    common = _common_promises(checks, files)
    said: set[str] = set()
    sections: dict[str, str] = {}
    for name in dict.fromkeys([*order, *by_id]):
        if name in by_id:
            sections[name] = check_section(by_id[name], said, files)
            said |= common & _promised(by_id[name], files)
    return sections


def _promised(check: PlannedCheck, files: Collection[str]) -> set[str]:
    return {promise for claim in _all_claims(check) for promise in _promises(claim, files)}


def _common_promises(checks: Sequence[PlannedCheck], files: Collection[str]) -> set[str]:
    """The promises that hold for every claim that they could be about.

    Any other, such as that keys beyond are allowed, is said at each check that makes it: the one before may
    have said the contrary.
    """
    made: dict[str, list[set[str]]] = {}
    for check in checks:
        for claim in _all_claims(check):
            promises = set(_promises(claim, files))
            if promises:
                made.setdefault(claim.predicate, []).append(promises)
    everything = {promise for sets in made.values() for item in sets for promise in item}
    varying = {
        promise for sets in made.values() for item in sets for other in sets for promise in item - other
    }
    return everything - varying


def check_section(
    check: PlannedCheck, told: Collection[str] = frozenset(), files: Collection[str] = frozenset()
) -> str:
    """A check for the solver: its sentence, then its rules and promises as a list where there are any.

    `told` are promises that were made before and are left out.
    """
    said = check.says.strip() or " ".join(condition_sentence(item) for item in check.when.items)
    points = [rule.sentence.strip() for rule in check.rules]
    for claim in _all_claims(check):
        points += [promise for promise in _promises(claim, files) if promise not in told]
    points = [point for point in dict.fromkeys(points) if point]
    return "\n".join([said, *(_as_item(point) for point in points)]).strip()


def condition_sentence(condition: PlannedCondition) -> str:
    """The sentence of a condition, made from those of its claims."""
    if isinstance(condition, PlannedClaim):
        return laws(condition.predicate).says(condition.args).strip()
    sentences = [condition_sentence(item) for item in condition.items]
    if condition.connective == "all":
        return " ".join(sentences)
    if condition.connective == "not":
        return f"This must not hold: {sentences[0]}"
    return "At least one of these holds: " + " Or: ".join(sentences)


def stated_values(task: Task, values: Values, checks: Sequence[PlannedCheck]) -> list[dict[str, Json]]:
    """The values that the instruction shows: name, and what stands there.

    They stand in its own text, in the sentences of checks and rules, or in those that predicates say.
    """
    texts: list[Text] = [task.step.instruction]
    for check in task.step.verify.checks:
        texts += [check.says] if check.says is not None else []
        texts += [rule.sentence for rule in check.rules]
    shown = {_name(ref): _shown(ref, text.tag, values) for text in texts for ref in text.refs}
    for planned in checks:
        for claim in _all_claims(planned):
            words = "\n".join(_words(planned, claim))
            for ref in claim.refs:
                text = _shown(ref, "", values)
                if ref.kind in (Kind.PARAM, Kind.LET) and text and text in words:
                    shown.setdefault(_name(ref), text)
    return [{"name": name, "text": shown[name]} for name in sorted(shown)]


def _words(check: PlannedCheck, claim: PlannedClaim) -> list[str]:
    """What a claim itself tells the solver: its promises always, its sentence where the check has none."""
    speaks = not check.says.strip() and any(claim in iterate_claims(item) for item in check.when.items)
    told = laws(claim.predicate)
    return [*told.promises(claim.args), *([told.says(claim.args)] if speaks else [])]


def _name(ref: Ref) -> str:
    return ".".join((ref.kind.value, ref.name, *ref.path))


def _shown(ref: Ref, tag: str, values: Values) -> str:
    try:
        return render(Text((ref,), tag, span=ref.span), values)
    except MissingValueError:
        return ""


def _all_claims(check: PlannedCheck) -> list[PlannedClaim]:
    return [
        *iterate_claims(check.when),
        *(claim for rule in check.rules for claim in iterate_claims(rule.when)),
    ]


def _as_item(text: str) -> str:
    """A Markdown list item; further lines are indented so that they stay in it."""
    first, *more = text.split("\n")
    return "\n".join([f"- {first}", *(f"  {line}" if line.strip() else "" for line in more)])
