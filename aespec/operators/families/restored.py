"""What the solution deleted is there again."""

from __future__ import annotations

from collections.abc import Iterator

from aespec.model.chooser import Chooser
from aespec.model.edit_forms import folder, link, put
from aespec.operators.api import Draft, Operator, Output, Scene


def _restored(output: Output, scene: Scene, chooser: Chooser) -> Iterator[Draft]:
    before = output.before
    if before is None:
        return
    if before.kind == "link":
        edit = link(output.path, before.target)
    elif before.kind == "folder":
        edit = folder(output.path)
    else:
        edit = put(output.path, before.data, before.mode)
    yield Draft(output.path, (edit,), "it is still there, as before the work")


OPERATORS = ((Operator("restored", "restored", ("deleted",), "wrong"), _restored),)
