"""A value is another one's, a default, of another type, or another truth."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from aespec.model.chooser import Chooser, shuffled
from aespec.model.edit_forms import common_length
from aespec.model.expressions import Json
from aespec.operators.api import Draft, Operator, Output, Scene
from aespec.operators.leaves import Leaf, leaves_of, set_leaf
from aespec.runtime.decode import parse_number, show

STRUCTURED = ("json", "yaml", "toml", "xml", "table")
NEIGHBOURS = 40


def _key(leaf: Leaf) -> str:
    """The last name on the way to a leaf: values of one key or column are of one sort."""
    names = [part for part in leaf.selector.split("/") if part and not part.isdecimal()]
    return names[-1] if names else ""


def _others(output: Output, scene: Scene, chooser: Chooser) -> Iterator[Draft]:
    """The most similar value of the same key first: the wrong one of two ids that differ by a letter."""
    by_key: dict[tuple[str, type], dict[str, Leaf]] = defaultdict(dict)
    leaves = [leaf for leaf in leaves_of(output) if leaf.value is not None]
    for leaf in leaves:
        known = by_key[_key(leaf), type(leaf.value)]
        if len(known) < NEIGHBOURS:
            known.setdefault(leaf.raw, leaf)
    for leaf in shuffled(leaves, chooser):
        group = [other for raw, other in by_key[_key(leaf), type(leaf.value)].items() if raw != leaf.raw]
        group = group or [other for other in leaves[:NEIGHBOURS] if other.raw != leaf.raw]
        if group:
            nearest = max(group, key=lambda other: _likeness(other.raw, leaf.raw))
            yield from _set(output, leaf, nearest.value, "as another value there is")


def _likeness(one: str, other: str) -> int:
    return common_length(one, other) + common_length(one[::-1], other[::-1])


def _defaults(output: Output, scene: Scene, chooser: Chooser) -> Iterator[Draft]:
    found = [leaf for leaf in leaves_of(output) if leaf.value is not None]
    for leaf in shuffled(found, chooser):
        is_number = isinstance(leaf.value, int | float) or parse_number(str(leaf.value)) is not None
        default: Json = "" if isinstance(leaf.value, str) and not is_number else 0
        if isinstance(leaf.value, bool):
            default = None if output.kind == "json" else ""
        yield from _set(output, leaf, default, "the default of its type")


def _flipped(output: Output, scene: Scene, chooser: Chooser) -> Iterator[Draft]:
    truths: dict[object, Json] = {True: False, False: True, "true": "false", "false": "true"}
    truths |= {"True": "False", "False": "True", "yes": "no", "no": "yes"}
    found = [
        leaf for leaf in leaves_of(output) if isinstance(leaf.value, bool | str) and leaf.value in truths
    ]
    for leaf in shuffled(found, chooser):
        yield from _set(output, leaf, truths[leaf.value], "the other truth")


def _retyped(output: Output, scene: Scene, chooser: Chooser) -> Iterator[Draft]:
    """The same characters as a text, or out of one; an only value as a list."""
    found = [leaf for leaf in leaves_of(output) if leaf.value is not None]
    for leaf in shuffled(found, chooser):
        if isinstance(leaf.value, str):
            number = parse_number(leaf.value)
            other: Json = number if number is not None else [leaf.value]
        else:
            other = leaf.raw
        yield from _set(output, leaf, other, "of another type")


def _set(output: Output, leaf: Leaf, value: Json, what: str) -> Iterator[Draft]:
    edit = set_leaf(output, leaf, value)
    if edit is not None:
        yield Draft(leaf.address, (edit,), f"{show(leaf.value, 40)} is {show(value, 40)} there, {what}")


OPERATORS = (
    (Operator("another-value", "values", STRUCTURED, "wrong"), _others),
    (Operator("default-value", "values", STRUCTURED, "wrong"), _defaults),
    (Operator("other-truth", "values", STRUCTURED, "wrong"), _flipped),
    (Operator("other-type", "types", ("json", "yaml", "toml"), "wrong"), _retyped),
)
