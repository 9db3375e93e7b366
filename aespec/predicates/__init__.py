"""The predicates: each a shipped module `NAME.py` and a sibling `NAME_laws.py` that never ships.

The registry is a scan of this folder. `find` loads the shipped half only, which is light; the laws (edits
that break or keep a claim, sentences for the solver) are loaded when first asked for.
"""

from __future__ import annotations

import functools
import importlib
import pkgutil
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Protocol

from aespec.model.chooser import Chooser
from aespec.model.edit import Edit
from aespec.records import dataclass
from aespec.runtime.signature import Signature
from aespec.runtime.state import State, Verdict

LAWS_SUFFIX = "_laws"

Args = Mapping[str, Any]


class Laws(Protocol):
    """What a `NAME_laws.py` holds, beside the claim itself."""

    def says(self, args: Args) -> str:
        """One sentence in Markdown that tells the solver what is claimed."""
        ...

    def promises(self, args: Args) -> tuple[str, ...]:
        """What the comparator accepts and what not, as sentences for the instruction; perhaps none."""
        ...

    def reads(self, args: Args) -> tuple[str, ...]:
        """The addresses of the leaves that the claim reads: paths, or `PATH#SELECTOR`; a folder means all
        below.
        """
        ...

    def literals(self, args: Args) -> tuple[str | int | float, ...]:
        """What the solver must be told or be able to find out: paths, names, keys, statuses."""
        ...

    def faults(self, args: Args) -> tuple[str, ...]:
        """What is wrong with the evaluated arguments whatever the end state is; a claim with faults is an
        error.
        """
        ...

    def needs(self, args: Args) -> tuple[str, ...]:
        """What this claim needs of the end state, of `aespec.runtime.signature.NEEDS`."""
        ...

    def violations(self, args: Args, state: State, chooser: Chooser) -> Iterator[tuple[Edit, ...]]:
        """Edits of a state on which the claim holds, after each of which it doesn't; near misses first."""
        ...

    def variants(self, args: Args, state: State, chooser: Chooser) -> Iterator[tuple[Edit, ...]]:
        """Edits of a state on which the claim holds, after each of which it still does."""
        ...


@dataclass(frozen=True, slots=True)
class Predicate:
    """A predicate as the registry knows it; `holds` is the shipped function."""

    name: str
    signature: Signature
    holds: Callable[[State, dict[str, Any]], Verdict]

    @property
    def laws(self) -> Laws:
        """Its laws, loaded when first asked for."""
        return laws(self.name)


@functools.cache
def names() -> tuple[str, ...]:
    """The names of all predicates, sorted."""
    found = {module.name for module in pkgutil.iter_modules(__path__)}
    return tuple(sorted(name for name in found if f"{name}{LAWS_SUFFIX}" in found))


@functools.cache
def find(name: str) -> Predicate | None:
    """The predicate of that name, or None."""
    if name not in names():
        return None
    module = importlib.import_module(f"{__name__}.{name}")
    return Predicate(name, module.SIGNATURE, module.holds)


def all_predicates() -> tuple[Predicate, ...]:
    """All predicates, by name."""
    return tuple(predicate for name in names() if (predicate := find(name)) is not None)


@functools.cache
def laws(name: str) -> Laws:
    """The laws of a predicate; raises KeyError for an unknown name."""
    if name not in names():
        raise KeyError(name)
    module: Any = importlib.import_module(f"{__name__}.{name}{LAWS_SUFFIX}")
    found: Laws = module
    return found
