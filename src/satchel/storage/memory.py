"""An index in memory: `memory:`. The double that tests use, and the store of throw-away questions.

`Tables`, `MemorySnapshot` and `MemoryWriter` know nothing of where the tables come from, so a store that
reads and writes them as a whole can be made of them. The file is long because it has all of a store: nothing
but these tables joins its parts.
"""

from __future__ import annotations

import os
import threading
import time
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from msgspec import structs

from satchel.code_facts import FileEdges, FileFacts, ScipUses, references_of
from satchel.errors import IndexMissing
from satchel.parsed import Parsed
from satchel.storage import records
from satchel.storage.cross_uses import CrossUses
from satchel.storage.deflate import crc32
from satchel.storage.protocol import LAST_LINE, EnoughSymbols, Extent, Snapshot, StoreScheme, TermRows
from satchel.storage.records import (
    ChunkRecord,
    FileRecord,
    Outline,
    PackedFile,
    PostingRun,
    RetiredChunk,
    SkippedRecord,
    SymbolRecord,
)
from satchel.types import FileEntry, Reference, Symbol


@dataclass
class Tables:
    """One generation of an index. A writer works on a copy, so a snapshot never sees it change."""

    identity: str = ""  # of the index; every generation of it has the same
    generation: int = 0
    next_chunk: int = 1
    next_unit: int = 1
    next_run: int = 1
    meta: dict[str, str] = field(default_factory=dict)
    files: dict[str, tuple[FileRecord, PackedFile]] = field(default_factory=dict)
    edges: dict[str, tuple[bytes, bytes]] = field(default_factory=dict)  # packed, with the paths consulted
    scip: dict[str, tuple[str, bytes]] = field(default_factory=dict)  # hash of the content, packed uses
    runs: dict[int, tuple[PostingRun, dict[str, bytes]]] = field(default_factory=dict)
    skipped: dict[str, SkippedRecord] = field(default_factory=dict)
    retired: dict[str, RetiredChunk] = field(default_factory=dict)
    history: bytes = b""

    def copy(self) -> Tables:
        """Return tables that can be changed without changing these."""
        return replace(
            self,
            meta=dict(self.meta),
            files=dict(self.files),
            edges=dict(self.edges),
            scip=dict(self.scip),
            runs=dict(self.runs),
            skipped=dict(self.skipped),
            retired=dict(self.retired),
        )

    @classmethod
    def first(cls, seed: Snapshot | None) -> Tables:
        """Return the tables that a first generation starts from: a copy of the seed's, or empty ones."""
        tables = seed.tables.copy() if isinstance(seed, MemorySnapshot) else cls()
        tables.identity = os.urandom(8).hex()
        return tables


