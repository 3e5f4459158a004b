"""How does a reader know that a stored row is the row that was written?

A check is the CRC-32 of a row's values, its key among them: one flipped bit always changes it, and a row
that is found under another key has another one. SQLite checks the pages of its log and no others, and its
standard build takes no page checksums. So whatever says how much there has to be (the totals, the
record of a file, the first terms of a run's blocks) is checked too: rows that vanish are missed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from satchel.errors import IndexCorrupt
from satchel.storage.deflate import crc32

REBUILD_HINT = "`satchel index --force` sets the file aside and builds a new one"
ROW_ENCODER = msgspec.msgpack.Encoder()
_encode = ROW_ENCODER.encode


class Totals(msgspec.Struct):
    """The sums that an index has to add up to. `files`, `file_blocks`, `edges`, `scip`, `segments`, `skipped`
    and `retired` are the sums of the checks of these rows, `history` is the check of the history."""

    files: int = 0
    edges: int = 0
    scip: int = 0
    segments: int = 0  # posting runs; the name is that of their table
    skipped: int = 0
    retired: int = 0
    history: int = 0
    symbols: int = 0
    kinds: dict[str, int] = {}
    file_blocks: int = 0


def row_check(*values: Any) -> int:
    """Return the check of one row."""
    return crc32(_encode(values))


def rows_check(rows: Sequence[Any]) -> int:
    """Return the check of rows that are only read together."""
    return crc32(_encode(rows))


def rows_are_as_written(rows: Iterable[Sequence[Any]]) -> bool:
    """Return whether each row begins with the check of the rest of it."""
    encode, check = _encode, crc32  # local: every search asks for every file
    return all(check(encode(row[1:])) == row[0] for row in rows)


def blob_check(*blobs: bytes, start: int = 0) -> int:
    """Return the check of long values, after that of their key."""
    for blob in blobs:
        if type(blob) is not bytes:  # a damaged row may give a text or nothing
            return -1
        start = crc32(blob, start)
    return start


def name_hash(folded: bytes) -> int:
    """Return the number under which the symbols of a name are counted."""
    return crc32(folded)


def meta_check(values: dict[str, str], schema: Iterable[Any]) -> str:
    """Return the check of the meta table together with the shape of all tables; empty if a value cannot have
    been written."""
    if not all(type(part) is str for item in values.items() for part in item):
        return ""  # a damaged row may give anything, and not all of it can be sorted
    return str(row_check(sorted(values.items()), list(schema)))


def read_totals(written: str) -> Totals:
    """Return the totals as they were written down."""
    try:
        return msgspec.json.decode(written, type=Totals)
    except msgspec.MsgspecError as error:
        raise damaged("what it says of itself") from error


def sum_checks(checks: Iterable[Any]) -> int:
    """Return the sum of checks, or -1, which no sum is, if a damaged row gives no number."""
    try:
        total = sum(checks)
    except TypeError:
        return -1
    return total if type(total) is int else -1


def damaged(what: str) -> IndexCorrupt:
    """Return the error for stored data that is not as it was written."""
    return IndexCorrupt(f"the index is damaged: {what} is not as it was written", hint=REBUILD_HINT)
