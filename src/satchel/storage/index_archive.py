"""An index as one file, to carry to another machine: a line that says what it is, and the packed database.

The file may come from anywhere. Nothing in it names a path, so nothing is written but the one file that the
reader chose; it is unpacked no further than the size that its first line states, which has a limit of its
own; the hash of what was unpacked must be the stated one; and a database that has anything but the tables of
an index is refused.
"""

from __future__ import annotations

import os
import sqlite3
import zlib
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

import msgspec

from satchel.errors import (
    FileNotFound,
    IndexCorrupt,
    IndexIncompatible,
    PathNotAllowed,
    TooLarge,
    Unsupported,
)
from satchel.file_writing import cannot_write, make_folder
from satchel.ids import StreamHash
from satchel.storage.protocol import KEEP_ELSEWHERE, Snapshot
from satchel.storage.sqlite import APPLICATION_ID, REFS_FOLDER, SqliteStore
from satchel.storage.sqlite_connection import connect, remove_database, typed_errors
from satchel.storage.sqlite_reader import SqliteSnapshot
from satchel.storage.sqlite_schema import SCHEMA_VERSION, migrate

_FORMAT = 1
_HEAD_BYTES = 4_096
_BLOCK = 1 << 20
_FAST_COMPRESSION = 1  # texts are compressed already; level 6 takes four times as long for 5 %
MOST_BYTES = 16 << 30  # of an unpacked database; that of Linux 6.1 has 2 GB
_CARRIED = "carried"  # the folder for databases that are packed or unpacked
_HINT = "export it anew: satchel index export FILE"


