"""One generation of an index in PostgreSQL.

Nothing leaves here unchecked (see `storage.checks`). A file's row vouches for its content, its chunks and its
symbols; the totals of the segment show that no row is missing. It is one class, and a long one, because all
its answers rest on the same rows of files.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from satchel.caching import Cache
from satchel.code_facts import FileEdges, FileFacts, ScipUses, references_of
from satchel.parsed import Parsed
from satchel.plugins import late
from satchel.storage import checked_rows, postgres_contents, records
from satchel.storage.block_postings import BlockSnapshot
from satchel.storage.checked_rows import FIRST_CHUNK
from satchel.storage.checks import (
    Totals,
    blob_check,
    damaged,
    name_hash,
    read_totals,
    sum_checks,
)
from satchel.storage.postgres_contents import FileRow, read_file_row
from satchel.storage.postgres_tables import ReadableTables
from satchel.storage.protocol import LAST_LINE, EnoughSymbols, Extent
from satchel.storage.records import (
    ChunkRecord,
    FileRecord,
    Outline,
    RetiredChunk,
    SkippedRecord,
    SymbolRecord,
    SymbolRow,
)
from satchel.types import Reference, Symbol

if TYPE_CHECKING:
    from satchel.storage import consulted, cross_uses
else:  # it loads numpy, which a refresh that finds nothing to do needs for nothing else
    consulted = late("satchel.storage.consulted")
    cross_uses = late("satchel.storage.cross_uses")

# Files whose chunks and symbols are kept: an answer asks for several ranges of the same few. A library has as
# many of these for each of its repositories.
_FILES_KEPT = 24
_ROWS_KEPT = 250  # of files that were asked for by their paths, a kilobyte each
_FILES_AT_ONCE = 500  # whose contents are read by one statement
_DIGEST_DIGITS = 16  # of a whole digest


class PostgresPostingRows:
    """The rows of the posting runs of one segment."""

    def __init__(self, tables: ReadableTables) -> None:
        self._tables = tables

    def run_sizes(self) -> list[Any]:
        statement = "SELECT number, octet_length(lengths) / 4, row_check FROM {runs} WHERE segment = %s"
        return self._tables.rows(f"{statement} ORDER BY number", self._tables.number, of="runs")

    def runs(self, number: int | None = None) -> list[Any]:
        statement = f"SELECT {checked_rows.RUN_COLUMNS} FROM {{runs}} WHERE segment = %s"
        if number is None:
            return self._tables.rows(f"{statement} ORDER BY number", self._tables.number, of="runs")
        return self._tables.rows(f"{statement} AND number = %s", self._tables.number, number, of="runs")

    def directories(self, numbers: Sequence[int]) -> list[Any]:
        statement = (
            "SELECT number, directory, directory_check FROM {runs} WHERE segment = %s AND number = ANY(%s)"
        )
        return self._tables.rows(statement, self._tables.number, list(numbers), of="runs")

    def blocks(self, numbers: Sequence[int]) -> list[Any]:
        statement = "SELECT number, data, row_check FROM {blocks} WHERE segment = %s AND number = ANY(%s)"
        return self._tables.rows(statement, self._tables.number, list(numbers), of="blocks")


class PostgresSnapshot(BlockSnapshot):
    """One generation of a segment. That of a writer, whose `totals` run on, changes under its reader, so
    nothing is kept."""

    def __init__(self, tables: ReadableTables, meta: dict[str, str], totals: Totals | None = None) -> None:
        self._tables = tables
        found = read_totals(meta.get("totals", "{}")) if totals is None else totals
        super().__init__(PostgresPostingRows(tables), meta, found, changes=totals is not None)
        self._consulting: consulted.ConsultedTable | None = None
        self._files: list[FileRecord] | None = None  # read once: a snapshot never changes
        self._by_path: dict[str, FileRow] = {}  # checked rows
        self._by_number: dict[int, FileRow] = {}
        self._chunks: Cache[str, list[ChunkRecord]] = Cache(_FILES_KEPT)
        self._symbols: Cache[str, list[SymbolRow]] = Cache(_FILES_KEPT)

    @property
    def segment(self) -> int:
        """Return the number of the segment, for a writer that starts as its copy."""
        return self._tables.number

    def close(self) -> None:
        self._tables.close()

    def __del__(self) -> None:
        """Let the tables go with the last reader; a writer shows its own, and ends with them."""
        if self._own:
            self._tables.close()

    def files(self, known: Sequence[FileRecord] = ()) -> Sequence[FileRecord]:
        if self._files is not None:
            return self._files
        rows = self._file_rows()
        by_path = {row.path: row for row in rows}
        if sum_checks(row.stored[0] for row in rows) != self._totals.files or len(by_path) != len(rows):
            raise damaged("the list of files")
        before = {item.path: item for item in known}
        found = [
            checked_rows.same_or_new_record(by_path[path].stored, before.get(path))
            for path in sorted(by_path)
        ]
        if self._own:
            self._files = found
            self._by_path = by_path
            self._by_number = {row.number: row for row in rows}
        return found

    def forget_files(self) -> None:
        self._files, self._by_path, self._by_number, self._consulting = None, {}, {}, None
        self._chunks.clear()
        self._symbols.clear()

    def _file_rows(self, condition: str = "", *values: Any) -> list[FileRow]:
        """Return the checked rows of all files, or of those that fulfil a condition."""
        statement = f"SELECT row_check, data, content FROM {{files}} WHERE segment = %s{condition}"
        return [
            read_file_row(check, data, content)
            for check, data, content in self._tables.rows(statement, self._tables.number, *values, of="files")
        ]

    def file_languages(self) -> dict[str, str]:
        return {record.path: record.language for record in self.files()}

    def row(self, path: str) -> FileRow | None:
        """Return the row of a path, or None if there is none, which the list of all files has to confirm."""
        row = self._by_path.get(path)
        if row is not None or (self._own and self._files is not None):
            return row
        rows = self._file_rows(" AND path = %s", path)
        if not rows:
            if self._own:
                self.files()
                if path in self._by_path:
                    raise damaged("the list of paths")
            return None
        if rows[0].path != path:
            raise damaged("the list of paths")
        self._keep(rows)
        return rows[0]

    def _row_or_raise(self, path: str) -> FileRow:
        row = self.row(path)
        if row is None:
            raise KeyError(path)
        return row

    def _rows_at(self, numbers: Collection[int]) -> list[FileRow]:
        """Return the checked rows of files by their numbers, which other rows refer to."""
        missing = [number for number in numbers if number not in self._by_number]
        found = (
            {row.number: row for row in self._file_rows(" AND number = ANY(%s)", missing)} if missing else {}
        )
        try:
            rows = [self._by_number.get(number) or found[number] for number in numbers]
        except KeyError:
            raise damaged("the list of files") from None
        self._keep(found.values())
        return rows

    def _keep(self, rows: Collection[FileRow]) -> None:
        """Keep the rows of some files, but not those of ever more files."""
        if not self._own:
            return
        if self._files is None and len(self._by_path) + len(rows) > _ROWS_KEPT:
            self._by_path, self._by_number = {}, {}
        self._by_path.update((row.path, row) for row in rows)
        self._by_number.update((row.number, row) for row in rows)

    def file(self, path: str) -> FileRecord | None:
        row = self.row(path)
        return checked_rows.file_record(row.stored) if row else None

    def file_with_content(self, file_hash: str, language: str) -> FileRecord | None:
        rows = self._file_rows(" AND file_hash = %s ORDER BY path", bytes.fromhex(file_hash))
        found = (checked_rows.file_record(row.stored) for row in rows)
        return next(
            (item for item in found if (item.file_hash, item.language) == (file_hash, language)), None
        )

    def _contents(
        self, rows: Sequence[FileRow], *columns: str
    ) -> Iterator[tuple[FileRow, tuple[bytes, ...]]]:
        """Yield some columns of the contents of files, in the order given."""
        for start in range(0, len(rows), _FILES_AT_ONCE):
            some = rows[start : start + _FILES_AT_ONCE]
            keys = list({row.content for row in some})
            statement = f"SELECT key, {', '.join(columns)} FROM {{contents}} WHERE key = ANY(%s)"
            found = {
                key: parts for key, *parts in self._tables.rows(statement, keys, of="contents", keys=keys)
            }
            for row in some:
                if row.content not in found:
                    raise damaged(f"the content of {row.path!r}")
                yield row, tuple(found[row.content])

    def _content(self, path: str, *columns: str) -> tuple[FileRow, tuple[bytes, ...]]:
        return next(self._contents([self._row_or_raise(path)], *columns))

    def _text_and_extras(self, path: str) -> tuple[bytes, bytes]:
        row, (text, extras) = self._content(path, "text", "extras")
        if blob_check(text, extras) != row.checks.contents_check:
            raise damaged(f"the text of {path!r}")
        return text, extras

    def text(self, path: str) -> str:
        return records.unpack_text(self._text_and_extras(path)[0])

    def encoded_text(self, path: str) -> bytes:
        return records.unpack_encoded_text(self._text_and_extras(path)[0])

    def chunks(self, path: str, first_line: int = 1, last_line: int = LAST_LINE) -> list[ChunkRecord]:
        found = self._chunks.get(path)
        if found is None:
            row = self.row(path)
            found = next(self.chunks_of([row]))[1] if row else []
            if self._own:
                self._chunks.keep(path, found)
        return [item for item in found if item.start_line <= last_line and item.end_line >= first_line]

    def chunks_of(self, rows: Sequence[FileRow]) -> Iterator[tuple[FileRow, list[ChunkRecord]]]:
        """Yield files with their chunks, in the order given."""
        for start in range(0, len(rows), _FILES_AT_ONCE):
            some = rows[start : start + _FILES_AT_ONCE]
            statement = "SELECT number, digests FROM {files} WHERE segment = %s AND number = ANY(%s)"
            numbers = [row.number for row in some]
            digests = dict(
                self._tables.rows(statement, self._tables.number, numbers, of="files", keys=numbers)
            )
            for row, (chunks,) in self._contents(some, "chunks"):
                own = digests.get(row.number, b"")
                if blob_check(chunks, own, start=row.number) != row.checks.chunks_check:
                    raise damaged(f"what is cited of {row.path!r}")
                first = row.stored[FIRST_CHUNK]
                unpacked = postgres_contents.unpack_chunks(chunks, own)
                yield (
                    row,
                    [records.chunk_record(item, first + at, row.path) for at, item in enumerate(unpacked)],
                )

    def chunks_by_number(self, numbers: Sequence[int]) -> list[ChunkRecord]:
        wanted = set(numbers)
        held = [
            record.path
            for record in self.files()
            if wanted.intersection(range(record.first_chunk, record.first_chunk + record.chunk_count))
        ]
        found = {item.number: item for path in held for item in self.chunks(path)}
        return [found[number] for number in numbers if number in found]

    def chunks_by_digest(self, digest: str) -> list[ChunkRecord]:
        # Digests of a file lie side by side: what is found may also begin inside of one.
        start = bytes.fromhex(digest[: len(digest) // 2 * 2])
        rows = sorted(
            self._file_rows(" AND position(%s::bytea in digests) > 0", start), key=lambda row: row.path
        )
        found = (item for _, chunks in self.chunks_of(rows) for item in chunks)
        return [item for item in found if item.digest.startswith(digest)]

    def parsed(self, path: str) -> Parsed:
        text, extras = self._text_and_extras(path)
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
        found = []
        for row, parts in self._contents([self._row_or_raise(path) for path in paths], "outline", "vectors"):
            if blob_check(*parts) != row.stored[checked_rows.OUTLINE_CHECK]:
                raise damaged(f"the outline of {row.path!r}")
            found.append((records.unpack_outline(parts[0]), parts[1]))
        return found

    def living(self, first_units: Sequence[int]) -> set[int]:
        starts = {record.first_unit for record in self.files() if record.unit_count}
        return starts.intersection(first_units)

    def references(self, path: str) -> tuple[Reference, ...]:
        found = records.unpack_extras(self._text_and_extras(path)[1])[0]
        return found or references_of(self.facts(path))

    def facts(self, path: str) -> FileFacts:
        row, (data,) = self._content(path, "facts")
        if blob_check(data) != row.checks.facts_check:
            raise damaged(f"what {path!r} says about names")
        return records.unpack_facts(data)

    def edges(self, paths: Sequence[str]) -> list[FileEdges]:
        numbers = [self._row_or_raise(path).number for path in paths]
        statement = "SELECT file, data_check, data FROM {edges} WHERE segment = %s AND file = ANY(%s)"
        rows = (
            self._tables.rows(statement, self._tables.number, numbers, of="edges", keys=numbers)
            if numbers
            else ()
        )
        return checked_rows.file_edges(rows, numbers)

    def cross_uses(self) -> cross_uses.CrossUses:
        paths = [record.path for record in self.files()]
        numbers = [self._row_or_raise(path).number for path in paths]
        statement = "SELECT file, data_check, data FROM {edges} WHERE segment = %s"
        rows = self._tables.rows(statement, self._tables.number, of="edges")
        return cross_uses.CrossUses.of_parts(paths, checked_rows.used_parts(rows, paths, numbers))

    def edges_mark(self, path: str) -> int:
        statement = "SELECT data_check FROM {edges} WHERE segment = %s AND file = %s"
        rows = self._tables.rows(statement, self._tables.number, self._row_or_raise(path).number, of="edges")
        if not rows:
            raise damaged("the list of edges")
        return int(rows[0][0])

    def consulting(self, keys: Collection[str]) -> list[str]:
        if self._consulting is None or not self._own:
            self._consulting = self._read_consulted()
        return sorted(row.path for row in self._rows_at(self._consulting.files_noting(keys)))

    def _read_consulted(self) -> consulted.ConsultedTable:
        """Return what the edges of all files rest on."""
        statement = "SELECT file, row_check, data_check, consulted FROM {edges} WHERE segment = %s"
        rows = self._tables.rows(statement, self._tables.number, of="edges")
        return consulted.ConsultedTable.of_rows(rows, self._totals.edges)

    def scip_documents(self) -> dict[str, str]:
        if not self._totals.scip:  # most indexes have none, and every refresh asks
            return {}
        statement = "SELECT path, row_check, data_check, file_hash FROM {scip} WHERE segment = %s"
        rows = self._tables.rows(statement, self._tables.number, of="scip")
        return checked_rows.scip_documents(rows, self._totals.scip)

    def scip_uses(self, path: str) -> ScipUses:
        statement = (
            "SELECT row_check, data_check, file_hash, data FROM {scip} WHERE segment = %s AND path = %s"
        )
        rows = self._tables.rows(statement, self._tables.number, path, of="scip") if self._totals.scip else ()
        if not rows:
            if path in self.scip_documents():
                raise damaged("the list of SCIP documents")
            raise KeyError(path)
        return checked_rows.scip_uses(path, rows[0])

    def symbols(self, path: str) -> list[Symbol]:
        rows = self._symbols.get(path)
        if rows is None:
            row = self.row(path)
            rows = next(self.symbols_of([row]))[1] if row else []
            if self._own:
                self._symbols.keep(path, rows)
        return [records.symbol(row) for row in rows]

    def symbols_of(self, rows: Sequence[FileRow]) -> Iterator[tuple[FileRow, list[SymbolRow]]]:
        """Yield files with the rows of their symbols, in the order given."""
        for row, (data,) in self._contents(rows, "symbols"):
            if blob_check(data) != row.checks.symbols_check:
                raise damaged(f"what {row.path!r} defines")
            yield row, postgres_contents.unpack_symbols(data)

    def symbols_named(self, name: str) -> list[SymbolRecord]:
        folded = records.fold(name)
        return self._symbols_in(self._files_naming(folded), folded)

    def symbols_named_many(
        self, names: Sequence[str], enough: EnoughSymbols | None = None
    ) -> dict[str, list[SymbolRecord]]:
        folded = {name: records.fold(name) for name in names}
        files: dict[bytes, list[int]] = {form: [] for form in folded.values()}
        segment, hashes = self._tables.number, list({name_hash(form) for form in files})
        statement = (
            "SELECT folded, file, 0 FROM {names} WHERE segment = %s AND folded = ANY(%s)"
            " UNION ALL SELECT NULL, hash, count FROM {name_counts} WHERE segment = %s AND hash = ANY(%s)"
        )
        counts: dict[int, int] = {}
        for form, number, count in self._tables.rows(
            statement, segment, list(files), segment, hashes, of="names"
        ):
            if form is None:
                counts[number] = count
            else:
                files[form].append(number)
        for form, numbers in files.items():
            if self._own and counts.get(name_hash(form), 0) != len(numbers):
                self._files_naming(form)
        found = {form: self._symbols_in(numbers, form) for form, numbers in files.items()}
        return {name: found[form] for name, form in folded.items()}

    def _symbols_in(self, files: Collection[int], folded: bytes) -> list[SymbolRecord]:
        """Return the symbols of a name in some files, by path; each of them has to define it."""
        rows = sorted(self._rows_at(files), key=lambda row: row.path)
        found = []
        for row, symbols in self.symbols_of(rows):
            own = [symbol for symbol in symbols if records.fold(symbol[0]) == folded]
            if not own:
                raise damaged("the list of names")
            found += [SymbolRecord(row.path, records.symbol(symbol)) for symbol in own]
        return found

    def _files_naming(self, folded: bytes) -> list[int]:
        """Return the numbers of the files that define a name, or raise if there are not as many as were
        counted. Two names may share a hash: then all names are gone through."""
        segment, hashed = self._tables.number, name_hash(folded)
        statement = (
            "SELECT ARRAY(SELECT file FROM {names} WHERE segment = %s AND folded = %s),"
            " (SELECT count FROM {name_counts} WHERE segment = %s AND hash = %s)"
        )
        ((files, count),) = self._tables.rows(statement, segment, folded, segment, hashed, of="names")
        if self._own and len(files) != (count or 0):
            rows = self._tables.rows("SELECT folded FROM {names} WHERE segment = %s", segment, of="names")
            alike = [other for (other,) in rows if name_hash(other) == hashed]
            if len(alike) != (count or 0) or alike.count(folded) != len(files):
                raise damaged("the list of names")
        found: list[int] = files
        return found

    def symbol_names(self, prefix: str, limit: int) -> list[str]:
        start = records.fold(prefix)
        statement = (
            "SELECT DISTINCT folded, unnest(coalesce(spelled, ARRAY[folded])) FROM {names}"
            " WHERE segment = %s AND folded >= %s AND folded < %s ORDER BY 1, 2 LIMIT %s"
        )
        # No byte of UTF-8 is 255.
        rows = self._tables.rows(statement, self._tables.number, start, start + b"\xff", limit, of="names")
        return [one.decode("utf-8", "surrogatepass") for _, one in rows]

    def all_symbols(self) -> Iterable[SymbolRecord]:
        rows = sorted(self._file_rows(), key=lambda row: row.path)
        if sum_checks(row.stored[0] for row in rows) != self._totals.files:
            raise damaged("the list of files")
        for row, symbols in self.symbols_of(rows):
            for symbol in symbols:
                yield SymbolRecord(row.path, records.symbol(symbol))

    def skipped(self, paths: Sequence[str] | None = None) -> list[SkippedRecord]:
        statement = "SELECT data, row_check FROM {skipped} WHERE segment = %s"
        if paths is not None:  # one that is lost is looked at again, as a new file is
            statement += " AND path = ANY(%s)"
            rows = self._tables.rows(statement, self._tables.number, list(paths), of="skipped")
        else:
            rows = self._tables.rows(statement, self._tables.number, of="skipped")
            if sum_checks(row[1] for row in rows) != self._totals.skipped:
                raise damaged("the list of what is left out")
        found = (checked_rows.skipped_record((*msgspec.msgpack.decode(data), check)) for data, check in rows)
        return sorted(found, key=lambda item: item.skipped.path)

    def extent(self) -> Extent:
        files: list[FileRecord | SkippedRecord] = [*self.files()]
        files += [item for item in self.skipped() if item.size >= 0]
        latest = max((item.mtime_ns for item in files), default=0)
        return Extent(len(files), max(latest, 0), sum(item.size for item in files))

    def retired(self, digest: str) -> list[RetiredChunk]:
        low, high = (bytes.fromhex(digest.ljust(_DIGEST_DIGITS, digit)) for digit in "0f")
        statement = "SELECT data, row_check FROM {retired} WHERE segment = %s"
        rows = self._tables.rows(
            f"{statement} AND digest BETWEEN %s AND %s ORDER BY number",
            self._tables.number,
            low,
            high,
            of="retired",
        )
        if not rows or len(digest) < _DIGEST_DIGITS:
            rows = self._tables.rows(f"{statement} ORDER BY number", self._tables.number, of="retired")
            if sum_checks(row[1] for row in rows) != self._totals.retired:
                raise damaged("the list of ended ids")
        found = (checked_rows.retired_chunk((*msgspec.msgpack.decode(data), check)) for data, check in rows)
        return [item for item in found if item.digest.startswith(digest)]

    def history(self) -> bytes:
        rows = self._tables.rows(
            "SELECT data FROM {histories} WHERE segment = %s", self._tables.number, of="histories"
        )
        data: bytes = rows[0][0] if rows else b""
        if blob_check(data) != self._totals.history:
            raise damaged("the history")
        return data
