"""The output isn't there: deleted, or a link that leads nowhere."""

from __future__ import annotations

from collections.abc import Iterator

from aespec.model.chooser import Chooser
from aespec.model.edit_forms import delete, link
from aespec.operators.api import FILE_KINDS, Draft, Operator, Output, Scene


def _delete(output: Output, scene: Scene, chooser: Chooser) -> Iterator[Draft]:
    yield Draft(output.path, (delete(output.path),), "it isn't there")


def _dangle(output: Output, scene: Scene, chooser: Chooser) -> Iterator[Draft]:
    yield Draft(output.path, (link(output.path, "/nowhere/at-all"),), "it is a link that leads nowhere")


OPERATORS = (
    (Operator("delete", "missing", (*FILE_KINDS, "link", "folder"), "wrong"), _delete),
    (Operator("dangling-link", "missing", (*FILE_KINDS, "link"), "wrong"), _dangle),
)
