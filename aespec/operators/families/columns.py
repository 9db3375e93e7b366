"""Columns of a table are lost, renamed, shifted, or no longer belong to their rows."""

from __future__ import annotations

from collections.abc import Iterator

from aespec.model.chooser import Chooser, shuffled
from aespec.operators.api import Draft, Operator, Output, Scene
from aespec.operators.formats.tables import Rows, Table
from aespec.operators.near import misspelled
from aespec.operators.table_edits import put_table, rows_in


def _columns(output: Output, chooser: Chooser) -> Iterator[tuple[int, str, Table, Rows]]:
    table, rows = rows_in(output)
    if table is not None:
        for place in shuffled(range(len(table.header)), chooser):
            yield place, f"{output.path}#{table.header[place]}", table, rows


def _with_cells(rows: Rows, place: int, cells: list[str]) -> Rows:
    return [[*row[:place], cell, *row[place + 1 :]] for row, cell in zip(rows, cells, strict=True)]


def _headless(output: Output, scene: Scene, chooser: Chooser) -> Iterator[Draft]:
    table, rows = rows_in(output)
    if table is not None and rows:
        yield Draft(output.path, (put_table(output, rows[1:], header=rows[0]),), "its header is missing")


def _renamed(output: Output, scene: Scene, chooser: Chooser) -> Iterator[Draft]:
    for place, where, table, rows in _columns(output, chooser):
        other = misspelled(table.header[place])
        header = [*table.header[:place], other, *table.header[place + 1 :]]
        says = f"the column {table.header[place]} is named {other}"
        yield Draft(where, (put_table(output, rows, header=header),), says)


def _dropped(output: Output, scene: Scene, chooser: Chooser) -> Iterator[Draft]:
    for place, where, table, rows in _columns(output, chooser):
        if len(table.header) > 1:
            header = [*table.header[:place], *table.header[place + 1 :]]
            kept = [[*row[:place], *row[place + 1 :]] for row in rows]
            says = f"the column {table.header[place]} is missing"
            yield Draft(where, (put_table(output, kept, header=header),), says)


def _shifted(output: Output, scene: Scene, chooser: Chooser) -> Iterator[Draft]:
    """Each cell of a column one row further down; the last comes first."""
    for place, where, table, rows in _columns(output, chooser):
        cells = [row[place] for row in rows]
        if len(set(cells)) > 1 and len(table.header) > 1:
            changed = _with_cells(rows, place, [cells[-1], *cells[:-1]])
            yield Draft(
                where,
                (put_table(output, changed),),
                f"the column {table.header[place]} is shifted by one row",
            )


def _swapped(output: Output, scene: Scene, chooser: Chooser) -> Iterator[Draft]:
    """Two neighbouring cells of one column in each other's place."""
    for place, _, table, rows in _columns(output, chooser):
        cells = [row[place] for row in rows]
        for number in shuffled(range(len(cells) - 1), chooser):
            if cells[number] != cells[number + 1] and len(table.header) > 1:
                changed = list(cells)
                changed[number : number + 2] = [cells[number + 1], cells[number]]
                where = f"{output.path}#{number}/{table.header[place]}"
                says = f"the rows {number} and {number + 1} have each other's {table.header[place]}"
                yield Draft(where, (put_table(output, _with_cells(rows, place, changed)),), says)
                break


def _relabelled(output: Output, scene: Scene, chooser: Chooser) -> Iterator[Draft]:
    """Two columns have each other's names."""
    for place, where, table, rows in _columns(output, chooser):
        if place + 1 < len(table.header):
            header = list(table.header)
            header[place : place + 2] = [header[place + 1], header[place]]
            says = f"the columns {header[place + 1]} and {header[place]} have each other's names"
            yield Draft(where, (put_table(output, rows, header=header),), says)


def _reordered(output: Output, scene: Scene, chooser: Chooser) -> Iterator[Draft]:
    table, rows = rows_in(output)
    if table is not None and len(table.header) > 1:
        turned = [row[::-1] for row in rows]
        edit = put_table(output, turned, header=table.header[::-1])
        yield Draft(output.path, (edit,), "its columns stand in the reverse order")


def _extra(output: Output, scene: Scene, chooser: Chooser) -> Iterator[Draft]:
    table, rows = rows_in(output)
    if table is not None:
        numbered = [[str(number), *row] for number, row in enumerate(rows)]
        edit = put_table(output, numbered, header=["index", *table.header])
        yield Draft(output.path, (edit,), "a column of row numbers stands before the others")


OPERATORS = (
    (Operator("headless", "columns", ("table",), "wrong"), _headless),
    (Operator("renamed-column", "columns", ("table",), "wrong"), _renamed),
    (Operator("dropped-column", "columns", ("table",), "wrong"), _dropped),
    (Operator("shifted-column", "columns", ("table",), "wrong"), _shifted),
    (Operator("swapped-cells", "columns", ("table",), "wrong"), _swapped),
    (Operator("relabelled-columns", "columns", ("table",), "wrong"), _relabelled),
    (Operator("reordered-columns", "order", ("table",), "depends"), _reordered),
    (Operator("extra-column", "extras", ("table",), "depends"), _extra),
)
