"""One transaction on a SQLite index, towards the next generation. Every row gets its check here.

It is one class, and a long one, because every method changes the same totals, which the last one writes.
"""

from __future__ import annotations

import os
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence
from functools import cache
from types import NoneType
from typing import Any

import msgspec
from msgspec.structs import replace

from satchel.code_facts import FileEdges, ScipUses
from satchel.storage import records, term_blocks
from satchel.storage.block_postings import block_check, pack_directory
from satchel.storage.checked_rows import (
    CHECK_COLUMNS,
    FILE_COLUMNS,
    SKIPPED_COLUMNS,
    STORED_COLUMNS,
    edges_check,
    file_row,
)
from satchel.storage.checks import (
    Totals,
    blob_check,
    damaged,
    meta_check,
    name_hash,
    read_totals,
    row_check,
    rows_are_as_written,
    rows_check,
    sum_checks,
)
from satchel.storage.file_table import FILES_PER_BLOCK, pack_block
from satchel.storage.records import FileRecord, PackedFile, PostingRun, RetiredChunk, SkippedRecord
from satchel.storage.shared_base import BASE, leave_base
from satchel.storage.sqlite_reader import SqliteSnapshot
from satchel.storage.sqlite_schema import SCHEMA
from satchel.types import FileEntry

_CONTENT_TABLES = (
    "files",
    "file_blocks",
    "contents",
    "outlines",
    "facts",
    "edges",
    "chunks",
    "symbols",
    "symbol_names",
    "segments",
    "directories",
    "blocks",
    "skipped",
    "history",
    "kept",
    "dropped_runs",
)
_FILE_ROW = f"number, {FILE_COLUMNS}, {CHECK_COLUMNS}, row_check"  # in the order in which values are put
_MOST_WAITING = 128  # files
_COUNTERS = ("next_file", "next_chunk", "next_unit", "next_segment", "next_block")


@cache
def _insertion(table: str, columns: str, count: int) -> str:
    """Return the statement that adds a row of so many values to a table."""
    into = f"main.{table} ({columns})" if columns else f"main.{table}"
    return f"INSERT INTO {into} VALUES ({', '.join('?' * count)})"


