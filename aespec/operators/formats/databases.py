"""SQLite databases that somebody else wrote, opened so that they can do no harm, and their rows.

Nothing of a database runs on its own: no extension is loaded, no trigger fires, virtual tables aren't opened,
everything is done on a copy in memory, and every statement has an end.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any, NamedTuple

LIMIT_BYTES = 8 * 1024 * 1024
ROWS_LIMIT = 20_000
CELL_LIMIT_BYTES = 1024 * 1024
STEPS_LIMIT = 5_000_000
"""Larger databases, and those that take more of SQLite's own steps, are changed as binaries only."""

_STEPS_AT_ONCE = 100_000
_FORBIDDEN = {sqlite3.SQLITE_ATTACH, sqlite3.SQLITE_DETACH}


class Rows(NamedTuple):
    """An ordinary table: its columns, and of each row the number that SQLite finds it by, and its cells.

    `numbers` is empty where the table has none (WITHOUT ROWID).
    """

    name: str
    columns: tuple[str, ...]
    numbers: tuple[int, ...]
    cells: tuple[tuple[Any, ...], ...]


Schema = tuple[tuple[str, str, str], ...]


class Contents(NamedTuple):
    """All ordinary tables, the definitions of everything, and the journal's mode, `wal` or `delete`."""

    tables: tuple[Rows, ...]
    schema: Schema
    journal_mode: str


@lru_cache(maxsize=32)
def read_database(data: bytes) -> Contents | None:
    """What a database holds; None where it is damaged, or larger than the limits."""
    found = _with_copy(data, _contents)[0]
    return None if found is None else Contents(found[0], found[1], _journal_mode(data))


def change_database(data: bytes, *statements: tuple[str, tuple[Any, ...]]) -> bytes | None:
    """The database after the statements, each with its values; None where one of them fails.

    Triggers don't fire.
    """

    def run(connection: sqlite3.Connection) -> bool:
        kept = connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
        for name, _ in kept:
            connection.execute(f"DROP TRIGGER {quoted(name)}")
        for statement, values in statements:
            connection.execute(statement, values)
        for _, sql in kept:
            with contextlib.suppress(sqlite3.Error):  # its table may be gone now
                connection.execute(sql)
        return True

    done, changed = _with_copy(data, run)
    return changed if done else None


def quoted(name: str) -> str:
    """A name of a table or a column as SQL writes it."""
    return '"' + name.replace('"', '""') + '"'


def with_journal(data: bytes, mode: str) -> bytes:
    """The database with its journal kept as a `wal`, or in the mode that is called `delete`."""
    return data[:18] + (b"\2\2" if mode == "wal" else b"\1\1") + data[20:]


def _with_copy(data: bytes, act: Callable[[sqlite3.Connection], Any]) -> tuple[Any, bytes | None]:
    """The result of `act` on a copy of the database in memory, and that copy; None for what failed."""
    if not data or len(data) > LIMIT_BYTES or not hasattr(sqlite3.Connection, "deserialize"):
        return None, None
    mode = _journal_mode(data)
    try:
        # A copy in memory has no journal beside it, and can't be opened in the mode that needs one.
        with _opened(with_journal(data, "delete")) as connection:
            return act(connection), with_journal(connection.serialize(), mode)
    except (sqlite3.Error, sqlite3.Warning, ValueError, OverflowError, MemoryError):
        return None, None


def _journal_mode(data: bytes) -> str:
    return "wal" if data[18:19] == b"\2" else "delete"


@contextlib.contextmanager
def _opened(data: bytes) -> Iterator[sqlite3.Connection]:
    # Python begins no transaction of its own where the level is None: VACUUM can't run in one.
    connection = sqlite3.connect(":memory:", isolation_level=None)
    try:
        connection.deserialize(data)
        connection.text_factory = lambda raw: raw.decode("utf-8", "surrogateescape")
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, 2 * CELL_LIMIT_BYTES)
        connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 1)
        connection.setlimit(sqlite3.SQLITE_LIMIT_EXPR_DEPTH, 100)
        left = STEPS_LIMIT // _STEPS_AT_ONCE

        def is_over() -> int:
            nonlocal left
            left -= 1
            return int(left < 0)

        connection.set_progress_handler(is_over, _STEPS_AT_ONCE)
        connection.execute("PRAGMA trusted_schema = OFF")
        connection.execute("PRAGMA cell_size_check = ON")
        connection.execute("PRAGMA temp_store = MEMORY")
        connection.set_authorizer(_allow)
        yield connection
    finally:
        connection.close()


def _allow(action: int, *details: str | None) -> int:
    """Refuse what reaches another file, except that VACUUM attaches a nameless one of its own."""
    is_other = action in _FORBIDDEN and details[0] not in ("", None, "vacuum_db")
    return sqlite3.SQLITE_DENY if is_other else sqlite3.SQLITE_OK


def _contents(connection: sqlite3.Connection) -> tuple[tuple[Rows, ...], Schema] | None:
    entries = connection.execute("SELECT type, name, sql FROM sqlite_master ORDER BY type, name").fetchall()
    virtual = [name for _, name, sql in entries if (sql or "").upper().lstrip().startswith("CREATE VIRTUAL")]
    tables: list[Rows] = []
    left = ROWS_LIMIT
    for kind, name, _ in entries:
        is_shadow = any(name.startswith(f"{other}_") for other in virtual)
        if kind != "table" or name.startswith("sqlite_") or name in virtual or is_shadow:
            continue
        rows = _rows(connection, name, left)
        left -= len(rows.cells)
        if left < 0:
            return None
        tables.append(rows)
    schema = tuple((kind, name, " ".join((sql or "").split())) for kind, name, sql in entries)
    return tuple(tables), schema


def _rows(connection: sqlite3.Connection, name: str, left: int) -> Rows:
    told = connection.execute(f"PRAGMA table_xinfo({quoted(name)})").fetchall()
    # The last of its columns says whether one is made of others; such a one can't be set.
    columns = tuple(row[1] for row in told if row[6] == 0)
    wanted = ", ".join(quoted(column) for column in columns)
    keys = [row[1].lower() for row in told]
    free = next((key for key in ("rowid", "_rowid_", "oid") if key not in keys), None)
    if free is not None:
        with contextlib.suppress(sqlite3.OperationalError):
            found = connection.execute(
                f"SELECT {free}, {wanted} FROM {quoted(name)} ORDER BY {free} LIMIT {left + 1}"  # noqa: S608
            ).fetchall()
            return Rows(name, columns, tuple(row[0] for row in found), tuple(row[1:] for row in found))
    found = connection.execute(f"SELECT {wanted} FROM {quoted(name)} LIMIT {left + 1}").fetchall()  # noqa: S608
    return Rows(name, columns, (), tuple(found))
