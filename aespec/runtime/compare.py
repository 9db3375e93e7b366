"""Comparing decoded values by what they mean: typed, numbers by value, freedoms only where they are named."""

from __future__ import annotations

from collections import Counter
from typing import Any, Dict, List, NamedTuple, Optional, Sequence, Tuple

from aespec.runtime.decode import show
from aespec.runtime.state import Trouble
from aespec.runtime.wording import counted

Tokens = Tuple[str, ...]


class Freedoms(NamedTuple):
    """Where a found value may differ from the wanted one.

    `tolerance` is absolute, `relative` a fraction of the wanted number; a number may differ by the larger of
    both. `unordered` are the lists whose order is free, `free` the places that may hold anything or nothing;
    both as pointers split into tokens, of which `*` stands for any one. `extra_keys` lets objects hold more.
    """

    tolerance: float = 0.0
    relative: float = 0.0
    unordered: Tuple[Tokens, ...] = ()
    free: Tuple[Tokens, ...] = ()
    extra_keys: bool = False


NONE = Freedoms()


def same(found: Any, wanted: Any) -> bool:
    """Whether two decoded values are equal with no freedom: 1 and 1.0 are, 1 and true or "1" are not."""
    kind = type(wanted)
    if kind is dict:
        if type(found) is not dict or len(found) != len(wanted):
            return False
        # A loop, not all(…): this is the hottest place of a fuzz run.
        for key, value in wanted.items():  # noqa: SIM110
            if key not in found or not same(found[key], value):
                return False
        return True
    if kind is list:
        if type(found) is not list or len(found) != len(wanted):
            return False
        return all(map(same, found, wanted))
    if kind is str:
        return type(found) is str and bool(found == wanted)
    if wanted is None or kind is bool:
        return found is wanted
    return (type(found) is int or type(found) is float) and bool(found == wanted)


def difference(found: Any, wanted: Any, freedoms: Freedoms = NONE, at: Tokens = ()) -> Optional[str]:
    """None if the values agree within the freedoms; else the first difference, as a sentence with its
    pointer.

    Lists in free order are compared as multisets. `at` are the tokens that lead to both values.
    """
    if freedoms is NONE and same(found, wanted):
        return None
    return _difference(found, wanted, freedoms, at)


def _difference(found: Any, wanted: Any, freedoms: Freedoms, at: Tokens) -> Optional[str]:
    if freedoms.free and matches(at, freedoms.free):
        return None
    if isinstance(wanted, dict):
        return _object_difference(found, wanted, freedoms, at)
    if isinstance(wanted, list):
        return _list_difference(found, wanted, freedoms, at)
    if is_number(wanted):
        if is_number(found) and is_close(found, wanted, freedoms.tolerance, freedoms.relative):
            return None
    elif same(found, wanted):
        return None
    return f"{place(at)}: expected {show(wanted)}, found {show(found)}"


def _object_difference(found: Any, wanted: Dict[str, Any], freedoms: Freedoms, at: Tokens) -> Optional[str]:
    if not isinstance(found, dict):
        return f"{place(at)}: expected an object, found {show(found)}"
    for key, value in wanted.items():
        below = (*at, key)
        if key in found:
            reason = _difference(found[key], value, freedoms, below)
            if reason is not None:
                return reason
        elif not matches(below, freedoms.free):
            return f"{place(below)}: is missing"
    if not freedoms.extra_keys:
        for key in found:
            if key not in wanted and not matches((*at, key), freedoms.free):
                return f"{place((*at, key))}: is not expected"
    return None


def _list_difference(found: Any, wanted: List[Any], freedoms: Freedoms, at: Tokens) -> Optional[str]:
    if not isinstance(found, list):
        return f"{place(at)}: expected a list, found {show(found)}"
    if matches(at, freedoms.unordered):
        if len(found) != len(wanted):
            return f"{place(at)}: expected {counted(len(wanted), 'item')}, found {len(found)}"
        return _multiset_difference(found, wanted, freedoms, at)
    for index, (item, value) in enumerate(zip(found, wanted)):
        reason = _difference(item, value, freedoms, (*at, str(index)))
        if reason is not None:
            return reason
    if len(found) != len(wanted):
        return f"{place(at)}: expected {counted(len(wanted), 'item')}, found {len(found)}"
    return None


