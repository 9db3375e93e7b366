"""Where random choices come from: the same generators run on Hypothesis and on a seeded source."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
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
        # As bytes it draws the same, and a path in it may be no text.
        self._random = random.Random(
            seed.encode("utf-8", "surrogateescape") if isinstance(seed, str) else seed
        )

    def integer(self, low: int, high: int) -> int:
        """An integer with `low <= n <= high`, uniform."""
        return self._random.randint(low, high)

    def pick(self, items: Sequence[T]) -> T:
        """One of a non-empty sequence, uniform."""
        return items[self._random.randrange(len(items))]

    def subset(self, items: Sequence[T]) -> tuple[T, ...]:
        """Each item with probability one half."""
        return tuple(item for item in items if self._random.getrandbits(1))


def rotated(items: Sequence[T], chooser: Chooser) -> list[T]:
    """All the items, beginning at one that is drawn; so a search can take the first few and see them all in
    time.
    """
    if not items:
        return []
    start = chooser.integer(0, len(items) - 1)
    return [*items[start:], *items[:start]]


def shuffled(items: Sequence[T], chooser: Chooser) -> Iterator[T]:
    """All the items in an order that is drawn as far as it is asked for: a few of many cost a few draws."""
    moved: dict[int, int] = {}
    for place in range(len(items)):
        other = chooser.integer(place, len(items) - 1)
        yield items[moved.get(other, other)]
        moved[other] = moved.get(place, place)
