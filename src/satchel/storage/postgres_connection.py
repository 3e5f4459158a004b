"""How does a process reach a PostgreSQL database, keep a generation readable, and say what went wrong?

A *view* is a read-only transaction that sees one state of the whole database. The snapshots of all segments
share the newest view, so a process that reads three hundred segments has one transaction open and not three
hundred. A snapshot whose segment has not changed since moves to a newer view by itself, also after the server
was restarted. A view that nobody holds any more ends, because PostgreSQL keeps old rows for its sake.
"""

from __future__ import annotations

import atexit
import os
import re
import selectors
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, NamedTuple, cast

import psycopg
from psycopg import errors
from psycopg.conninfo import make_conninfo

from satchel.errors import (
    ConfigError,
    IndexBusy,
    IndexCorrupt,
    IndexIncompatible,
    IndexMissing,
    IndexStale,
    SatchelError,
    StoreUnreachable,
)
from satchel.storage.checks import REBUILD_HINT
from satchel.storage.postgres_schema import MIGRATIONS, SCHEMA, SCHEMA_VERSION
from satchel.storage.protocol import KEEP_ELSEWHERE, seen_at_this_moment

Connection = psycopg.Connection[tuple[Any, ...]]

# The first number of our advisory locks; the second is that of a segment, or 0.
WRITER_LOCK = 0x5A7C4E1
READER_LOCK = WRITER_LOCK + 1  # shared by readers: whoever removes a segment asks for it alone
CONTENT_LOCK = WRITER_LOCK + 2  # shared by writers: whoever sweeps contents asks for it alone
_MIGRATION_LOCK = WRITER_LOCK + 3
_IDLE_KEPT = 2  # connections that wait for the next call
# What a URL may say otherwise. A server that is there answers in a few milliseconds.
_USUAL = {"connect_timeout": "10", "application_name": "satchel"}
_NO_INDEX = "run `satchel index` in the project, or let a search build it"


class SegmentRow(NamedTuple):
    """The row of a segment: where its rows are, and which generation is the last one."""

    number: int
    part: int
    generation: int
    mark: bytes  # of the generation; no other has it
    row_check: int
    state: bytes


_SEGMENT_ROW = (
    "SELECT number, part, generation, mark, row_check, state{}"
    f" FROM {SCHEMA}.segments WHERE home = %s AND name = %s AND generation > 0"
)
_READ_SEGMENT = _SEGMENT_ROW.format(f", pg_try_advisory_xact_lock_shared({READER_LOCK}, number)")
_READ_SEGMENTS = (
    "SELECT number, part, generation, mark, row_check, state,"
    f" pg_try_advisory_xact_lock_shared({READER_LOCK}, number), home, name FROM {SCHEMA}.segments"
    " JOIN unnest(%s::text[], %s::text[]) AS asked (home, name) USING (home, name) WHERE generation > 0"
)


def run(connection: Connection, statement: str, values: Sequence[Any] = ()) -> list[Any]:
    """Execute a statement and return its rows."""
    cursor = connection.cursor(binary=True)
    cursor.execute(statement.encode(), values or None)
    return cursor.fetchall() if cursor.description else []


def _is_alive(connection: Connection) -> bool:
    """Return whether a connection that waits can be used. A server that ends says so, or closes it: either
    can be read, where nothing is expected."""
    if connection.closed:
        return False
    with selectors.DefaultSelector() as looking:  # select() itself takes no file numbers above 1,023
        looking.register(connection.fileno(), selectors.EVENT_READ)
        return not looking.select(0)