class ArchiveHead(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The first line of an archive. `signature` is what the index depends on beside its files."""

    satchel_index: int
    schema: int
    signature: str
    size: int
    sha256: str


def write_archive(snapshot: Snapshot, target: Path, scratch: Path) -> int:
    """Write a generation of an index to a file, in one step, and return the size of the file. `scratch` is a
    folder for the database while it is packed."""
    if not isinstance(snapshot, SqliteSnapshot):
        raise Unsupported(
            "an index in this kind of store cannot be exported", hint="export an index in a SQLite file"
        )
    partial = target.with_name(f"{target.name}.{os.getpid()}.part")
    try:
        with _room(scratch) as database:
            _write(snapshot, database, partial)
        os.replace(partial, target)
    except OSError as error:
        raise cannot_write(repr(str(target)), error) from error
    finally:
        with suppress(OSError):
            partial.unlink(missing_ok=True)
    return target.stat().st_size


@contextmanager
def _room(scratch: Path) -> Iterator[Path]:
    """Give the name of a database that is there as long as the context, in a folder that no walk enters."""
    if (scratch / REFS_FOLDER).is_symlink():  # it may have come with the repository
        raise PathNotAllowed(f"{REFS_FOLDER!r} is a link", hint="remove it, or use --index-dir DIR")
    folder = scratch / REFS_FOLDER / _CARRIED
    database = folder / f"{os.getpid()}.db"
    make_folder(folder, what="the index folder", elsewhere=KEEP_ELSEWHERE)
    try:
        yield database
    finally:
        remove_database(database)
        for unlink in (database.with_suffix(".lock").unlink, folder.rmdir):
            with suppress(OSError):
                unlink()


def _write(snapshot: SqliteSnapshot, database: Path, target: Path) -> None:
    """Write a generation as an archive; `database` is where it is copied to first."""
    with typed_errors(), closing(connect(database, "mode=rwc")) as copy:
        snapshot.copy_to(copy)
        copy.execute("PRAGMA journal_mode = DELETE")
    signature = snapshot.meta().get("signature", "")
    head = ArchiveHead(_FORMAT, SCHEMA_VERSION, signature, *_size_and_hash(database))
    with open(database, "rb") as source, open(target, "wb") as stream:
        stream.write(msgspec.json.encode(head) + b"\n")
        packer = zlib.compressobj(_FAST_COMPRESSION)
        while block := source.read(_BLOCK):
            stream.write(packer.compress(block))
        stream.write(packer.flush())


def _size_and_hash(path: Path) -> tuple[int, str]:
    found, size = StreamHash(), 0
    with open(path, "rb") as stream:
        while block := stream.read(_BLOCK):
            found.add(block)
            size += len(block)
    return size, found.hexdigest()


@contextmanager
def opened_archive(path: Path, scratch: Path, signature: str) -> Iterator[Snapshot]:
    """Unpack an archive into a file of the folder `scratch` and give its index, as long as it is needed. It
    must have been made by this version of the index and with this signature."""
    with _room(scratch) as database:
        try:
            with open(path, "rb") as stream:
                _unpack(stream, _read_head(stream, signature), database)
        except OSError as error:
            if error.filename == str(path):
                raise FileNotFound(f"{str(path)!r} cannot be read: {error.strerror}", hint=_HINT) from error
            raise cannot_write("the index folder", error) from error
        _check_tables(database)
        with closing(SqliteStore(database).snapshot()) as snapshot:
            if snapshot.meta().get("signature") != signature:
                raise _damaged("its index has another signature than its first line")
            yield snapshot


def _damaged(what: str) -> IndexCorrupt:
    return IndexCorrupt(f"the archive is damaged: {what}", hint=_HINT)


def _read_head(stream: BinaryIO, signature: str) -> ArchiveHead:
    line = stream.readline(_HEAD_BYTES)
    try:
        head = msgspec.json.decode(line, type=ArchiveHead)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        raise _damaged("it is no archive of an index") from None
    if head.satchel_index != _FORMAT or head.schema != SCHEMA_VERSION or head.signature != signature:
        raise IndexIncompatible(
            "the archive was made by another version of Satchel, or with other settings",
            hint="export it with this version and these settings, or build the index: satchel index",
            details={"schema": head.schema, "wanted_schema": SCHEMA_VERSION},
        )
    if not 0 < head.size <= MOST_BYTES:
        raise TooLarge(
            f"the index in the archive has {head.size:,} bytes, the limit is {MOST_BYTES:,}", hint=_HINT
        )
    return head


def _unpack(stream: BinaryIO, head: ArchiveHead, database: Path) -> None:
    """Write the database of an archive, and not a byte more than its first line states."""
    unpacker, found, left = zlib.decompressobj(), StreamHash(), head.size
    remove_database(database)
    with open(database, "xb") as target:
        packed = stream.read(_BLOCK)
        while packed or not unpacker.eof:
            try:
                block = unpacker.decompress(packed, min(_BLOCK, left + 1))
            except zlib.error as error:
                raise _damaged(str(error)) from None
            left -= len(block)
            if left < 0:
                raise _damaged(f"it holds more than the {head.size:,} bytes that it states")
            found.add(block)
            target.write(block)
            packed = unpacker.unconsumed_tail or stream.read(_BLOCK)
            if not packed and not block:
                break
    if left or not unpacker.eof or found.hexdigest() != head.sha256:
        raise _damaged("its content is not the stated one")


def _check_tables(database: Path) -> None:
    """Raise unless a database has the tables and indexes of an index and nothing else: a view or a trigger
    would be code that somebody else wrote."""
    with typed_errors(), closing(connect(database, "mode=ro")) as connection:
        found = _schema(connection)
        marked = connection.execute("PRAGMA application_id").fetchone()[0]
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as fresh:
        migrate(fresh)
        wanted = _schema(fresh)
    if marked != APPLICATION_ID or found != wanted:
        raise _damaged("it has other tables than an index has")


def _schema(connection: sqlite3.Connection) -> set[tuple[str, str, str]]:
    rows = connection.execute("SELECT type, name, coalesce(sql, '') FROM sqlite_master").fetchall()
    return {(str(kind), str(name), " ".join(str(sql).split())) for kind, name, sql in rows}
