"""The smallest store that lasts: all tables of an index in one pickled file. `toy:/folder/` or `toy:/folder/index.toy`.

It is here to show that a store is one file: dropped into `src/satchel/storage/` it would work as it is.
"""

from __future__ import annotations

import os
import pickle
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import filelock

from satchel.errors import ConfigError, IndexBusy, IndexCorrupt, IndexMissing
from satchel.storage.memory import MemorySnapshot, MemoryWriter, Tables
from satchel.storage.protocol import Snapshot, StoreScheme

_CHECK_BYTES = 4  # of the CRC-32 before the tables


class ToyStore:
    """A store of one file. Every snapshot reads all of it, so nobody can take it from a reader."""

    def __init__(self, path: Path, lock_wait_seconds: float, scratch: Path | None = None) -> None:
        self._path = path
        self._lock_wait_seconds = lock_wait_seconds
        self._scratch = scratch or path.parent

    @property
    def location(self) -> str:
        return f"toy:{self._path}"

    @property
    def scratch(self) -> Path:
        return self._scratch

    @property
    def file(self) -> Path:
        return self._path

    def exists(self) -> bool:
        return self._path.exists()

    def last_written(self) -> float | None:
        return self._path.stat().st_mtime if self.exists() else None

    def size_bytes(self) -> int:
        return self._path.stat().st_size if self.exists() else 0

    def is_locked(self) -> bool:
        try:
            with filelock.FileLock(self._path.with_suffix(".lock"), timeout=0):
                return False
        except filelock.Timeout:
            return True

    def snapshot(self, known: Snapshot | None = None) -> MemorySnapshot:
        return MemorySnapshot(self._read())

    @contextmanager
    def write(self, seed: Snapshot | None = None) -> Iterator[MemoryWriter]:
        with self._locked():
            tables = self._read() if self.exists() else Tables.first(seed)
            yield MemoryWriter(tables)
            tables.generation += 1
            data = pickle.dumps(tables)
            partial = self._path.with_suffix(".part")
            partial.write_bytes(zlib.crc32(data).to_bytes(_CHECK_BYTES, "big") + data)
            os.replace(partial, self._path)

    def set_aside(self) -> str:
        aside = self._path.with_suffix(".unusable")
        os.replace(self._path, aside)
        return aside.name

    def known_parses(self, signature: str) -> None:
        return None

    def remove(self) -> None:
        self._path.unlink(missing_ok=True)

    def siblings(self) -> ToySiblings:
        return ToySiblings(self._path.parent / "toys", self._lock_wait_seconds, self._scratch)

    def beside(self, name: str) -> ToyStore:
        return ToyStore(self._path.with_name(f"{name}.toy"), self._lock_wait_seconds, self._scratch)

    def close(self) -> None:
        pass

    def _read(self) -> Tables:
        try:
            stored = self._path.read_bytes()
        except FileNotFoundError:
            raise IndexMissing(
                f"there is no index at {self._path.name}", hint="run `satchel index`"
            ) from None
        check, data = stored[:_CHECK_BYTES], stored[_CHECK_BYTES:]
        if zlib.crc32(data).to_bytes(_CHECK_BYTES, "big") != check:
            raise IndexCorrupt(f"{self._path.name} is not as it was written", hint="run `satchel index`")
        tables = pickle.loads(data)
        assert isinstance(tables, Tables)
        return tables

    @contextmanager
    def _locked(self) -> Iterator[None]:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        try:
            with filelock.FileLock(self._path.with_suffix(".lock"), timeout=self._lock_wait_seconds):
                yield
        except filelock.Timeout:
            raise IndexBusy("another process is indexing", hint="try again") from None


class ToySiblings:
    """Files in a folder; their times say when they were last used."""

    def __init__(self, folder: Path, lock_wait_seconds: float, scratch: Path) -> None:
        self._folder = folder
        self._lock_wait_seconds = lock_wait_seconds
        self._scratch = scratch

    def open(self, name: str) -> ToyStore:
        return ToyStore(self._folder / f"{name}.toy", self._lock_wait_seconds, self._scratch)

    def names(self) -> list[str]:
        paths = sorted(self._folder.glob("*.toy"), key=lambda path: -path.stat().st_mtime_ns)
        return [path.stem for path in paths]

    def mark_used(self, name: str) -> None:
        os.utime(self._folder / f"{name}.toy")

    def remove(self, name: str) -> None:
        (self._folder / f"{name}.toy").unlink(missing_ok=True)


def _open(place: str, lock_wait_seconds: float) -> ToyStore:
    if not place:
        raise ConfigError("this URL names no file", hint="write toy:/folder/index.toy")
    return ToyStore(Path(place, "index.toy") if place.endswith("/") else Path(place), lock_wait_seconds)


STORE = StoreScheme("toy", _open)
