"""An index in one SQLite file.

One writer at a time, held apart by a lock file; readers open the file read-only and so can
neither write nor checkpoint. (SQLite up to 3.51.2 can corrupt a WAL database when two connections
write or checkpoint at once.) The very first generation is written to a file of its own that is
renamed when complete; later ones are a WAL transaction each. Killing the writer at any instant
leaves the last complete generation.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from satchel.errors import (
    ConfigError,
    IndexBusy,
    IndexCorrupt,
    IndexIncompatible,
    IndexMissing,
    IndexStale,
    PathNotAllowed,
    SatchelError,
)
from satchel.file_writing import disk_trouble
from satchel.storage.checks import REBUILD_HINT, row_check
from satchel.storage.migrations import CHECKED_SCHEMA, MIGRATIONS, SCHEMA_VERSION
from satchel.storage.sqlite_reader import KEEP_ELSEWHERE, UNREADABLE, SqliteSnapshot, typed
from satchel.storage.sqlite_writer import SqliteWriter

APPLICATION_ID = 0x5A7C4E1  # marks the file as ours
_LOCK_WAIT_SECONDS = 20.0  # longer than almost every refresh; a first index of a huge tree says busy
_LOG_BYTES = 4 * 1024 * 1024  # a longer write-ahead log is moved into the database
_LONG_LOG_BYTES = 8 * _LOG_BYTES  # from here on readers are waited for, so that it can begin anew
_LOG_WAIT_MS = 200  # for readers, most of whom are done by then
_CACHE_KIB = 16_384  # page cache of the writer: it mostly appends, and a larger one saves no time


class SqliteStore:
    """The store behind `_ctx/context.db`."""

    def __init__(
        self, path: Path, *, lock: Path | None = None, lock_wait_seconds: float = _LOCK_WAIT_SECONDS
    ) -> None:
        self.path = path
        self.lock_path = lock or path.with_suffix(".lock")  # stays: removing it would split those who wait
        self.seed: SqliteSnapshot | None = None  # what a first generation starts from
        self.lock_wait_seconds = lock_wait_seconds
        self._later: list[tuple[str, str]] = []  # indexes of a first build, made when all rows are there
        self._unchecked = False  # the file that is being written came from a schema without checks

    @property
    def location(self) -> str:
        return str(self.path)

    def exists(self) -> bool:
        return self.path.exists()

    def snapshot(self) -> SqliteSnapshot:
        """The last complete generation. It stays readable while a writer works on the next."""
        self._refuse_links()
        self._refuse_folder()
        if not self.exists():
            raise IndexMissing(
                f"there is no index at {self.path.name}",
                hint="run `satchel index` in the project, or let a search build it",
                next_actions=[{"tool": "index", "args": {}, "reason": "build the index"}],
            )
        with _typed_errors():
            connection = self._open_read_only()
        try:
            with _typed_errors():
                self._check_version(connection)
                self._refuse_unchecked(connection)
                connection.execute("BEGIN")
                return SqliteSnapshot(connection)
        except SatchelError:
            connection.close()  # an open file cannot be set aside on Windows
            raise

    @contextmanager
    def write(self) -> Iterator[SqliteWriter]:
        """One transaction. A first index appears by a rename, so nobody ever sees half of it."""
        with self.locked():
            self._refuse_folder()
            target = self.path if self.exists() else self.path.with_name(self.path.name + ".new")
            if target != self.path:
                remove_database(target)
                for suffix in ("-wal", "-shm"):  # of a database that is gone; they would be replayed
                    _remove(self.path.with_name(self.path.name + suffix))
            first = target != self.path
            with _typed_errors():
                connection = self._open_writable(target, first=first)
            try:
                with _typed_errors():
                    connection.execute("BEGIN IMMEDIATE")
                    self._bring_up_to_date(connection, first=first)
                    writer = SqliteWriter(connection, first=first, unchecked=self._unchecked)
                yield writer
                for _, statement in self._later:
                    connection.execute(statement)
                self._later = []
                writer.count_generation()
                connection.execute("COMMIT")
                self._publish(connection, target)
            except sqlite3.DatabaseError as error:
                raise typed(error) from error
            finally:
                connection.close()
                if target != self.path:
                    remove_database(target)

    def set_aside(self) -> str:
        """Move a file that cannot be used out of the way; nothing is deleted."""
        with self.locked():
            number = 1
            while (aside := self.path.with_name(f"{self.path.name}.unusable-{number}")).exists():
                number += 1
            for suffix in ("", "-wal", "-shm"):
                with suppress(FileNotFoundError):
                    os.replace(f"{self.path}{suffix}", f"{aside}{suffix}")
        return aside.name

    def close(self) -> None:
        """Connections belong to snapshots and writers; the store itself holds none."""

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Held by whoever writes, moves or removes the file."""
        import filelock  # only writers pay for it

        self._refuse_links()
        make_folder(self.path.parent)
        lock = filelock.FileLock(str(self.lock_path), timeout=self.lock_wait_seconds)
        try:
            lock.acquire()
        except filelock.Timeout:
            raise IndexBusy(
                f"another process has been indexing for more than {self.lock_wait_seconds:g} s",
                hint="try again when it is done; searches go on with the last complete index",
            ) from None
        except OSError as error:
            raise _unusable_folder(self.path.parent, error) from error
        try:
            yield
        finally:
            lock.release()

    def _refuse_links(self) -> None:
        """A repository may come with links of our names: they are not followed out of it."""
        for path in (self.path, self.lock_path):
            if path.is_symlink():
                raise PathNotAllowed(f"{path.name!r} is a link", hint="remove it, or use --index-dir DIR")

    def _refuse_folder(self) -> None:
        if self.path.is_dir():
            raise IndexCorrupt(f"{self.path.name} is a folder and not an index", hint=REBUILD_HINT)

    def _open_read_only(self) -> sqlite3.Connection:
        uri = f"file:{address(self.path)}"
        try:
            connection = connect(f"{uri}?mode=ro")
            connection.execute("SELECT 1 FROM sqlite_master").fetchone()
            return connection
        except sqlite3.OperationalError:
            if os.access(self.path.parent, os.W_OK):
                raise
            return connect(f"{uri}?immutable=1")  # a read-only disk: nobody can be writing

    def _open_writable(self, target: Path, *, first: bool) -> sqlite3.Connection:
        connection = connect(f"file:{address(target)}?mode=rwc")
        connection.execute(f"PRAGMA cache_size = -{_CACHE_KIB}")
        if first:
            connection.execute("PRAGMA journal_mode = OFF")
            connection.execute("PRAGMA synchronous = OFF")
            connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            if self.seed is not None:
                self.seed.copy_to(connection)
                connection.execute("PRAGMA journal_mode = OFF")  # the copy came with its own
                connection.execute("DELETE FROM meta WHERE key = 'identity'")  # it will differ from its seed
        else:
            self._check_version(connection)
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.execute("PRAGMA wal_autocheckpoint = 0")  # done once, after the commit
        return connection

    def _bring_up_to_date(self, connection: sqlite3.Connection, *, first: bool) -> None:
        """Give the file the shape of now, inside the transaction: who is killed leaves the old shape."""
        connection.create_function("row_check", -1, row_check, deterministic=True)
        self._unchecked = not first and _user_version(connection) < CHECKED_SCHEMA
        for version in range(_user_version(connection), SCHEMA_VERSION):
            for statement in MIGRATIONS[version]:
                connection.execute(statement)
            connection.execute(f"PRAGMA user_version = {version + 1}")
        if (
            first and self.seed is None
        ):  # sorting an index once is quicker than keeping it sorted while everything is written
            self._later = connection.execute(
                "SELECT name, sql FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL"
            ).fetchall()
            for name, _ in self._later:
                connection.execute(f"DROP INDEX {name}")

    def _publish(self, connection: sqlite3.Connection, target: Path) -> None:
        if target == self.path:
            _shorten_log(connection, self.path.with_name(self.path.name + "-wal"))
            return
        connection.execute("PRAGMA journal_mode = WAL")
        connection.close()
        with open(target, "rb+") as stream:
            os.fsync(stream.fileno())
        os.replace(target, self.path)

    def _check_version(self, connection: sqlite3.Connection) -> None:
        application = connection.execute("PRAGMA application_id").fetchone()[0]
        if application != APPLICATION_ID:
            raise IndexCorrupt(f"{self.path.name} is not a Satchel index", hint=REBUILD_HINT)
        version = _user_version(connection)
        if version > SCHEMA_VERSION:
            raise IndexIncompatible(
                f"{self.path.name} has schema {version}; this Satchel knows up to {SCHEMA_VERSION}",
                hint="update Satchel, or let `satchel index` set the file aside and build a new one",
            )

    def _refuse_unchecked(self, connection: sqlite3.Connection) -> None:
        """Whatever an index without checks says may be damaged: only who writes brings it up to date."""
        version = _user_version(connection)
        if version < CHECKED_SCHEMA:
            raise IndexStale(
                f"{self.path.name} was written by an older Satchel (schema {version}), without checks",
                hint="run `satchel index`: it indexes all files anew and keeps the ids that have ended",
            )


