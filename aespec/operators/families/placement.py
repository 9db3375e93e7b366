"""The right content stands somewhere else, and a link leads to it."""

from __future__ import annotations

from collections.abc import Iterator

from aespec.model.chooser import Chooser
from aespec.model.edit_forms import link, put
from aespec.operators.api import FILE_KINDS, Draft, Operator, Output, Scene
from aespec.operators.contents import data_of


def _linked(output: Output, scene: Scene, chooser: Chooser) -> Iterator[Draft]:
    assert output.after is not None, "a file is there"
    other = f"{output.path}.moved"
    edits = (put(other, data_of(output), output.after.mode), link(output.path, other))
    yield Draft(output.path, edits, f"it is a link to a file with the same content, {other}")


OPERATORS = ((Operator("linked", "placement", FILE_KINDS, "depends"), _linked),)
