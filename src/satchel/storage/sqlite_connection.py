"""How is a SQLite file opened, read, kept small and removed, and what do its errors mean to a caller?"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from satchel.errors import ConfigError, IndexBusy, IndexCorrupt, SatchelError
from satchel.storage.checked_rows import RUN_COLUMNS
from satchel.storage.checks import REBUILD_HINT
from satchel.storage.protocol import KEEP_ELSEWHERE

# What a broken page raises, also while SQLite words its message.
UNREADABLE = (sqlite3.Error, UnicodeDecodeError, OverflowError)
_DISK_TROUBLE = ("SQLITE_FULL", "SQLITE_IOERR", "SQLITE_READONLY", "SQLITE_CANTOPEN", "SQLITE_PERM")
_BESIDE = ("", "-wal", "-shm", "-base")  # the database, what SQLite keeps beside it, and what it rests on
_LOG_BYTES = 4 * 1024 * 1024  # a longer write-ahead log is moved into the database
_LONG_LOG_BYTES = 8 * _LOG_BYTES  # from here on readers are waited for, so that it can begin anew
_LOG_WAIT_MS = 200  # for readers, most of whom are done by then
# What a reader keeps of pages. A library has a reader for each repository, and SQLite's own 2 MB for each of
# 300 would be 600 MB; the system keeps the pages anyway.
_READER_KIB = 256
_READER_STATEMENTS = 32  # a prepared statement takes about 6 KB
_VALUES_PER_QUERY = 512  # SQLite allows 999 variables in its oldest builds
_REMOVED_WHILE_OPEN = os.name != "nt"  # Windows removes no file that is open


def connect(path: Path, options: str, statements: int = 128) -> sqlite3.Connection:
    """Return a connection that begins and ends its transactions only when told to; `options` as in a URL. It
    keeps so many prepared statements."""
    return sqlite3.connect(
        file_url(path, options),
        uri=True,
        isolation_level=None,
        timeout=5.0,
        check_same_thread=False,
        cached_statements=statements,
    )


def connect_read_only(path: Path) -> sqlite3.Connection:
    """Return a connection that can neither write nor checkpoint."""
    try:
        connection = connect(path, "mode=ro", _READER_STATEMENTS)
        connection.execute(f"PRAGMA cache_size = -{_READER_KIB}")
        connection.execute("SELECT 1 FROM sqlite_master").fetchone()
        return connection
    except sqlite3.OperationalError:
        if os.access(path.parent, os.W_OK):
            raise
        return connect(path, "immutable=1")  # a read-only disk: nobody can be writing


class CommitWatch:
    """Tells whether the newest generation of a file is still the one that was confirmed. That takes a
    fiftieth of opening the file, which a library would do for all its repositories at every question."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._connection: sqlite3.Connection | None = None  # in no transaction; opened by the first look
        self._cursor: sqlite3.Cursor | None = None  # of that connection
        self._seen: tuple[int, int, int] | None = None
        self._confirmed: tuple[int, int, int] | None = None

    def sees_no_commit(self) -> bool:
        """Look at the file, and return whether it is as it was confirmed."""
        self._seen = self._look()
        return self._seen is not None and self._seen == self._confirmed

    def confirm(self) -> None:
        """Remember the file as the last look saw it."""
        self._confirmed = self._seen

    def close(self) -> None:
        """Close the file."""
        if self._connection is not None:
            self._connection.close()
            self._connection = self._cursor = None

    def _look(self) -> tuple[int, int, int] | None:
        try:
            if self._connection is None or self._cursor is None:
                self._connection = connect(self._path, "mode=ro", statements=1)
                self._cursor = self._connection.cursor()
            ((commits,),) = self._cursor.execute("PRAGMA data_version").fetchall()
            # A connection does not notice that another file has taken the place of its own.
            found = os.stat(self._path)
            return found.st_dev, found.st_ino, commits
        except (OSError, *UNREADABLE):
            self.close()
            return None


