"""An index in one SQLite file: `sqlite:///folder/context.db`, or just the path of a folder.

One writer at a time, held apart by a lock file; readers open the file read-only and so can
neither write nor checkpoint. (SQLite up to 3.51.2 can corrupt a WAL database when two connections
write or checkpoint at once.) The very first generation is written to a file of its own that is
renamed when complete; later ones are a WAL transaction each. One that starts from another index
shares a file with it (`storage.shared_base`). Killing the writer at any instant
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
from satchel.file_writing import make_folder, unusable_folder
from satchel.storage.checks import REBUILD_HINT
from satchel.storage.protocol import KEEP_ELSEWHERE, LOCK_WAIT_SECONDS, Snapshot, StoreScheme
from satchel.storage.shared_base import BASE, attach_base, show_base
from satchel.storage.sqlite_connection import (
    CommitWatch,
    base_file,
    connect,
    connect_read_only,
    database_files,
    drop_indexes,
    is_file_locked,
    remove_database,
    remove_unused,
    shorten_log,
    typed_error,
    typed_errors,
)
from satchel.storage.sqlite_reader import SqliteSnapshot
from satchel.storage.sqlite_schema import READABLE_SCHEMA, SCHEMA_VERSION, migrate, user_version
from satchel.storage.sqlite_writer import SqliteWriter

APPLICATION_ID = 0x5A7C4E1  # marks the file as ours
INDEX_FILE = "context.db"  # in a folder that was given
REFS_FOLDER = "refs"  # beside it: the indexes of other commits
_TIMES_REPLACED = 3  # that an index may be built anew while it is opened
_REMOVE_LINK = "remove it, or use --index-dir DIR"
_CACHE_KIB = 16_384  # page cache of the writer: it mostly appends, and a larger one saves no time


class SqliteStore:
    """The store of one SQLite file. `scratch` is the folder of the file unless another is given."""

    def __init__(
        self,
        path: Path,
        *,
        lock: Path | None = None,
        scratch: Path | None = None,
        lock_wait_seconds: float = LOCK_WAIT_SECONDS,
    ) -> None:
        self.path = path
        # A lock file is never removed: of two that wait, one would hold the old file and one the new.
        self._lock_path = lock or path.with_suffix(".lock")
        self._scratch = scratch or path.parent
        self._lock_wait_seconds = lock_wait_seconds

    @property
    def location(self) -> str:
        return str(self.path)

    @property
    def scratch(self) -> Path:
        return self._scratch

    @property
    def file(self) -> Path:
        return self.path

    def exists(self) -> bool:
        return self.path.exists()

    def last_written(self) -> float | None:
        times = []
        for file in database_files(self.path)[:2]:  # the third changes with every reader
            with suppress(OSError):
                times.append(file.stat().st_mtime)
        return max(times, default=None)

    def size_bytes(self) -> int:
        own = os.path.getsize(self.path) if self.path.is_file() else 0
        with suppress(OSError):
            base = base_file(self.path).stat()
            # What others have too takes no room here.
            return own + (base.st_size if base.st_nlink == 1 else 0)
        return own

    def is_locked(self) -> bool:
        return is_file_locked(self._lock_path)

    def snapshot(self, known: Snapshot | None = None) -> SqliteSnapshot:
        if not isinstance(known, SqliteSnapshot) or known.watch is None:
            return self._newest()
        if known.watch.sees_no_commit():
            return known
        latest = self._newest()
        if latest.version == known.version:
            known.watch.confirm()
        return latest

    def _newest(self) -> SqliteSnapshot:
        self._refuse_links()
        self._refuse_folder()
        if not self.exists():
            raise IndexMissing(
                f"there is no index at {self.path.name}",
                hint="run `satchel index` in the project, or let a search build it",
            )
        for _ in range(_TIMES_REPLACED):
            with typed_errors():
                connection = connect_read_only(self.path)
            try:
                with typed_errors():
                    snapshot, base = self._read(connection)
                    if snapshot.meta().get(BASE, "") == base:
                        return snapshot
            except SatchelError:
                connection.close()  # an open file cannot be set aside on Windows
                raise
            snapshot.close()
        raise IndexBusy("the index is being replaced", hint="try again")

    def _read(self, connection: sqlite3.Connection) -> tuple[SqliteSnapshot, str]:
        """Return the last generation, and the base that the generation a moment before was resting on."""
        self._check_version(connection)
        self._refuse_older(connection)
        base = attach_base(connection, self.path)
        connection.execute("BEGIN")
        show_base(connection, base)
        return SqliteSnapshot(connection, watch=CommitWatch(self.path)), base

    @contextmanager
    def write(self, seed: Snapshot | None = None) -> Iterator[SqliteWriter]:
        with self.locked():
            self._refuse_folder()
            if self.exists():
                with self._transaction(self.path) as (writer, connection):
                    yield writer
                    self._commit(writer, connection)
                return
            start = seed if isinstance(seed, SqliteSnapshot) else None
            with (
                self._first_file() as target,
                self._transaction(target, start, first=True) as (
                    writer,
                    connection,
                ),
            ):
                later = [] if start is not None else drop_indexes(connection)
                yield writer
                for statement in later:
                    connection.execute(statement)
                self._commit_first(writer, connection, target)

    def set_aside(self) -> str:
        with self.locked():
            number = 1
            while (aside := self.path.with_name(f"{self.path.name}.unusable-{number}")).exists():
                number += 1
            for old, new in zip(database_files(self.path), database_files(aside), strict=True):
                with suppress(FileNotFoundError):
                    os.replace(old, new)
        return aside.name

    def known_parses(self, signature: str) -> None:
        return None

    def remove(self) -> None:
        if self.exists():
            with suppress(IndexBusy), self.locked():
                remove_unused(self.path)

    def siblings(self) -> SqliteSiblings:
        return SqliteSiblings(self.path.parent / REFS_FOLDER, self._scratch)

    def beside(self, name: str) -> SqliteStore:
        path = self.path.with_name(f"{name}.db")
        return SqliteStore(path, scratch=self._scratch, lock_wait_seconds=self._lock_wait_seconds)

    def close(self) -> None:
        """Do nothing: connections belong to snapshots and writers."""

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the lock of everybody who writes, moves or removes the file."""
        import filelock  # only writers pay for it

        self._refuse_links()
        what = f"the index folder {self.path.parent.name!r}"
        make_folder(self.path.parent, what=what, elsewhere=KEEP_ELSEWHERE)
        lock = filelock.FileLock(str(self._lock_path), timeout=self._lock_wait_seconds)
        try:
            lock.acquire()
        except filelock.Timeout:
            raise IndexBusy(
                f"another process has been indexing for more than {self._lock_wait_seconds:g} s",
                hint="try again when it is done; searches go on with the last complete index",
            ) from None
        except OSError as error:
            raise unusable_folder(error, what=what, elsewhere=KEEP_ELSEWHERE) from error
        try:
            yield
        finally:
            lock.release()

    @contextmanager
    def _first_file(self) -> Iterator[Path]:
        """Give the name under which a first generation is written; it appears by a rename, whole."""
        target = self.path.with_name(self.path.name + ".new")
        remove_database(target)
        for file in database_files(self.path)[1:]:  # of a database that is gone; they would be replayed
            file.unlink(missing_ok=True)
        try:
            yield target
        finally:
            remove_database(target)

    @contextmanager
    def _transaction(
        self, target: Path, seed: SqliteSnapshot | None = None, *, first: bool = False
    ) -> Iterator[tuple[SqliteWriter, sqlite3.Connection]]:
        """Open a transaction on a file whose tables have the shape of now; leaving it commits nothing."""
        with typed_errors():
            connection = connect(target, "mode=rwc")
        try:
            with typed_errors():
                self._configure(connection, target, seed, first=first)
                base = attach_base(connection, target) if seed is not None or not first else ""
                connection.execute("BEGIN IMMEDIATE")
                unchecked = migrate(connection) and not first
                show_base(connection, base)
                writer = SqliteWriter(connection, first=first, unchecked=unchecked)
            yield writer, connection
        except sqlite3.DatabaseError as error:
            raise typed_error(error) from error
        finally:
            connection.close()

    def _configure(
        self, connection: sqlite3.Connection, target: Path, seed: SqliteSnapshot | None, *, first: bool
    ) -> None:
        connection.execute(f"PRAGMA cache_size = -{_CACHE_KIB}")
        if not first:
            self._check_version(connection)
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.execute("PRAGMA wal_autocheckpoint = 0")  # done once, after the commit
            return
        connection.execute("PRAGMA journal_mode = OFF")
        connection.execute("PRAGMA synchronous = OFF")
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        if seed is not None:
            seed.start(connection, target)
            connection.execute("PRAGMA journal_mode = OFF")  # the copy came with its own
            connection.execute("DELETE FROM meta WHERE key = 'identity'")  # it will differ from its seed

    def _commit(self, writer: SqliteWriter, connection: sqlite3.Connection) -> None:
        writer.count_generation()
        connection.execute("COMMIT")
        shorten_log(connection, database_files(self.path)[1])
        if not writer.has_base():
            with suppress(OSError):  # Windows: somebody reads the generation before
                base_file(self.path).unlink(missing_ok=True)

    def _commit_first(self, writer: SqliteWriter, connection: sqlite3.Connection, target: Path) -> None:
        writer.count_generation()
        connection.execute("COMMIT")
        connection.execute("PRAGMA journal_mode = WAL")
        connection.close()
        with open(target, "rb+") as stream:
            os.fsync(stream.fileno())
        with suppress(FileNotFoundError):
            os.replace(base_file(target), base_file(self.path))
        os.replace(target, self.path)

    def _refuse_links(self) -> None:
        """Raise if a file of ours is a link: one may come with a repository and lead out of it."""
        for path in (self.path, self._lock_path):
            if path.is_symlink():
                raise PathNotAllowed(f"{path.name!r} is a link", hint=_REMOVE_LINK)

    def _refuse_folder(self) -> None:
        if self.path.is_dir():
            raise IndexCorrupt(f"{self.path.name} is a folder and not an index", hint=REBUILD_HINT)

    def _check_version(self, connection: sqlite3.Connection) -> None:
        application = connection.execute("PRAGMA application_id").fetchone()[0]
        if application != APPLICATION_ID:
            raise IndexCorrupt(f"{self.path.name} is not a Satchel index", hint=REBUILD_HINT)
        version = user_version(connection)
        if version > SCHEMA_VERSION:
            raise IndexIncompatible(
                f"{self.path.name} has schema {version}; this Satchel knows up to {SCHEMA_VERSION}",
                hint="update Satchel, or let `satchel index` set the file aside and build a new one",
            )

    def _refuse_older(self, connection: sqlite3.Connection) -> None:
        """Raise for an index that lacks checks or tables of now: only a writer mends that."""
        version = user_version(connection)
        if version < READABLE_SCHEMA:
            raise IndexStale(
                f"{self.path.name} was written by an older Satchel (schema {version})",
                hint="run `satchel index`: it indexes all files anew and keeps the ids that have ended",
            )


