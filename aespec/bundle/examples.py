"""The oracle, and the author's own right and wrong end states, rendered for one instance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from aespec.bundle.claims import PlannedCheck
from aespec.bundle.faults import Faults
from aespec.model.edit import Edit
from aespec.model.edits import edit_to_json, occurrences
from aespec.model.expressions import Json, Values
from aespec.model.task import Example, PutEdit, Script, SwapEdit, Task
from aespec.records import dataclass


@dataclass(frozen=True, slots=True)
class PlannedScript:
    """A script with its values in: `sh` or `python`."""

    interpreter: str
    text: str


def plan_script(script: Script, values: Values, faults: Faults) -> PlannedScript:
    """A script with its values written in."""
    if script.interpreter not in ("sh", "python"):
        faults.error(
            "target-lacks-interpreter",
            f"no target can run `{script.interpreter}` yet",
            script.span,
            help="Write the script in sh or python.",
        )
    return PlannedScript(script.interpreter, faults.render(script.text, values))


def examples_to_json(
    task: Task, seed: int, values: Values, checks: Sequence[PlannedCheck], faults: Faults
) -> Json:
    """The form of `examples.schema.json`; an example written for another instance is left out."""
    step = task.step
    oracle = plan_script(step.oracle, values, faults)
    written = [*step.accepts, *step.rejects, *step.partials]
    names = rule_ids(checks)
    return {
        "schema": 1,
        "oracle": {"interpreter": oracle.interpreter, "text": oracle.text},
        "examples": [
            _example(item, oracle.text, values, names, faults)
            for item in written
            if item.instance in (None, seed)
        ],
    }


def rule_ids(checks: Sequence[PlannedCheck]) -> Mapping[str, str]:
    """What `breaks` may say → the id of a verdict: `refunds` and `totals.refunds` → `totals.refunds`."""
    names: dict[str, str] = {}
    for check in checks:
        for rule in check.rules:
            names.setdefault(rule.id.partition(".")[2], rule.id)
            names[rule.id] = rule.id
    return {**names, **{check.id: check.id for check in checks}}


def _example(item: Example, oracle: str, values: Values, names: Mapping[str, str], faults: Faults) -> Json:
    """One example; `oracle` is the oracle's program with its values in, which swaps are tried on."""
    for name in item.breaks:
        if name not in names:
            faults.error("breaks-unknown", f"there is no rule or check {name} to break", item.span)
    script: Json = None
    edits: Json = None
    oracle_edits: Json = None
    if isinstance(item.body, Script):
        planned = plan_script(item.body, values, faults)
        script = {"interpreter": planned.interpreter, "text": planned.text}
    else:
        edits, oracle_edits, rendered = [], [], oracle
        for edit in item.body:
            if isinstance(edit, SwapEdit):
                swap: dict[str, Json] = {
                    "old": faults.render(edit.old, values),
                    "new": faults.render(edit.new, values),
                }
                if edit.path is None:
                    rendered = _swapped(rendered, swap, edit, faults)
                    oracle_edits.append(swap)
                else:
                    edits.append(dict(edit_to_json(Edit(faults.render(edit.path, values), "", "swap", swap))))
            else:
                path = faults.render(edit.path, values)
                if isinstance(edit, PutEdit):
                    put: Json = {"text": faults.render(edit.content, values)}
                    edits.append(dict(edit_to_json(Edit(path, "", "put", put))))
                else:
                    edits.append(dict(edit_to_json(Edit(path, "", "delete"))))
    return {
        "kind": item.kind,
        "name": item.name,
        "breaks": [names.get(name, name) for name in item.breaks],
        "reward": item.reward,
        "script": script,
        "edits": edits,
        "oracle_edits": oracle_edits,
    }


def _swapped(program: str, swap: Mapping[str, Json], edit: SwapEdit, faults: Faults) -> str:
    """The oracle's program after a swap; an error where the text doesn't stand there exactly once."""
    old, new = str(swap["old"]), str(swap["new"])
    count = occurrences(program, old)
    if count == 1:
        return program.replace(old, new)
    times = "doesn't stand" if count == 0 else f"stands {count} times"
    faults.error(
        "swap-not-once",
        f"`{' '.join(old.split())[:40]}` {times} in the oracle's program with its values in",
        edit.old.span,
        why="A swap says exactly which place it changes.",
        help="Copy the text from the oracle, with as much around it as makes it stand once.",
    )
    return program
