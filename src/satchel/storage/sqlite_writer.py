"""One transaction on a SQLite index, towards the next generation."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable, Sequence
from typing import Any

from msgspec.structs import replace

from satchel.storage import records
from satchel.storage.records import FileRecord, PackedFile, RetiredChunk, Segment, SkippedRecord
from satchel.storage.sqlite_reader import SqliteSnapshot
from satchel.types import FileEntry

_CONTENT_TABLES = (
    "files",
    "contents",
    "outlines",
    "chunks",
    "symbols",
    "segments",
    "postings",
    "skipped",
    "history",
)


class SqliteWriter:
    """One open write transaction."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._next_chunk = self._meta_number("next_chunk")
        self._next_unit = self._meta_number("next_unit")
        self._next_segment = self._meta_number("next_segment")

    @property
    def snapshot(self) -> SqliteSnapshot:
        return SqliteSnapshot(self._connection, own=False)

    def next_segment(self) -> int:
        self._next_segment += 1
        return self._next_segment - 1

    def put_file(self, record: FileRecord, packed: PackedFile) -> int:
        self.drop_file(record.path)
        first, first_unit = self._next_chunk, self._next_unit
        self._next_chunk += len(packed.chunks)
        self._next_unit += packed.unit_count
        stored = replace(
            record,
            first_chunk=first,
            chunk_count=len(packed.chunks),
            first_unit=first_unit,
            unit_count=packed.unit_count,
        )
        row = _file_row(stored)
        number = self._connection.execute(f"INSERT INTO files VALUES (NULL{', ?' * len(row)})", row).lastrowid
        self._connection.execute(
            "INSERT INTO outlines VALUES (?, ?, ?)", (number, packed.outline, packed.vectors)
        )
        self._connection.execute(
            "INSERT INTO contents VALUES (?, ?, ?)", (number, packed.text, packed.extras)
        )
        self._connection.executemany(
            "INSERT INTO chunks VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            [
                (first + position, number, *chunk[:6], bytes.fromhex(chunk[6]))
                for position, chunk in enumerate(packed.chunks)
            ],
        )
        self._connection.executemany(
            "INSERT INTO symbols VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            [(number, position, *symbol) for position, symbol in enumerate(packed.symbols)],
        )
        return first_unit

    def touch_file(self, entry: FileEntry, settled: bool) -> None:
        self._connection.execute(
            "UPDATE files SET mtime_ns = ?, ctime_ns = ?, inode = ?, settled = ? WHERE path = ?",
            (entry.mtime_ns, entry.ctime_ns, entry.inode, settled, entry.path),
        )

    def drop_file(self, path: str) -> None:
        row = self._connection.execute(
            "SELECT number, first_chunk, chunk_count FROM files WHERE path = ?", (path,)
        ).fetchone()
        if row is None:
            return
        number, first, count = row
        self._connection.execute(
            "DELETE FROM chunks WHERE number >= ? AND number < ?", (first, first + count)
        )
        self._connection.execute("DELETE FROM symbols WHERE file = ?", (number,))
        self._connection.execute("DELETE FROM contents WHERE file = ?", (number,))
        self._connection.execute("DELETE FROM outlines WHERE file = ?", (number,))
        self._connection.execute("DELETE FROM files WHERE number = ?", (number,))

    def put_segment(self, segment: Segment, rows: Iterable[tuple[str, bytes]]) -> None:
        self._connection.execute(
            "INSERT INTO segments VALUES (?, ?, ?, ?, ?)",
            (segment.number, segment.files, segment.lengths, segment.lines, segment.vectors),
        )
        self._connection.executemany(
            "INSERT INTO postings VALUES (?, ?, ?)", ((segment.number, term, data) for term, data in rows)
        )

    def drop_segment(self, number: int) -> None:
        self._connection.execute("DELETE FROM segments WHERE number = ?", (number,))
        self._connection.execute("DELETE FROM postings WHERE segment = ?", (number,))

    def retire(self, chunks: Sequence[RetiredChunk]) -> None:
        if not chunks:
            return
        self._connection.executemany(
            "INSERT OR REPLACE INTO retired (digest, path, title, file_hash, place, successor)"
            " VALUES (?, ?, ?, ?, ?, ?)",
            [
                (
                    bytes.fromhex(item.digest),
                    item.path,
                    records.join_title(item.title_path),
                    bytes.fromhex(item.file_hash),
                    item.place,
                    bytes.fromhex(item.successor),
                )
                for item in chunks
            ],
        )
        self._connection.execute(
            "DELETE FROM retired WHERE number <= (SELECT max(number) FROM retired) - ?",
            (records.RETIRED_LIMIT,),
        )

    def put_skipped(self, skipped: Sequence[SkippedRecord]) -> None:
        self._connection.executemany(
            "INSERT OR REPLACE INTO skipped VALUES (?, ?, ?, ?, ?, ?, ?)",
            [
                (item.skipped.path, item.skipped.reason.value, item.skipped.detail, *item.stamp)
                for item in skipped
            ],
        )

    def drop_skipped(self, paths: Sequence[str]) -> None:
        self._connection.executemany("DELETE FROM skipped WHERE path = ?", [(path,) for path in paths])

    def put_history(self, data: bytes) -> None:
        self._connection.execute("DELETE FROM history")
        if data:
            self._connection.execute("INSERT INTO history VALUES (?)", (data,))

    def set_meta(self, values: dict[str, str]) -> None:
        self._connection.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", list(values.items()))

    def clear(self) -> None:
        """Drop everything but the counters: numbers are never used twice. The ids that end are remembered."""
        self._connection.execute(
            "INSERT OR REPLACE INTO retired (digest, path, title, file_hash, place)"
            " SELECT digest, path, title, file_hash, CASE count(*) OVER (PARTITION BY file, title)"
            " WHEN 1 THEN 0 ELSE row_number() OVER (PARTITION BY file, title ORDER BY chunks.number) END"
            " FROM chunks JOIN files ON files.number = file ORDER BY chunks.number DESC LIMIT ?",
            (records.RETIRED_LIMIT,),
        )
        for table in _CONTENT_TABLES:
            self._connection.execute(f"DELETE FROM {table}")
        self._connection.execute("DELETE FROM meta WHERE key NOT IN ('generation', 'identity')")

    def count_generation(self) -> None:
        """Called once, right before the commit."""
        if self._connection.execute("SELECT 1 FROM meta WHERE key = 'identity'").fetchone() is None:
            self.set_meta({"identity": os.urandom(16).hex()})  # tells this file from another one in its place
        self.set_meta(
            {
                "generation": str(self._meta_number("generation")),
                "next_chunk": str(self._next_chunk),
                "next_unit": str(self._next_unit),
                "next_segment": str(self._next_segment),
            }
        )

    def _meta_number(self, key: str) -> int:
        row = self._connection.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
        if key == "generation":
            return int(row[0]) + 1 if row else 1
        return int(row[0]) if row else 1


def _file_row(record: FileRecord) -> tuple[Any, ...]:
    return (
        record.path,
        record.size,
        record.mtime_ns,
        bytes.fromhex(record.file_hash),
        record.language,
        record.encoding,
        record.line_count,
        " ".join(map(str, record.redactions)),
        " ".join(record.tags),
        record.first_chunk,
        record.chunk_count,
        record.settled,
        record.first_unit,
        record.unit_count,
        record.ctime_ns,
        record.inode,
    )
