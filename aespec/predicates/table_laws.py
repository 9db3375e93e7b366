"""What breaks a claim about a table, what keeps it, and how it is told."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from aespec.model.chooser import Chooser, rotated
from aespec.model.edit import Edit
from aespec.model.edit_forms import put
from aespec.predicates import table
from aespec.predicates.arguments import misfits
from aespec.predicates.misses import destroyed, text_misses
from aespec.predicates.wording import told, tolerance_promises
from aespec.runtime.decode import LIMIT_BYTES, parse_number
from aespec.runtime.memory import MemoryState
from aespec.runtime.state import State, Trouble
from aespec.runtime.wording import counted

Args = Mapping[str, Any]
Rows = list[list[str]]


def says(args: Args) -> str:
    """The sentence for the solver; cells are never shown."""
    delimiter = told(table.delimiter_of, args) or ","
    form = {",": "CSV", "\t": "TSV"}.get(delimiter, f"a table delimited by `{delimiter}`")
    parts = [f"`{args['path']}` is {form}"]
    columns = told(table.columns_of, args)
    if columns and args.get("header", True):
        parts.append(
            f"with the column{'s' if len(columns) > 1 else ''} {', '.join(f'`{name}`' for name in columns)}"
        )
    elif not args.get("header", True):
        parts.append("without a header")
    if args.get("count") is not None:
        parts.append(f"and {counted(args['count'], 'row')}")
    return " ".join(parts) + (" and the right rows." if "equals" in args else ".")


def promises(args: Args) -> tuple[str, ...]:
    """What counts and what doesn't."""
    found = ["The table is UTF-8; quoting, line ends and blank lines don't count."]
    if args.get("header", True) and told(table.columns_of, args):
        is_given = args.get("column_order", "any") == "given"
        found.append("The order of the columns counts." if is_given else "The order of the columns is free.")
        allowed = args.get("extra_columns", "forbidden") == "allowed"
        found.append("There may be more columns." if allowed else "There are no other columns.")
    if "equals" in args:
        is_given = args.get("order", "given") == "given"
        found.append("The order of the rows counts." if is_given else "The order of the rows is free.")
        found += _cell_promises(args)
    return tuple(found)


def _cell_promises(args: Args) -> list[str]:
    columns = told(table.columns_of, args) or []
    types = told(lambda given: table.kinds_of(given, columns), args) or {}
    kinds = set(types.values())
    found = []
    if "number" in kinds:
        found.append(
            "Numbers are compared by value (`3`, `3.0`, `3e0`), without thousand separators or units."
        )
    if "date" in kinds:
        found.append("Dates are `2024-02-29` or `20240229`.")
    if "boolean" in kinds:
        found.append("`true` and `false` may be in any case.")
    if "text" in kinds:
        found.append("Texts are compared exactly.")
    return found + tolerance_promises(args)


def reads(args: Args) -> tuple[str, ...]:
    """The file."""
    return (str(args["path"]),)


def literals(args: Args) -> tuple[str | int | float, ...]:
    """The path and, where there is a header, the columns."""
    columns = told(table.columns_of, args) if args.get("header", True) else None
    delimiter = args.get("delimiter")
    return (args["path"], *(columns or ()), *([delimiter] if delimiter else ()))


def faults(args: Args) -> tuple[str, ...]:
    """What is wrong with the arguments themselves."""
    if wrong := misfits(table.SIGNATURE, args):
        return wrong
    try:
        table.delimiter_of(dict(args))
        columns = table.columns_of(dict(args))
        if table.rows_of(dict(args)) is not None:
            kinds = table.kinds_of(dict(args), columns or [])
            table.wanted_rows(dict(args), columns or [], kinds)
        table.holds(MemoryState.of({}), dict(args))
    except Trouble as trouble:
        return (str(trouble),)
    return ()


def needs(args: Args) -> tuple[str, ...]:
    """Bytes only."""
    return table.SIGNATURE.needs


