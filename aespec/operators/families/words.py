"""A word that matters is misspelled, has a letter of another script, or says the opposite."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain

from aespec.model.chooser import Chooser, shuffled
from aespec.operators.api import Draft, Operator, Output, Scene
from aespec.operators.leaves import leaves_of, set_leaf
from aespec.operators.near import look_alike, misspelled, negated
from aespec.operators.spots import Spot, words_of
from aespec.runtime.decode import show

TEXTS = ("text", "json", "yaml", "toml", "xml", "table")


def _spots(output: Output, chooser: Chooser) -> Iterator[Spot]:
    """First the words that the start state doesn't hold: the solution brought them in."""
    known = output.before.data if output.before is not None else b""
    new: list[Spot] = []
    old: list[Spot] = []
    for spot in words_of(output):
        (old if known and spot.raw.encode("utf-8", "surrogatepass") in known else new).append(spot)
    return chain(shuffled(new, chooser), shuffled(old, chooser))


def _misspelled(output: Output, scene: Scene, chooser: Chooser) -> Iterator[Draft]:
    for spot in _spots(output, chooser):
        yield from _drafts(spot, [misspelled(spot.raw)])


def _look_alike(output: Output, scene: Scene, chooser: Chooser) -> Iterator[Draft]:
    for spot in _spots(output, chooser):
        other = look_alike(spot.raw)
        if other is not None:
            yield from _drafts(spot, [other])


def _drafts(spot: Spot, others: Sequence[str]) -> Iterator[Draft]:
    for other in others:
        edit = spot.write(other)
        if edit is not None:
            yield Draft(spot.leaf.address, (edit,), f"{show(spot.raw, 40)} is {show(other, 40)} there")


def _negated(output: Output, scene: Scene, chooser: Chooser) -> Iterator[Draft]:
    texts = [leaf for leaf in leaves_of(output) if isinstance(leaf.value, str)]
    for leaf in shuffled(texts, chooser):
        assert isinstance(leaf.value, str)
        other = negated(leaf.value)
        edit = set_leaf(output, leaf, other) if other is not None else None
        if edit is not None:
            yield Draft(leaf.address, (edit,), f"{show(leaf.value, 40)} says the opposite: {show(other, 40)}")


OPERATORS = (
    (Operator("misspelled-word", "words", TEXTS, "wrong"), _misspelled),
    (Operator("look-alike-letter", "words", TEXTS, "wrong"), _look_alike),
    (Operator("negated-text", "words", TEXTS, "wrong"), _negated),
)
