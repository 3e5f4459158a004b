"""One generation of a SQLite index, read through its tables.

Nothing leaves here unchecked (see `storage.checks`). A file's record vouches for its contents, outline,
facts, chunks and symbols. Where an index of SQLite finds nothing, the table itself is asked: no single
damage hides a row from both. It is one class, and a long one, because all its answers rest on the same few
rows of files, which are checked once.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from types import NoneType
from typing import TYPE_CHECKING, Any

from satchel.caching import Cache
from satchel.code_facts import FileEdges, FileFacts, ScipUses, references_of
from satchel.parsed import Parsed
from satchel.plugins import late
from satchel.storage import checked_rows, records
from satchel.storage.block_postings import BlockSnapshot
from satchel.storage.checked_rows import (
    CHUNK_COLUMNS,
    CONTENTS_CHECK,
    END_LINE,
    FIRST_CHUNK,
    OUTLINE_CHECK,
    PATH,
    RETIRED_COLUMNS,
    SKIPPED_COLUMNS,
    START_LINE,
    STORED_COLUMNS,
    SYMBOL_COLUMNS,
    Stored,
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
from satchel.storage.file_table import PackedFiles
from satchel.storage.protocol import LAST_LINE, EnoughSymbols, Extent
from satchel.storage.records import (
    ChunkRecord,
    FileRecord,
    Outline,
    RetiredChunk,
    SkippedRecord,
    SymbolRecord,
)
from satchel.storage.shared_base import copy_whole, start_from
from satchel.storage.sqlite_connection import CommitWatch, SqlitePostingRows, SqliteTables
from satchel.storage.sqlite_schema import SCHEMA
from satchel.types import Reference, Symbol

if TYPE_CHECKING:
    from satchel.storage import consulted, cross_uses
else:  # they load numpy, which a refresh that finds nothing to do needs for nothing else
    consulted = late("satchel.storage.consulted")
    cross_uses = late("satchel.storage.cross_uses")

# A column with a sign is not looked up in an index of SQLite, but an index that holds all columns of a
# question is read instead of the table: this asks for a column that no index of `symbols` has.
BY_TABLE = "row_check IS NOT NULL"
_DIGEST_DIGITS = 16  # of a whole digest
# Files whose chunks are kept: an answer asks for several ranges of the same few. A library has as many of
# these for each of its repositories.
_CHUNKS_KEPT = 24
_ROWS_KEPT = 250  # of files that were asked for by their paths, a kilobyte each


class SqliteSnapshot(BlockSnapshot):
    """One generation: the connection holds a read transaction for as long as this lives. That of a writer,
    which hands over its own running `totals`, changes under its reader, so nothing is kept. `watch` tells
    whether the file has a newer generation."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        totals: Totals | None = None,
        watch: CommitWatch | None = None,
    ) -> None:
        self.watch = watch
        self._connection = connection
        self._tables = SqliteTables(connection)
        meta = dict(self._tables.rows("SELECT key, value FROM meta"))
        found = self._checked_totals(meta) if totals is None else totals
        super().__init__(SqlitePostingRows(self._tables), meta, found, changes=totals is not None)
        self._consulting: consulted.ConsultedTable | None = None
        self._files: Sequence[FileRecord] | None = None  # read once: a snapshot never changes
        self._table: PackedFiles | None = None  # the same, if they were read packed
        self._by_path: Cache[str, Any] = Cache(_ROWS_KEPT)  # checked rows
        self._by_number: Cache[int, Any] = Cache(_ROWS_KEPT)
        self._chunks: Cache[str, list[Any]] = Cache(_CHUNKS_KEPT)

    def _checked_totals(self, meta: dict[str, str]) -> Totals:
        check = meta.pop("check", "")
        if not check or check != meta_check(meta, self._tables.rows(SCHEMA.format("main"))):
            raise damaged("what it says of itself")
        return read_totals(meta.get("totals", "{}"))

    def close(self) -> None:
        self._connection.close()
        if self.watch is not None:
            self.watch.close()

    def __del__(self) -> None:
        """Close with the last reader. A writer shows its own connection, and closes that itself."""
        if self._own:
            self.close()

    def copy_to(self, target: sqlite3.Connection) -> None:
        """Write this generation into an empty database that rests on no other file."""
        copy_whole(self._connection, target)

    def start(self, target: sqlite3.Connection, path: Path) -> None:
        """Make an empty database, whose path is given, an index of the same content that shares what it
        can."""
        start_from(self._connection, target, path)

    def files(self, known: Sequence[FileRecord] = ()) -> Sequence[FileRecord]:
        if self._files is None and self._own:
            self._files = self._table = self._read_table(known)
        if self._files is None:  # a writer packs the rows last
            self._files = self._read_rows(known)
        return self._files

    def forget_files(self) -> None:
        self._files, self._table, self._consulting = None, None, None
        self._chunks.clear()
        self._by_path.clear()
        self._by_number.clear()

    def _read_table(self, known: Sequence[FileRecord]) -> PackedFiles:
        rows = self._tables.rows("SELECT number, row_check, data FROM file_blocks ORDER BY number")
        if sum_checks(row[1] for row in rows) != self._totals.file_blocks:
            raise damaged("the list of files")
        if any(blob_check(data, start=number) != check for number, check, data in rows):
            raise damaged("the record of a file")
        table = PackedFiles((data for _, _, data in rows), known)
        if table.check_sum() != self._totals.files or len(table.position_of) != len(table):
            raise damaged("the list of files")
        return table

    def _read_rows(self, known: Sequence[FileRecord]) -> list[FileRecord]:
        """Return the records of all rows; those of `known` that still hold are taken over."""
        rows = self._tables.rows(f"SELECT {STORED_COLUMNS} FROM files")
        if not rows_are_as_written(rows):
            raise damaged("the record of a file")
        if sum_checks(row[0] for row in rows) != self._totals.files:
            raise damaged("the list of files")
        by_path = {row[PATH]: row for row in rows}
        if len(by_path) != len(rows):
            raise damaged("the list of files")
        before = {item.path: item for item in known}
        ordered = map(by_path.__getitem__, sorted(by_path))
        return [checked_rows.same_or_new_record(row, before.get(row[PATH])) for row in ordered]

    def file_languages(self) -> dict[str, str]:
        return dict(self._tables.rows("SELECT path, language FROM files"))

    def _stored(self, path: str) -> Stored | None:
        """Return the record of a path, or None if there is none, which the table itself has to confirm."""
        row = self._by_path.get(path) or self._row_in_table(path)
        if row is not None:
            return checked_rows.stored(row)
        if self._own and self._files is not None:
            return None
        row = self._tables.one(f"SELECT {STORED_COLUMNS} FROM files WHERE path = ?", path)
        if row is None and self._own:
            # A row may be damaged so that it is not found by its path. The sum of all packed rows is checked.
            self.files()
            row = self._row_in_table(path)
            return None if row is None else checked_rows.stored(row)
        if row is None:
            return None
        checked_rows.check_stored(row)
        if row[PATH] != path:
            raise damaged("the list of paths")
        self._keep(row)
        return checked_rows.stored(row)

    def _row_in_table(self, path: str) -> Any:
        at = None if self._table is None else self._table.position_of.get(path)
        return None if self._table is None or at is None else self._table.row(at)

    def _number_and_check(self, path: str, which: int) -> tuple[int, int]:
        """Return the number of a file and one of its checks; a search asks for those of hundreds."""
        at = None if self._table is None else self._table.position_of.get(path)
        if self._table is not None and at is not None:
            return self._table.number_and_check(at, which)
        stored = self._stored_or_raise(path)
        checks = stored[3:]
        return stored.number, checks[which]

    def _stored_or_raise(self, path: str) -> Stored:
        stored = self._stored(path)
        if stored is None:
            raise KeyError(path)
        return stored

    def _row_at(self, number: int) -> Any:
        """Return the checked row of a file by its number, which other rows refer to."""
        row = self._by_number.get(number)
        if row is None and self._table is not None and number in self._table.position_of_number:
            return self._table.row(self._table.position_of_number[number])
        if row is None:
            row = self._tables.one(f"SELECT {STORED_COLUMNS} FROM files WHERE number = ?", number)
            if row is None:
                raise damaged("the list of files")
            checked_rows.check_stored(row)
            self._keep(row)
        return row

    def _keep(self, row: Any) -> None:
        if self._own:
            self._by_path.keep(row[PATH], row)
            self._by_number.keep(row[1], row)

    def stored(self, path: str) -> Stored | None:
        """Return a file record with its checks, for the writer that changes it."""
        return self._stored(path)

    def file(self, path: str) -> FileRecord | None:
        found = self._stored(path)
        return found.record if found else None

    def file_with_content(self, file_hash: str, language: str) -> FileRecord | None:
        row = self._tables.one(
            f"SELECT {STORED_COLUMNS} FROM files"
            " WHERE file_hash = ? AND language = ? ORDER BY +path LIMIT 1",  # +: not found by its order
            bytes.fromhex(file_hash),
            language,
        )
        if row is None:  # also where it was lost: then the content is parsed again
            return None
        checked_rows.check_stored(row)
        record = checked_rows.file_record(row)
        if (record.file_hash, record.language) != (file_hash, language):
            raise damaged("the list of contents")
        return record

    def text(self, path: str) -> str:
        return records.unpack_text(self._content(path)[0])

    def encoded_text(self, path: str) -> bytes:
        return records.unpack_encoded_text(self._content(path)[0])

    def chunks(self, path: str, first_line: int = 1, last_line: int = LAST_LINE) -> list[ChunkRecord]:
        rows = self._chunks.get(path)
        if rows is None:
            stored = self._stored(path)
            rows = self._chunk_rows(stored) if stored else []
            if self._own:
                self._chunks.keep(path, rows)
        return [
            records.chunk_record((*row[2:8], row[8].hex()), row[0], path)
            for row in rows
            if row[START_LINE] <= last_line and row[END_LINE] >= first_line
        ]

    def _chunk_rows(self, stored: Stored) -> list[Any]:
        first, count = stored.record.first_chunk, stored.record.chunk_count
        rows = self._tables.rows(
            f"SELECT {CHUNK_COLUMNS} FROM chunks WHERE number >= ? AND number < ? ORDER BY number",
            (first, first + count),
        )
        if rows_check(rows) != stored.chunks_check:
            raise damaged(f"what is cited of {stored.record.path!r}")
        return rows

    def chunks_by_number(self, numbers: Sequence[int]) -> list[ChunkRecord]:
        found: dict[int, ChunkRecord] = {}
        files = self._tables.rows_of("SELECT DISTINCT file FROM chunks WHERE number IN ({})", numbers)
        for (file,) in files:
            found.update({item.number: item for item in self.chunks(self._row_at(file)[PATH])})
        return [found[number] for number in numbers if number in found]

    def chunks_by_digest(self, digest: str) -> list[ChunkRecord]:
        statement = "SELECT DISTINCT file FROM chunks WHERE {}digest BETWEEN ? AND ?"
        files = self._tables.rows(statement.format(""), _digest_range(digest))
        if not files or len(digest) < _DIGEST_DIGITS:
            all_files = self._tables.rows(statement.format("+"), _digest_range(digest))
            if set(all_files) != set(files):
                raise damaged("the list of ids")
        paths = [self._row_at(file)[PATH] for (file,) in files]
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
            records.unpack_text(text),
            self.chunks(path),
            self.symbols(path),
            references,
            comments,
            self.facts(path),
        )

    def outlines(self, paths: Sequence[str]) -> list[tuple[Outline, bytes]]:
        wanted = {}
        for path in paths:
            number, check = self._number_and_check(path, OUTLINE_CHECK)
            wanted[number] = path, check
        found: dict[str, tuple[Outline, bytes]] = {}
        statement = "SELECT file, data, vectors FROM outlines WHERE file IN ({})"
        for number, data, vectors in self._tables.rows_of(statement, list(wanted)):
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
        found = records.unpack_extras(self._content(path)[1])[0]
        return found or references_of(self.facts(path))

    def facts(self, path: str) -> FileFacts:
        stored = self._stored_or_raise(path)
        row = self._tables.one("SELECT data FROM facts WHERE file = ?", stored.number)
        if row is None or blob_check(row[0]) != stored.facts_check:
            raise damaged(f"what {path!r} says about names")
        return records.unpack_facts(row[0])

    def edges(self, paths: Sequence[str]) -> list[FileEdges]:
        numbers = [self._stored_or_raise(path).number for path in paths]
        statement = "SELECT file, data_check, data FROM edges WHERE file IN ({})"
        rows = self._tables.rows_of(statement, list(dict.fromkeys(numbers)))
        return checked_rows.file_edges(rows, numbers)

    def cross_uses(self) -> cross_uses.CrossUses:
        files = self.files()
        if self._table is not None:
            paths, numbers = self._table.paths, list(self._table.position_of_number)
        else:
            paths = [record.path for record in files]
            numbers = [self._stored_or_raise(path).number for path in paths]
        rows = self._tables.rows("SELECT file, data_check, data FROM edges")
        return cross_uses.CrossUses.of_parts(paths, checked_rows.used_parts(rows, paths, numbers))

    def edges_mark(self, path: str) -> int:
        number = self._stored_or_raise(path).number
        row = self._tables.one("SELECT data_check FROM edges WHERE file = ?", number)
        if row is None or type(row[0]) is not int:
            raise damaged("the list of edges")
        mark: int = row[0]
        return mark

    def consulting(self, keys: Collection[str]) -> list[str]:
        if self._consulting is None or not self._own:
            self._consulting = self._read_consulted()
        return sorted(self._row_at(number)[PATH] for number in self._consulting.files_noting(keys))

    def _read_consulted(self) -> consulted.ConsultedTable:
        """Return what the edges of all files rest on."""
        rows = self._tables.rows("SELECT file, row_check, data_check, consulted FROM edges")
        return consulted.ConsultedTable.of_rows(rows, self._totals.edges)

    def scip_documents(self) -> dict[str, str]:
        if not self._totals.scip:  # most indexes have none, and every refresh asks
            return {}
        rows = self._tables.rows("SELECT path, row_check, data_check, file_hash FROM scip")
        return checked_rows.scip_documents(rows, self._totals.scip)

    def scip_uses(self, path: str) -> ScipUses:
        statement = "SELECT row_check, data_check, file_hash, data FROM scip WHERE path = ?"
        row = self._tables.one(statement, path) if self._totals.scip else None
        if row is None:
            if path in self.scip_documents():
                raise damaged("the list of SCIP documents")
            raise KeyError(path)
        return checked_rows.scip_uses(path, row)

    def symbols(self, path: str) -> list[Symbol]:
        stored = self._stored(path)
        return self._symbols_of(stored) if stored else []

    def _symbols_of(self, stored: Stored) -> list[Symbol]:
        statement = f"SELECT {SYMBOL_COLUMNS} FROM symbols WHERE file = ? ORDER BY position"
        rows = self._tables.rows(statement, (stored.number,))
        if rows_check(rows) != stored.symbols_check:
            raise damaged(f"what {stored.record.path!r} defines")
        return [records.symbol(row[2:]) for row in rows]

    def symbols_named(self, name: str) -> list[SymbolRecord]:
        statement = f"SELECT row_check, {SYMBOL_COLUMNS} FROM symbols WHERE name = ?"
        rows = self._tables.rows(statement, (name,))
        folded = records.fold(name)
        if self._own:
            self._confirm_count(folded, len(rows))
        return self._symbol_records(rows, folded)

    def symbols_named_many(
        self, names: Sequence[str], enough: EnoughSymbols | None = None
    ) -> dict[str, list[SymbolRecord]]:
        folded = {name: records.fold(name) for name in names}
        spelled = {form: name for name, form in folded.items()}  # one of the names that are the same here
        by_form: dict[bytes, list[Any]] = {form: [] for form in spelled}
        statement = f"SELECT row_check, {SYMBOL_COLUMNS} FROM symbols WHERE name IN ({{}})"
        for row in self._tables.rows_of(statement, list(spelled.values())):
            form = records.fold(row[3]) if type(row[3]) is str else b""
            if form not in by_form:
                raise damaged("the list of names")
            by_form[form].append(row)
        statement = "SELECT hash, sum(count) FROM symbol_names WHERE hash IN ({}) GROUP BY hash"
        counts = dict(self._tables.rows_of(statement, list({name_hash(form) for form in spelled})))
        for form, rows in by_form.items():
            if self._own and (counts.get(name_hash(form)) or 0) != len(rows):
                self._confirm_count(form, len(rows))
        found = {form: self._symbol_records(rows, form) for form, rows in by_form.items()}
        return {name: found[form] for name, form in folded.items()}

    def _symbol_records(self, rows: Iterable[Any], folded: bytes) -> list[SymbolRecord]:
        """Return the symbols of rows, each with its check, of which all have a name."""
        found = []
        for row in rows:
            file = self._row_at(row[1])
            if row_check(file[FIRST_CHUNK], *row[1:]) != row[0] or records.fold(row[3]) != folded:
                raise damaged(f"what {file[PATH]!r} defines")
            found.append((file[PATH], row))
        found.sort(key=lambda item: (item[0], item[1][2]))
        return [SymbolRecord(path, records.symbol(row[3:])) for path, row in found]

    def _confirm_count(self, folded: bytes, count: int) -> None:
        """Raise if a name has another number of symbols than was counted. Two names may share a hash: then
        all names are gone through."""
        number = name_hash(folded)
        row = self._tables.one("SELECT sum(count) FROM symbol_names WHERE hash = ?", number)
        counted = row[0] or 0
        if counted == count:
            return
        rows = self._tables.rows(f"SELECT name FROM symbols WHERE {BY_TABLE} AND typeof(name) = 'text'")
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
        rows = self._tables.rows(statement.format(name="name", scan=""), values)
        if rows != self._tables.rows(statement.format(name="+name", scan=f" AND {BY_TABLE}"), values):
            raise damaged("the list of names")
        return [row[0] for row in rows]

    def all_symbols(self) -> Iterable[SymbolRecord]:
        for record in self.files():
            for symbol in self.symbols(record.path):
                yield SymbolRecord(record.path, symbol)

    def skipped(self, paths: Sequence[str] | None = None) -> list[SkippedRecord]:
        statement = f"SELECT {SKIPPED_COLUMNS}, row_check FROM skipped"
        if paths is not None:  # one that is lost is looked at again, as a new file is
            found = (self._tables.one(f"{statement} WHERE path = ?", path) for path in sorted(set(paths)))
            return [checked_rows.skipped_record(row) for row in found if row is not None]
        rows = self._tables.rows(statement)
        if sum_checks(row[-1] for row in rows) != self._totals.skipped:
            raise damaged("the list of what is left out")
        return sorted(map(checked_rows.skipped_record, rows), key=lambda item: item.skipped.path)

    def extent(self) -> Extent:
        indexed = self._tables.one("SELECT count(*), max(mtime_ns), sum(size) FROM files")
        others = self._tables.one("SELECT count(*), max(mtime_ns), sum(size) FROM skipped WHERE size >= 0")
        if not all(type(value) in (int, NoneType) for value in (*indexed, *others)):
            raise damaged("the record of a file")
        return Extent(
            indexed[0] + others[0],
            max(indexed[1] or 0, others[1] or 0),
            (indexed[2] or 0) + (others[2] or 0),
        )

    def retired(self, digest: str) -> list[RetiredChunk]:
        statement = f"SELECT {RETIRED_COLUMNS} FROM retired WHERE digest BETWEEN ? AND ? ORDER BY number"
        rows = self._tables.rows(statement, _digest_range(digest))
        if not rows or len(digest) < _DIGEST_DIGITS:
            every = self._tables.rows(f"SELECT {RETIRED_COLUMNS} FROM retired ORDER BY number")
            if sum_checks(row[6] for row in every) != self._totals.retired:
                raise damaged("the list of ended ids")
            rows = every
        return [item for item in map(checked_rows.retired_chunk, rows) if item.digest.startswith(digest)]

    def history(self) -> bytes:
        row = self._tables.one("SELECT data FROM history")
        data: bytes = row[0] if row else b""
        if blob_check(data) != self._totals.history:
            raise damaged("the history")
        return data

    def _content(self, path: str) -> tuple[bytes, bytes]:
        number, check = self._number_and_check(path, CONTENTS_CHECK)
        row = self._tables.one("SELECT text, extras FROM contents WHERE file = ?", number)
        if row is None or blob_check(*row) != check:
            raise damaged(f"the text of {path!r}")
        return row[0], row[1]


def _digest_range(digest: str) -> tuple[bytes, bytes]:
    return bytes.fromhex(digest.ljust(16, "0")), bytes.fromhex(digest.ljust(16, "f"))
