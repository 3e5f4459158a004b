"""One generation of a SQLite index, read through its tables.

Nothing leaves here unchecked (see `storage.checks`). A file's record vouches for its contents, outline,
chunks and symbols. Where an index of SQLite finds nothing, the table itself is asked: no single
damage hides a row from both.
"""

from __future__ import annotations

import sqlite3
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from types import NoneType
from typing import Any, NamedTuple

import msgspec

from satchel.errors import ConfigError, IndexBusy, IndexCorrupt, SatchelError
from satchel.storage import records, term_blocks
from satchel.storage.checks import (
    REBUILD_HINT,
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
from satchel.storage.protocol import LAST_LINE, Extent
from satchel.storage.records import (
    ChunkRecord,
    FileRecord,
    Outline,
    PostingRun,
    RetiredChunk,
    SkippedRecord,
    SymbolRecord,
)
from satchel.types import Parsed, Reference, Skipped, SkipReason, Symbol

FILE_COLUMNS = (
    "path, size, mtime_ns, file_hash, language, encoding, line_count, redactions, tags,"
    " first_chunk, chunk_count, settled, first_unit, unit_count, ctime_ns, inode"
)
SKIPPED_COLUMNS = "path, reason, detail, size, mtime_ns, ctime_ns, inode"
CHECK_COLUMNS = "contents_check, outline_check, chunks_check, symbols_check"
_STORED_COLUMNS = f"row_check, number, {FILE_COLUMNS}, {CHECK_COLUMNS}"
_CHUNK_COLUMNS = "number, file, kind, title, level, start_line, end_line, body_offset, digest"
_SYMBOL_COLUMNS = "file, position, name, qualified_name, kind, start_line, end_line, signature, doc"
# where they are in a row of the stored columns
_PATH, _MTIME, _FILE_HASH, _FIRST_CHUNK, _SETTLED, _CTIME, _INODE = 2, 4, 5, 11, 13, 16, 17
_START_LINE, _END_LINE = 5, 6  # in a row of the chunk columns
# An index that holds all columns of a question is read instead of the table, NOT INDEXED or not: this asks
# for a column that no index of `symbols` has.
BY_TABLE = "row_check IS NOT NULL"
_RUN_COLUMNS = "number, files, lengths, lines, vectors, row_check"
_RETIRED_COLUMNS = "digest, path, title, file_hash, place, successor, row_check"
KEEP_ELSEWHERE = "or keep the index elsewhere: --index-dir DIR, or the environment variable SATCHEL_HOME"
_DISK_TROUBLE = ("SQLITE_FULL", "SQLITE_IOERR", "SQLITE_READONLY", "SQLITE_CANTOPEN", "SQLITE_PERM")
_VALUES_PER_QUERY = 500  # SQLite allows 999 variables in its oldest builds
_DIGEST_DIGITS = 16  # of a whole digest
_CHUNKS_AT_HAND = 64  # files whose chunks are kept: an answer asks for several ranges of the same few
UNREADABLE = (
    sqlite3.Error,
    UnicodeDecodeError,
    OverflowError,
)  # what a broken page raises, also in its message


def typed(error: Exception) -> SatchelError:
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


class Stored(NamedTuple):
    """A file record with what it vouches for."""

    row_check: int
    number: int
    record: FileRecord
    contents_check: int
    outline_check: int
    chunks_check: int
    symbols_check: int


class _Directory(NamedTuple):
    """The blocks of a run: the number of the first, and the first term of each."""

    first_block: int
    first_terms: list[str]


class SqliteSnapshot:
    """One generation: the connection holds a read transaction for as long as this lives. That of a writer,
    which hands over its own running `totals`, changes under its reader, so nothing is kept."""

    def __init__(self, connection: sqlite3.Connection, totals: Totals | None = None) -> None:
        self._connection = connection
        self._own = totals is None
        self._meta = dict(self._rows("SELECT key, value FROM meta"))
        self._totals = self._checked_totals() if totals is None else totals
        self._files: list[FileRecord] | None = None  # read once: a snapshot never changes
        self._by_path: dict[str, Any] = {}  # checked rows
        self._by_number: dict[int, Any] = {}
        self._chunks: dict[str, list[Any]] = {}
        self._directories: dict[int, _Directory] = {}

    def _checked_totals(self) -> Totals:
        check = self._meta.pop("check", "")
        if not check or check != meta_check(self._meta, self._rows(SCHEMA)):
            raise damaged("what it says of itself")
        return read_totals(self._meta.get("totals", "{}"))

    @property
    def generation(self) -> int:
        return int(self._meta.get("generation", 0))

    @property
    def version(self) -> str:
        return f"{self._meta.get('identity', '')}:{self.generation}.{self._meta.get('mark', '')}"

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
        if self._files is None:
            rows = self._rows(f"SELECT {_STORED_COLUMNS} FROM files NOT INDEXED")
            if not rows_are_as_written(rows):
                raise damaged("the record of a file")
            if sum_checks(row[0] for row in rows) != self._totals.files:
                raise damaged("the list of files")
            by_path = {row[_PATH]: row for row in rows}
            if len(by_path) != len(rows):
                raise damaged("the list of files")
            if self._own:
                self._by_path = by_path
                self._by_number = {row[1]: row for row in rows}
            ordered = map(by_path.__getitem__, sorted(by_path))
            before = {item.path: item for item in known}
            self._files = (
                [_record(row, before.get(row[_PATH])) for row in ordered]
                if known
                else [_file_record(row) for row in ordered]
            )
        return self._files

    def _stored(self, path: str) -> Stored | None:
        """The record of a path; None if there is none, which the table itself has to confirm."""
        row = self._by_path.get(path)
        if row is not None:
            return _stored(row)
        if self._own and self._files is not None:
            return None
        row = self._one(f"SELECT {_STORED_COLUMNS} FROM files WHERE path = ?", path)
        if row is None:
            lost = self._own and self._one("SELECT 1 FROM files NOT INDEXED WHERE path = ?", path)
            if lost:
                raise damaged("the list of paths")
            return None
        _check_stored(row)
        if row[_PATH] != path:
            raise damaged("the list of paths")
        self._keep(row)
        return _stored(row)

    def _row_at(self, number: int) -> Any:
        """The checked row of a file by its number, which other rows name."""
        row = self._by_number.get(number)
        if row is None:
            row = self._one(f"SELECT {_STORED_COLUMNS} FROM files WHERE number = ?", number)
            if row is None:
                raise damaged("the list of files")
            _check_stored(row)
            self._keep(row)
        return row

    def _keep(self, row: Any) -> None:
        if self._own:
            self._by_path[row[_PATH]] = self._by_number[row[1]] = row

    def stored(self, path: str) -> Stored | None:
        """A file record with its checks, for the writer that changes it."""
        return self._stored(path)

    def file(self, path: str) -> FileRecord | None:
        found = self._stored(path)
        return found.record if found else None

    def file_with_content(self, file_hash: str, language: str) -> FileRecord | None:
        row = self._one(
            f"SELECT {_STORED_COLUMNS} FROM files INDEXED BY files_content"  # not the order by path
            " WHERE file_hash = ? AND language = ? ORDER BY path LIMIT 1",
            bytes.fromhex(file_hash),
            language,
        )
        if row is None:  # also where it was lost: then the content is parsed again
            return None
        _check_stored(row)
        record = _record(row)
        if (record.file_hash, record.language) != (file_hash, language):
            raise damaged("the list of contents")
        return record

    def text(self, path: str) -> str:
        return records.unpack_text(self._content(path)[0])

    def chunks(self, path: str, first_line: int = 1, last_line: int = LAST_LINE) -> list[ChunkRecord]:
        rows = self._chunks.get(path)
        if rows is None:
            stored = self._stored(path)
            rows = self._chunk_rows(stored) if stored else []
            if self._own:
                if len(self._chunks) >= _CHUNKS_AT_HAND:
                    self._chunks.clear()
                self._chunks[path] = rows
        return [
            records.chunk_record((*row[2:8], row[8].hex()), row[0], path)
            for row in rows
            if row[_START_LINE] <= last_line and row[_END_LINE] >= first_line
        ]

    def _chunk_rows(self, stored: Stored) -> list[Any]:
        first, count = stored.record.first_chunk, stored.record.chunk_count
        rows = self._rows(
            f"SELECT {_CHUNK_COLUMNS} FROM chunks WHERE number >= ? AND number < ? ORDER BY number",
            (first, first + count),
        )
        if rows_check(rows) != stored.chunks_check:
            raise damaged(f"what is cited of {stored.record.path!r}")
        return rows

    def chunks_by_number(self, numbers: Sequence[int]) -> list[ChunkRecord]:
        found: dict[int, ChunkRecord] = {}
        for some in _portions(numbers):
            marks = ",".join("?" * len(some))
            files = self._rows(f"SELECT DISTINCT file FROM chunks WHERE number IN ({marks})", some)
            for (file,) in files:
                path = self._row_at(file)[_PATH]
                found.update({item.number: item for item in self.chunks(path)})
        return [found[number] for number in numbers if number in found]

    def chunks_by_digest(self, digest: str) -> list[ChunkRecord]:
        statement = "SELECT DISTINCT file FROM chunks {} WHERE digest BETWEEN ? AND ?"
        files = self._rows(statement.format(""), _digest_range(digest))
        if not files or len(digest) < _DIGEST_DIGITS:
            all_files = self._rows(statement.format("NOT INDEXED"), _digest_range(digest))
            if set(all_files) != set(files):
                raise damaged("the list of ids")
        paths = [self._row_at(file)[_PATH] for (file,) in files]
        found = [
            item for path in sorted(paths) for item in self.chunks(path) if item.digest.startswith(digest)
        ]
        if files and not found:
            raise damaged("the list of ids")
        return found

    def parsed(self, path: str) -> Parsed:
        text, extras = self._content(path)
        references, comments = records.unpack_extras(extras)
        return records.parsed_from(
            records.unpack_text(text), self.chunks(path), self.symbols(path), references, comments
        )

    def outlines(self, paths: Sequence[str]) -> list[tuple[Outline, bytes]]:
        wanted = {}
        for path in paths:
            row = self._by_path.get(path) or self._stored(path)
            if row is None:
                raise KeyError(path)
            wanted[row[1]] = path, row[-3]
        found: dict[str, tuple[Outline, bytes]] = {}
        for some in _portions(list(wanted)):
            rows = self._rows(
                f"SELECT file, data, vectors FROM outlines WHERE file IN ({','.join('?' * len(some))})", some
            )
            for number, data, vectors in rows:
                path, check = wanted[number]
                if blob_check(data, vectors) != check:
                    raise damaged(f"the outline of {path!r}")
                found[path] = records.unpack_outline(data), vectors
        if len(found) != len(wanted):
            raise damaged("an outline")
        return [found[path] for path in paths]

    def living(self, first_units: Sequence[int]) -> set[int]:
        starts = {record.first_unit for record in self.files() if record.unit_count}
        return starts.intersection(first_units)

    def references(self, path: str) -> tuple[Reference, ...]:
        return records.unpack_extras(self._content(path)[1])[0]

    def symbols(self, path: str) -> list[Symbol]:
        stored = self._stored(path)
        return self._symbols_of(stored) if stored else []

    def _symbols_of(self, stored: Stored) -> list[Symbol]:
        statement = f"SELECT {_SYMBOL_COLUMNS} FROM symbols WHERE file = ? ORDER BY position"
        rows = self._rows(statement, (stored.number,))
        if rows_check(rows) != stored.symbols_check:
            raise damaged(f"what {stored.record.path!r} defines")
        return [records.symbol(row[2:]) for row in rows]

    def symbols_named(self, name: str) -> list[SymbolRecord]:
        statement = f"SELECT row_check, {_SYMBOL_COLUMNS} FROM symbols WHERE name = ?"
        rows = self._rows(statement, (name,))
        folded = records.fold(name)
        if self._own:
            self._confirm_count(folded, len(rows))
        found = []
        for row in rows:
            file = self._row_at(row[1])
            if row_check(file[_FIRST_CHUNK], *row[1:]) != row[0] or records.fold(row[3]) != folded:
                raise damaged(f"what {file[_PATH]!r} defines")
            found.append((file[_PATH], row))
        found.sort(key=lambda item: (item[0], item[1][2]))
        return [SymbolRecord(path, records.symbol(row[3:])) for path, row in found]

    def _confirm_count(self, folded: bytes, count: int) -> None:
        """Raise if a name has another number of symbols than was counted. Two names may share a hash: then
        all names are gone through."""
        number = name_hash(folded)
        row = self._one("SELECT count FROM symbol_names WHERE hash = ?", number)
        counted = row[0] if row else 0
        if counted == count:
            return
        rows = self._rows(f"SELECT name FROM symbols WHERE {BY_TABLE} AND typeof(name) = 'text'")
        names = [records.fold(name) for (name,) in rows]
        alike = [other for other in names if name_hash(other) == number]
        if len(alike) != counted or alike.count(folded) != count:
            raise damaged("the list of names")

    def symbol_names(self, prefix: str, limit: int) -> list[str]:
        statement = (
            "SELECT DISTINCT name COLLATE BINARY AS exact FROM symbols"
            " WHERE {name} >= ? AND {name} < ?{scan} ORDER BY lower(name), exact LIMIT ?"
        )
        values = prefix, prefix + "\U0010ffff", limit
        rows = self._rows(statement.format(name="name", scan=""), values)
        if rows != self._rows(statement.format(name="+name", scan=f" AND {BY_TABLE}"), values):
            raise damaged("the list of names")
        return [row[0] for row in rows]

    def symbol_count(self) -> int:
        return self._totals.symbols

    def kind_counts(self) -> dict[str, int]:
        return {kind: count for kind, count in sorted(self._totals.kinds.items()) if count}

    def all_symbols(self) -> Iterable[SymbolRecord]:
        for record in self.files():
            for symbol in self.symbols(record.path):
                yield SymbolRecord(record.path, symbol)

    def run_sizes(self) -> dict[int, int]:
        rows = self._rows("SELECT number, length(lengths) / 4, row_check FROM segments ORDER BY number")
        sized = all(type(row[1]) is int for row in rows)
        if not sized or sum_checks(row[2] for row in rows) != self._totals.segments:
            raise damaged("the list of posting runs")
        return {number: size for number, size, _ in rows}

    def posting_run(self, number: int) -> PostingRun:
        row = self._one(f"SELECT {_RUN_COLUMNS} FROM segments WHERE number = ?", number)
        if row is None:
            raise damaged("the list of posting runs")
        return _checked_run(row)

    def posting_runs(self) -> list[PostingRun]:
        rows = self._rows(f"SELECT {_RUN_COLUMNS} FROM segments ORDER BY number")
        if sum_checks(row[5] for row in rows) != self._totals.segments:
            raise damaged("the list of posting runs")
        return [_checked_run(row) for row in rows]

    def postings(self, run: int, term: str) -> bytes:
        directory = self._directory(run)
        at = bisect_right(directory.first_terms, term) - 1
        return term_blocks.find(self._block(run, directory.first_block + at), term) if at >= 0 else b""

    def run_terms(self, run: int) -> Iterator[tuple[str, bytes]]:
        directory = self._directory(run)
        for at in range(len(directory.first_terms)):
            yield from term_blocks.items(self._block(run, directory.first_block + at))

    def block_range(self, run: int) -> tuple[int, int]:
        """The number of a run's first block and the count of its blocks, for the writer that drops it."""
        directory = self._directory(run)
        return directory.first_block, len(directory.first_terms)

    def _directory(self, run: int) -> _Directory:
        found = self._directories.get(run)
        if found is None:
            row = self._one("SELECT data, row_check FROM directories WHERE segment = ?", run)
            if row is None or blob_check(row[0], start=run) != row[1]:
                raise damaged("the list of terms")
            found = self._directories[run] = msgspec.msgpack.decode(row[0], type=_Directory)
        return found

    def _block(self, run: int, number: int) -> bytes:
        row = self._one("SELECT data, row_check FROM blocks WHERE number = ?", number)
        if row is None or blob_check(row[0], start=row_check(run, number)) != row[1]:
            raise damaged("a run of the full-text index")
        data: bytes = row[0]
        return data

    def terms(self, prefix: str, limit: int) -> list[str]:
        found: set[str] = set()
        for number in self.run_sizes():
            found.update(self._run_terms_from(number, prefix, limit))
        return sorted(found)[:limit]

    def _run_terms_from(self, run: int, prefix: str, limit: int) -> list[str]:
        directory = self._directory(run)
        start = max(bisect_right(directory.first_terms, prefix) - 1, 0)
        found: list[str] = []
        for at in range(start, len(directory.first_terms)):
            names = [term for term, _ in term_blocks.items(self._block(run, directory.first_block + at))]
            found += [term for term in names if term.startswith(prefix)]
            beyond = names[-1] > prefix and not names[-1].startswith(prefix)
            if beyond or len(found) >= limit:
                break
        return found[:limit]

    def skipped(self, paths: Sequence[str] | None = None) -> list[SkippedRecord]:
        statement = f"SELECT {SKIPPED_COLUMNS}, row_check FROM skipped"
        if paths is not None:  # one that is lost is looked at again, as a new file is
            found = (self._one(f"{statement} WHERE path = ?", path) for path in sorted(set(paths)))
            return [_checked_skipped(row) for row in found if row is not None]
        rows = self._rows(statement)
        if sum_checks(row[-1] for row in rows) != self._totals.skipped:
            raise damaged("the list of what is left out")
        return sorted(map(_checked_skipped, rows), key=lambda item: item.skipped.path)

    def extent(self) -> Extent:
        indexed = self._one("SELECT count(*), max(mtime_ns), sum(size) FROM files")
        others = self._one("SELECT count(*), max(mtime_ns), sum(size) FROM skipped WHERE size >= 0")
        if not all(type(value) in (int, NoneType) for value in (*indexed, *others)):
            raise damaged("the record of a file")
        return Extent(
            indexed[0] + others[0],
            max(indexed[1] or 0, others[1] or 0),
            (indexed[2] or 0) + (others[2] or 0),
        )

    def retired(self, digest: str) -> list[RetiredChunk]:
        statement = f"SELECT {_RETIRED_COLUMNS} FROM retired WHERE digest BETWEEN ? AND ? ORDER BY number"
        rows = self._rows(statement, _digest_range(digest))
        if not rows or len(digest) < _DIGEST_DIGITS:
            every = self._rows(f"SELECT {_RETIRED_COLUMNS} FROM retired ORDER BY number")
            if sum_checks(row[6] for row in every) != self._totals.retired:
                raise damaged("the list of ended ids")
            rows = every
        return [item for item in map(_checked_retired, rows) if item.digest.startswith(digest)]

    def history(self) -> bytes:
        row = self._one("SELECT data FROM history")
        data: bytes = row[0] if row else b""
        if blob_check(data) != self._totals.history:
            raise damaged("the history")
        return data

    def _one(self, statement: str, *values: Any) -> Any:
        try:
            return self._connection.execute(statement, values).fetchone()
        except UNREADABLE as error:
            raise typed(error) from error

    def _rows(self, statement: str, values: Sequence[Any] = ()) -> list[Any]:
        """All rows. A page that turns out to be broken is a typed error, wherever it is met."""
        try:
            return self._connection.execute(statement, values).fetchall()
        except UNREADABLE as error:
            raise typed(error) from error

    def _content(self, path: str) -> tuple[bytes, bytes]:
        stored = self._stored(path)
        if stored is None:
            raise KeyError(path)
        row = self._one("SELECT text, extras FROM contents WHERE file = ?", stored.number)
        if row is None or blob_check(*row) != stored.contents_check:
            raise damaged(f"the text of {path!r}")
        return row[0], row[1]


SCHEMA = "SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY type, name"


def _portions(values: Sequence[Any]) -> Iterator[list[Any]]:
    for start in range(0, len(values), _VALUES_PER_QUERY):
        yield list(values[start : start + _VALUES_PER_QUERY])


def _digest_range(digest: str) -> tuple[bytes, bytes]:
    return bytes.fromhex(digest.ljust(16, "0")), bytes.fromhex(digest.ljust(16, "f"))


def _check_stored(row: tuple[Any, ...]) -> None:
    if not rows_are_as_written((row,)):
        raise damaged("the record of a file")


def _stored(row: Sequence[Any]) -> Stored:
    return Stored(row[0], row[1], _record(row), *row[-4:])


def _record(row: Sequence[Any], before: FileRecord | None = None) -> FileRecord:
    """The record of a row, or that of an earlier generation where it still holds: a file that is put anew
    has new numbers, one that is touched another time."""
    if before is not None:
        times = before.mtime_ns, before.ctime_ns, before.inode
        content = before.first_chunk, before.settled, before.file_hash
        if times == (row[_MTIME], row[_CTIME], row[_INODE]) and content == (
            row[_FIRST_CHUNK],
            bool(row[_SETTLED]),
            row[_FILE_HASH].hex(),
        ):
            return before
    return _file_record(row)


def _checked_run(row: Sequence[Any]) -> PostingRun:
    if blob_check(*row[1:5], start=row[0]) != row[5]:
        raise damaged("a run of the full-text index")
    return PostingRun(*row[:5])


def _checked_skipped(row: Sequence[Any]) -> SkippedRecord:
    path, reason, detail, *stamp, check = row
    if row_check(*row[:-1]) != check:
        raise damaged("the list of what is left out")
    return SkippedRecord(Skipped(path, SkipReason(reason), detail), *stamp)


def _checked_retired(row: Sequence[Any]) -> RetiredChunk:
    digest, path, title, file_hash, place, successor, check = row
    if row_check(*row[:-1]) != check:
        raise damaged("the list of ended ids")
    return RetiredChunk(
        digest.hex(), path, records.split_title(title), file_hash.hex(), place, successor.hex()
    )


def _file_record(row: Any) -> FileRecord:
    """A row of the stored columns, taken by place: names take a third more time, and every search makes a
    record of each file."""
    _, _, path, size, mtime_ns, file_hash, language, encoding, line_count, redactions, tags = row[:11]
    first_chunk, chunk_count, settled, first_unit, unit_count, ctime_ns, inode = row[11:18]
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
        first_chunk,
        chunk_count,
        first_unit,
        unit_count,
        settled == 1,
        ctime_ns,
        inode,
    )


@lru_cache(maxsize=256)  # a few dozen are told apart, over all files
def _tags(joined: str) -> tuple[str, ...]:
    return tuple(joined.split())
