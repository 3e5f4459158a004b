"""How does a stored row become a record, checked on the way?

Every row that is read alone carries a check of its values (see `storage.checks`); rows that are read together
are checked by the record of their file.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from functools import lru_cache
from sys import intern
from typing import Any, NamedTuple

from satchel.code_facts import FileEdges, ScipUses
from satchel.storage import records
from satchel.storage.checks import blob_check, damaged, row_check, rows_are_as_written, sum_checks
from satchel.storage.records import FileRecord, PostingRun, RetiredChunk, SkippedRecord
from satchel.types import Skipped, SkipReason

FILE_COLUMNS = (
    "path, size, mtime_ns, file_hash, language, encoding, line_count, redactions, tags,"
    " first_chunk, chunk_count, settled, first_unit, unit_count, ctime_ns, inode"
)
CHECK_COLUMNS = "contents_check, outline_check, chunks_check, symbols_check, facts_check"
STORED_COLUMNS = f"row_check, number, {FILE_COLUMNS}, {CHECK_COLUMNS}"
CHUNK_COLUMNS = "number, file, kind, title, level, start_line, end_line, body_offset, digest"
SYMBOL_COLUMNS = "file, position, name, qualified_name, kind, start_line, end_line, signature, doc"
RUN_COLUMNS = "number, files, lengths, lines, vectors, row_check"
SKIPPED_COLUMNS = "path, reason, detail, size, mtime_ns, ctime_ns, inode"
RETIRED_COLUMNS = "digest, path, title, file_hash, place, successor, row_check"
# The positions of some columns in a row of the stored columns, and in a row of the chunk columns.
NUMBER, PATH, MTIME, FILE_HASH, FIRST_CHUNK, SETTLED, CTIME, INODE = 1, 2, 4, 5, 11, 13, 16, 17
CHECKS = 18  # the first of the check columns
CONTENTS_CHECK, OUTLINE_CHECK = -5, -4  # from the end, in a `Stored` too
START_LINE, END_LINE = 5, 6


class Stored(NamedTuple):
    """A file record with the checks of what belongs to the file."""

    row_check: int
    number: int
    record: FileRecord
    contents_check: int
    outline_check: int
    chunks_check: int
    symbols_check: int
    facts_check: int


def check_stored(row: tuple[Any, ...]) -> None:
    """Raise if a row of the stored columns is not as it was written."""
    if not rows_are_as_written((row,)):
        raise damaged("the record of a file")


def stored(row: Sequence[Any]) -> Stored:
    """Return a row of the stored columns as a record with its checks."""
    return Stored(row[0], row[NUMBER], file_record(row), *row[CHECKS:])


def file_record(row: Any) -> FileRecord:
    """Return the record of a row of the stored columns. It is taken apart by place: names take a third more
    time, and every search makes a record of each file."""
    _, _, path, size, mtime_ns, file_hash, language, encoding, line_count, redactions, tags = row[:11]
    first_chunk, chunk_count, settled, first_unit, unit_count, ctime_ns, inode = row[11:18]
    return FileRecord(
        path,
        size,
        mtime_ns,
        file_hash.hex(),
        intern(language),
        intern(encoding),
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


def same_or_new_record(row: Sequence[Any], before: FileRecord | None) -> FileRecord:
    """Return the record of an earlier generation where it still holds: a file that is put anew has new
    numbers, one that is touched another time."""
    if before is not None:
        times = before.mtime_ns, before.ctime_ns, before.inode
        content = before.first_chunk, before.settled, before.file_hash
        if times == (row[MTIME], row[CTIME], row[INODE]) and content == (
            row[FIRST_CHUNK],
            bool(row[SETTLED]),
            row[FILE_HASH].hex(),
        ):
            return before
    return file_record(row)


def file_row(record: FileRecord) -> tuple[Any, ...]:
    """Return the values of the file columns for a record."""
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
        int(record.settled),
        record.first_unit,
        record.unit_count,
        record.ctime_ns,
        record.inode,
    )


def edges_check(number: int, data_check: int, consulted: bytes) -> int:
    """Return the check of a row of edges, in which the check of the data stands for the data."""
    return blob_check(consulted, start=row_check(number, data_check))


def file_edges(rows: Iterable[Sequence[Any]], numbers: Sequence[int]) -> list[FileEdges]:
    """Return the edges of the files with these numbers, of rows of a number, a check and the edges."""
    found: dict[int, FileEdges] = {}
    for number, check, data in rows:
        if blob_check(data, start=number) != check:
            raise damaged("what a file refers to")
        found[number] = records.unpack_edges(data)
    if not found.keys() >= set(numbers):
        raise damaged("the list of edges")
    return [found[number] for number in numbers]


def used_parts(rows: Iterable[Sequence[Any]], paths: Sequence[str], numbers: Sequence[int]) -> list[bytes]:
    """Return what the files with these paths and numbers use of others, as `records.used_part` does, of rows
    of a number, a check and the edges."""
    found: dict[int, bytes] = {}
    for number, check, data in rows:
        if blob_check(data, start=number) != check:
            raise damaged("what a file refers to")
        found[number] = data
    if not found.keys() >= set(numbers):
        raise damaged("the list of edges")
    return [records.used_part(path, found[number]) for path, number in zip(paths, numbers, strict=True)]


def scip_documents(rows: Collection[Sequence[Any]], total: int) -> dict[str, str]:
    """Return the hash that each SCIP document is bound to by path, of rows of a path, a check, a check of the
    data and a hash."""
    if sum_checks(row[1] for row in rows) != total:
        raise damaged("the list of SCIP documents")
    if any(row_check(path, data_check, found) != check for path, check, data_check, found in rows):
        raise damaged("a SCIP document")
    return {path: file_hash for path, _, _, file_hash in rows}


def scip_uses(path: str, row: Sequence[Any]) -> ScipUses:
    """Return the uses of a SCIP document, of a row of a check, a check of the data, a hash and the data."""
    check, data_check, file_hash, data = row
    if row_check(path, data_check, file_hash) != check or blob_check(data) != data_check:
        raise damaged("a SCIP document")
    return records.unpack_scip(data)


def posting_run(row: Sequence[Any]) -> PostingRun:
    """Return the posting run of a row of the run columns."""
    if blob_check(*row[1:5], start=row[0]) != row[5]:
        raise damaged("a run of the full-text index")
    return PostingRun(*row[:5])


def skipped_record(row: Sequence[Any]) -> SkippedRecord:
    """Return the record of a row of the skipped columns and its check."""
    path, reason, detail, *stamp, check = row
    if row_check(*row[:-1]) != check:
        raise damaged("the list of what is left out")
    return SkippedRecord(Skipped(path, SkipReason(reason), detail), *stamp)


def retired_chunk(row: Sequence[Any]) -> RetiredChunk:
    """Return the ended id of a row of the retired columns."""
    digest, path, title, file_hash, place, successor, check = row
    if row_check(*row[:-1]) != check:
        raise damaged("the list of ended ids")
    return RetiredChunk(
        digest.hex(), path, records.split_title(title), file_hash.hex(), place, successor.hex()
    )


@lru_cache(maxsize=256)  # a few dozen are told apart, over all files
def _tags(joined: str) -> tuple[str, ...]:
    return tuple(joined.split())
