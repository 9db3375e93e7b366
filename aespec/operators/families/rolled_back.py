"""Parts of the start state come back: the whole file, a hunk of its lines, a value, a record."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from typing import Any

from aespec.model.chooser import Chooser, shuffled
from aespec.model.edit_forms import link, put
from aespec.operators.api import FILE_KINDS, Draft, Operator, Output, Scene
from aespec.operators.contents import data_before, data_of, rewrite, text_in
from aespec.operators.formats.databases import Contents, change_database, quoted, read_database
from aespec.operators.kinds import text_of
from aespec.operators.leaves import leaves_of, set_leaf
from aespec.runtime.decode import show

LINES_LIMIT = 5_000
OF_LINES = ("text", "json", "yaml", "toml", "xml", "table", "code")


def _whole(output: Output, scene: Scene, chooser: Chooser) -> Iterator[Draft]:
    before = output.before
    if before is not None and before.kind == "file":
        yield Draft(output.path, (put(output.path, before.data),), "it is as it was before the work")
    elif before is not None and before.kind == "link":
        yield Draft(
            output.path, (link(output.path, before.target),), "it is the link that stood there before"
        )


def _hunks(output: Output, scene: Scene, chooser: Chooser) -> Iterator[Draft]:
    """Each hunk alone; where there is but one, that is the whole file again."""
    old = (text_of(data_before(output)) or "").splitlines(keepends=True)
    new = text_in(output).splitlines(keepends=True)
    if not old or not new or max(len(old), len(new)) > LINES_LIMIT:
        return
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    hunks = [code for code in matcher.get_opcodes() if code[0] != "equal"]
    if len(hunks) < 2:
        return
    for _, low, high, start, end in shuffled(hunks, chooser):
        text = "".join([*new[:start], *old[low:high], *new[end:]])
        where = f"{output.path}#{min(start + 1, len(new))}"
        yield Draft(where, (rewrite(output, text),), f"the lines at {start + 1} are as before the work")


def _values(output: Output, scene: Scene, chooser: Chooser) -> Iterator[Draft]:
    if output.before is None or output.before.kind != "file":
        return
    old = Output(output.path, output.kind, None, output.before)
    values = {leaf.selector: leaf.value for leaf in leaves_of(old)}
    changed = [
        leaf
        for leaf in leaves_of(output)
        if leaf.selector in values and not _is_equal(values[leaf.selector], leaf.value)
    ]
    for leaf in shuffled(changed, chooser):
        edit = set_leaf(output, leaf, values[leaf.selector])
        if edit is not None:
            says = f"{show(leaf.value, 40)} is still {show(values[leaf.selector], 40)}, as before the work"
            yield Draft(leaf.address, (edit,), says)


def _is_equal(one: Any, other: Any) -> bool:
    return type(one) is type(other) and bool(one == other)


def _records(output: Output, scene: Scene, chooser: Chooser) -> Iterator[Draft]:
    old, new = read_database(data_before(output)), read_database(data_of(output))
    if old is None or new is None:
        return
    for name, number, statement, values, says in shuffled(list(_differences(old, new)), chooser):
        data = change_database(data_of(output), (statement, values))
        if data is not None:
            yield Draft(f"{output.path}#{name}/{number}", (put(output.path, data),), says)


def _differences(old: Contents, new: Contents) -> Iterator[tuple[str, int, str, tuple[Any, ...], str]]:
    """Each row that is new, gone or another, with the statement that takes it back."""
    known = {rows.name: rows for rows in old.tables}
    for rows in new.tables:
        before = known.get(rows.name)
        if before is None or before.columns != rows.columns or not (rows.numbers or before.numbers):
            continue
        was = dict(zip(before.numbers, before.cells, strict=False))
        now = dict(zip(rows.numbers, rows.cells, strict=False))
        name = quoted(rows.name)
        for number in sorted(was.keys() | now.keys()):
            if number not in was:
                says = f"the new row {number} of {rows.name} is missing"
                yield rows.name, number, f"DELETE FROM {name} WHERE rowid = ?", (number,), says  # noqa: S608
            elif number not in now:
                marks = ", ".join("?" * (len(rows.columns) + 1))
                columns = ", ".join(["rowid", *map(quoted, rows.columns)])
                says = f"the row {number} of {rows.name} is still there"
                statement = f"INSERT INTO {name} ({columns}) VALUES ({marks})"  # noqa: S608
                yield rows.name, number, statement, (number, *was[number]), says
            elif was[number] != now[number]:
                sets = ", ".join(f"{quoted(column)} = ?" for column in rows.columns)
                says = f"the row {number} of {rows.name} is as before the work"
                statement = f"UPDATE {name} SET {sets} WHERE rowid = ?"  # noqa: S608
                yield rows.name, number, statement, (*was[number], number), says


OPERATORS = (
    (Operator("start-state", "rolled-back", (*FILE_KINDS, "link", "folder"), "wrong"), _whole),
    (Operator("hunk-back", "rolled-back", OF_LINES, "wrong"), _hunks),
    (Operator("value-back", "rolled-back", ("json", "yaml", "toml", "xml", "table"), "wrong"), _values),
    (Operator("record-back", "rolled-back", ("sqlite",), "wrong"), _records),
)
