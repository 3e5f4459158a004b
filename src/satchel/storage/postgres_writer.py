"""One transaction on a segment in PostgreSQL, towards the next generation. Every row gets its check here.

`postgres_waiting_rows.py` keeps rows until they are written together.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from typing import Any

import msgspec
from msgspec.structs import replace

from satchel.code_facts import FileEdges, ScipUses
from satchel.storage import records, term_blocks
from satchel.storage.block_postings import block_check, pack_directory
from satchel.storage.checked_rows import file_row
from satchel.storage.checks import ROW_ENCODER, Totals, blob_check, name_hash, read_totals, row_check
from satchel.storage.postgres_contents import (
    Content,
    FileRow,
    content_of,
    names_of,
    pack_digests,
    read_file_row,
)
from satchel.storage.postgres_reader import PostgresSnapshot
from satchel.storage.postgres_schema import SEGMENT_TABLES
from satchel.storage.postgres_tables import WriterTables
from satchel.storage.postgres_waiting_rows import WAITING_BYTES, WaitingRows, edges_row
from satchel.storage.records import FileRecord, PackedFile, PostingRun, RetiredChunk, SkippedRecord
from satchel.types import FileEntry

_COUNTERS = ("next_file", "next_chunk", "next_unit", "next_segment", "next_block", "next_retired")
_ROWS_ONE_BY_ONE = 50  # of files that are read when they are asked for; then all of them are read
_KEPT_BY_CLEAR = ("scip", "retired")


class _WriterSnapshot(PostgresSnapshot):
    """What a writer has written so far. Where a file is, the writer itself knows."""

    def __init__(self, writer: PostgresWriter) -> None:
        super().__init__(writer.tables, writer.meta, writer.totals)
        self._writer = writer

    def row(self, path: str) -> FileRow | None:
        return self._writer.row(path)


class PostgresWriter:
    """An open write transaction of one segment."""

    def __init__(self, tables: WriterTables, meta: dict[str, str]) -> None:
        self.tables = tables
        self.meta = dict(meta)
        self.totals = read_totals(meta.get("totals", "{}"))
        self.dropped_contents: set[bytes] = set()  # that no file may refer to any more
        self._next = {key: int(meta.get(key, 1)) for key in _COUNTERS}
        self._known: dict[str, FileRow | None] = {}  # the files as they are now, as far as they are known
        self._knows_all = not self.totals.files
        self._asked = 0
        self._waiting = WaitingRows(tables, counts_names_anew=self._knows_all)
        self._retired: dict[bytes, tuple[Any, ...]] = {}  # wait as well, in their order
        tables.write_first(self._write_before_reading)

    @property
    def snapshot(self) -> PostgresSnapshot:
        return _WriterSnapshot(self)

    def _take(self, counter: str, count: int = 1) -> int:
        first = self._next[counter]
        self._next[counter] = first + count
        return first

    def next_run(self) -> int:
        return self._take("next_segment")

    def put_file(self, record: FileRecord, packed: PackedFile) -> int:
        self.drop_file(record.path)
        number = self._take("next_file")
        stored = replace(
            record,
            first_chunk=self._take("next_chunk", len(packed.chunks)),
            chunk_count=len(packed.chunks),
            first_unit=self._take("next_unit", packed.unit_count),
            unit_count=packed.unit_count,
        )
        content, digests = content_of(packed), pack_digests(packed)
        key = content.key
        values = (number, *file_row(stored), *_content_checks(content, digests, number))
        row = FileRow((row_check(*values), *values), key)
        self._known[record.path] = row
        self._waiting.files[number] = _files_row(row, bytes.fromhex(record.file_hash), digests)
        self._waiting.contents[key] = content
        self._waiting.edges[number] = edges_row(number, b"", b"")
        self._waiting.without_edges.add(number)
        for folded, spelled in names_of(packed.symbols).items():
            self._waiting.names.append((folded, number, None if spelled == {folded} else sorted(spelled)))
            self._waiting.name_counts[name_hash(folded)] += 1
        self._count(row, (item[0] for item in packed.chunks), len(packed.symbols))
        self._wait(sum(map(len, content.parts)))
        return stored.first_unit

    def _count(self, row: FileRow, kinds: Iterable[str], symbols: int, sign: int = 1) -> None:
        """Add a file to the totals, or take it out of them with a `sign` of -1."""
        totals = self.totals
        totals.files += sign * row.stored[0]
        totals.symbols += sign * symbols
        for kind, count in Counter(kinds).items():
            totals.kinds[kind] = totals.kinds.get(kind, 0) + sign * count

    def row(self, path: str) -> FileRow | None:
        """Return the row of a file, also of one that waits to be written."""
        if path not in self._known and not self._knows_all:
            self._asked += 1
            if self._asked > _ROWS_ONE_BY_ONE:
                self._read_all_rows()
            else:
                statement = "SELECT row_check, data, content FROM {files} WHERE segment = %s AND path = %s"
                found = self.tables.execute(statement, self.tables.number, path)
                self._known[path] = read_file_row(*found[0]) if found else None
        return self._known.get(path)

    def _read_all_rows(self) -> None:
        statement = "SELECT row_check, data, content FROM {files} WHERE segment = %s"
        for found in self.tables.execute(statement, self.tables.number):
            row = read_file_row(*found)
            self._known.setdefault(row.path, row)
        self._knows_all = True

    def touch_file(self, entry: FileEntry, settled: bool) -> None:
        row = self.row(entry.path)
        if row is None:
            return
        record = replace(
            row.checks.record,
            mtime_ns=entry.mtime_ns,
            ctime_ns=entry.ctime_ns,
            inode=entry.inode,
            settled=settled,
        )
        values = (row.number, *file_row(record), *row.checks[3:])
        check = row_check(*values)
        self.totals.files += check - row.stored[0]
        self._known[entry.path] = FileRow((check, *values), row.content)
        self._waiting.touched[row.number] = check, ROW_ENCODER.encode(values)

    def drop_file(self, path: str) -> None:
        row = self.row(path)
        if row is None:
            return
        if row.number in self._waiting.files:  # put twice by one writer
            self._waiting.write(self.totals)
        snapshot = self.snapshot
        ((_, chunks),) = snapshot.chunks_of([row])
        ((_, symbols),) = snapshot.symbols_of([row])
        self._count(row, (item.kind.value for item in chunks), len(symbols), -1)
        self._known[path] = None
        self._waiting.dropped_files.append(row.number)
        for folded in names_of(symbols):
            self._waiting.dropped_names.append((folded, row.number))
            self._waiting.name_counts[name_hash(folded)] -= 1
        self._waiting.edges.pop(row.number, None)
        self._waiting.touched.pop(row.number, None)
        self.dropped_contents.add(row.content)

    def put_edges(self, path: str, edges: FileEdges, consulted: Collection[str]) -> None:
        row = self.row(path)
        if row is None:
            raise KeyError(path)
        packed = records.pack_edges(path, edges)
        self._waiting.edges[row.number] = edges_row(row.number, records.pack_consulted(consulted), packed)
        self._wait(len(packed))

    def put_scip(self, path: str, file_hash: str, uses: ScipUses) -> None:
        data = records.pack_scip(uses)
        data_check = blob_check(data)
        check = row_check(path, data_check, file_hash)
        self.totals.scip += check - sum(self.tables.remove("scip", "path", [path]))
        self.tables.execute(
            "INSERT INTO {scip} VALUES (%s, %s, %s, %s, %s, %s)",
            self.tables.number,
            path,
            check,
            data_check,
            file_hash,
            data,
        )

    def drop_scip(self) -> None:
        self.tables.execute("DELETE FROM {scip} WHERE segment = %s", self.tables.number)
        self.totals.scip = 0

    def put_run(self, run: PostingRun, rows: Iterable[tuple[str, bytes]]) -> None:
        number = run.number
        parts = run.files, run.lengths, run.lines, run.vectors
        check = blob_check(*parts, start=number)
        first_block = self._next["next_block"]
        first_terms: list[str] = []
        waiting: list[tuple[int, int, bytes]] = []
        for first_term, data in term_blocks.blocks(rows):
            block = self._take("next_block")
            waiting.append((block, block_check(number, block, data), data))
            first_terms.append(first_term)
            if len(waiting) * len(data) > WAITING_BYTES:
                self.tables.copy("blocks", waiting)
                waiting.clear()
        self.tables.copy("blocks", waiting)
        directory = pack_directory(first_block, first_terms)
        self.totals.segments += check
        self.tables.execute(
            "INSERT INTO {runs} VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s)",
            self.tables.number,
            number,
            check,
            *parts,
            blob_check(directory, start=number),
            directory,
        )

    def drop_run(self, number: int) -> None:
        if number not in self.snapshot.run_sizes():
            return
        first, count = self.snapshot.block_range(number)
        self.totals.segments -= sum(self.tables.remove("runs", "number", [number]))
        self.tables.execute(
            "DELETE FROM {blocks} WHERE segment = %s AND number >= %s AND number < %s",
            self.tables.number,
            first,
            first + count,
        )

    def retire(self, chunks: Sequence[RetiredChunk]) -> None:
        for item in chunks:
            digest = bytes.fromhex(item.digest)
            self._retired.pop(digest, None)  # the last one counts, in its order
            self._retired[digest] = (
                digest,
                item.path,
                records.join_title(item.title_path),
                bytes.fromhex(item.file_hash),
                item.place,
                bytes.fromhex(item.successor),
            )

    def put_skipped(self, skipped: Sequence[SkippedRecord]) -> None:
        rows = {
            item.skipped.path: (
                item.skipped.path,
                item.skipped.reason.value,
                item.skipped.detail,
                *item.stamp,
            )
            for item in skipped
        }
        self.drop_skipped(list(rows))
        checked = [(path, row_check(*row), ROW_ENCODER.encode(row)) for path, row in rows.items()]
        self.totals.skipped += sum(row[1] for row in checked)
        if checked:
            self.tables.copy("skipped", checked)

    def drop_skipped(self, paths: Sequence[str]) -> None:
        self.totals.skipped -= sum(self.tables.remove("skipped", "path", paths))

    def put_history(self, data: bytes) -> None:
        self.totals.history = blob_check(data)
        self.tables.execute("DELETE FROM {histories} WHERE segment = %s", self.tables.number)
        if data:
            self.tables.execute("INSERT INTO {histories} VALUES (%s, %s)", self.tables.number, data)

    def set_meta(self, values: dict[str, str]) -> None:
        self.meta.update(values)

    def clear(self) -> None:
        """Drop everything but the counters, because numbers are never used twice, and the SCIP documents. The
        ids that end are remembered."""
        self._waiting.write(self.totals)
        self._read_all_rows()
        rows = sorted(filter(None, self._known.values()), key=lambda row: row.checks.record.first_chunk)
        ended: list[RetiredChunk] = []
        for row, chunks in self.snapshot.chunks_of(rows):
            ended += records.retired_chunks(row.checks.record, chunks)
        self.retire(ended[-records.RETIRED_LIMIT :])
        self.dropped_contents.update(row.content for row in rows)
        for table in SEGMENT_TABLES:
            if table not in _KEPT_BY_CLEAR:
                self.tables.execute(f"DELETE FROM {{{table}}} WHERE segment = %s", self.tables.number)
        self._known.clear()
        self._waiting.count_names_anew()
        self.meta = {key: value for key, value in self.meta.items() if key in ("generation", "identity")}
        self.totals = Totals(retired=self.totals.retired, scip=self.totals.scip)

    def _wait(self, count: int) -> None:
        """Count the bytes that wait, and write them when they are many."""
        if self._waiting.add_bytes(count):
            self._waiting.write(self.totals, all_edges=False)

    def _write_before_reading(self, table: str, keys: Collection[Any] | None) -> None:
        """Write what waits if a reader could miss it: rows of a table, or those of some keys of it."""
        if table == "retired" and self._retired:
            self._write_retired()
        if self._waiting.hides(table, keys):
            self._waiting.write(self.totals)

    def _write_retired(self) -> None:
        rows = list(self._retired.values())
        self.totals.retired -= sum(self.tables.remove("retired", "digest", list(self._retired)))
        self.totals.retired += sum(row_check(*row) for row in rows)
        self.tables.copy(
            "retired",
            [(self._take("next_retired"), row[0], row_check(*row), ROW_ENCODER.encode(row)) for row in rows],
        )
        beyond = self.tables.execute(
            "DELETE FROM {retired} WHERE segment = %s AND number < %s RETURNING row_check",
            self.tables.number,
            self._next["next_retired"] - records.RETIRED_LIMIT,
        )
        self.totals.retired -= sum(check for (check,) in beyond)
        self._retired.clear()

    def finish(self) -> None:
        """Write everything that waits, and the number, the marks and the totals of this generation."""
        self._waiting.write(self.totals)
        self._waiting.write_name_counts()
        if self._retired:
            self._write_retired()
        mark = os.urandom(8)
        generation = int(self.meta.get("generation", 0)) + 1
        self.meta |= {
            "identity": self.meta.get("identity") or os.urandom(16).hex(),  # tells it from one in its place
            "generation": str(generation),
            "mark": mark.hex(),
            "totals": msgspec.json.encode(self.totals).decode(),
            **{key: str(number) for key, number in self._next.items()},
        }
        state = msgspec.msgpack.encode(self.meta)
        self.tables.execute(
            "UPDATE {segments} SET generation = %s, mark = %s, state = %s, row_check = %s, signature = %s,"
            " written = clock_timestamp(), used = clock_timestamp() WHERE number = %s",
            generation,
            mark,
            state,
            blob_check(state, start=self.tables.number),
            self.meta.get("signature", ""),
            self.tables.number,
        )


def _content_checks(content: Content, digests: bytes, number: int) -> tuple[int, ...]:
    """Return what the row of a file says of its content, in the order of the check columns."""
    return (
        blob_check(content.text, content.extras),
        blob_check(content.outline, content.vectors),
        blob_check(content.chunks, digests, start=number),
        blob_check(content.symbols),
        blob_check(content.facts),
    )


def _files_row(row: FileRow, file_hash: bytes, digests: bytes) -> tuple[Any, ...]:
    check, *values = row.stored
    return row.number, row.path, row.content, file_hash, digests, check, ROW_ENCODER.encode(values)
