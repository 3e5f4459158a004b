"""How are the tables of one segment in PostgreSQL read, and written?

A reader sees one generation, through the newest view that shows it. A writer sees its own transaction, and
has what waits written before it is read.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any, Protocol

import msgspec
import psycopg

from satchel.errors import IndexStale
from satchel.storage.checks import blob_check, damaged
from satchel.storage.postgres_connection import Connection, Database, View, run
from satchel.storage.postgres_contents import Content, copy_rows, put_contents
from satchel.storage.postgres_schema import SEGMENT_TABLES, table_names


class ReadableTables(Protocol):
    """The tables of one segment. In a statement `{files}` stands for the partition of that table. `of` names
    the table that the answer rests on, and `keys` the rows of it, if they are few."""

    number: int

    def rows(
        self, statement: str, *values: Any, of: str = "", keys: Collection[Any] | None = None
    ) -> list[Any]:
        """Return the rows of a statement."""

    def close(self) -> None:
        """Let the tables go."""


def read_state(data: bytes, check: int, number: int) -> dict[str, str]:
    """Return the values that a generation has as a whole, checked."""
    if blob_check(data, start=number) != check:
        raise damaged("what it says of itself")
    return msgspec.msgpack.decode(data, type=dict[str, str])


class SegmentTables:
    """The tables of one segment at one generation, read through the newest view that shows it."""

    def __init__(self, opened: Database, home: str, name: str) -> None:
        self._database = opened
        self._name = home, name
        self._view: View | None  # none as long as the database cannot be reached, and after the end
        self._view, self.row = opened.open_view(home, name)
        self._is_closed = False
        self.number = self.row.number
        self._tables = table_names(self.row.part)

    def rows(
        self, statement: str, *values: Any, of: str = "", keys: Collection[Any] | None = None
    ) -> list[Any]:
        """Return the rows of a statement, in which `{files}` stands for the partition of that table. Nothing
        waits to be written here, so it does not matter what they are rows of."""
        written = statement.format_map(self._tables)
        view = self._held_view()
        try:
            return run(view.connection, written, values)
        except psycopg.Error as error:
            if not view.connection.closed:
                raise self._database.typed_error(error) from None
        with self._database.typed_errors():
            return run(self._reopened().connection, written, values)

    def _held_view(self) -> View:
        if self._is_closed:
            raise IndexStale("this snapshot is closed", hint="open another one")
        if self._view is None or self._view.process != os.getpid():
            return self._reopened()
        self._view = self._database.newer_view(self._view, *self._name, self.row)
        return self._view

    def _reopened(self) -> View:
        """Return a new view in place of one whose connection broke, if the segment is still the same."""
        self._release()
        self._database = self._database.here()
        self._database.close()
        view, row = self._database.open_view(*self._name)
        if row.mark != self.row.mark:
            self._database.release(view)
            raise IndexStale(
                f"{self._database.shown} was not reachable, and the index was written meanwhile",
                hint="ask again",
            )
        self._view = view
        return view

    def close(self) -> None:
        """Let the view go, for good."""
        self._is_closed = True
        self._release()

    def _release(self) -> None:
        view, self._view = self._view, None
        if view is not None:
            self._database.release(view)


class WriterTables:
    """The tables of the segment of an open transaction. What waits to be written is written before somebody
    reads it."""

    def __init__(self, connection: Connection, number: int, part: int, database: Database) -> None:
        self.number = number
        self._connection = connection
        self._database = database
        self._tables = table_names(part)
        self._write_waiting: Callable[[str, Collection[Any] | None], None] = lambda table, keys: None

    def write_first(self, write_waiting: Callable[[str, Collection[Any] | None], None]) -> None:
        """Call a function before a table is read, with the keys of the rows that are asked for."""
        self._write_waiting = write_waiting

    def rows(
        self, statement: str, *values: Any, of: str = "", keys: Collection[Any] | None = None
    ) -> list[Any]:
        self._write_waiting(of, keys)
        return self.execute(statement, *values)

    def execute(self, statement: str, *values: Any) -> list[Any]:
        """Return the rows of a statement without a look at what waits."""
        with self._database.typed_errors():
            return run(self._connection, statement.format_map(self._tables), values)

    def remove(self, table: str, column: str, keys: Collection[Any]) -> list[int]:
        """Remove the rows that have one of some keys, and return their checks."""
        statement = f"DELETE FROM {{{table}}} WHERE segment = %s AND {column} = ANY(%s) RETURNING row_check"
        return [check for (check,) in self.execute(statement, self.number, list(keys))] if keys else []

    def copy(self, table: str, rows: Iterable[Sequence[Any]]) -> None:
        """Add rows of this segment to a table."""
        columns, types = SEGMENT_TABLES[table]
        with self._database.typed_errors():
            copy_rows(
                self._connection,
                self._tables[table],
                ("segment", *columns.split()),
                f"int4 {types}",
                ((self.number, *row) for row in rows),
            )

    def copy_segment(self, number: int) -> dict[str, str]:
        """Take all rows of the last generation of another segment, and return what that says of itself. One
        statement sees one state of the database, whoever writes meanwhile."""
        ((part,),) = self.execute("SELECT part FROM {segments} WHERE number = %s", number)
        others, steps = table_names(part), []
        for table, (names, _) in SEGMENT_TABLES.items():
            columns = ", ".join(names.split())
            steps.append(
                f"{table} AS (INSERT INTO {self._tables[table]} (segment, {columns})"
                f" SELECT {self.number}, {columns} FROM {others[table]} WHERE segment = {number})"
            )
        last = "SELECT state, row_check FROM {segments} WHERE number = %s"
        ((state, check),) = self.execute(f"WITH {', '.join(steps)} {last}", number)
        meta = read_state(state, check, number)
        del meta["identity"]  # it will differ from its seed
        return meta

    def put_contents(self, contents: dict[bytes, Content]) -> None:
        """Keep contents, which all segments share."""
        put_contents(self._database, contents)

    def close(self) -> None:
        """Do nothing: the connection belongs to the store."""
