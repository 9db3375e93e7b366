"""What an operator is: a family of edits of an end state, blind to the verifier.

One operator is one module of this package, found by a scan: it exports `OPERATOR` and `propose`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

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

    `leaf` is the address of the leaf that is changed (`PATH#SELECTOR`); `says` one sentence for a reader.
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


Propose = Callable[[Output, Scene, Chooser], Iterator[Mutant]]
"""`propose(output, scene, chooser)`: the most telling mutants first; none that leaves the state as it is."""