class SqliteSiblings:
    """The indexes of other commits: files in a folder. Their times say when they were last used."""

    def __init__(self, folder: Path, scratch: Path) -> None:
        self._folder = folder
        self._scratch = scratch

    def open(self, name: str) -> SqliteStore:
        if self._folder.is_symlink():  # it may have come with the repository
            raise PathNotAllowed(f"{self._folder.name!r} is a link", hint=_REMOVE_LINK)
        return self._store(name, LOCK_WAIT_SECONDS)

    def names(self) -> list[str]:
        times = {}
        for path in self._folder.glob("*.db"):
            with suppress(FileNotFoundError):
                times[path.stem] = path.stat().st_mtime_ns
        return sorted(times, key=lambda name: (-times[name], name))

    def mark_used(self, name: str) -> None:
        os.utime(self._folder / f"{name}.db")
        self._remove_leftovers()

    def remove(self, name: str) -> None:
        self._store(name, 0).remove()

    def _store(self, name: str, lock_wait_seconds: float) -> SqliteStore:
        # A few locks serve all: one for each would be left behind for every ref ever asked for.
        return SqliteStore(
            self._folder / f"{name}.db",
            lock=self._folder / f"{name[0]}.lock",
            scratch=self._scratch,
            lock_wait_seconds=lock_wait_seconds,
        )

    def _remove_leftovers(self) -> None:
        """Remove what killed writers left and what was set aside, of whatever commit."""
        for path in self._folder.glob("*.db.*"):
            with suppress(IndexBusy), self._store(path.name.partition(".db")[0], 0).locked():
                path.unlink(missing_ok=True)


def _open(place: str, lock_wait_seconds: float) -> SqliteStore:
    """Return the store of a path, as it stands in a URL: a file, or a folder if it ends with a slash or is
    one. Characters are taken as they are, without escapes."""
    if place.startswith("//"):
        place = place[2:]
        if not place.startswith("/"):
            raise ConfigError(
                "a SQLite index is a file of this machine", hint="write sqlite:///absolute/path/context.db"
            )
        if os.name == "nt" and place[2:3] == ":":  # sqlite:///C:/folder/context.db
            place = place[1:]
    if not place:
        raise ConfigError("this URL names no file", hint="write sqlite:///absolute/path/context.db")
    path = Path(place)
    if place.endswith(("/", os.sep)) or path.is_dir():
        path /= INDEX_FILE
    return SqliteStore(path, lock_wait_seconds=lock_wait_seconds)


STORE = StoreScheme("sqlite", _open)
