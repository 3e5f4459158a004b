"""Where do the indexes of other refs live, and how many are kept? Beside the index of the work tree.

A new one starts as a copy of one that is there already, so that a refresh has only the difference to do. It
is written under another name and renamed when it is complete, as every first index is. The least recently
used ones are removed, but never one that somebody has open.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Protocol

from satchel.errors import IndexBusy, PathNotAllowed, SatchelError
from satchel.storage.memory import MemorySnapshot, MemoryStore
from satchel.storage.protocol import Snapshot, Store
from satchel.storage.sqlite import SqliteStore, address, connect, remove_database
from satchel.storage.sqlite_reader import SqliteSnapshot
from satchel.types import FileEntry

KEPT = 6  # what a review goes back and forth between; one of Django takes 50 MB
FOLDER = "refs"
_LOOKING = 50  # files: parsing so many takes as long as reading every blob of Django
_REMOVED_WHILE_OPEN = os.name != "nt"  # Windows removes no file that is open


class RefIndexes(Protocol):
    """The indexes of one segment at other refs."""

    def store(self, name: str) -> Store:
        """The index of a ref, whether it is there yet or not."""

    def sources(
        self, store: Store, signature: str, files: Sequence[FileEntry]
    ) -> AbstractContextManager[Sequence[Snapshot]]:
        """What is indexed already under this signature. While it is open, a first write of `store` starts
        from what has most of these files."""

    def used(self, store: Store) -> None:
        """Note that an index is used now; those that were not for longest are removed."""

    def drop(self, store: Store) -> None:
        """Remove an index that is of no use, unless somebody still reads it."""


def beside(main: Store) -> RefIndexes:
    """The place for the indexes of other refs that belongs to an index."""
    return SqliteRefIndexes(main) if isinstance(main, SqliteStore) else MemoryRefIndexes(main)


class SqliteRefIndexes:
    """Files in a folder beside the main index. Their times say when they were last used."""

    def __init__(self, main: SqliteStore) -> None:
        self._main = main
        self._folder = main.path.parent / FOLDER

    def store(self, name: str) -> SqliteStore:
        if self._folder.is_symlink():  # it may have come with the repository
            raise PathNotAllowed(f"{FOLDER!r} is a link", hint="remove it, or use --index-dir DIR")
        return self._store(self._folder / f"{name}.db")

    @contextmanager
    def sources(
        self, store: Store, signature: str, files: Sequence[FileEntry]
    ) -> Iterator[Sequence[Snapshot]]:
        assert isinstance(store, SqliteStore)
        others = [self._store(path) for path in self._by_use() if path != store.path]
        with ExitStack() as stack:
            found = list(_readable((*others, self._main), signature, stack))
            seeds = [item for item in found if isinstance(item, SqliteSnapshot)]
            store.seed = max(seeds, key=lambda seed: _likeness(seed, files), default=None)
            try:
                yield found
            finally:
                store.seed = None

    def used(self, store: Store) -> None:
        assert isinstance(store, SqliteStore)
        with suppress(OSError, SatchelError):  # in a folder that may not be written nothing is removed either
            os.utime(store.path)
            self._sweep()
            others = [path for path in self._by_use() if path != store.path]
            for path in others[KEPT - 1 :]:
                self.drop(self._store(path))

    def drop(self, store: Store) -> None:
        assert isinstance(store, SqliteStore)
        if store.exists():
            with suppress(IndexBusy), self._store(store.path, wait=False).locked():
                _remove_unused(store.path)

    def _store(self, path: Path, *, wait: bool = True) -> SqliteStore:
        """A few locks serve all: one for each would be left behind for every ref ever asked for."""
        lock = self._folder / f"{path.name[0]}.lock"
        return SqliteStore(path, lock=lock) if wait else SqliteStore(path, lock=lock, lock_wait_seconds=0)

    def _by_use(self) -> list[Path]:
        times = {}
        for path in self._folder.glob("*.db"):
            with suppress(FileNotFoundError):
                times[path] = path.stat().st_mtime_ns
        return sorted(times, key=lambda path: (-times[path], path.name))

    def _sweep(self) -> None:
        """What a killed writer left, and what was set aside, of whatever ref."""
        for path in self._folder.glob("*.db.*"):
            name = path.name.partition(".db")[0]
            with suppress(IndexBusy), self._store(self._folder / f"{name}.db", wait=False).locked():
                path.unlink(missing_ok=True)


class MemoryRefIndexes:
    """Stores in memory, in the order of their use."""

    def __init__(self, main: Store) -> None:
        self._main = main
        self._stores: dict[str, MemoryStore] = {}

    def store(self, name: str) -> MemoryStore:
        found = self._stores.pop(name, None) or MemoryStore()
        self._stores[name] = found
        return found

    @contextmanager
    def sources(
        self, store: Store, signature: str, files: Sequence[FileEntry]
    ) -> Iterator[Sequence[Snapshot]]:
        assert isinstance(store, MemoryStore)
        others = [other for other in reversed(self._stores.values()) if other is not store]
        with ExitStack() as stack:
            found = list(_readable((*others, self._main), signature, stack))
            seeds = [item for item in found if isinstance(item, MemorySnapshot)]
            store.seed = max(seeds, key=lambda seed: _likeness(seed, files), default=None)
            try:
                yield found
            finally:
                store.seed = None

    def used(self, store: Store) -> None:
        for name in list(self._stores)[:-KEPT]:  # who has one of these keeps it
            del self._stores[name]

    def drop(self, store: Store) -> None:
        store.set_aside()


def _readable(stores: Sequence[Store], signature: str, stack: ExitStack) -> Iterator[Snapshot]:
    """Those that hold what an index of this signature would; one that cannot be read is no help."""
    for store in stores:
        with suppress(SatchelError):
            snapshot = store.snapshot()
            stack.callback(snapshot.close)
            if snapshot.meta().get("signature") == signature:
                yield snapshot


def _likeness(snapshot: Snapshot, files: Sequence[FileEntry]) -> int:
    """How many files a refresh would keep. A size that is the same counts where no time is, as in the index
    of a work tree: it costs a look at the content of every file."""
    stamps = {record.path: (record.size, record.mtime_ns) for record in snapshot.files()}
    sizes = {path: size for path, (size, _) in stamps.items()}
    kept = sum(stamps.get(entry.path) == (entry.size, entry.mtime_ns) for entry in files)
    return max(kept, sum(sizes.get(entry.path) == entry.size for entry in files) - _LOOKING)


def _remove_unused(path: Path) -> None:
    """Remove an index that nobody has open. SQLite tells: only the last connection can leave WAL mode."""
    if not path.is_file():
        return
    connection = connect(f"file:{address(path)}?mode=rw")
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