def _multiset_difference(
    found: Sequence[Any], wanted: Sequence[Any], freedoms: Freedoms, at: Tokens
) -> Optional[str]:
    """Cancel equal items; if a rest stays, pair by augmenting paths, since "close enough" is no
    equivalence.
    """
    is_exact = freedoms == Freedoms(unordered=freedoms.unordered)
    here = (*at, "*")
    left = Counter(_frozen(item, freedoms, here) for item in found)
    rest_wanted = []
    for value in wanted:
        key = _frozen(value, freedoms, here)
        if left[key]:
            left[key] -= 1
        else:
            rest_wanted.append(value)
    if not rest_wanted:
        return None
    rest_found = []
    for item in found:
        key = _frozen(item, freedoms, here)
        if left[key]:
            left[key] -= 1
            rest_found.append(item)
    if is_exact:
        return (
            f"{place(at)}: has {show(rest_found[0])}, which is not expected, and lacks {show(rest_wanted[0])}"
        )
    if _unpaired(rest_found, rest_wanted, freedoms, at) is None:
        return None
    # An item may be needed elsewhere than at its exact equal: 1 and 2 are within 1 of 0 and 1.
    unpaired = _unpaired(list(found), list(wanted), freedoms, at)
    return None if unpaired is None else f"{place(at)}: lacks {show(unpaired)}"


def _unpaired(found: List[Any], wanted: List[Any], freedoms: Freedoms, at: Tokens) -> Any:
    """The first wanted item that no pairing can serve, or None (no item of a multiset is left unpaired)."""
    owner: Dict[int, int] = {}
    fits = [
        [j for j, item in enumerate(found) if _difference(item, value, freedoms, (*at, "*")) is None]
        for value in wanted
    ]
    for start in range(len(wanted)):
        came_from: Dict[int, int] = {}
        queue = [start]
        end = -1
        while queue and end < 0:
            row = queue.pop()
            for column in fits[row]:
                if column in came_from:
                    continue
                came_from[column] = row
                if column not in owner:
                    end = column
                    break
                queue.append(owner[column])
        if end < 0:
            return wanted[start] if wanted[start] is not None else "null"
        while True:
            row = came_from[end]
            previous = next((c for c, r in owner.items() if r == row), -1)
            owner[end] = row
            if row == start:
                break
            end = previous
    return None


def _frozen(value: Any, freedoms: Freedoms, at: Tokens) -> Any:
    """A hashable key that is equal for values that are equal; order is left out where it is free."""
    if isinstance(value, bool):
        return ("b", value)
    if isinstance(value, dict):
        return ("d", frozenset((key, _frozen(item, freedoms, (*at, key))) for key, item in value.items()))
    if isinstance(value, list):
        keys = [_frozen(item, freedoms, (*at, "*")) for item in value]
        if matches(at, freedoms.unordered):
            return ("m", frozenset(Counter(keys).items()))
        return ("l", tuple(keys))
    return value


def matches(at: Tokens, patterns: Sequence[Tokens]) -> bool:
    """Whether a place is one of the patterns; a `*` on either side stands for any one token."""
    for pattern in patterns:
        if len(pattern) == len(at) and all(p in ("*", t) or t == "*" for p, t in zip(pattern, at)):
            return True
    return False


def is_number(value: Any) -> bool:
    """Whether a decoded value is a number; booleans are not."""
    return type(value) is int or type(value) is float


def is_close(found: Any, wanted: Any, tolerance: float = 0.0, relative: float = 0.0) -> bool:
    """Whether two numbers are equal, or differ by at most the tolerance.

    A bound of 0.01 shall accept 1.01 for 1.00 although their difference in binary is a little more, hence the
    10^-12 of the wanted number on top; it is far below what any spelling of a tolerance means.
    """
    if found == wanted:
        return True
    bound = max(tolerance, relative * abs(wanted)) if tolerance or relative else 0.0
    if not bound:
        return False
    try:
        return bool(abs(found - wanted) <= bound + 1e-12 * abs(wanted))
    except OverflowError:
        return False


def split_pointer(pointer: str) -> Tokens:
    """The tokens of a JSON pointer (RFC 6901). Raises `Trouble` for a text that is none: it is the spec's."""
    if pointer == "":
        return ()
    if pointer[0] != "/":
        raise Trouble(f"{pointer!r} is not a JSON pointer: it must begin with /")
    return tuple(token.replace("~1", "/").replace("~0", "~") for token in pointer[1:].split("/"))


def join_pointer(tokens: Sequence[str]) -> str:
    """The JSON pointer of the tokens."""
    return "".join("/" + token.replace("~", "~0").replace("/", "~1") for token in tokens)


def place(at: Tokens) -> str:
    """A place in a sentence; the whole document has no pointer of its own."""
    return show(join_pointer(at), 120)[1:-1] if at else "the document"


def lookup(document: Any, at: Tokens) -> Tuple[bool, Any]:
    """Whether there is something at the place, and what; list items by their index without leading zeros."""
    for token in at:
        if isinstance(document, dict) and token in document:
            document = document[token]
        elif (
            isinstance(document, list)
            and token.isascii()
            and token.isdigit()
            and str(int(token[:9])) == token
        ):
            if int(token) >= len(document):
                return False, None
            document = document[int(token)]
        else:
            return False, None
    return True, document