class MemorySnapshot:
    """One generation of a memory store."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    @property
    def tables(self) -> Tables:
        """Return the tables, for another store to start from."""
        return self._tables

    @property
    def generation(self) -> int:
        return self._tables.generation

    @property
    def version(self) -> str:
        return f"{self._tables.identity}:{self.generation}"

    def meta(self) -> dict[str, str]:
        return dict(self._tables.meta)

    def files(self, known: Sequence[FileRecord] = ()) -> Sequence[FileRecord]:
        return [self._tables.files[path][0] for path in sorted(self._tables.files)]

    def forget_files(self) -> None:
        """Do nothing: the records are the index itself."""

    def file_languages(self) -> dict[str, str]:
        return {record.path: record.language for record in self.files()}

    def file(self, path: str) -> FileRecord | None:
        entry = self._tables.files.get(path)
        return entry[0] if entry else None

    def file_with_content(self, file_hash: str, language: str) -> FileRecord | None:
        for record in self.files():
            if record.file_hash == file_hash and record.language == language:
                return record
        return None

    def text(self, path: str) -> str:
        return records.unpack_text(self._tables.files[path][1].text)

    def encoded_text(self, path: str) -> bytes:
        return records.unpack_encoded_text(self._tables.files[path][1].text)

    def chunks(self, path: str, first_line: int = 1, last_line: int = LAST_LINE) -> list[ChunkRecord]:
        if path not in self._tables.files:
            return []
        record, packed = self._tables.files[path]
        chunks = (
            records.chunk_record(row, record.first_chunk + position, path)
            for position, row in enumerate(packed.chunks)
        )
        return [item for item in chunks if item.start_line <= last_line and item.end_line >= first_line]

    def chunks_by_number(self, numbers: Sequence[int]) -> list[ChunkRecord]:
        wanted = set(numbers)
        found = {}
        for record, _ in self._tables.files.values():
            if wanted.intersection(range(record.first_chunk, record.first_chunk + record.chunk_count)):
                found.update({chunk.number: chunk for chunk in self.chunks(record.path)})
        return [found[number] for number in numbers if number in found]

    def chunks_by_digest(self, digest: str) -> list[ChunkRecord]:
        return [
            chunk
            for path in sorted(self._tables.files)
            for chunk in self.chunks(path)
            if chunk.digest.startswith(digest)
        ]

    def parsed(self, path: str) -> Parsed:
        packed = self._tables.files[path][1]
        references, comments = records.unpack_extras(packed.extras)
        return records.parsed_from(
            self.text(path),
            self.chunks(path),
            self.symbols(path),
            references,
            comments,
            records.unpack_facts(packed.facts),
        )

    def outlines(self, paths: Sequence[str]) -> list[tuple[Outline, bytes]]:
        found = [self._tables.files[path][1] for path in paths]
        return [(records.unpack_outline(packed.outline), packed.vectors) for packed in found]

    def living(self, first_units: Sequence[int]) -> set[int]:
        starts = {record.first_unit for record, _ in self._tables.files.values() if record.unit_count}
        return starts.intersection(first_units)

    def references(self, path: str) -> tuple[Reference, ...]:
        packed = self._tables.files[path][1]
        return records.unpack_extras(packed.extras)[0] or references_of(records.unpack_facts(packed.facts))

    def facts(self, path: str) -> FileFacts:
        return records.unpack_facts(self._tables.files[path][1].facts)

    def edges(self, paths: Sequence[str]) -> list[FileEdges]:
        return [records.unpack_edges(self._tables.edges[path][0]) for path in paths]

    def cross_uses(self) -> CrossUses:
        paths = [record.path for record in self.files()]
        parts = [records.used_part(path, self._tables.edges[path][0]) for path in paths]
        return CrossUses.of_parts(paths, parts)

    def edges_mark(self, path: str) -> int:
        return crc32(self._tables.edges[path][0])

    def consulting(self, keys: Collection[str]) -> list[str]:
        wanted = set(map(records.key_hash, keys))
        kept = self._tables.edges.items()
        return sorted(path for path, (_, data) in kept if wanted.intersection(records.unpack_consulted(data)))

    def scip_documents(self) -> dict[str, str]:
        return {path: file_hash for path, (file_hash, _) in self._tables.scip.items()}

    def scip_uses(self, path: str) -> ScipUses:
        return records.unpack_scip(self._tables.scip[path][1])

    def symbols(self, path: str) -> list[Symbol]:
        entry = self._tables.files.get(path)
        return [records.symbol(row) for row in entry[1].symbols] if entry else []

    def symbols_named(self, name: str) -> list[SymbolRecord]:
        folded = records.fold(name)
        return [item for item in self.all_symbols() if records.fold(item.symbol.name) == folded]

    def symbols_named_many(
        self, names: Sequence[str], enough: EnoughSymbols | None = None
    ) -> dict[str, list[SymbolRecord]]:
        return {name: self.symbols_named(name) for name in names}

    def symbol_names(self, prefix: str, limit: int) -> list[str]:
        folded = records.fold(prefix)
        names = {item.symbol.name for item in self.all_symbols()}
        return sorted(
            (name for name in names if records.fold(name).startswith(folded)),
            key=lambda name: (records.fold(name), name),
        )[:limit]

    def symbol_count(self) -> int:
        return sum(len(packed.symbols) for _, packed in self._tables.files.values())

    def kind_counts(self) -> dict[str, int]:
        rows = (row[0] for _, packed in self._tables.files.values() for row in packed.chunks)
        return dict(sorted(Counter(rows).items()))

    def all_symbols(self) -> Iterable[SymbolRecord]:
        for path in sorted(self._tables.files):
            for symbol in self.symbols(path):
                yield SymbolRecord(path, symbol)

    def run_sizes(self) -> dict[int, int]:
        return {item.number: item.unit_count for item in self.posting_runs()}

    def posting_runs(self) -> list[PostingRun]:
        return [self._tables.runs[number][0] for number in sorted(self._tables.runs)]

    def posting_run(self, number: int) -> PostingRun:
        return self._tables.runs[number][0]

    def postings_many(self, terms: Sequence[str]) -> dict[str, TermRows]:
        runs = sorted(self._tables.runs.items())
        return {term: [(number, rows[term]) for number, (_, rows) in runs if term in rows] for term in terms}

    def run_terms(self, run: int) -> Iterable[tuple[str, bytes]]:
        return sorted(self._tables.runs[run][1].items())

    def terms(self, prefix: str, limit: int) -> list[str]:
        found = {term for _, rows in self._tables.runs.values() for term in rows if term.startswith(prefix)}
        return sorted(found)[:limit]

    def skipped(self, paths: Sequence[str] | None = None) -> list[SkippedRecord]:
        wanted = self._tables.skipped if paths is None else self._tables.skipped.keys() & set(paths)
        return [self._tables.skipped[path] for path in sorted(wanted)]

    def extent(self) -> Extent:
        stamps = [(record.size, record.mtime_ns) for record in self.files()]
        stamps += [(item.size, item.mtime_ns) for item in self._tables.skipped.values() if item.size >= 0]
        latest = max((mtime_ns for _, mtime_ns in stamps), default=0)
        return Extent(len(stamps), latest, sum(size for size, _ in stamps))

    def retired(self, digest: str) -> list[RetiredChunk]:
        return [item for key, item in self._tables.retired.items() if key.startswith(digest)]

    def history(self) -> bytes:
        return self._tables.history

    def close(self) -> None:
        """Do nothing: tables hold nothing open."""


class MemoryWriter:
    """A transaction on a copy of the tables."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    @property
    def snapshot(self) -> MemorySnapshot:
        return MemorySnapshot(self._tables)

    def next_run(self) -> int:
        self._tables.next_run += 1
        return self._tables.next_run - 1

    def put_file(self, record: FileRecord, packed: PackedFile) -> int:
        tables = self._tables
        stored = structs.replace(
            record,
            first_chunk=tables.next_chunk,
            chunk_count=len(packed.chunks),
            first_unit=tables.next_unit,
            unit_count=packed.unit_count,
        )
        tables.next_chunk += stored.chunk_count
        tables.next_unit += stored.unit_count
        tables.files[record.path] = (stored, packed)
        tables.edges[record.path] = (b"", b"")
        return stored.first_unit

    def touch_file(self, entry: FileEntry, settled: bool) -> None:
        record, packed = self._tables.files[entry.path]
        times = {"mtime_ns": entry.mtime_ns, "ctime_ns": entry.ctime_ns, "inode": entry.inode}
        self._tables.files[entry.path] = (structs.replace(record, settled=settled, **times), packed)

    def drop_file(self, path: str) -> None:
        self._tables.files.pop(path, None)
        self._tables.edges.pop(path, None)

    def put_edges(self, path: str, edges: FileEdges, consulted: Collection[str]) -> None:
        if path not in self._tables.files:
            raise KeyError(path)
        self._tables.edges[path] = (records.pack_edges(path, edges), records.pack_consulted(consulted))

    def put_scip(self, path: str, file_hash: str, uses: ScipUses) -> None:
        self._tables.scip[path] = (file_hash, records.pack_scip(uses))

    def drop_scip(self) -> None:
        self._tables.scip.clear()

    def put_run(self, run: PostingRun, rows: Iterable[tuple[str, bytes]]) -> None:
        self._tables.runs[run.number] = (run, dict(rows))

    def drop_run(self, number: int) -> None:
        self._tables.runs.pop(number, None)

    def retire(self, chunks: Sequence[RetiredChunk]) -> None:
        for chunk in chunks:
            self._tables.retired.pop(chunk.digest, None)
            self._tables.retired[chunk.digest] = chunk
        for digest in list(self._tables.retired)[: -records.RETIRED_LIMIT]:
            del self._tables.retired[digest]

    def put_skipped(self, skipped: Sequence[SkippedRecord]) -> None:
        self._tables.skipped.update({item.skipped.path: item for item in skipped})

    def drop_skipped(self, paths: Sequence[str]) -> None:
        for path in paths:
            self._tables.skipped.pop(path, None)

    def put_history(self, data: bytes) -> None:
        self._tables.history = data

    def set_meta(self, values: dict[str, str]) -> None:
        self._tables.meta.update(values)

    def clear(self) -> None:
        for record in self.snapshot.files():
            self.retire(records.retired_chunks(record, self.snapshot.chunks(record.path)))
        self._tables.files.clear()
        self._tables.edges.clear()
        self._tables.runs.clear()
        self._tables.skipped.clear()
        self._tables.history = b""
        self._tables.meta.clear()