class SqliteTables:
    """The tables behind one connection. A page that turns out to be broken is a typed error, wherever it is
    met."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.connection = connection
        self._cursor = connection.cursor()  # one for all: a connection remembers hundreds of former ones

    def one(self, statement: str, *values: Any) -> Any:
        """Return the first row, or None."""
        found = self.rows(statement, values)
        return found[0] if found else None

    def rows(self, statement: str, values: Sequence[Any] = ()) -> list[Any]:
        """Return all rows."""
        try:
            return self._cursor.execute(statement, values).fetchall()
        except UNREADABLE as error:
            raise typed_error(error) from error

    def rows_of(self, statement: str, values: Sequence[Any]) -> Iterator[Any]:
        """Yield the rows of a statement with `{}` for a list of any number of values."""
        for start in range(0, len(values), _VALUES_PER_QUERY):
            some = list(values[start : start + _VALUES_PER_QUERY])
            # As many as a power of two: each number of values is a statement to prepare and to keep.
            some += some[-1:] * ((1 << (len(some) - 1).bit_length()) - len(some))
            yield from self.rows(statement.format(",".join("?" * len(some))), some)


class SqlitePostingRows:
    """The rows of the posting runs behind one connection."""

    def __init__(self, tables: SqliteTables) -> None:
        self._tables = tables

    def run_sizes(self) -> Sequence[Any]:
        return self._tables.rows(
            "SELECT number, length(lengths) / 4, row_check FROM segments ORDER BY number"
        )

    def runs(self, number: int | None = None) -> Sequence[Any]:
        if number is None:
            return self._tables.rows(f"SELECT {RUN_COLUMNS} FROM segments ORDER BY number")
        return self._tables.rows(f"SELECT {RUN_COLUMNS} FROM segments WHERE number = ?", (number,))

    def directories(self, numbers: Sequence[int]) -> Iterator[Any]:
        statement = "SELECT segment, data, row_check FROM directories WHERE segment IN ({})"
        return self._tables.rows_of(statement, numbers)

    def blocks(self, numbers: Sequence[int]) -> Iterator[Any]:
        return self._tables.rows_of(
            "SELECT number, data, row_check FROM blocks WHERE number IN ({})", numbers
        )


def database_files(path: Path) -> list[Path]:
    """Return the database file and the files that belong to it, whether they are there or not."""
    return [path.with_name(path.name + suffix) for suffix in _BESIDE]


def base_file(path: Path) -> Path:
    """Return the file that the index of a path rests on if it starts from another one."""
    return database_files(path)[-1]


def remove_database(path: Path) -> None:
    """Remove a database file and the files that belong to it."""
    for file in database_files(path):
        file.unlink(missing_ok=True)


def remove_unused(path: Path) -> None:
    """Remove an index that nobody has open. SQLite tells: only the last connection can leave WAL mode."""
    if not path.is_file():
        return
    connection = connect(path, "mode=rw")
    try:
        connection.execute("PRAGMA busy_timeout = 0")
        connection.execute("PRAGMA journal_mode = DELETE")
        connection.execute("PRAGMA locking_mode = EXCLUSIVE")
        connection.execute("BEGIN EXCLUSIVE")
    except sqlite3.OperationalError:
        connection.close()
        return
    except sqlite3.DatabaseError:
        pass  # no database: nobody can read it
    if _REMOVED_WHILE_OPEN:  # whoever waits to open it finds it gone, not half gone
        remove_database(path)
    connection.close()
    with suppress(PermissionError):
        remove_database(path)


def drop_indexes(connection: sqlite3.Connection) -> list[str]:
    """Drop the indexes of empty tables and return what makes them anew: sorting an index once is quicker than
    keeping it sorted while everything is written."""
    found = connection.execute(
        "SELECT name, sql FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL"
    ).fetchall()
    for name, _ in found:
        connection.execute(f"DROP INDEX {name}")
    return [statement for _, statement in found]


def shorten_log(connection: sqlite3.Connection, log: Path) -> None:
    """Move a long log into the database. Where readers overlap there is never a moment without one, and the
    log would grow for ever: a very long one is worth a short wait for those who read the oldest part."""
    size = log.stat().st_size if log.exists() else 0
    if size > _LOG_BYTES:
        connection.execute("PRAGMA wal_checkpoint(PASSIVE)")  # never waits for a reader
    if size > _LONG_LOG_BYTES:
        connection.execute(f"PRAGMA busy_timeout = {_LOG_WAIT_MS}")
        connection.execute("PRAGMA wal_checkpoint(RESTART)").fetchone()  # says busy if it was in vain


def is_file_locked(path: Path) -> bool:
    """Return whether somebody holds a lock file; False where only taking the lock would tell."""
    try:
        import fcntl
    except ImportError:
        return False
    try:
        with open(path, "rb") as stream:
            fcntl.flock(stream, fcntl.LOCK_SH | fcntl.LOCK_NB)
        return False
    except FileNotFoundError:
        return False
    except OSError:
        return True


@contextmanager
def typed_errors() -> Iterator[None]:
    """Raise what SQLite raises inside as typed errors."""
    try:
        yield
    except UNREADABLE as error:
        raise typed_error(error) from error


def typed_error(error: Exception) -> SatchelError:
    """Return what an error of SQLite is to a caller: a broken file, or a disk or folder that refuses."""
    name = getattr(error, "sqlite_errorname", "") or ""
    if name.startswith(_DISK_TROUBLE):
        full = name.startswith("SQLITE_FULL")
        return ConfigError(
            "the index cannot be written: no space is left on its disk"
            if full
            else f"the index cannot be read or written: {error}",
            hint=f"{'make room on that disk' if full else 'see to room and access'}, {KEEP_ELSEWHERE}",
            details={"reason": name},
        )
    if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
        return IndexBusy(f"the index is being written: {error}", hint="try again")
    return IndexCorrupt(f"the index cannot be read: {error}", hint=REBUILD_HINT)


def file_url(path: Path, options: str) -> str:
    """Return the URL by which SQLite opens a file."""
    return f"file:{_escaped(path)}?{options}"


def _escaped(path: Path) -> str:
    """Return a path as it stands in a `file:` URL: what would end it or start an option is escaped."""
    escaped = path.absolute().as_posix()
    if os.name != "nt" and escaped.startswith("//"):  # in a URL, a host would follow
        escaped = escaped[1:]
    for character in "%?#":
        escaped = escaped.replace(character, f"%{ord(character):02x}")
    return escaped
