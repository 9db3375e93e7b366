"""Which mutants of an end state are tried, and in which order: every part of it early, no part too often."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice

from aespec.fuzz.audit.outputs import pattern_of
from aespec.model.chooser import SeededChooser
from aespec.model.expressions import Json
from aespec.operators.api import Mutant, Scene
from aespec.operators.registry import all_operators
from aespec.trial.probe import Judgement

PER_OPERATOR = 24
"""At most so many mutants of one operator on one output."""

ENOUGH_SURVIVORS = 3
ENOUGH_KILLS = 8
"""A pattern of leaves of which so many changes passed, or were noticed, without an exception has told all."""

AT_MOST = 600


@dataclass(slots=True)
class Tally:
    """What became of the mutants of one stratum: `noticed` of `tried`; `survivors` are those that passed."""

    tried: int = 0
    noticed: int = 0
    survivors: list[Mutant] = field(default_factory=list)

    @property
    def is_settled(self) -> bool:
        """Whether further mutants would hardly say more."""
        passed = len(self.survivors)
        return (passed >= ENOUGH_SURVIVORS and not self.noticed) or (
            self.noticed >= ENOUGH_KILLS and not passed
        )


class Tallies:
    """Verdicts on mutants by pattern of leaves and by operator."""

    def __init__(self) -> None:
        """Nothing was tried yet."""
        self.by_pattern: dict[str, Tally] = defaultdict(Tally)
        self.by_operator: dict[tuple[str, str], Tally] = defaultdict(Tally)

    def add(self, mutant: Mutant, judgement: Judgement) -> None:
        """Count a verdict; what came to none because of the machine doesn't count."""
        if judgement.boundary in ("sandbox", "image"):
            return
        path = mutant.leaf.partition("#")[0]
        for tally in (
            self.by_pattern[pattern_of(mutant.leaf)],
            self.by_operator[path, mutant.operator],
        ):
            tally.tried += 1
            if judgement.is_passed:
                tally.survivors.append(mutant)
            else:
                tally.noticed += 1

    def is_settled(self, mutant: Mutant) -> bool:
        """Whether the mutant's pattern and its operator have both said what they can say."""
        path = mutant.leaf.partition("#")[0]
        return (
            self.by_pattern[pattern_of(mutant.leaf)].is_settled
            and self.by_operator[path, mutant.operator].is_settled
        )


def draw(
    scene: Scene,
    polarities: tuple[str, ...],
    seed: int,
    is_settled: Callable[[Mutant], bool] = lambda mutant: False,
) -> Iterator[Mutant]:
    """Mutants of those polarities: one of each output and operator in turn, drawn lazily, none twice."""
    streams: list[Iterator[Mutant]] = []
    for output in scene.outputs:
        for operator, propose in all_operators():
            if operator.polarity not in polarities or output.kind not in operator.kinds:
                continue
            chooser = SeededChooser(f"{seed}/{output.path}/{operator.name}")
            streams.append(islice(propose(output, scene, chooser), PER_OPERATOR))
    seen: set[object] = set()
    count = 0
    while streams and count < AT_MOST:
        for stream in list(streams):
            mutant = next(stream, None)
            if mutant is None:
                streams.remove(stream)
            elif str(mutant.edits) not in seen and not is_settled(mutant):
                seen.add(str(mutant.edits))
                count += 1
                yield mutant


def rows_of(tallies: Tallies, told: Mapping[str, bool]) -> list[dict[str, Json]]:
    """The sensitivity map: for each pattern of leaves how many changes were noticed, of how many."""
    return [
        {
            "leaf": pattern,
            "told": told.get(pattern.partition("#")[0], False),
            "tried": tally.tried,
            "noticed": tally.noticed,
        }
        for pattern, tally in sorted(tallies.by_pattern.items())
    ]
