"""A number is written in another way: 3.0 for 3, 2.5 for 2.50, 3e0."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from aespec.model.chooser import Chooser, shuffled
from aespec.operators.api import Draft, Operator, Output, Scene
from aespec.operators.contents import rewrite, text_in
from aespec.operators.formats.nodes import replaced
from aespec.operators.leaves import leaves_of
from aespec.operators.near import decimals_of, read_decimal, write_decimal
from aespec.operators.spots import numbers_of

_NAMES = re.compile(
    r"(?:^|_|\b)(?:ids?|no|num(?:ber)?|year|port|zip|code|version|index|phone|key|count|n)$", re.IGNORECASE
)


def _of_json(output: Output, scene: Scene, chooser: Chooser) -> Iterator[Draft]:
    """Numbers of JSON are numbers: with a point, without needless zeros, with an exponent."""
    text = text_in(output)
    leaves = [
        leaf
        for leaf in leaves_of(output)
        if isinstance(leaf.value, int | float) and not isinstance(leaf.value, bool) and leaf.node is not None
    ]
    for leaf in shuffled(leaves, chooser):
        if _NAMES.search(leaf.selector) or abs(float(leaf.raw)) >= 2**53:
            continue
        for other in _spellings(leaf.raw):
            assert leaf.node is not None
            if json.loads(other) == leaf.value:
                edit = rewrite(output, replaced(text, leaf.node, other))
                yield Draft(leaf.address, (edit,), f"{leaf.raw} is written {other}")


def _spellings(raw: str) -> list[str]:
    value = read_decimal(raw)
    if value is None:
        return []
    decimals = decimals_of(value)
    if not decimals:
        plain = write_decimal(value, 0)
        return [f"{plain}.0", f"{plain}e0"]
    written = write_decimal(value, decimals)
    return [f"{written}0", written.rstrip("0").rstrip(".") if written.endswith("0") else f"{written}e0"]


def _of_tables(output: Output, scene: Scene, chooser: Chooser) -> Iterator[Draft]:
    """Numbers with a point, a zero more or less behind it."""
    for spot in shuffled(
        [spot for spot in numbers_of(output) if re.fullmatch(r"-?\d+\.\d+", spot.raw)], chooser
    ):
        bare = spot.raw.rstrip("0")
        other = f"{spot.raw}0" if not spot.raw.endswith("0") or bare.endswith(".") else bare
        edit = spot.write(other)
        if edit is not None:
            yield Draft(spot.leaf.address, (edit,), f"{spot.raw} is written {other}")


def _of_texts(output: Output, scene: Scene, chooser: Chooser) -> Iterator[Draft]:
    """In texts, and where whole numbers are of another type than others, it depends."""
    for spot in shuffled(numbers_of(output), chooser):
        if re.fullmatch(r"-?\d+", spot.raw):
            edit = spot.write(f"{spot.raw}.0")
            if edit is not None:
                yield Draft(spot.leaf.address, (edit,), f"{spot.raw} is written {spot.raw}.0")


OPERATORS = (
    (Operator("json-number", "number-spelling", ("json",), "right"), _of_json),
    (Operator("table-number", "number-spelling", ("table",), "right"), _of_tables),
    (
        Operator("whole-number", "number-spelling", ("text", "yaml", "toml", "xml", "table"), "depends"),
        _of_texts,
    ),
)