class MemoryStore:
    """A store that ends with its process."""

    location = ":memory:"
    scratch = None
    file = None

    def __init__(self) -> None:
        self._tables: Tables | None = None
        self._written: float | None = None
        self._lock = threading.Lock()
        self._siblings = MemorySiblings()

    def exists(self) -> bool:
        return self._tables is not None

    def last_written(self) -> float | None:
        return self._written

    def size_bytes(self) -> int:
        return 0

    def is_locked(self) -> bool:
        return self._lock.locked()

    def snapshot(self, known: Snapshot | None = None) -> MemorySnapshot:
        if self._tables is None:
            raise IndexMissing("there is no index yet", hint="call refresh() first")
        return MemorySnapshot(self._tables)

    @contextmanager
    def write(self, seed: Snapshot | None = None) -> Iterator[MemoryWriter]:
        with self._lock:
            tables = self._tables.copy() if self._tables is not None else Tables.first(seed)
            yield MemoryWriter(tables)
            tables.generation += 1
            self._tables, self._written = tables, time.time()

    def set_aside(self) -> str:
        self._tables = None
        return self.location

    def known_parses(self, signature: str) -> None:
        return None

    def remove(self) -> None:
        self._tables = None

    def siblings(self) -> MemorySiblings:
        return self._siblings

    def beside(self, name: str) -> MemoryStore:
        return MemoryStore()

    def close(self) -> None:
        """Do nothing: the tables stay readable."""


class MemorySiblings:
    """Stores in memory, in the order of their use. Whoever has one that is removed keeps it."""

    def __init__(self) -> None:
        self._stores: dict[str, MemoryStore] = {}

    def open(self, name: str) -> MemoryStore:
        return self._stores.setdefault(name, MemoryStore())

    def names(self) -> list[str]:
        return [name for name in reversed(self._stores) if self._stores[name].exists()]

    def mark_used(self, name: str) -> None:
        self._stores[name] = self._stores.pop(name)

    def remove(self, name: str) -> None:
        self._stores.pop(name, None)


def _open(place: str, lock_wait_seconds: float) -> MemoryStore:
    """Return a new store. Writers of one process wait for each other without a limit."""
    return MemoryStore()


STORE = StoreScheme("memory", _open, is_shared=False)
