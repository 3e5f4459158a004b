"""What parsing gave for a file, kept once for all segments of a database that hold the same.

A content is known by a hash of all its parts, so no two segments have to trust each other. Contents are
written before the files that refer to them, in short transactions of their own: two writers that meet the
same content wait for each other only that long, and what a killed writer leaves is seen by nobody. Contents
that no file refers to any more are swept when no segment is being written.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

import msgspec
from msgspec.structs import replace
from psycopg import errors

from satchel import ids
from satchel.errors import IndexCorrupt
from satchel.parsed import Parsed
from satchel.storage import checked_rows, records
from satchel.storage.checked_rows import PATH, Stored
from satchel.storage.checks import blob_check, damaged
from satchel.storage.deflate import DeflateError, compress, crc32, decompress
from satchel.storage.postgres_connection import CONTENT_LOCK, Connection, Database, database, run
from satchel.storage.postgres_schema import SCHEMA
from satchel.storage.protocol import ContentName
from satchel.storage.records import ChunkRow, PackedFile, SymbolRow

_ShortChunk = tuple[str, str, int, int, int, int]
COLUMNS = ("text", "extras", "outline", "vectors", "facts", "chunks", "symbols")


class FileRow(NamedTuple):
    """The row of a file: the stored columns, and where the rest of it is."""

    stored: tuple[Any, ...]
    content: bytes

    @property
    def number(self) -> int:
        return int(self.stored[1])

    @property
    def path(self) -> str:
        return str(self.stored[PATH])

    @property
    def checks(self) -> Stored:
        return checked_rows.stored(self.stored)


def read_file_row(check: int, data: bytes, content: bytes) -> FileRow:
    """Return the row of a file, checked."""
    if type(data) is not bytes or crc32(data) != check:
        raise damaged("the record of a file")
    return FileRow((check, *msgspec.msgpack.decode(data)), content)


class Content(msgspec.Struct, frozen=True):
    """The parts of one content, as the columns of its row keep them."""

    text: bytes
    extras: bytes
    outline: bytes
    vectors: bytes
    facts: bytes
    chunks: bytes
    symbols: bytes

    @property
    def parts(self) -> tuple[bytes, ...]:
        return self.text, self.extras, self.outline, self.vectors, self.facts, self.chunks, self.symbols

    @property
    def key(self) -> bytes:
        """Return the hash of all parts."""
        return ids.content_key(self.parts)


def content_of(packed: PackedFile) -> Content:
    """Return what a packed file shares with every file of the same content: all but the digests of its
    chunks, which its path decides."""
    return Content(
        packed.text,
        packed.extras,
        packed.outline,
        packed.vectors,
        packed.facts,
        _pack([row[:6] for row in packed.chunks]),
        _pack(packed.symbols),
    )


def pack_digests(packed: PackedFile) -> bytes:
    """Return the digests of the chunks of a file, 8 bytes each."""
    return bytes.fromhex("".join(row[6] for row in packed.chunks))


def unpack_chunks(chunks: bytes, digests: bytes) -> list[ChunkRow]:
    """Return the chunk rows of a file."""
    rows: list[_ShortChunk] = _unpack(chunks, list[_ShortChunk])
    if len(digests) != 8 * len(rows):
        raise IndexCorrupt("the chunks of a file in the index cannot be read")
    return [(*row, digests[8 * at : 8 * at + 8].hex()) for at, row in enumerate(rows)]


def unpack_symbols(symbols: bytes) -> list[SymbolRow]:
    """Return the symbol rows of a file."""
    rows: list[SymbolRow] = _unpack(symbols, list[SymbolRow])
    return rows


def names_of(symbols: Iterable[SymbolRow]) -> dict[bytes, set[bytes]]:
    """Return the names of symbols: each in lower case, with its spellings."""
    found: dict[bytes, set[bytes]] = {}
    for row in symbols:
        found.setdefault(records.fold(row[0]), set()).add(row[0].encode("utf-8", "surrogatepass"))
    return found


class ParsesOfDatabase(msgspec.Struct, frozen=True):
    """What parsing gave for the contents of all segments of one signature in a database."""

    conninfo: str
    shown: str
    signature: str

    def __call__(self, wanted: Sequence[ContentName]) -> dict[ContentName, Parsed]:
        """Return what is known of some contents. One that is damaged is not known: it is parsed again."""
        if not wanted:
            return {}
        hashes = [bytes.fromhex(file_hash) for file_hash, _ in wanted]
        asked, found = set(wanted), {}
        for row in database(self.conninfo, self.shown).rows(_KNOWN_PARSES, (hashes, self.signature)):
            with suppress(IndexCorrupt):
                name, parsed = _known_parse(*row)
                if name in asked:
                    found[name] = parsed
        return found


_KNOWN_PARSES = f"""
    SELECT DISTINCT ON (files.file_hash, files.content)
        files.row_check, files.data, files.content, digests, text, extras, facts, chunks, symbols
    FROM {SCHEMA}.files JOIN {SCHEMA}.segments ON segments.number = files.segment
        JOIN {SCHEMA}.contents ON contents.key = files.content
    WHERE files.file_hash = ANY(%s) AND segments.signature = %s AND segments.generation > 0"""


def _known_parse(
    row_check: int, data: bytes, content: bytes, digests: bytes, *parts: bytes
) -> tuple[ContentName, Parsed]:
    """Return the name of a content and what parsing gave for it, checked."""
    row = read_file_row(row_check, data, content)
    checks, record = row.checks, row.checks.record
    text, extras, facts, chunks, symbols = parts
    found = (
        blob_check(text, extras),
        blob_check(chunks, digests, start=row.number),
        blob_check(symbols),
        blob_check(facts),
    )
    if found != (checks.contents_check, checks.chunks_check, checks.symbols_check, checks.facts_check):
        raise damaged(f"the content of {record.path!r}")
    references, comments = records.unpack_extras(extras)
    parsed = records.parsed_from(
        records.unpack_text(text),
        [records.chunk_record(row, 0, "") for row in unpack_chunks(chunks, digests)],
        [records.symbol(row) for row in unpack_symbols(symbols)],
        references,
        comments,
        records.unpack_facts(facts),
    )
    return (record.file_hash, record.language), replace(parsed, by_lines=records.by_lines(record.tags))


def put_contents(opened: Database, contents: Mapping[bytes, Content]) -> None:
    """Keep contents, whatever other writers do meanwhile; those that are known are not sent again."""
    if not contents:
        return
    with opened.connection() as connection:
        known = _known(connection, list(contents))
        rows = [(key, *contents[key].parts) for key in sorted(contents) if key not in known]
        if not rows:
            return
        try:
            with connection.transaction():
                # The commit of the generation, which comes later, brings these to the disk, too.
                run(connection, "SET LOCAL synchronous_commit = off")
                copy_rows(connection, f"{SCHEMA}.contents", ("key", *COLUMNS), "bytea " * 8, rows)
        except errors.UniqueViolation:
            _put_one_by_one(connection, rows)


def _known(connection: Connection, keys: Sequence[bytes]) -> set[bytes]:
    return {
        key for (key,) in run(connection, f"SELECT key FROM {SCHEMA}.contents WHERE key = ANY(%s)", (keys,))
    }


def _put_one_by_one(connection: Connection, rows: Sequence[tuple[bytes, ...]]) -> None:
    marks = ", ".join(["%s"] * len(rows[0]))
    statement = f"INSERT INTO {SCHEMA}.contents VALUES ({marks}) ON CONFLICT DO NOTHING"
    for row in rows:
        run(connection, statement, row)


def copy_rows(
    connection: Connection, table: str, columns: Sequence[str], types: str, rows: Iterable[Sequence[Any]]
) -> None:
    """Add rows to a table by binary COPY; `types` names the type of each column."""
    statement = f"COPY {table} ({', '.join(columns)}) FROM STDIN (FORMAT BINARY)"
    with connection.cursor() as cursor, cursor.copy(statement.encode()) as copy:
        copy.set_types(types.split())
        for row in rows:
            copy.write_row(row)


def sweep(opened: Database, keys: Sequence[bytes] | None = None) -> int:
    """Remove contents, all or those of some keys, that no file refers to; return how many. While a segment
    is being written nothing is removed: its writer may be about to refer to one."""
    unused = f"NOT EXISTS (SELECT FROM {SCHEMA}.files WHERE content = key)"
    with opened.connection() as connection, connection.transaction():
        if not run(connection, f"SELECT pg_try_advisory_xact_lock({CONTENT_LOCK}, 0)")[0][0]:
            return 0
        statement = f"DELETE FROM {SCHEMA}.contents WHERE {unused}"
        if keys is not None:
            statement += " AND key = ANY(%s)"
        return len(run(connection, f"{statement} RETURNING 1", () if keys is None else (list(keys),)))


def remove_damaged(connection: Connection, files: str, segment: int) -> None:
    """Remove the contents of a segment that are not as they were written, so that whoever has them puts them
    anew. Other segments that refer to them notice that they are gone, as they notice the damage."""
    written = " || ".join(f"int8send(octet_length({column})) || {column}" for column in COLUMNS)
    run(
        connection,
        f"DELETE FROM {SCHEMA}.contents WHERE key IN (SELECT content FROM {files} WHERE segment = %s)"
        f" AND key <> substr(sha256({written}), 1, 16)",
        (segment,),
    )


def _pack(rows: Sequence[Any]) -> bytes:
    return compress(msgspec.msgpack.encode(rows)) if rows else b""


def _unpack(data: bytes, kind: Any) -> Any:
    if not data:
        return []
    try:
        return msgspec.msgpack.decode(decompress(data), type=kind)
    except (DeflateError, msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise IndexCorrupt(f"a file in the index cannot be read: {error}") from error
