"""Edits of the rows and cells of a table."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from aespec.model.edit import Edit
from aespec.operators.api import Output
from aespec.operators.contents import is_marked, rewrite, text_in
from aespec.operators.formats.tables import Rows, Table, ending_of, read_table, write_table


def rows_in(output: Output) -> tuple[Table | None, Rows]:
    """The table that an output is, or None; and its rows below the header as lists of their own."""
    table = read_table(output.path, text_in(output))
    return table, [list(row) for row in table.rows] if table is not None else []


def put_table(output: Output, rows: Sequence[Sequence[str]], **other: Any) -> Edit:
    """The edit that gives a table other rows, and perhaps another header or writing (`write_table`)."""
    table = read_table(output.path, text_in(output))
    assert table is not None, "only tables have rows"
    return rewrite(output, write_table(table, rows, **other))


def set_cell(output: Output, selector: str, cell: str) -> Edit | None:
    """The edit that sets the cell `row/column` (or `row/number of the column` where names aren't unique)."""
    table, rows = rows_in(output)
    if table is None:
        return None
    row, _, name = selector.partition("/")
    if is_addressable(output, table) and table.header.count(name) == 1 and name:
        return Edit(output.path, selector, "set", cell)
    column = table.header.index(name) if name in table.header else int(name)
    rows[int(row)][column] = cell
    return put_table(output, rows)


def is_addressable(output: Output, table: Table) -> bool:
    """Whether an edit of a cell finds it and leaves the rest as it is.

    The delimiter must be the usual one, and there may be neither needless quotes nor blank lines.
    """
    is_usual = table.delimiter == ("\t" if ending_of(output.path) in ("tsv", "tab") else ",")
    has_gaps = re.search(r"(?:\A|\n)\r?\n", text_in(output).rstrip("\r\n")) is not None
    return is_usual and not table.is_quoted and not has_gaps and not is_marked(output)
