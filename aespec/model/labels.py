"""Who may see what: where each value of a task comes from, followed through its declarations."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from aespec.model.expressions import Expr, Kind, Program, Ref, iterate_refs
from aespec.model.task import Computed, Declaration, GenerateStep, Param, Secret, Task

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

    A program with start-state paths in its `from` also carries what the steps that write them were made of:
    but those are in the start state for the solver to read, so only labels of secrets are followed there,
    and secrets enter setup by planting alone. So the names are all that has to be followed.
    """
    table = {declared_key(item): item for item in task.declarations}
    found: dict[Key, tuple[Flow, ...]] = {}
    for key in table:
        found[key] = _follow(key, table)
    return found


def _follow(start: Key, table: Mapping[Key, Declaration]) -> tuple[Flow, ...]:
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
        for ref in direct_refs(item.body):
            other = (ref.kind, ref.name)
            if other not in seen:
                seen.add(other)
                queue.append((other, (*chain, show(other))))
    return tuple(results.values())


def show(key: Key) -> str:
    """`answer.totals`."""
    return f"{key[0].value}.{key[1]}"


def labels_of(refs: Iterable[Ref], table: Mapping[Key, tuple[Flow, ...]]) -> tuple[tuple[Ref, Flow], ...]:
    """Which of the references carry a label, and how it came there."""
    return tuple((ref, flow) for ref in refs for flow in table.get((ref.kind, ref.name), ()))


def hidden_only(step: GenerateStep, table: Mapping[Key, tuple[Flow, ...]]) -> tuple[tuple[Ref, Flow], ...]:
    """The labels of a generating program that it may not carry: everything but `hidden`."""
    return tuple(pair for pair in labels_of(step.program.uses, table) if pair[1].kind is not Kind.HIDDEN)
