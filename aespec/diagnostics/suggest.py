"""Which known name was meant by an unknown one."""

from __future__ import annotations

from collections.abc import Iterable


def suggest(name: str, candidates: Iterable[str]) -> str | None:
    """The one candidate that `name` was most likely meant to be, or None.

    The only candidate there is, where it is at all like the name; else one that differs in case or in `-`
    and `_`; else the nearest by edit distance, at most a third of the name's length (and 1 for short
    names). Of equally near ones the first in alphabetical order, so that the answer never depends on the
    order of a set.
    """
    known = sorted(set(candidates) - {name})
    folded = _fold(name)
    for candidate in known:
        if _fold(candidate) == folded:
            return candidate
    if not name:
        return None
    limit = max(1, len(name) // 3)
    if len(known) == 1:
        limit = max(limit, len(name) // 2)
    best: tuple[int, str] | None = None
    for candidate in known:
        distance = edit_distance(folded, _fold(candidate), limit)
        # A change of every letter is no likeness, however short the name.
        if (
            distance <= limit
            and distance < max(len(name), len(candidate))
            and (best is None or distance < best[0])
        ):
            best = (distance, candidate)
    return best[1] if best else None


def _fold(name: str) -> str:
    return name.casefold().replace("-", "_")


def edit_distance(left: str, right: str, limit: int) -> int:
    """Insertions, deletions, replacements and swaps of neighbours between two names; `limit + 1` if more."""
    if abs(len(left) - len(right)) > limit:
        return limit + 1
    before: list[int] = []
    row = list(range(len(right) + 1))
    for i, a in enumerate(left, 1):
        last, before_row = row, before
        row = [i]
        for j, b in enumerate(right, 1):
            cost = min(last[j] + 1, row[j - 1] + 1, last[j - 1] + (a != b))
            if i > 1 and j > 1 and a == right[j - 2] and left[i - 2] == b:
                cost = min(cost, before_row[j - 2] + 1)
            row.append(cost)
        if min(row) > limit and min(last) > limit:
            return limit + 1
        before = last
    return min(row[-1], limit + 1)