class View:
    """One read-only transaction, and the snapshots that hold it."""

    def __init__(self, connection: Connection) -> None:
        run(connection, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        self.connection = connection
        self.process = os.getpid()
        self.holders = 0
        self._segments: dict[tuple[str, str], SegmentRow | None] = {}

    def segment(self, home: str, name: str) -> SegmentRow | None:
        """Return the row of a segment, or None if it has no generation; nobody removes it meanwhile."""
        key = home, name
        if key not in self._segments:
            found = run(self.connection, _READ_SEGMENT, key)
            self._segments[key] = SegmentRow(*found[0][:6]) if found else None
        return self._segments[key]

    @property
    def segment_keys(self) -> list[tuple[str, str]]:
        """Return the home and name of each segment that was asked for."""
        return list(self._segments)

    def read_segments(self, keys: Sequence[tuple[str, str]]) -> None:
        """Read the rows of segments that will be asked for, by one statement."""
        if len(keys) > 1:
            homes, names = map(list, zip(*keys, strict=True))
            for row in run(self.connection, _READ_SEGMENTS, (homes, names)):
                self._segments[row[7], row[8]] = SegmentRow(*row[:6])

    def known_segment(self, home: str, name: str) -> SegmentRow | None:
        """Return the row of a segment if it was asked for already."""
        return self._segments.get((home, name))

    @property
    def is_usable(self) -> bool:
        """Return whether the transaction is still there, as far as it is known without asking."""
        return self.process == os.getpid() and not self.connection.closed


class Database:
    """The connections of one process to one database. `shown` is how people are told of the database."""

    def __init__(self, conninfo: str, shown: str) -> None:
        self.shown = shown
        self._conninfo = conninfo
        self._idle: list[Connection] = []
        self._newest: View | None = None
        self._has_schema = False
        self._lock = threading.RLock()

    def here(self) -> Database:
        """Return the same database for the process of now, which may be a fork of the one that opened it."""
        return database(self._conninfo, self.shown)

    def connect(self) -> Connection:
        """Return a connection that begins and ends its transactions only when told to."""
        with self._lock:
            while self._idle:
                known = self._idle.pop()
                if _is_alive(known):
                    return known
                known.close()
        with self.typed_errors():
            usual = {key: value for key, value in _USUAL.items() if f"{key}=" not in self._conninfo}
            return psycopg.connect(make_conninfo(self._conninfo, **usual), autocommit=True)

    def give_back(self, connection: Connection) -> None:
        """Take a connection back; what it began and did not finish is undone."""
        with suppress(psycopg.Error):
            if not connection.closed and connection.info.transaction_status:
                connection.rollback()
        with self._lock:
            if connection.closed or len(self._idle) >= _IDLE_KEPT:
                connection.close()
            else:
                self._idle.append(connection)

    @contextmanager
    def connection(self) -> Iterator[Connection]:
        """Lend a connection; what PostgreSQL raises inside is a typed error."""
        with self.typed_errors():
            connection = self.connect()
            try:
                yield connection
            finally:
                self.give_back(connection)

    def rows(self, statement: str, values: Sequence[Any] = ()) -> list[Any]:
        """Return the rows of a statement that is a transaction of its own. A connection that broke while it
        was not used is replaced once."""
        try:
            with self.connection() as connection:
                return run(connection, statement, values)
        except ConfigError:
            self.close()
            with self.connection() as connection:
                return run(connection, statement, values)

    def open_view(self, home: str, name: str) -> tuple[View, SegmentRow]:
        """Return a view of the newest generation of a segment, held by the caller, and the segment's row."""
        with self._lock, self.typed_errors():
            self.require_schema()
            view = self._newest
            # A server that was restarted has ended the view, which its connection tells only when it is used.
            is_there = view is not None and view.is_usable and _is_alive(view.connection)
            if view is None or not is_there or not self._shows_newest(view, home, name):
                view = self._begin_view()
            row = view.segment(home, name)
            if row is None:
                raise IndexMissing(f"there is no index {home!r} in {self.shown}", hint=_NO_INDEX)
            view.holders += 1
            return view, row

    def _shows_newest(self, view: View, home: str, name: str) -> bool:
        known = view.segment(home, name)
        return known is not None and known.mark == self._newest_mark(home, name)

    def _newest_mark(self, home: str, name: str) -> bytes | None:
        seen = seen_at_this_moment()
        if seen is None:
            found = self.rows(_SEGMENT_MARK, (home, name))
            return found[0][0] if found else None
        if self not in seen:
            seen[self] = {(home, name): mark for home, name, mark in self.rows(_ALL_MARKS)}
        marks: Any = seen[self]
        return cast(bytes | None, marks.get((home, name)))

    def _begin_view(self) -> View:
        before, self._newest = self._newest, None
        if before is not None and not before.holders:
            self.give_back(before.connection)
        self._newest = View(self.connect())
        if before is not None:
            self._newest.read_segments(before.segment_keys)
        return self._newest

    def newer_view(self, view: View, home: str, name: str, row: SegmentRow) -> View:
        """Return the newest view in place of an older one, if it shows the same generation of a segment; the
        caller holds it instead. No question is asked for that."""
        newest = self._newest
        if newest is view or newest is None or not newest.is_usable:
            return view
        with self._lock:
            known = newest.known_segment(home, name)
            if known is None or known.mark != row.mark:
                return view
            newest.holders += 1
            self.release(view)
            return newest

    def release(self, view: View) -> None:
        """Let a view go, and end it if nobody else holds it."""
        if view.process != os.getpid():  # of the process that this one was forked from
            return
        with self._lock:
            view.holders -= 1
            if not view.holders:
                if self._newest is view:
                    self._newest = None
                self.give_back(view.connection)

    def has_tables(self) -> bool:
        """Return whether the database has tables of ours, whatever their shape."""
        return self._has_schema or self._schema_version() > 0

    def require_schema(self) -> None:
        """Raise unless the tables have the shape that this version reads."""
        if self._has_schema:
            return
        version = self._schema_version()
        if not version:
            raise IndexMissing(f"there is no index in {self.shown}", hint=_NO_INDEX)
        if version < SCHEMA_VERSION:
            raise IndexStale(
                f"the tables in {self.shown} are of an older Satchel (schema {version})",
                hint="run `satchel index`: it gives them the shape of now",
            )
        self._has_schema = True

    def make_schema(self) -> None:
        """Give the tables the shape of now."""
        if self._has_schema or self._schema_version() == SCHEMA_VERSION:
            self._has_schema = True
            return
        with self.connection() as connection, connection.transaction():
            run(connection, f"SELECT pg_advisory_xact_lock({_MIGRATION_LOCK}, 0)")
            run(connection, f"CREATE SCHEMA IF NOT EXISTS {SCHEMA}")
            for version in range(self._schema_version(connection), SCHEMA_VERSION):
                for statement in MIGRATIONS[version]:
                    run(connection, statement)
                run(connection, f"UPDATE {SCHEMA}.versions SET version = {version + 1}")
        self._has_schema = True

    def _schema_version(self, connection: Connection | None = None) -> int:
        """Return how many steps the tables have gone, or raise if they are of a newer version."""
        ask = self.rows if connection is None else lambda statement: run(connection, statement)
        ((there,),) = ask(f"SELECT to_regclass('{SCHEMA}.versions') IS NOT NULL")
        version = ask(f"SELECT version FROM {SCHEMA}.versions")[0][0] if there else 0
        if version > SCHEMA_VERSION:
            raise IndexIncompatible(
                f"the tables in {self.shown} have schema {version}; known are up to {SCHEMA_VERSION}",
                hint="update Satchel, or keep the index in another database",
            )
        return int(version)

    def close(self) -> None:
        """Close what nobody uses now."""
        with self._lock:
            while self._idle:
                self._idle.pop().close()

    @contextmanager
    def typed_errors(self) -> Iterator[None]:
        """Raise what PostgreSQL raises inside as typed errors."""
        try:
            yield
        except psycopg.Error as error:
            # The original may hold the URL with its password.
            raise self.typed_error(error) from None

    def typed_error(self, error: psycopg.Error) -> SatchelError:
        """Return what an error of PostgreSQL is to a caller."""
        said = (error.diag.message_primary or str(error)).strip().partition("\n")[0]
        if isinstance(error, _BUSY):
            return IndexBusy(f"the index is being written: {said}", hint="try again")
        if isinstance(error, _REFUSED):
            return ConfigError(
                f"the index in {self.shown} cannot be read or written: {said}",
                hint=f"see to room and rights there, {KEEP_ELSEWHERE}",
            )
        if isinstance(
            error, (psycopg.OperationalError, psycopg.InterfaceError, psycopg.ProgrammingError)
        ) and (error.sqlstate is None or error.sqlstate[:2] in _UNREACHABLE):
            return StoreUnreachable(
                f"{self.shown} cannot be used: {self._without_secrets(said)}",
                hint="see whether the server runs and lets you in; the URL is postgresql://user@host:port/database",
            )
        return IndexCorrupt(f"the index cannot be read: {said}", hint=REBUILD_HINT)

    @staticmethod
    def _without_secrets(said: str) -> str:
        """Return a message of the client if it is of a kind that repeats nothing of the URL but its host, its
        user and its database."""
        return said if _TELLS_NO_SECRET.search(said) else "its URL is not understood, or the connection ended"


_ALL_MARKS = f"SELECT home, name, mark FROM {SCHEMA}.segments WHERE generation > 0"
_SEGMENT_MARK = f"SELECT mark FROM {SCHEMA}.segments WHERE home = %s AND name = %s AND generation > 0"
_BUSY = (errors.LockNotAvailable, errors.DeadlockDetected, errors.SerializationFailure)
_REFUSED = (
    errors.InsufficientPrivilege,
    errors.DiskFull,
    errors.ReadOnlySqlTransaction,
    errors.OutOfMemory,
    errors.TooManyConnections,
)
_TELLS_NO_SECRET = re.compile(r"connection to server|translate host name|timeout expired|server closed|FATAL")
_UNREACHABLE = ("08", "28", "3D", "53", "57")  # connection, password, database, resources, shutdown
_databases: dict[tuple[int, str], Database] = {}


def database(conninfo: str, shown: str) -> Database:
    """Return the database of a URL, the same one for all stores of this process."""
    key = os.getpid(), conninfo
    found = _databases.get(key)
    if found is None:
        if not any(process == key[0] for process, _ in _databases):
            atexit.register(_close_all)
        found = _databases[key] = Database(conninfo, shown)
    return found


def _close_all() -> None:
    for (process, _), found in _databases.items():
        if process == os.getpid():
            found.close()