def violations(args: Args, state: State, chooser: Chooser) -> Iterator[tuple[Edit, ...]]:
    """Cells off by a little, rows lost, doubled, swapped, columns renamed or more; then the table
    destroyed.
    """
    path = args["path"]
    given = dict(args)
    header, rows = _read(given, state)
    if "equals" in args:
        columns = table.columns_of(given) or []
        kinds = table.kinds_of(given, columns)
        names = header if args.get("header", True) else [*columns, *header[len(columns) :]]
        yield from _broken_cells(given, header, names, rows, kinds, chooser)
        if args.get("order", "given") == "given":
            yield from _swapped(given, header, names, rows, columns, kinds)
    if rows and ("equals" in args or args.get("count") is not None):
        yield _put(given, header, rows[:-1])
        yield _put(given, header, [*rows, rows[-1]])
        yield _put(given, header, rows[1:])
    if args.get("header", True):
        yield from _broken_header(given, header, rows)
        yield (put(path, b"\xff"),)
    yield (put(path, '"'),)
    for edits in destroyed(path):
        if edits[0].operation == "delete" or rows or args.get("header", True):
            yield edits


def _broken_cells(
    args: dict[str, Any],
    header: list[str],
    names: list[str],
    rows: Rows,
    kinds: dict[str, str],
    chooser: Chooser,
) -> Iterator[tuple[Edit, ...]]:
    cells = [
        (number, place) for number in range(len(rows)) for place, name in enumerate(names) if name in kinds
    ]
    for number, place in rotated(cells, chooser)[:5]:
        for other in _cell_misses(args, rows[number][place], kinds[names[place]]):
            if _is_plain(args):
                yield (Edit(args["path"], f"{number}/{header[place]}", "set", other),)
            else:
                yield _put(args, header, _with_cell(rows, number, place, other))


def _cell_misses(args: dict[str, Any], cell: str, kind: str) -> Iterator[str]:
    """Cells unlike the given one. Where rows are paired within a tolerance, only what is no number at all."""
    if kind == "text":
        yield from text_misses(cell)
    elif kind == "number":
        value = parse_number(cell)
        tolerance, relative = float(args.get("tolerance") or 0), float(args.get("relative") or 0)
        is_paired = args.get("order", "given") == "any" and (tolerance or relative)
        if value is not None and not is_paired:
            # Twice the bound and more on top: the found cell may itself be off by the bound.
            bound = max(tolerance, relative * 2 * abs(value))
            step: float = 3 * bound if bound else (1 if isinstance(value, int) else 0.01)
            for other in (value + step, value - step):
                yield repr(other if abs(other - value) > 2 * bound else 2 * value + 1 + 4 * bound)
        if value is not None:
            yield ""
        yield f"{cell}x"
    elif kind == "date":
        yield "1000-01-01" if cell.strip() != "1000-01-01" else "1000-01-02"
        yield f"{cell}x"
    else:
        yield "true" if cell.strip(" \t").lower() != "true" else "false"
        yield "yes"


def _swapped(
    args: dict[str, Any],
    header: list[str],
    names: list[str],
    rows: Rows,
    columns: Sequence[str],
    kinds: dict[str, str],
) -> Iterator[tuple[Edit, ...]]:
    """Two neighbouring rows in each other's place, if a text tells them apart."""
    places = [place for place, name in enumerate(names) if name in columns and kinds[name] == "text"]
    for number, (one, other) in enumerate(zip(rows, rows[1:], strict=False)):
        if any(one[place] != other[place] for place in places):
            yield _put(args, header, [*rows[:number], other, one, *rows[number + 2 :]])
            return


