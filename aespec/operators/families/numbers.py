"""A number is another one: by a little, in sign, in scale, in its digits, or none at all."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from aespec.model.chooser import Chooser, shuffled
from aespec.operators.api import Draft, Offer, Operator, Output, Scene
from aespec.operators.near import digits_swapped, last_digits, off_by_little, other_scale, other_sign
from aespec.operators.spots import numbers_of

TEXTS = ("text", "json", "yaml", "toml", "xml", "table")


def _offer(near: Callable[[str], Sequence[str]]) -> Offer:
    def offer(output: Output, scene: Scene, chooser: Chooser) -> Iterator[Draft]:
        for spot in shuffled(numbers_of(output), chooser):
            for other in near(spot.raw):
                edit = spot.write(other)
                if edit is not None:
                    yield Draft(spot.leaf.address, (edit,), f"{spot.raw} is {other} there")

    return offer


def _sign(raw: str) -> Sequence[str]:
    other = other_sign(raw)
    return [] if other is None else [other]


def _swapped(raw: str) -> Sequence[str]:
    other = digits_swapped(raw)
    return [] if other is None else [other]


def _nan(raw: str) -> Sequence[str]:
    return ["NaN"]


OPERATORS = (
    (Operator("off-by-little", "numbers", TEXTS, "wrong"), _offer(off_by_little)),
    (Operator("other-sign", "numbers", TEXTS, "wrong"), _offer(_sign)),
    (Operator("other-scale", "numbers", TEXTS, "wrong"), _offer(other_scale)),
    (Operator("digits-swapped", "numbers", TEXTS, "wrong"), _offer(_swapped)),
    (Operator("not-a-number", "numbers", TEXTS, "wrong"), _offer(_nan)),
    (Operator("last-digit", "precision", TEXTS, "depends"), _offer(last_digits)),
)
