"""Records of a database are missing, doubled, or hold another value; a table is empty or gone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from aespec.model.chooser import Chooser, shuffled
from aespec.model.edit_forms import put
from aespec.operators.api import Draft, Operator, Output, Scene
from aespec.operators.contents import data_of
from aespec.operators.formats.databases import Rows, change_database, quoted, read_database
from aespec.operators.near import misspelled, off_by_little
from aespec.runtime.decode import show

Statement = tuple[str, tuple[Any, ...]]


def _tables(output: Output, chooser: Chooser) -> Iterator[Rows]:
    contents = read_database(data_of(output))
    return shuffled(contents.tables if contents is not None else (), chooser)


def _numbered(output: Output, chooser: Chooser) -> Iterator[tuple[Rows, int, tuple[Any, ...]]]:
    """Rows with the number that they are found by: one of each table in turn."""
    streams = [(rows, shuffled(range(len(rows.numbers)), chooser)) for rows in _tables(output, chooser)]
    while streams:
        for item in list(streams):
            at = next(item[1], None)
            if at is None:
                streams.remove(item)
            else:
                yield item[0], item[0].numbers[at], item[0].cells[at]


def _draft(output: Output, selector: str, says: str, *statements: Statement) -> Iterator[Draft]:
    data = change_database(data_of(output), *statements)
    if data is not None:
        yield Draft(f"{output.path}#{selector}", (put(output.path, data),), says)


def _dropped(output: Output, scene: Scene, chooser: Chooser) -> Iterator[Draft]:
    for rows, number, _ in _numbered(output, chooser):
        statement = f"DELETE FROM {quoted(rows.name)} WHERE rowid = ?"  # noqa: S608
        says = f"the row {number} of {rows.name} is missing"
        yield from _draft(output, f"{rows.name}/{number}", says, (statement, (number,)))


def _doubled(output: Output, scene: Scene, chooser: Chooser) -> Iterator[Draft]:
    """The same row again; where a key stands in the way, under another one."""
    for rows, number, cells in _numbered(output, chooser):
        marks = ", ".join("?" * len(cells))
        columns = ", ".join(map(quoted, rows.columns))
        statement = f"INSERT INTO {quoted(rows.name)} ({columns}) VALUES ({marks})"  # noqa: S608
        free = max(rows.numbers) + 1
        says = f"the row {number} of {rows.name} stands there twice"
        moved = tuple(free if cell == number and type(cell) is int else cell for cell in cells)
        for values in dict.fromkeys((cells, moved)):
            drafts = list(_draft(output, f"{rows.name}/{number}", says, (statement, values)))
            yield from drafts
            if drafts:
                break


def _wrong_cells(output: Output, scene: Scene, chooser: Chooser) -> Iterator[Draft]:
    for rows, number, cells in _numbered(output, chooser):
        for place in shuffled(range(len(cells)), chooser):
            other = _near(cells[place])
            # The number that a row is found by stays: the row would be another one.
            if other is None or (cells[place] == number and type(cells[place]) is int):
                continue
            column = rows.columns[place]
            statement = f"UPDATE {quoted(rows.name)} SET {quoted(column)} = ? WHERE rowid = ?"  # noqa: S608
            says = f"{show(cells[place], 40)} is {show(other, 40)} there"
            yield from _draft(output, f"{rows.name}/{number}/{column}", says, (statement, (other, number)))
            break


def _near(cell: object) -> object:
    if isinstance(cell, int):
        return cell + 1
    if isinstance(cell, float):
        return float((off_by_little(repr(cell)) or [repr(cell + 1)])[0])
    if isinstance(cell, str):
        return misspelled(cell)
    return 0 if cell is None else None


def _swapped(output: Output, scene: Scene, chooser: Chooser) -> Iterator[Draft]:
    """Two rows with each other's value in one column: as many rows, the same values, and wrong."""
    for rows in _tables(output, chooser):
        for place in shuffled(range(len(rows.columns)), chooser):
            pair = _unlike(rows, place)
            if pair is None:
                continue
            (one, first), (other, second) = pair
            column = quoted(rows.columns[place])
            statement = f"UPDATE {quoted(rows.name)} SET {column} = ? WHERE rowid = ?"  # noqa: S608
            says = f"the rows {one} and {other} of {rows.name} have each other's {rows.columns[place]}"
            steps = ((statement, (second, one)), (statement, (first, other)))
            yield from _draft(output, f"{rows.name}/{one}/{rows.columns[place]}", says, *steps)


def _unlike(rows: Rows, place: int) -> tuple[tuple[int, Any], tuple[int, Any]] | None:
    found = [
        (number, cells[place])
        for number, cells in zip(rows.numbers, rows.cells, strict=False)
        if type(cells[place]) is not int or cells[place] != number
    ]
    other = next((item for item in found if found[0][1] != item[1]), None) if found else None
    return (found[0], other) if other is not None and len(rows.columns) > 1 else None


def _emptied(output: Output, scene: Scene, chooser: Chooser) -> Iterator[Draft]:
    for rows in _tables(output, chooser):
        if rows.cells:
            statement = f"DELETE FROM {quoted(rows.name)}"  # noqa: S608
            yield from _draft(output, rows.name, f"the table {rows.name} is empty", (statement, ()))


def _gone(output: Output, scene: Scene, chooser: Chooser) -> Iterator[Draft]:
    for rows in _tables(output, chooser):
        statement = f"DROP TABLE {quoted(rows.name)}"
        yield from _draft(output, rows.name, f"the table {rows.name} is missing", (statement, ()))


OPERATORS = (
    (Operator("dropped-record", "records", ("sqlite",), "wrong"), _dropped),
    (Operator("doubled-record", "records", ("sqlite",), "wrong"), _doubled),
    (Operator("wrong-record", "records", ("sqlite",), "wrong"), _wrong_cells),
    (Operator("swapped-records", "records", ("sqlite",), "wrong"), _swapped),
    (Operator("emptied-records", "records", ("sqlite",), "wrong"), _emptied),
    (Operator("dropped-table", "records", ("sqlite",), "wrong"), _gone),
)
