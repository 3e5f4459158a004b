"""One generation of a SQLite index, read through its tables."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any

from satchel.errors import ConfigError, IndexBusy, IndexCorrupt, SatchelError
from satchel.storage import records
from satchel.storage.protocol import LAST_LINE, Extent
from satchel.storage.records import (
    ChunkRecord,
    FileRecord,
    Outline,
    RetiredChunk,
    Segment,
    SkippedRecord,
    SymbolRecord,
)
from satchel.types import Parsed, Reference, Skipped, SkipReason, Symbol

_FILE_COLUMNS = (
    "path, size, mtime_ns, file_hash, language, encoding, line_count, redactions, tags,"
    " first_chunk, chunk_count, settled, first_unit, unit_count"
)
_STAMP_COLUMNS = "ctime_ns, inode"
_CHUNK_COLUMNS = (
    "chunks.number, path, kind, title, level, start_line, end_line, body_offset, lower(hex(digest))"
)
_SYMBOL_COLUMNS = "name, qualified_name, kind, start_line, end_line, signature, doc"
_SEGMENT_COLUMNS = "number, files, lengths, lines, vectors"
REBUILD_HINT = "`satchel index --force` sets the file aside and builds a new one"
KEEP_ELSEWHERE = "or keep the index elsewhere: --index-dir DIR, or the environment variable SATCHEL_HOME"
_DISK_TROUBLE = ("SQLITE_FULL", "SQLITE_IOERR", "SQLITE_READONLY", "SQLITE_CANTOPEN", "SQLITE_PERM")
_SCHEMA_OF_SUCCESSORS = 4  # an older file is read as it is: only who writes brings it up to date
_SCHEMA_OF_CHANGE_TIMES = 5
_VALUES_PER_QUERY = 500  # SQLite allows 999 variables in its oldest builds


def typed(error: sqlite3.DatabaseError) -> SatchelError:
    """What an error of SQLite is to a caller: a broken file, or a disk or folder that cannot be used."""
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


class SqliteSnapshot:
    """One generation: the connection holds a read transaction for as long as this lives."""

    def __init__(self, connection: sqlite3.Connection, *, own: bool = True) -> None:
        self._connection = connection
        self._own = own
        self._meta = dict(self._rows("SELECT key, value FROM meta"))
        self._schema: int = self._one("PRAGMA user_version")[0]
        self._stamps = "0, 0" if self._schema < _SCHEMA_OF_CHANGE_TIMES else _STAMP_COLUMNS
        self._columns = f"{_FILE_COLUMNS}, {self._stamps}"
        self._files: list[FileRecord] | None = None  # read once: a snapshot never changes

    @property
    def generation(self) -> int:
        return int(self._meta.get("generation", 0))

    @property
    def version(self) -> str:
        return f"{self._meta.get('identity', '')}:{self.generation}"

    def close(self) -> None:
        self._connection.close()

    def __del__(self) -> None:
        """Whoever reads last closes. A writer shows its own connection, and closes that itself."""
        if self._own:
            self._connection.close()

    def copy_to(self, target: sqlite3.Connection) -> None:
        """Write this generation, page by page, into an empty database."""
        self._connection.backup(target)

    def meta(self) -> dict[str, str]:
        return dict(self._meta)

    def files(self, known: Sequence[FileRecord] = ()) -> list[FileRecord]:
        if self._files is None and known:
            self._files = self._files_from(known)
        elif self._files is None:
            rows = self._rows(f"SELECT {self._columns} FROM files ORDER BY path")
            self._files = [_file_record(row) for row in rows]
        return self._files

    def _files_from(self, known: Sequence[FileRecord]) -> list[FileRecord]:
        """Records of an earlier generation of this index, where they still hold: a file that is put anew has
        new numbers, one that is touched another time."""
        before = {
            (
                item.path,
                item.mtime_ns,
                bytes.fromhex(item.file_hash),
                item.first_chunk,
                item.first_unit,
                item.settled,
                item.ctime_ns,
                item.inode,
            ): item
            for item in known
        }
        rows = self._rows(
            f"SELECT path, mtime_ns, file_hash, first_chunk, first_unit, settled, {self._stamps}"
            " FROM files ORDER BY path"
        )
        found = ((row, before.get(row)) for row in rows)
        return [record or _file_record(self._file_row(row[0])) for row, record in found]

    def _file_row(self, path: str) -> Any:
        return self._one(f"SELECT {self._columns} FROM files WHERE path = ?", path)

    def file(self, path: str) -> FileRecord | None:
        row = self._file_row(path)
        return _file_record(row) if row else None

    def file_with_content(self, file_hash: str, language: str) -> FileRecord | None:
        row = self._one(
            f"SELECT {self._columns} FROM files INDEXED BY files_content"  # not the order by path
            " WHERE file_hash = ? AND language = ? ORDER BY path LIMIT 1",
            bytes.fromhex(file_hash),
            language,
        )
        return _file_record(row) if row else None

    def text(self, path: str) -> str:
        return records.unpack_text(self._content(path)[0])

    def chunks(self, path: str, first_line: int = 1, last_line: int = LAST_LINE) -> list[ChunkRecord]:
        rows = self._rows(
            f"SELECT {_CHUNK_COLUMNS} FROM files JOIN chunks ON chunks.number >= first_chunk"
            " AND chunks.number < first_chunk + chunk_count"
            " WHERE path = ? AND start_line <= ? AND end_line >= ? ORDER BY chunks.number",
            (path, last_line, first_line),
        )
        return [records.chunk_record(row[2:], row[0], row[1]) for row in rows]

    def chunks_by_number(self, numbers: Sequence[int]) -> list[ChunkRecord]:
        found = {}
        for some in _portions(numbers):
            marks = ",".join("?" * len(some))
            rows = self._rows(
                f"SELECT {_CHUNK_COLUMNS} FROM chunks JOIN files ON files.number = file"
                f" WHERE chunks.number IN ({marks})",
                some,
            )
            found.update({row[0]: records.chunk_record(row[2:], row[0], row[1]) for row in rows})
        return [found[number] for number in numbers if number in found]

    def chunks_by_digest(self, digest: str) -> list[ChunkRecord]:
        rows = self._rows(
            f"SELECT {_CHUNK_COLUMNS} FROM chunks JOIN files ON files.number = file"
            " WHERE digest BETWEEN ? AND ? ORDER BY path, start_line",
            _digest_range(digest),
        )
        return [records.chunk_record(row[2:], row[0], row[1]) for row in rows]

    def parsed(self, path: str) -> Parsed:
        text, extras = self._content(path)
        references, comments = records.unpack_extras(extras)
        return records.parsed_from(
            records.unpack_text(text), self.chunks(path), self.symbols(path), references, comments
        )

    def outlines(self, paths: Sequence[str]) -> list[tuple[Outline, bytes]]:
        found: dict[str, tuple[Outline, bytes]] = {}
        for some in _portions(paths):
            rows = self._rows(
                "SELECT path, data, vectors FROM files JOIN outlines ON files.number = file"
                f" WHERE path IN ({','.join('?' * len(some))})",
                some,
            )
            found.update((path, (records.unpack_outline(data), vectors)) for path, data, vectors in rows)
        return [found[path] for path in paths]

    def living(self, first_units: Sequence[int]) -> set[int]:
        found: set[int] = set()
        for some in _portions(first_units):
            marks = ",".join("?" * len(some))
            rows = self._rows(
                f"SELECT first_unit FROM files WHERE first_unit IN ({marks}) AND unit_count > 0", some
            )
            found.update(row[0] for row in rows)
        return found

    def references(self, path: str) -> tuple[Reference, ...]:
        return records.unpack_extras(self._content(path)[1])[0]

    def symbols(self, path: str) -> list[Symbol]:
        rows = self._rows(
            f"SELECT {_SYMBOL_COLUMNS} FROM symbols JOIN files ON files.number = file"
            " WHERE path = ? ORDER BY position",
            (path,),
        )
        return [records.symbol(row) for row in rows]

    def symbols_named(self, name: str) -> list[SymbolRecord]:
        rows = self._rows(
            f"SELECT path, {_SYMBOL_COLUMNS} FROM symbols JOIN files ON files.number = file"
            " WHERE name = ? ORDER BY path, position",
            (name,),
        )
        return [SymbolRecord(row[0], records.symbol(row[1:])) for row in rows]

    def symbol_names(self, prefix: str, limit: int) -> list[str]:
        rows = self._rows(
            "SELECT DISTINCT name COLLATE BINARY AS exact FROM symbols"
            " WHERE name >= ? AND name < ? ORDER BY lower(name), exact LIMIT ?",
            (prefix, prefix + "\U0010ffff", limit),
        )
        return [row[0] for row in rows]

    def symbol_count(self) -> int:
        return int(self._one("SELECT count(*) FROM symbols")[0])

    def kind_counts(self) -> dict[str, int]:
        return dict(self._rows("SELECT kind, count(*) FROM chunks GROUP BY kind ORDER BY kind"))

    def all_symbols(self) -> Iterable[SymbolRecord]:
        rows = self._rows(
            f"SELECT path, {_SYMBOL_COLUMNS} FROM files JOIN symbols ON files.number = file"
            " ORDER BY path, position"
        )
        for row in rows:
            yield SymbolRecord(row[0], records.symbol(row[1:]))

    def segment_sizes(self) -> dict[int, int]:
        rows = self._rows("SELECT number, length(lengths) / 4 FROM segments ORDER BY number")
        return dict(rows)

    def segment(self, number: int) -> Segment:
        return Segment(*self._one(f"SELECT {_SEGMENT_COLUMNS} FROM segments WHERE number = ?", number))

    def segments(self) -> list[Segment]:
        rows = self._rows(f"SELECT {_SEGMENT_COLUMNS} FROM segments ORDER BY number")
        return [Segment(*row) for row in rows]

    def postings(self, segment: int, term: str) -> bytes:
        row = self._one("SELECT data FROM postings WHERE segment = ? AND term = ?", segment, term)
        return row[0] if row else b""

    def segment_terms(self, segment: int) -> Iterable[tuple[str, bytes]]:
        return self._rows("SELECT term, data FROM postings WHERE segment = ? ORDER BY term", (segment,))

    def terms(self, prefix: str, limit: int) -> list[str]:
        found: set[str] = set()
        for (number,) in self._rows("SELECT number FROM segments"):
            rows = self._rows(
                "SELECT term FROM postings WHERE segment = ? AND term >= ? AND term < ?"
                " ORDER BY term LIMIT ?",
                (number, prefix, prefix + "\U0010ffff", limit),
            )
            found.update(row[0] for row in rows)
        return sorted(found)[:limit]

    def skipped(self, paths: Sequence[str] | None = None) -> list[SkippedRecord]:
        statement = f"SELECT path, reason, detail, size, mtime_ns, {self._stamps} FROM skipped"
        if paths is None:
            rows = self._rows(f"{statement} ORDER BY path")
        else:
            found = (self._one(f"{statement} WHERE path = ?", path) for path in sorted(set(paths)))
            rows = (row for row in found if row is not None)
        return [
            SkippedRecord(Skipped(path, SkipReason(reason), detail), *stamp)
            for path, reason, detail, *stamp in rows
        ]

    def extent(self) -> Extent:
        indexed = self._one("SELECT count(*), max(mtime_ns), sum(size) FROM files")
        others = self._one("SELECT count(*), max(mtime_ns), sum(size) FROM skipped WHERE size >= 0")
        return Extent(
            indexed[0] + others[0],
            max(indexed[1] or 0, others[1] or 0),
            (indexed[2] or 0) + (others[2] or 0),
        )

    def retired(self, digest: str) -> list[RetiredChunk]:
        columns = "0, ''" if self._schema < _SCHEMA_OF_SUCCESSORS else "place, lower(hex(successor))"
        rows = self._rows(
            f"SELECT lower(hex(digest)), path, title, lower(hex(file_hash)), {columns} FROM retired"
            " WHERE digest BETWEEN ? AND ? ORDER BY number",
            _digest_range(digest),
        )
        return [
            RetiredChunk(found, path, records.split_title(title), *others)
            for found, path, title, *others in rows
        ]

    def history(self) -> bytes:
        row = self._one("SELECT data FROM history")
        return row[0] if row else b""

    def _one(self, statement: str, *values: Any) -> Any:
        return next(self._rows(statement, values), None)

    def _rows(self, statement: str, values: Sequence[Any] = ()) -> Iterator[Any]:
        """Rows as they come. A page that turns out to be broken is a typed error, wherever it is met."""
        try:
            yield from self._connection.execute(statement, values)
        except sqlite3.DatabaseError as error:
            raise typed(error) from error

    def _content(self, path: str) -> tuple[bytes, bytes]:
        row = self._one("SELECT text, extras FROM contents JOIN files ON number = file WHERE path = ?", path)
        if row is None:
            raise KeyError(path)
        return row[0], row[1]


def _portions(values: Sequence[Any]) -> Iterator[list[Any]]:
    for start in range(0, len(values), _VALUES_PER_QUERY):
        yield list(values[start : start + _VALUES_PER_QUERY])


def _digest_range(digest: str) -> tuple[bytes, bytes]:
    return bytes.fromhex(digest.ljust(16, "0")), bytes.fromhex(digest.ljust(16, "f"))


def _file_record(row: Sequence[Any]) -> FileRecord:
    """A row of `_FILE_COLUMNS` and `_STAMP_COLUMNS`, taken by place: a search reads one for every file."""
    path, size, mtime_ns, file_hash, language, encoding, line_count, redactions, tags = row[:9]
    return FileRecord(
        path,
        size,
        mtime_ns,
        file_hash.hex(),
        language,
        encoding,
        line_count,
        tuple(map(int, redactions.split())) if redactions else (),
        _tags(tags),
        row[9],
        row[10],
        row[12],
        row[13],
        row[11] == 1,
        row[14],
        row[15],
    )


@lru_cache(maxsize=256)  # a few dozen are told apart, over all files
def _tags(joined: str) -> tuple[str, ...]:
    return tuple(joined.split())