@contextmanager
def _typed_errors() -> Iterator[None]:
    try:
        yield
    except UNREADABLE as error:
        raise typed(error) from error


def make_folder(folder: Path) -> None:
    """The folder of an index, or a typed error that names the way out."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _unusable_folder(folder, error) from error


def _unusable_folder(folder: Path, error: OSError) -> ConfigError:
    what = f"the index folder {folder.name!r}"
    return disk_trouble(error, what, KEEP_ELSEWHERE) or ConfigError(
        f"{what} cannot be written: {error.strerror}", hint=KEEP_ELSEWHERE
    )


def connect(uri: str) -> sqlite3.Connection:
    """A connection that begins and ends its transactions only when told to."""
    return sqlite3.connect(uri, uri=True, isolation_level=None, timeout=5.0, check_same_thread=False)


def address(path: Path) -> str:
    """A path inside a `file:` address: what would end it or start an option is escaped."""
    escaped = path.absolute().as_posix()
    for character in "%?#":
        escaped = escaped.replace(character, f"%{ord(character):02x}")
    return escaped


def _shorten_log(connection: sqlite3.Connection, log: Path) -> None:
    """Move a long log into the database. Where readers overlap there is never a moment without one, and the
    log would grow for ever: a very long one is worth a short wait for those who read the oldest part."""
    size = log.stat().st_size if log.exists() else 0
    if size > _LOG_BYTES:
        connection.execute("PRAGMA wal_checkpoint(PASSIVE)")  # never waits for a reader
    if size > _LONG_LOG_BYTES:
        connection.execute(f"PRAGMA busy_timeout = {_LOG_WAIT_MS}")
        connection.execute("PRAGMA wal_checkpoint(RESTART)").fetchone()  # says busy if it was in vain


def _user_version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def remove_database(path: Path) -> None:
    """A database file and what SQLite keeps beside it."""
    for suffix in ("", "-wal", "-shm"):
        _remove(path.with_name(path.name + suffix))


def _remove(path: Path) -> None:
    with suppress(FileNotFoundError):
        path.unlink()
