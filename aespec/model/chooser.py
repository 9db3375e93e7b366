"""Where random choices come from: the same generators run on Hypothesis and on a seeded source."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Protocol, TypeVar

T = TypeVar("T")


class Chooser(Protocol):
    """Draws. Smaller draws are simpler, so that a search can shrink towards them."""

    def integer(self, low: int, high: int) -> int:
        """An integer with `low <= n <= high`."""
        ...

    def pick(self, items: Sequence[T]) -> T:
        """One of a non-empty sequence."""
        ...

    def subset(self, items: Sequence[T]) -> tuple[T, ...]:
        """Some of the items, in their order, perhaps none."""
        ...


class SeededChooser:
    """Draws from a seeded source; equal seeds give equal draws on every Python version (Mersenne twister)."""

    def __init__(self, seed: int | str) -> None:
        """Start from `seed`; a text seed is hashed by the standard library's version-2 scheme (SHA-512)."""
        self._random = random.Random(seed)

    def integer(self, low: int, high: int) -> int:
        """An integer with `low <= n <= high`, uniform."""
        return self._random.randint(low, high)

    def pick(self, items: Sequence[T]) -> T:
        """One of a non-empty sequence, uniform."""
        return items[self._random.randrange(len(items))]

    def subset(self, items: Sequence[T]) -> tuple[T, ...]:
        """Each item with probability one half."""
        return tuple(item for item in items if self._random.getrandbits(1))
