"""Who may see what: where each value of a task comes from, followed through its declarations."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from aespec.model.expressions import Expr, Kind, Program, Ref, Text, iterate_refs
from aespec.model.paths import is_below
from aespec.model.task import Computed, Declaration, GenerateStep, Param, PlantStep, Secret, Task
from aespec.records import dataclass

LABELLED = (Kind.HIDDEN, Kind.ANSWER, Kind.SECRET)
"""Kinds that carry a label; a parameter never does, a `let` has those of what it is computed from."""

Key = tuple[Kind, str]


@dataclass(frozen=True, slots=True)
class Flow:
    """A labelled value reaching somewhere: `chain` runs from what was named to the labelled declaration."""

    kind: Kind
    chain: tuple[str, ...]


def declared_key(item: Declaration) -> Key:
    """The kind and name under which a declaration is referred to."""
    if isinstance(item, Param):
        return Kind.PARAM, item.name
    if isinstance(item, Secret):
        return Kind.SECRET, item.name
    return item.kind, item.name


def direct_refs(body: Expr | Program) -> tuple[Ref, ...]:
    """The values that an expression or a program names itself."""
    return body.uses if isinstance(body, Program) else tuple(iterate_refs(body))


def flows(task: Task) -> Mapping[Key, tuple[Flow, ...]]:
    """For each declaration the labels that it carries, each with the shortest chain that brings it there.

    Of the files that a program reads (paths in its `from`) only planted secrets are followed: what else a
    step is made of stands in the start state for the solver to read, and a secret is there to be found.
    """
    table = {declared_key(item): item for item in task.declarations}
    planted = [step for step in task.setup.steps if isinstance(step, PlantStep)]
    return {key: _follow(key, table, planted) for key in table}


def _follow(start: Key, table: Mapping[Key, Declaration], planted: Sequence[PlantStep]) -> tuple[Flow, ...]:
    """Breadth first, so chains are shortest; cycles can't occur in a resolved task but do no harm here."""
    results: dict[Kind, Flow] = {}
    queue: list[tuple[Key, tuple[str, ...]]] = [(start, (show(start),))]
    seen = {start}
    while queue:
        key, chain = queue.pop(0)
        if key[0] in LABELLED:
            results.setdefault(key[0], Flow(key[0], chain))
        item = table.get(key)
        if not isinstance(item, Computed):
            continue
        for ref in (*direct_refs(item.body), *_planted_in(item.reads, planted)):
            other = (ref.kind, ref.name)
            if other not in seen:
                seen.add(other)
                queue.append((other, (*chain, show(other))))
    return tuple(results.values())


def _planted_in(reads: Iterable[Text], planted: Sequence[PlantStep]) -> Iterator[Ref]:
    """The secrets that lie in the files read; where a path is made of values, any may."""
    for text in reads:
        for step in planted:
            target = step.how.arg("path")
            if not isinstance(target, Text):
                continue
            if text.refs or target.refs or is_below(_plain(target), _plain(text)):
                yield step.secret


def _plain(text: Text) -> str:
    return "".join(part for part in text.parts if isinstance(part, str)).rstrip("/") or "/"


def show(key: Key) -> str:
    """`answer.totals`."""
    return f"{key[0].value}.{key[1]}"


def labels_of(refs: Iterable[Ref], table: Mapping[Key, tuple[Flow, ...]]) -> tuple[tuple[Ref, Flow], ...]:
    """Which of the references carry a label, and how it came there."""
    return tuple((ref, flow) for ref in refs for flow in table.get((ref.kind, ref.name), ()))


def hidden_only(step: GenerateStep, table: Mapping[Key, tuple[Flow, ...]]) -> tuple[tuple[Ref, Flow], ...]:
    """The labels of a generating program that it may not carry: everything but `hidden`."""
    return tuple(pair for pair in labels_of(step.program.uses, table) if pair[1].kind is not Kind.HIDDEN)
