"""A sample of mutants that a rate can be taken from: uniform over leaf × family, no end state twice."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from itertools import islice

from aespec.model.chooser import Chooser, shuffled
from aespec.model.json_text import json_digest
from aespec.operators.api import Mutant, Scene
from aespec.operators.registry import operators_for
from aespec.operators.scene import state_of
from aespec.operators.states import edit_state
from aespec.runtime.memory import MemoryState

PER_OPERATOR = 60
"""Mutants of one operator on one output that the sample is drawn from, at most."""

WHOLE_FILE_SHARE = 10
"""At most one in so many mutants of a sample changes a whole file: they are few, and easily noticed."""


@dataclass(frozen=True, slots=True)
class Sample:
    """Mutants in the order drawn. It `is_whole` where all were taken, but for those of whole files.

    `strata` counts the draws of each family; one with 0 has mutants, but none was drawn, and a rate of the
    sample says nothing about it.
    """

    mutants: tuple[Mutant, ...]
    is_whole: bool
    strata: dict[str, int]


def draw_sample(
    scene: Scene, chooser: Chooser, count: int, *, polarities: tuple[str, ...] = ("wrong",)
) -> Sample:
    """At most `count` mutants, each of a leaf and a family drawn uniformly among those that have some."""
    cells, is_cut = _cells(scene, chooser, polarities)
    strata = dict.fromkeys(sorted({family for _, family in cells}), 0)
    state = state_of(scene)
    seen: set[str] = set()
    drawn: list[Mutant] = []
    whole_left = max(1, count // WHOLE_FILE_SHARE)
    leaves = {key: list(shuffled(mutants, chooser)) for key, mutants in cells.items()}
    while leaves and len(drawn) < count:
        key = chooser.pick(list(leaves))
        mutant = leaves[key].pop()
        if not leaves[key]:
            del leaves[key]
        is_whole_file = "#" not in mutant.leaf
        if is_whole_file and not whole_left:
            continue
        digest = state_digest(edit_state(state, mutant.edits))
        if digest not in seen:
            seen.add(digest)
            drawn.append(mutant)
            strata[mutant.family] += 1
            whole_left -= is_whole_file
    return Sample(tuple(drawn), not leaves and not is_cut, strata)


def _cells(
    scene: Scene, chooser: Chooser, polarities: tuple[str, ...]
) -> tuple[dict[tuple[str, str], list[Mutant]], bool]:
    """The mutants by leaf and family, and whether some operator had more than were looked at."""
    cells: dict[tuple[str, str], list[Mutant]] = defaultdict(list)
    is_cut = False
    for output in scene.outputs:
        for _, propose in operators_for(output.kind, polarities):
            mutants = list(islice(propose(output, scene, chooser), PER_OPERATOR + 1))
            is_cut = is_cut or len(mutants) > PER_OPERATOR
            for mutant in mutants[:PER_OPERATOR]:
                cells[mutant.leaf, mutant.family].append(mutant)
    return dict(cells), is_cut


def state_digest(state: MemoryState) -> str:
    """The hex SHA-256 of everything that stands in a state."""
    told = [
        [path, node.kind, node.mode, node.target, node.data.hex()]
        for path, node in sorted(state.nodes.items())
    ]
    return json_digest(told)
