"""Rows of a table are missing, doubled, made up, or moved against each other."""

from __future__ import annotations

from collections.abc import Iterator

from aespec.model.chooser import Chooser, shuffled
from aespec.model.edit import Edit
from aespec.operators.api import Draft, Operator, Output, Scene
from aespec.operators.formats.tables import Rows
from aespec.operators.intent import is_order_told
from aespec.operators.near import misspelled, off_by_little
from aespec.operators.table_edits import put_table, rows_in


def _draft(output: Output, number: int, edit: Edit, says: str) -> Draft:
    return Draft(f"{output.path}#{number}", (edit,), says)


def _dropped(output: Output, scene: Scene, chooser: Chooser) -> Iterator[Draft]:
    """The last and the first row, where a slice is off by one, then any."""
    _, rows = rows_in(output)
    inner = shuffled(range(1, len(rows) - 1), chooser)
    for number in dict.fromkeys((len(rows) - 1, 0)) if rows else ():
        yield _draft(output, number, put_table(output, _without(rows, number)), f"row {number} is missing")
    for number in inner:
        yield _draft(output, number, put_table(output, _without(rows, number)), f"row {number} is missing")


def _without(rows: Rows, number: int) -> Rows:
    return [*rows[:number], *rows[number + 1 :]]


def _doubled(output: Output, scene: Scene, chooser: Chooser) -> Iterator[Draft]:
    _, rows = rows_in(output)
    for number in shuffled(range(len(rows)), chooser):
        edit = put_table(output, [*rows[: number + 1], *rows[number:]])
        yield _draft(output, number, edit, f"row {number} stands there twice")


def _invented(output: Output, scene: Scene, chooser: Chooser) -> Iterator[Draft]:
    """One row more, like another one but for its values."""
    _, rows = rows_in(output)
    for number in shuffled(range(len(rows)), chooser):
        made = [(off_by_little(cell) or [misspelled(cell)])[0] for cell in rows[number]]
        edit = put_table(output, [*rows, made])
        yield _draft(output, len(rows), edit, f"a made-up row like row {number} follows the others")


def _replaced(output: Output, scene: Scene, chooser: Chooser) -> Iterator[Draft]:
    """As many rows as before, but one of them is another one's copy."""
    _, rows = rows_in(output)
    for number in shuffled(range(1, len(rows)), chooser):
        changed = [*rows[:number], rows[number - 1], *rows[number + 1 :]]
        yield _draft(output, number, put_table(output, changed), f"row {number} is a copy of the one before")


def _emptied(output: Output, scene: Scene, chooser: Chooser) -> Iterator[Draft]:
    _, rows = rows_in(output)
    if rows:
        yield Draft(output.path, (put_table(output, []),), "only its header is left")


def _sorted_as_text(output: Output, scene: Scene, chooser: Chooser) -> Iterator[Draft]:
    """Rows in the order that numbers have as texts: 10 before 9."""
    table, rows = rows_in(output)
    if table is None or not is_order_told(scene):
        return
    for column in shuffled(range(len(table.header)), chooser):
        changed = sorted(rows, key=lambda row: row[column])
        if all(off_by_little(row[column]) for row in rows):
            where = f"{output.path}#{table.header[column]}"
            says = f"rows are sorted by {table.header[column]} as text"
            yield Draft(where, (put_table(output, changed),), says)


def _swapped(output: Output, scene: Scene, chooser: Chooser) -> Iterator[Draft]:
    if is_order_told(scene):
        yield from _exchanged(output, chooser)


def _reordered(output: Output, scene: Scene, chooser: Chooser) -> Iterator[Draft]:
    if not is_order_told(scene):
        _, rows = rows_in(output)
        if len(rows) > 1:
            edit = put_table(output, rows[::-1])
            yield Draft(output.path, (edit,), "its rows stand in the reverse order")
        yield from _exchanged(output, chooser)


def _exchanged(output: Output, chooser: Chooser) -> Iterator[Draft]:
    _, rows = rows_in(output)
    for number in shuffled(range(len(rows) - 1), chooser):
        changed = [*rows[:number], rows[number + 1], rows[number], *rows[number + 2 :]]
        says = f"the rows {number} and {number + 1} have changed places"
        yield _draft(output, number, put_table(output, changed), says)


OPERATORS = (
    (Operator("dropped-row", "rows", ("table",), "wrong"), _dropped),
    (Operator("doubled-row", "rows", ("table",), "wrong"), _doubled),
    (Operator("invented-row", "rows", ("table",), "wrong"), _invented),
    (Operator("replaced-row", "rows", ("table",), "wrong"), _replaced),
    (Operator("emptied-table", "junk", ("table",), "wrong"), _emptied),
    (Operator("sorted-as-text", "rows", ("table",), "wrong"), _sorted_as_text),
    (Operator("swapped-rows", "rows", ("table",), "wrong"), _swapped),
    (Operator("reordered-rows", "order", ("table",), "depends"), _reordered),
)
