"""What the solver reads: the narrative, the sentences of checks and rules, and what comparators promise."""

from __future__ import annotations

from collections.abc import Sequence

from aespec.bundle.claims import PlannedCheck, PlannedClaim, PlannedCondition, iterate_claims
from aespec.bundle.faults import Faults
from aespec.model.expressions import CheckSlot, Json, Ref, Text, Values
from aespec.model.rendering import MissingValueError, render
from aespec.model.task import Task
from aespec.predicates import laws


def render_instruction(task: Task, values: Values, checks: Sequence[PlannedCheck], faults: Faults) -> str:
    """The text of `instruction.md`.

    A check stands where `{{ check.NAME }}` puts it, the others where `{{ checks }}` puts them, and without
    that at the end; so each stands there at least once.
    """
    text = task.step.instruction
    named = {part.check for part in text.parts if isinstance(part, CheckSlot)}
    sections = {check.id: check_section(check) for check in checks}
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


def check_section(check: PlannedCheck) -> str:
    """A check for the solver: its sentence, then its rules and promises as a list where there are any."""
    said = check.says.strip() or " ".join(condition_sentence(item) for item in check.when.items)
    points = [rule.sentence.strip() for rule in check.rules]
    for claim in _all_claims(check):
        points += laws(claim.predicate).promises(claim.args)
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


def stated_values(task: Task, values: Values) -> list[dict[str, Json]]:
    """The values that the instruction and the sentences show: name, and what stands there."""
    texts: list[Text] = [task.step.instruction]
    for check in task.step.verify.checks:
        texts += [check.says] if check.says is not None else []
        texts += [rule.sentence for rule in check.rules]
    shown: dict[str, str] = {}
    for text in texts:
        for ref in text.refs:
            name = ".".join((ref.kind.value, ref.name, *ref.path))
            shown[name] = _shown(ref, text, values)
    return [{"name": name, "text": shown[name]} for name in sorted(shown)]


def _shown(ref: Ref, text: Text, values: Values) -> str:
    try:
        return render(Text((ref,), text.tag, span=ref.span), values)
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