class SqliteWriter:
    """An open write transaction. Rows of an older schema (`unchecked`) lack checks of now: they are cleared,
    and never read."""

    def __init__(
        self, connection: sqlite3.Connection, *, first: bool = False, unchecked: bool = False
    ) -> None:
        self._connection = connection
        self._unchecked = unchecked
        meta = dict(connection.execute("SELECT key, value FROM meta"))
        if first or unchecked:
            self._totals = read_totals(meta.get("totals", "{}"))
        else:
            check = meta.pop("check", "")
            if not check or check != meta_check(meta, connection.execute(SCHEMA.format("main"))):
                raise damaged("what it says of itself")
            self._totals = read_totals(meta["totals"])
        if unchecked:
            self._totals.retired = self._retired_sum()
        self._next_file, self._next_chunk, self._next_unit, self._next_run, self._next_block = (
            int(meta.get(key, 1)) for key in _COUNTERS
        )
        self._names: Counter[bytes] = Counter()  # how many symbols more, or less, have a name
        self._all_known = connection.execute("SELECT 1 FROM files LIMIT 1").fetchone() is None
        # The number of each file that this writer put, and the check of its row of edges. Where they are
        # all files there are, no other has to be looked for.
        self._put: dict[str, tuple[int, int]] = {}
        self._changed_blocks: set[int] = set()  # of the packed rows of files
        # The rows of files that were put, by table, until somebody reads: added for 128 files at once, those
        # of Django took .56 to .70 s instead of .68 to .84.
        self._waiting: dict[str, list[tuple[Any, ...]]] = defaultdict(list)

    @property
    def snapshot(self) -> SqliteSnapshot:
        self._add_waiting()
        return SqliteSnapshot(self._connection, self._totals)

    def has_base(self) -> bool:
        """Return whether the index rests on a file that others may share."""
        statement = "SELECT 1 FROM meta WHERE key = ?"
        return self._connection.execute(statement, (BASE,)).fetchone() is not None

    def next_run(self) -> int:
        self._next_run += 1
        return self._next_run - 1

    def _add_waiting(self) -> None:
        """Add the rows that wait to their tables."""
        for table, rows in self._waiting.items():
            self._insert(table, rows, _FILE_ROW if table == "files" else "")
        self._waiting.clear()

    def put_file(self, record: FileRecord, packed: PackedFile) -> int:
        # Long, because the rows of a file, their checks and the totals are made of the same values.
        self.drop_file(record.path)
        first, first_unit = self._next_chunk, self._next_unit
        self._next_chunk += len(packed.chunks)
        self._next_unit += packed.unit_count
        number = self._next_file
        self._next_file += 1
        self._changed_blocks.add(number // FILES_PER_BLOCK)
        chunks = [
            (at, number, kind, title, level, start, end, offset, bytes.fromhex(digest))
            for at, (kind, title, level, start, end, offset, digest) in enumerate(packed.chunks, first)
        ]
        symbols = [(number, position, *symbol) for position, symbol in enumerate(packed.symbols)]
        stored = replace(
            record,
            first_chunk=first,
            chunk_count=len(packed.chunks),
            first_unit=first_unit,
            unit_count=packed.unit_count,
        )
        checks = (
            blob_check(packed.text, packed.extras),
            blob_check(packed.outline, packed.vectors),
            rows_check(chunks),
            rows_check(symbols),
            blob_check(packed.facts),
        )
        row = (number, *file_row(stored), *checks)
        check = row_check(*row)
        self._count(check, (chunk[0] for chunk in packed.chunks), (item[0] for item in packed.symbols))
        edges = self._count_edges(number, b"", b"")
        waiting = self._waiting
        waiting["files"].append((*row, check))
        waiting["outlines"].append((number, packed.outline, packed.vectors))
        waiting["contents"].append((number, packed.text, packed.extras))
        waiting["facts"].append((number, packed.facts))
        waiting["edges"].append(edges)
        waiting["chunks"] += chunks
        waiting["symbols"] += [(*symbol, row_check(first, *symbol)) for symbol in symbols]
        self._put[record.path] = number, edges[1]
        if len(waiting["files"]) >= _MOST_WAITING:
            self._add_waiting()
        return first_unit

    def _insert(self, table: str, rows: Sequence[tuple[Any, ...]], columns: str = "") -> None:
        """Add rows to a table, with values for all its columns or for those that are named."""
        if rows:
            self._connection.executemany(_insertion(table, columns, len(rows[0])), rows)

    def touch_file(self, entry: FileEntry, settled: bool) -> None:
        stored = self.snapshot.stored(entry.path)
        if stored is None:
            return
        record = replace(
            stored.record,
            mtime_ns=entry.mtime_ns,
            ctime_ns=entry.ctime_ns,
            inode=entry.inode,
            settled=settled,
        )
        check = row_check(stored.number, *file_row(record), *stored[3:])
        self._totals.files += check - stored.row_check
        self._changed_blocks.add(stored.number // FILES_PER_BLOCK)
        for table in ("files", "kept"):  # it is in one of them
            self._connection.execute(
                f"UPDATE main.{table} SET mtime_ns = ?, ctime_ns = ?, inode = ?, settled = ?, row_check = ?"
                " WHERE number = ?",
                (entry.mtime_ns, entry.ctime_ns, entry.inode, settled, check, stored.number),
            )

    def drop_file(self, path: str) -> None:
        if self._put.pop(path, None) is None and self._all_known:
            return
        snapshot = self.snapshot
        stored = snapshot.stored(path)
        if stored is None:
            return
        chunks, symbols = snapshot.chunks(path), snapshot.symbols(path)
        self._count(
            stored.row_check, (item.kind.value for item in chunks), (item.name for item in symbols), -1
        )
        number, first, count = stored.number, stored.record.first_chunk, stored.record.chunk_count
        self._changed_blocks.add(number // FILES_PER_BLOCK)
        self._totals.edges -= self._sum_of("edges", "file", [number])
        self._connection.execute(
            "DELETE FROM main.chunks WHERE number >= ? AND number < ?", (first, first + count)
        )
        for table in ("symbols", "edges", "facts", "contents", "outlines"):
            self._connection.execute(f"DELETE FROM main.{table} WHERE file = ?", (number,))
        for table in ("files", "kept"):
            self._connection.execute(f"DELETE FROM main.{table} WHERE number = ?", (number,))

    def _count(self, check: int, kinds: Iterable[str], names: Iterable[str], sign: int = 1) -> None:
        """Add a file to the totals, or take it out of them with a `sign` of -1."""
        totals = self._totals
        totals.files += sign * check
        for kind, count in Counter(kinds).items():
            totals.kinds[kind] = totals.kinds.get(kind, 0) + sign * count
        for name, count in Counter(map(records.fold, names)).items():
            totals.symbols += sign * count
            self._names[name] += sign * count

    def put_edges(self, path: str, edges: FileEdges, consulted: Collection[str]) -> None:
        self._add_waiting()
        number, check = self._put.get(path) or self._stored_edges(path)
        self._totals.edges -= check
        row = self._count_edges(number, records.pack_consulted(consulted), records.pack_edges(path, edges))
        self._connection.execute("INSERT OR REPLACE INTO main.edges VALUES (?, ?, ?, ?, ?)", row)
        self._put[path] = number, row[1]

    def _stored_edges(self, path: str) -> tuple[int, int]:
        """Return the number of a file and the check of its row of edges."""
        known = self._connection.execute(
            "SELECT path, number, edges.row_check FROM files JOIN edges ON file = number WHERE path = ?",
            (path,),
        ).fetchone()
        if known is None and self.snapshot.stored(path) is None:
            raise KeyError(path)
        if known is None or known[0] != path or sum_checks(known[1:]) < 0:
            raise damaged("a row of edges")
        return known[1], known[2]

    def _count_edges(self, number: int, consulted: bytes, data: bytes) -> tuple[Any, ...]:
        """Return a row of edges, and add it to the totals."""
        data_check = blob_check(data, start=number)
        check = edges_check(number, data_check, consulted)
        self._totals.edges += check
        return number, check, data_check, consulted, data

    def put_scip(self, path: str, file_hash: str, uses: ScipUses) -> None:
        data = records.pack_scip(uses)
        data_check = blob_check(data)
        check = row_check(path, data_check, file_hash)
        self._totals.scip += check - self._sum_of("scip", "path", [path])
        self._connection.execute(
            "INSERT OR REPLACE INTO scip VALUES (?, ?, ?, ?, ?)", (path, check, data_check, file_hash, data)
        )

    def drop_scip(self) -> None:
        self._connection.execute("DELETE FROM scip")
        self._totals.scip = 0

    def put_run(self, run: PostingRun, rows: Iterable[tuple[str, bytes]]) -> None:
        number = run.number
        parts = run.files, run.lengths, run.lines, run.vectors
        check = blob_check(*parts, start=number)
        self._totals.segments += check
        self._insert("segments", [(number, check, *parts)])
        first_block = self._next_block
        first_terms = []
        for first_term, data in term_blocks.blocks(rows):
            self._insert("blocks", [(self._next_block, block_check(number, self._next_block, data), data)])
            first_terms.append(first_term)
            self._next_block += 1
        directory = pack_directory(first_block, first_terms)
        self._insert("directories", [(number, blob_check(directory, start=number), directory)])

    def drop_run(self, number: int) -> None:
        row = self._connection.execute(
            "SELECT row_check FROM segments WHERE number = ?", (number,)
        ).fetchone()
        if row is None:
            return
        first, count = self.snapshot.block_range(number)
        self._totals.segments -= row[0]
        self._connection.execute("DELETE FROM main.segments WHERE number = ?", (number,))
        self._connection.execute("DELETE FROM main.directories WHERE segment = ?", (number,))
        self._connection.execute(
            "DELETE FROM main.blocks WHERE number >= ? AND number < ?", (first, first + count)
        )
        if self.has_base():
            self._insert("dropped_runs", [(number,)])

    def retire(self, chunks: Sequence[RetiredChunk]) -> None:
        if not chunks:
            return
        rows = [
            (
                bytes.fromhex(item.digest),
                item.path,
                records.join_title(item.title_path),
                bytes.fromhex(item.file_hash),
                item.place,
                bytes.fromhex(item.successor),
            )
            for item in chunks
        ]
        latest = {row[0]: row for row in rows}
        self._totals.retired -= self._sum_of("retired", "digest", list(latest))
        self._totals.retired += sum(row_check(*row) for row in latest.values())
        self._connection.executemany(
            "INSERT OR REPLACE INTO retired (digest, path, title, file_hash, place, successor, row_check)"
            " VALUES (?, ?, ?, ?, ?, ?, ?)",
            [(*row, row_check(*row)) for row in rows],
        )
        (last,) = self._connection.execute("SELECT max(number) FROM retired").fetchone()
        beyond = (last - records.RETIRED_LIMIT,)
        (dropped,) = self._connection.execute(
            "SELECT sum(row_check) FROM retired WHERE number <= ?", beyond
        ).fetchone()
        if type(dropped) not in (int, NoneType):
            raise damaged("the list of ended ids")
        self._totals.retired -= dropped or 0
        self._connection.execute("DELETE FROM retired WHERE number <= ?", beyond)

    def put_skipped(self, skipped: Sequence[SkippedRecord]) -> None:
        rows = [
            (item.skipped.path, item.skipped.reason.value, item.skipped.detail, *item.stamp)
            for item in skipped
        ]
        latest = {row[0]: row for row in rows}
        self._totals.skipped -= self._sum_of("skipped", "path", list(latest))
        self._totals.skipped += sum(row_check(*row) for row in latest.values())
        self._connection.executemany(
            f"INSERT OR REPLACE INTO skipped ({SKIPPED_COLUMNS}, row_check) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            [(*row, row_check(*row)) for row in latest.values()],
        )

    def drop_skipped(self, paths: Sequence[str]) -> None:
        self._totals.skipped -= self._sum_of("skipped", "path", list(dict.fromkeys(paths)))
        self._connection.executemany("DELETE FROM skipped WHERE path = ?", [(path,) for path in paths])

    def _sum_of(self, table: str, column: str, keys: Sequence[Any]) -> int:
        """Return the sum of the checks of the rows that have one of these keys."""
        statement = f"SELECT row_check FROM {table} WHERE {column} = ?"
        found = (self._connection.execute(statement, (key,)).fetchone() for key in keys)
        total = sum_checks(row[0] for row in found if row is not None)
        if total < 0:
            raise damaged(f"a row of {table}")
        return total

    def put_history(self, data: bytes) -> None:
        self._totals.history = blob_check(data)
        self._connection.execute("DELETE FROM main.history")
        self._insert("history", [(data,)])  # also an empty one, in place of that of a base

    def set_meta(self, values: dict[str, str]) -> None:
        self._connection.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", list(values.items()))

    def clear(self) -> None:
        """Drop everything but the counters, because numbers are never used twice, and the SCIP documents. The
        ids that end are remembered."""
        if self._unchecked:
            self._retire_unchecked()
        else:
            snapshot = self.snapshot
            ended = [
                item
                for record in sorted(snapshot.files(), key=lambda record: record.first_chunk)
                for item in records.retired_chunks(record, snapshot.chunks(record.path))
            ]
            self.retire(ended[-records.RETIRED_LIMIT :])
        leave_base(self._connection)
        for table in _CONTENT_TABLES:
            self._connection.execute(f"DELETE FROM {table}")
        self._connection.execute("DELETE FROM meta WHERE key NOT IN ('generation', 'identity')")
        self._names.clear()
        self._put.clear()
        self._changed_blocks.clear()
        self._all_known = True
        self._unchecked = False
        self._totals = Totals(retired=self._totals.retired, scip=self._totals.scip)

    def _retire_unchecked(self) -> None:
        """Retire the ids of an index that lacks checks of now. An ended id that has a check keeps it."""
        self._connection.execute(
            "INSERT OR REPLACE INTO retired (digest, path, title, file_hash, place)"
            " SELECT digest, path, title, file_hash, CASE count(*) OVER (PARTITION BY file, title)"
            " WHEN 1 THEN 0 ELSE row_number() OVER (PARTITION BY file, title ORDER BY chunks.number) END"
            " FROM chunks JOIN files ON files.number = file ORDER BY chunks.number DESC LIMIT ?",
            (records.RETIRED_LIMIT,),
        )
        self._connection.execute(
            "UPDATE retired SET row_check = row_check(digest, path, title, file_hash, place, successor)"
            " WHERE row_check = 0"
        )
        self._totals.retired = self._retired_sum()

    def _retired_sum(self) -> int:
        return int(self._connection.execute("SELECT sum(row_check) FROM retired").fetchone()[0] or 0)

    def count_generation(self) -> None:
        """Write the number, the marks and the totals of this generation. Called once, before the commit."""
        self._add_waiting()
        self._count_names()
        self._pack_files()
        meta = dict(self._connection.execute("SELECT key, value FROM meta WHERE key <> 'check'"))
        numbers = self._next_file, self._next_chunk, self._next_unit, self._next_run, self._next_block
        changed = {
            "identity": meta.get("identity") or os.urandom(16).hex(),  # tells it from another in its place
            "generation": str(int(meta.get("generation", 0)) + 1),
            # a number may be given twice: the generation that had it first went with a log that was lost
            "mark": os.urandom(8).hex(),
            "totals": msgspec.json.encode(self._totals).decode(),
            **{key: str(number) for key, number in zip(_COUNTERS, numbers, strict=True)},
        }
        check = meta_check({**meta, **changed}, self._connection.execute(SCHEMA.format("main")))
        self.set_meta({**changed, "check": check})

    def _count_names(self) -> None:
        changes: Counter[int] = Counter()
        for name, change in self._names.items():
            changes[name_hash(name)] += change
        rows = sorted((number, change) for number, change in changes.items() if change)
        self._connection.executemany(
            "INSERT INTO main.symbol_names VALUES (?, ?)"
            " ON CONFLICT (hash) DO UPDATE SET count = count + excluded.count",
            rows,
        )
        self._connection.executemany(
            "DELETE FROM main.symbol_names WHERE hash = ? AND count = 0",
            [(number,) for number, change in rows if change < 0],
        )

    def _pack_files(self) -> None:
        """Pack the rows of the files that changed, with those of their blocks."""
        statement = f"SELECT {STORED_COLUMNS} FROM files WHERE number >= ? AND number < ? ORDER BY number"
        for block in sorted(self._changed_blocks):
            first = block * FILES_PER_BLOCK
            rows = self._connection.execute(statement, (first, first + FILES_PER_BLOCK)).fetchall()
            if not rows_are_as_written(rows):  # a check of the block would hide it
                raise damaged("the record of a file")
            self._totals.file_blocks -= self._sum_of("file_blocks", "number", [block])
            self._connection.execute("DELETE FROM file_blocks WHERE number = ?", (block,))
            if rows:
                data = pack_block(rows)
                check = blob_check(data, start=block)
                self._totals.file_blocks += check
                self._insert("file_blocks", [(block, check, data)])
        self._changed_blocks.clear()
