"""A CSV or TSV file holds these columns and rows; quoting and the spelling of numbers don't count."""

from __future__ import annotations

import csv
import io
from typing import Any, Dict, List, Optional, Sequence, Tuple

from aespec.runtime.compare import Freedoms, difference, is_number
from aespec.runtime.decode import LIMIT_BYTES, Unreadable, decode_text, parse_date, parse_number, show
from aespec.runtime.signature import Param, Signature
from aespec.runtime.state import HELD, Missing, State, Trouble, Verdict, failed
from aespec.runtime.wording import counted, with_article

TYPES = ("text", "number", "date", "boolean")

SIGNATURE = Signature(
    "table",
    "A table in CSV or TSV has these columns and rows.",
    (
        Param("path", "path", "The file, UTF-8, at most 16 MiB.", is_required=True),
        Param(
            "equals",
            "value",
            "The rows: a list of objects from column to value or, with `columns` or without a header, of "
            "lists. A number is equal by value, null is an empty cell, text is exact.",
        ),
        Param("columns", "texts", "The columns; without it, those that the rows of `equals` name."),
        Param("order", "enum", "Whether the rows come as given.", default="given", choices=("given", "any")),
        Param(
            "column_order",
            "enum",
            "Whether `columns` come as given.",
            default="any",
            choices=("given", "any"),
        ),
        Param(
            "extra_columns",
            "enum",
            "Whether the table may have more columns.",
            default="forbidden",
            choices=("forbidden", "allowed"),
        ),
        Param(
            "header",
            "bool",
            "Whether the first row names the columns; else they are `0`, `1` and so on.",
            default=True,
        ),
        Param("delimiter", "text", "One character; a tab where the path ends in `.tsv`, else a comma."),
        Param(
            "types",
            "map",
            "Columns to `text`, `number`, `date` (ISO 8601) or `boolean` (true, false in any case); without "
            "it, columns of numbers and booleans in `equals` are such, all others text.",
        ),
        Param("tolerance", "number", "How far a number may be off, absolutely."),
        Param("relative", "number", "How far a number may be off, as a fraction of the expected one."),
        Param("count", "integer", "How many rows there are below the header."),
    ),
    requires_one_of=(("equals", "columns", "count"),),
)


def holds(state: State, args: Dict[str, Any]) -> Verdict:
    """Judge the claim."""
    path = args["path"]
    rows = rows_of(args)
    columns = columns_of(args)
    if rows is None and columns is None and args.get("count") is None:
        raise Trouble("table: neither equals, columns nor count is given")
    most = len(rows) if rows is not None else args.get("count")
    try:
        header, found = read_table(
            state.read(path, LIMIT_BYTES), delimiter_of(args), args.get("header", True), most
        )
        if columns is not None:
            header = _judged_header(header, columns, args)
        if args.get("count") is not None and len(found) != args["count"]:
            raise Unreadable(f"has {counted(len(found), 'row')}, not {args['count']}")
        if rows is None:
            return HELD
        assert columns is not None
        kinds = kinds_of(args, columns)
        document = [_typed(row, number, header, columns, kinds) for number, row in enumerate(found)]
    except Missing as missing:
        reason = str(missing)
        return failed(reason if path in reason else f"{path} {reason}")
    wanted = wanted_rows(args, columns, kinds)
    freedoms = Freedoms(
        tolerance=float(args.get("tolerance") or 0),
        relative=float(args.get("relative") or 0),
        unordered=((),) if args.get("order", "given") == "any" else (),
    )
    fault = difference(document, wanted, freedoms)
    return (
        HELD
        if fault is None
        else failed(f"{path} row/column {fault.replace('the document', 'as a whole', 1)}")
    )


def delimiter_of(args: Dict[str, Any]) -> str:
    """The delimiter that the arguments mean."""
    delimiter = args.get("delimiter")
    if delimiter is None:
        return "\t" if args["path"].endswith(".tsv") else ","
    if len(delimiter) != 1 or delimiter in '"\r\n':
        raise Trouble(f"table: {delimiter!r} is no delimiter")
    return str(delimiter)


def rows_of(args: Dict[str, Any]) -> Optional[List[Any]]:
    """The rows of `equals`; None without it. Raises `Trouble` for anything but a list of objects or lists."""
    if "equals" not in args:
        return None
    rows = args["equals"]
    if not isinstance(rows, list) or not all(isinstance(row, (dict, list)) for row in rows):
        raise Trouble("table: equals is not a list of objects or lists")
    return rows


def columns_of(args: Dict[str, Any]) -> Optional[List[str]]:
    """The columns that are judged: as given, named by the rows, or counted where there is no header."""
    rows, columns = rows_of(args), args.get("columns")
    if columns is not None:
        named = [columns] if isinstance(columns, str) else list(columns)
        if len(set(named)) != len(named) or not named:
            raise Trouble("table: columns are empty or name one twice")
        return named
    if rows is None:
        return None
    if rows and all(isinstance(row, dict) for row in rows):
        named = list(dict.fromkeys(key for row in rows for key in row))
    elif rows and not args.get("header", True):
        named = [str(index) for index in range(max(len(row) for row in rows))]
    else:
        raise Trouble("table: columns are needed where the rows don't name them")
    if not named:
        raise Trouble("table: the rows of equals are empty")
    return named