def _broken_header(args: dict[str, Any], header: list[str], rows: Rows) -> Iterator[tuple[Edit, ...]]:
    columns = table.columns_of(args)
    if columns is None:
        return
    place = header.index(columns[-1])
    other = f"{columns[-1]}_"
    while other in header:
        other += "_"
    renamed = [*header[:place], other, *header[place + 1 :]]
    if _is_plain(args):
        yield (Edit(args["path"], columns[-1], "rename", other),)
    else:
        yield _put(args, renamed, rows)
    if len(header) > 1:
        yield _put(
            args, [*header[:place], *header[place + 1 :]], [[*row[:place], *row[place + 1 :]] for row in rows]
        )
    if args.get("extra_columns", "forbidden") == "forbidden":
        yield _put(args, [*header, other], [[*row, ""] for row in rows])
    if args.get("column_order", "any") == "given" and len(columns) > 1:
        yield _put(args, header[::-1], [row[::-1] for row in rows])


def variants(args: Args, state: State, chooser: Chooser) -> Iterator[tuple[Edit, ...]]:
    """Other quoting and line ends, a byte order mark, other orders and spellings where they are free."""
    given = dict(args)
    header, rows = _read(given, state)
    plain = _written(given, header, rows)
    yield (put(args["path"], _written(given, header, rows, quoting=csv.QUOTE_ALL, end="\r\n")),)
    yield (put(args["path"], b"\xef\xbb\xbf" + plain.encode()),)
    yield (put(args["path"], plain.rstrip("\n")),)
    yield (put(args["path"], plain + "\n\n"),)
    if "equals" in args and args.get("order", "given") == "any":
        yield _put(given, header, rows[::-1])
    if not args.get("header", True):
        return
    if args.get("column_order", "any") == "any":
        yield _put(given, header[::-1], [row[::-1] for row in rows])
    columns = table.columns_of(given)
    if columns is not None and args.get("extra_columns") == "allowed":
        extra = "more"
        while extra in header:
            extra += "_"
        yield _put(given, [extra, *header], [["1", *row] for row in rows])
    if "equals" in args and columns is not None:
        kinds = table.kinds_of(given, columns)
        spelled = [
            [_spelled(cell, kinds.get(name, "text")) for name, cell in zip(header, row, strict=True)]
            for row in rows
        ]
        yield _put(given, header, spelled)


def _spelled(cell: str, kind: str) -> str:
    """Another spelling of the same value."""
    value = parse_number(cell) if kind == "number" else None
    if isinstance(value, int) and not cell.strip().startswith("-"):
        return f" +0{value}.0" if value < 2**53 else f"0{value}"
    return cell.upper() if kind == "boolean" else cell


def _read(args: dict[str, Any], state: State) -> tuple[list[str], Rows]:
    data = state.read(args["path"], LIMIT_BYTES)
    return table.read_table(data, table.delimiter_of(args), args.get("header", True))


def _is_plain(args: dict[str, Any]) -> bool:
    """Whether cells can be addressed: a header, and the delimiter that the path's ending means."""
    is_usual = args.get("delimiter") in (None, "\t" if args["path"].endswith(".tsv") else ",")
    return bool(args.get("header", True)) and is_usual and args["path"].endswith((".csv", ".tsv"))


def _with_cell(rows: Rows, number: int, place: int, cell: str) -> Rows:
    row = rows[number]
    return [*rows[:number], [*row[:place], cell, *row[place + 1 :]], *rows[number + 1 :]]


def _put(args: dict[str, Any], header: list[str], rows: Rows) -> tuple[Edit, ...]:
    return (put(args["path"], _written(args, header, rows)),)


def _written(
    args: dict[str, Any], header: list[str], rows: Rows, quoting: int = csv.QUOTE_MINIMAL, end: str = "\n"
) -> str:
    out = io.StringIO(newline="")
    writer = csv.writer(
        out, delimiter=table.delimiter_of(args), lineterminator=end, quoting=_quoting(quoting)
    )
    if args.get("header", True):
        writer.writerow(header)
    writer.writerows(rows)
    return out.getvalue()


def _quoting(number: int) -> Any:
    return number
