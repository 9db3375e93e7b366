"""Edits written down: one maker for each form, and the smallest edit from one content to another."""

from __future__ import annotations

import base64
import re

from aespec.model.edit import Edit
from aespec.model.expressions import Json

WORD_LIMIT = 30
CONTEXT_LIMIT = 400
"""How many characters a `swap` may take along on each side until what it swaps stands only once."""


def put(path: str, data: bytes | str, mode: int | None = None) -> Edit:
    """The edit that gives a file this content, and these permission bits if they are named."""
    value: dict[str, Json] = {} if mode is None else {"mode": mode}
    try:
        text = data if isinstance(data, str) else data.decode("utf-8")
    except UnicodeDecodeError:
        assert isinstance(data, bytes), "only bytes are decoded"
        return Edit(path, "", "put", {"base64": base64.b64encode(data).decode("ascii"), **value})
    return Edit(path, "", "put", {"text": text, **value})


def delete(path: str) -> Edit:
    """The edit that removes what stands at the path."""
    return Edit(path, "", "delete")


def link(path: str, target: str) -> Edit:
    """The edit that puts a symbolic link in the place of what stands there."""
    return Edit(path, "", "link", target)


def folder(path: str) -> Edit:
    """The edit that puts an empty folder in the place of what stands there."""
    return Edit(path, "", "folder")


def change(path: str, before: bytes, after: bytes) -> Edit:
    """The edit that makes `before` into `after`: a `swap` of the one place that differs, else a `put`.

    The swapped text grows on both sides until it stands in the file only once; where that takes more than
    `CONTEXT_LIMIT`, or half of the file, the whole content is put.
    """
    try:
        old, new = before.decode("utf-8"), after.decode("utf-8")
    except UnicodeDecodeError:
        return put(path, after)
    start = common_length(old, new)
    rest = min(len(old), len(new)) - start
    end = len(old) - min(rest, common_length(old[::-1], new[::-1]))
    # Whole words are told better than pieces of them.
    word = re.compile(rf"\w{{0,{WORD_LIMIT}}}")
    start -= len(_match(word, old[:start][: -WORD_LIMIT - 1 : -1]))
    end += len(_match(word, old[end : end + WORD_LIMIT]))
    reach = 0
    while reach <= CONTEXT_LIMIT:
        low, high = max(0, start - reach), min(len(old), end + reach)
        wanted = old[low:high]
        if 2 * (high - low) > len(old) + 40:
            break
        if wanted and old.find(wanted, old.find(wanted) + 1) < 0:
            return Edit(path, "", "swap", {"old": wanted, "new": new[low : high + len(new) - len(old)]})
        reach = 2 * reach + 1
    return put(path, after)


def _match(pattern: re.Pattern[str], text: str) -> str:
    found = pattern.match(text)
    return found[0] if found is not None else ""


def common_length(one: str, other: str) -> int:
    """How many characters both begin with, found by halving: texts are long and comparing is fast."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low