def read_table(
    data: bytes, delimiter: str, has_header: bool, most: Optional[int] = None
) -> Tuple[List[str], List[List[str]]]:
    """Header and rows; blank lines are no rows. Raises `Unreadable`, also above `most` rows."""
    text = decode_text(data)
    if "\0" in text:
        raise Unreadable("holds a NUL character")
    header: List[str] = []
    rows: List[List[str]] = []
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        for cells in reader:
            if not cells:
                continue
            if has_header and not header:
                header = cells
                if len(set(header)) != len(header):
                    raise Unreadable("names a column twice")
                continue
            if not header:
                header = [str(index) for index in range(len(cells))]
            if len(cells) != len(header):
                raise Unreadable(f"has {counted(len(cells), 'cell')} in row {len(rows)}, not {len(header)}")
            rows.append(cells)
            if most is not None and len(rows) > most:
                raise Unreadable(f"has more than {most} rows")
    except csv.Error as error:
        raise Unreadable(f"is not a valid table (line {reader.line_num}: {error})") from None
    return header, rows


def _judged_header(header: List[str], columns: Sequence[str], args: Dict[str, Any]) -> List[str]:
    """The header if it agrees with the columns; a headerless table has columns only as far as it has rows."""
    if not args.get("header", True):
        if header and len(header) < len(columns):
            raise Unreadable(f"has {counted(len(header), 'column')}, not {len(columns)}")
        if len(header) > len(columns) and args.get("extra_columns", "forbidden") == "forbidden":
            raise Unreadable(f"has {counted(len(header), 'column')}, not {len(columns)}")
        return [*columns, *header[len(columns) :]]
    for column in columns:
        if column not in header:
            raise Unreadable(f"has no column {show(column)}")
    if args.get("extra_columns", "forbidden") == "forbidden" and len(header) > len(columns):
        extra = next(column for column in header if column not in columns)
        raise Unreadable(f"has the column {show(extra)}, which is not expected")
    is_in_order = [column for column in header if column in columns] == list(columns)
    if args.get("column_order", "any") == "given" and not is_in_order:
        raise Unreadable("has its columns in another order")
    return header


def kinds_of(args: Dict[str, Any], columns: Sequence[str]) -> Dict[str, str]:
    """The type of each column: as given, else by what `equals` holds in it."""
    kinds: Dict[str, str] = {}
    given = args.get("types") or {}
    for name, kind in given.items():
        if kind not in TYPES or name not in columns:
            raise Trouble(f"table: types says {name} = {kind}")
    for index, column in enumerate(columns):
        if column in given:
            kinds[column] = given[column]
            continue
        values = [
            value for value in (_value(row, column, index) for row in args["equals"]) if value is not None
        ]
        found = {
            "boolean" if isinstance(value, bool) else "number" if is_number(value) else "text"
            for value in values
        }
        if len(found) > 1:
            raise Trouble(
                f"table: column {column} of equals mixes {' and '.join(sorted(found))}; say its type"
            )
        kinds[column] = found.pop() if found else "text"
    return kinds


def _value(row: Any, column: str, index: int) -> Any:
    if isinstance(row, dict):
        return row.get(column)
    return row[index] if index < len(row) else None


def wanted_rows(args: Dict[str, Any], columns: Sequence[str], kinds: Dict[str, str]) -> List[Dict[str, Any]]:
    """The rows of `equals` as objects of typed values, as the found ones are compared with them."""
    rows = []
    for row in args["equals"]:
        if len(row) > len(columns) or (isinstance(row, dict) and not set(row) <= set(columns)):
            raise Trouble("table: a row of equals has more than the columns")
        typed = {}
        for index, column in enumerate(columns):
            value = _value(row, column, index)
            if isinstance(value, str) and kinds[column] != "text":
                value = _cell(value, kinds[column])
                if isinstance(value, Missing):
                    raise Trouble(f"table: equals holds {with_article(column)} that {value}")
            elif kinds[column] == "text":
                value = "" if value is None else value if isinstance(value, str) else show(value, 400)
            typed[column] = value
        rows.append(typed)
    return rows


def _typed(
    row: List[str], number: int, header: List[str], columns: Sequence[str], kinds: Dict[str, str]
) -> Dict[str, Any]:
    cells = dict(zip(header, row))
    typed = {}
    for column in columns:
        value = _cell(cells[column], kinds[column])
        if isinstance(value, Missing):
            raise Unreadable(f"row/column {number}/{column}: {value}")
        typed[column] = value
    return typed


def _cell(text: str, kind: str) -> Any:
    """The typed value of a cell, or an `Unreadable`; an empty cell of no text column is null."""
    if kind == "text":
        return text
    if not text.strip(" \t"):
        return None
    if kind == "number":
        number = parse_number(text)
        return Unreadable(f"{show(text)} is not a number") if number is None else number
    if kind == "date":
        date = parse_date(text)
        return (
            Unreadable(f"{show(text)} is not a date")
            if date is None
            else "{:04d}-{:02d}-{:02d}".format(*date)
        )
    word = text.strip(" \t").lower()
    return word == "true" if word in ("true", "false") else Unreadable(f"{show(text)} is not true or false")
