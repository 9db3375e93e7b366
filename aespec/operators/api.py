"""What an operator is: a way to edit an end state, blind to the verifier.

A family of operators is one module of `families/`, found by a scan: it exports `OPERATORS`, pairs of an
operator and the function that drafts its edits. `aespec.operators.registry` makes mutants of the drafts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from aespec.model.chooser import Chooser
from aespec.model.edit import Edit
from aespec.runtime.memory import Node

POLARITIES = ("wrong", "right", "depends")
"""What a reader without the spec takes the edited state for: wrong, as right as before, or it depends."""

KINDS = (
    "text",
    "json",
    "yaml",
    "toml",
    "xml",
    "table",
    "sqlite",
    "code",
    "archive",
    "office",
    "binary",
    "empty",
    "link",
    "folder",
    "deleted",
)
"""The kinds of content that an end state's files are sorted into (`aespec.operators.kinds`)."""

FILE_KINDS = tuple(kind for kind in KINDS if kind not in ("link", "folder", "deleted"))
"""The kinds of a regular file's content."""


@dataclass(frozen=True, slots=True)
class Output:
    """One path that the oracle wrote, changed or deleted.

    `before` is what stood there in the start state, `after` what the oracle left; None is nothing. `kind` is
    that of `after`'s content.
    """

    path: str
    kind: str
    before: Node | None = field(repr=False)
    after: Node | None = field(repr=False)


@dataclass(frozen=True, slots=True)
class Scene:
    """Everything that an operator may look at: all outputs, and the start state's files that are inputs.

    `inputs` are readable files of the task's own folders that the oracle left alone, by path.
    """

    outputs: tuple[Output, ...]
    inputs: Mapping[str, bytes] = field(default_factory=dict, repr=False)
    instruction: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class Mutant:
    """Edits of the oracle's end state, with what they are.

    `leaf` is the address of the leaf that is changed (`PATH#SELECTOR`, the path alone for a whole file);
    `says` is a clause for a reader, without capital and full stop: it follows "passes although".
    """

    operator: str
    family: str
    polarity: str
    leaf: str
    edits: tuple[Edit, ...]
    says: str


@dataclass(frozen=True, slots=True)
class Operator:
    """Its slug, its family (mutants are counted by family), the kinds of content it takes, its polarity."""

    name: str
    family: str
    kinds: tuple[str, ...]
    polarity: str


class Draft(NamedTuple):
    """What an operator's own function gives: a mutant's leaf, its edits, and the clause that tells them."""

    leaf: str
    edits: tuple[Edit, ...]
    says: str


Offer = Callable[[Output, Scene, Chooser], Iterator[Draft]]
"""`offer(output, scene, chooser)`: drafts, the most telling first; it may be careless about their effect."""

Propose = Callable[[Output, Scene, Chooser], Iterator[Mutant]]
"""`propose(output, scene, chooser)`: the most telling mutants first; none that leaves the state as it is.

Nor is there one that its operator's polarity doesn't fit under the plainest reading of the content.
"""
