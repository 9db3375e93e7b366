"""Tables: their rows, and how they are written back as they were."""

from __future__ import annotations

import csv
import io
import posixpath
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

Rows = list[list[str]]

_DELIMITERS = (",", "\t", ";", "|")


def ending_of(path: str) -> str:
    """What stands behind the last dot of the name, in lower case; "" for none and for hidden files."""
    name = posixpath.basename(path).lower()
    return name.rpartition(".")[2] if "." in name.strip(".") else ""


def delimiter_of(path: str, text: str) -> str:
    """What parts the cells of a table; "" where there is none that parts every line alike.

    A name that ends in `csv` or `tsv` means a comma or a tab where the header has no other delimiter, so that
    a table of one column is one.
    """
    head = text.partition("\n")[0]
    named = {"csv": ",", "tsv": "\t", "tab": "\t", "psv": "|"}.get(ending_of(path), "")
    for delimiter in dict.fromkeys((named or ",", *_DELIMITERS)):
        if delimiter in head and _is_even(text, delimiter):
            return delimiter
    is_single = bool(named) and not any(delimiter in head for delimiter in _DELIMITERS)
    return named if is_single and _is_even(text, named) else ""


def _is_even(text: str, delimiter: str) -> bool:
    """Whether each row has as many cells as the first: a table, as anybody would read it."""
    try:
        rows = [
            row for row in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True) if row
        ]
    except (csv.Error, ValueError):
        return False
    return bool(rows) and all(len(row) == len(rows[0]) for row in rows)


class Table(NamedTuple):
    """The header and the rows below it; blank lines are left out."""

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    delimiter: str
    line_end: str
    is_ended: bool
    is_quoted: bool


@lru_cache(maxsize=16)
def read_table(path: str, text: str) -> Table | None:
    """The table that a text is, or None."""
    delimiter = delimiter_of(path, text)
    if not delimiter:
        return None
    line_end = "\r\n" if "\r\n" in text else "\n"
    rows = [tuple(row) for row in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter) if row]
    is_quoted = text.startswith('"') and text.count('"') >= 2 * len(rows)
    return Table(rows[0], tuple(rows[1:]), delimiter, line_end, text.endswith("\n"), is_quoted)


def write_table(
    table: Table, rows: Iterable[Sequence[str]], *, header: Sequence[str] | None = None, **other: Any
) -> str:
    """The text of a table with these rows below the header, else written as `table` was.

    `delimiter`, `line_end` and `quoting` (a constant of `csv`) may be others.
    """
    stream = io.StringIO(newline="")
    line_end = other.get("line_end", table.line_end)
    writer = csv.writer(
        stream,
        delimiter=other.get("delimiter", table.delimiter),
        lineterminator=line_end,
        quoting=other.get("quoting", csv.QUOTE_ALL if table.is_quoted else csv.QUOTE_MINIMAL),
    )
    writer.writerow(table.header if header is None else header)
    writer.writerows(rows)
    written = stream.getvalue()
    return written if table.is_ended else written.removesuffix(line_end)
