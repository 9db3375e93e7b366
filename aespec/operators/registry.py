"""Finds the operators, and makes mutants of what they draft."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from functools import cache, partial
from typing import NamedTuple

from aespec.model.chooser import Chooser
from aespec.model.edits import EditError
from aespec.operators import families
from aespec.operators.api import Draft, Mutant, Offer, Operator, Output, Propose, Scene
from aespec.operators.meaning import means_the_same
from aespec.operators.states import edit_state
from aespec.runtime.memory import MemoryState, Node

COMPARED_AT_MOST_BYTES = 512 * 1024
"""Larger contents are compared by their bytes alone: reading each mutant of them would take too long."""


UNFITTING_AT_MOST_BYTES = 16 * 1024 * 1024
"""An operator is left alone when its drafts that don't fit add up to this: a table of 200,000 equal rows has
as many copies of a row, and not one of them changes it."""

_DRAFT_COST_BYTES = 1024


class LoadedOperator(NamedTuple):
    """An operator with the function that proposes its mutants."""

    operator: Operator
    propose: Propose


@cache
def all_operators() -> tuple[LoadedOperator, ...]:
    """Every operator, by the name of its module, then as they stand there: the most telling first."""
    found = []
    for name in sorted(module.name for module in pkgutil.iter_modules(families.__path__)):
        module = importlib.import_module(f"aespec.operators.families.{name}")
        for operator, offer in module.OPERATORS:
            found.append(LoadedOperator(operator, partial(_propose, operator, offer)))
    return tuple(found)


def operators_for(kind: str, polarities: tuple[str, ...]) -> list[LoadedOperator]:
    """The operators that take a kind of content and have one of the polarities."""
    return [
        loaded
        for loaded in all_operators()
        if kind in loaded.operator.kinds and loaded.operator.polarity in polarities
    ]


def _propose(
    operator: Operator, offer: Offer, output: Output, scene: Scene, chooser: Chooser
) -> Iterator[Mutant]:
    """The drafts as mutants, but for those that change nothing or that the polarity doesn't fit."""
    if output.kind not in operator.kinds:
        return
    size = _DRAFT_COST_BYTES + (len(output.after.data) if output.after is not None else 0)
    room = UNFITTING_AT_MOST_BYTES
    for draft in offer(output, scene, chooser):
        if is_fitting(operator.polarity, output, draft):
            yield Mutant(
                operator.name, operator.family, operator.polarity, draft.leaf, draft.edits, draft.says
            )
            continue
        room -= size
        if room < 0:
            return


def is_fitting(polarity: str, output: Output, draft: Draft) -> bool:
    """Whether the edits can be carried out, change the state, and mean what the polarity says they do."""
    before = MemoryState({} if output.after is None else {output.path: output.after})
    try:
        after = edit_state(before, draft.edits)
    except EditError:
        return False
    if after.nodes == before.nodes:
        return False
    old, new = output.after, after.nodes.get(output.path)
    if polarity == "depends" or not (_is_file(old) and _is_file(new)):
        return True
    assert old is not None
    assert new is not None
    if len(old.data) > COMPARED_AT_MOST_BYTES or output.kind in ("binary", "empty"):
        return old.data != new.data or polarity == "right"
    is_same = means_the_same(output.kind, output.path, old.data, new.data, is_loose=polarity == "wrong")
    return is_same == (polarity == "right")


def _is_file(node: Node | None) -> bool:
    return node is not None and node.kind == "file"
