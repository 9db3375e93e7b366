"""The same content is stored differently: a database cleaned up, an archive packed by another tool."""

from __future__ import annotations

from collections.abc import Iterator

from aespec.model.chooser import Chooser
from aespec.model.edit_forms import put
from aespec.operators.api import Draft, Operator, Output, Scene
from aespec.operators.contents import data_of
from aespec.operators.formats.containers import pack_container, read_container
from aespec.operators.formats.databases import change_database, read_database, with_journal


def _vacuumed(output: Output, scene: Scene, chooser: Chooser) -> Iterator[Draft]:
    data = change_database(data_of(output), ("VACUUM", ()))
    if data is not None:
        yield Draft(output.path, (put(output.path, data),), "the database was cleaned up by VACUUM")


def _journaled(output: Output, scene: Scene, chooser: Chooser) -> Iterator[Draft]:
    contents = read_database(data_of(output))
    if contents is None:
        return
    mode = "delete" if contents.journal_mode == "wal" else "wal"
    edit = put(output.path, with_journal(data_of(output), mode))
    yield Draft(output.path, (edit,), f"the database keeps its journal in the mode {mode.upper()}")


def _repacked(output: Output, scene: Scene, chooser: Chooser) -> Iterator[Draft]:
    container = read_container(data_of(output))
    if container is None:
        return
    for level in (9, 1):
        edit = put(output.path, pack_container(container, level=level))
        yield Draft(output.path, (edit,), f"it is packed anew with compression {level}")


def _reordered(output: Output, scene: Scene, chooser: Chooser) -> Iterator[Draft]:
    container = read_container(data_of(output))
    if container is not None and len(container.members) > 1:
        edit = put(output.path, pack_container(container, container.members[::-1]))
        yield Draft(output.path, (edit,), "its members stand in the reverse order")


OPERATORS = (
    (Operator("vacuum", "storage", ("sqlite",), "right"), _vacuumed),
    (Operator("journal-mode", "storage", ("sqlite",), "right"), _journaled),
    (Operator("repacked", "storage", ("archive", "office"), "right"), _repacked),
    (Operator("member-order", "order", ("archive",), "depends"), _reordered),
)
