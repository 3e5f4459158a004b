"""How does an index rest on a file that other indexes rest on too?

The work trees of a repository, and its commits, differ in few files. An index that starts from another one
therefore holds little: which files of its *base* still count, each with the times of this tree (`kept`), and
whatever is new. The base is a whole index beside it (`context.db-base`) that is never written again, so every
index that starts from this one has a hard link to the same file: removing any of them, the first as well,
takes nothing from the others, and where a disk knows no links each has a copy.

Readers ask the same tables as ever: views of the connection put base and index together, and the rows that
come of it have the checks of whole rows. So damage of either file, or a base that is another one, is noticed
as damage of an index. Numbers go on where those of the base end; a row of it counts if its file is kept.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

from satchel.errors import IndexIncompatible, PathNotAllowed
from satchel.file_writing import cannot_write
from satchel.storage.checked_rows import CHECK_COLUMNS, FILE_COLUMNS
from satchel.storage.checks import REBUILD_HINT, damaged, meta_check
from satchel.storage.sqlite_connection import base_file, connect, file_url
from satchel.storage.sqlite_schema import SCHEMA, SCHEMA_VERSION, migrate

BASE = "base"  # the meta value that says which base an index rests on; none if it stands alone

_STAMPS = ("mtime_ns", "ctime_ns", "inode", "settled", "row_check")  # what a work tree has of its own
_FILES = ("number", *FILE_COLUMNS.split(", "), *CHECK_COLUMNS.split(", "), "row_check")
_IS_KEPT = "+file IN (SELECT number FROM main.kept)"  # the sign keeps SQLite from going through all of them
# Which rows of a table of the base count; where nothing is said, rows are only asked for by their numbers.
_COUNTING = {
    "contents": _IS_KEPT,
    "outlines": _IS_KEPT,
    "facts": _IS_KEPT,
    "chunks": _IS_KEPT,
    "symbols": _IS_KEPT,
    "edges": f"{_IS_KEPT} AND file NOT IN (SELECT file FROM main.edges)",
    "segments": "number NOT IN (SELECT number FROM main.dropped_runs)",
    "directories": "segment NOT IN (SELECT number FROM main.dropped_runs)",
    "blocks": "",
    "symbol_names": "",  # an index counts what it has more or less than its base
    "history": "NOT EXISTS (SELECT 1 FROM main.history)",
}
_OWN = (
    "skipped",
    "retired",
    "scip",
    "file_blocks",
)  # whole in every index: times are those of its tree, ids end apart


def attach_base(connection: sqlite3.Connection, path: Path) -> str:
    """Put the base of the index at `path` beside it, outside of a transaction, and return which one the index
    names; nothing if it stands alone."""
    named = _named_base(connection)
    if not named:
        return ""
    file = base_file(path)
    if file.is_symlink():
        raise PathNotAllowed(f"{file.name!r} is a link", hint="remove it, or use --index-dir DIR")
    if not file.is_file():
        if not _named_base(connection):  # a writer has just built it anew
            return ""
        raise damaged("the file that it shares with others")
    _attach(connection, file)
    if named != _name_of_base(connection):
        raise damaged("the file that it shares with others")
    return named


def _named_base(connection: sqlite3.Connection) -> str:
    row = connection.execute("SELECT value FROM main.meta WHERE key = ?", (BASE,)).fetchone()
    return str(row[0]) if row else ""


def _attach(connection: sqlite3.Connection, file: Path) -> None:
    connection.execute("PRAGMA temp_store = MEMORY")
    connection.execute("ATTACH ? AS base", (file_url(file, "mode=ro&immutable=1"),))


def _name_of_base(connection: sqlite3.Connection) -> str:
    """Return the name of the base beside an index, which must be as it was written."""
    meta = dict(connection.execute("SELECT key, value FROM base.meta"))
    check = meta.pop("check", "")
    if not check or check != meta_check(meta, connection.execute(SCHEMA.format("base"))):
        raise damaged("the file that it shares with others")
    return f"{SCHEMA_VERSION}:{meta.get('identity', '')}:{meta.get('generation', '')}:{check}"


def show_base(connection: sqlite3.Connection, base: str) -> None:
    """Let a connection see the tables of its base and of its index as one."""
    if not base:
        return
    if not base.startswith(f"{SCHEMA_VERSION}:"):
        raise IndexIncompatible("the index rests on one of another version of Satchel", hint=REBUILD_HINT)
    whole = ", ".join(f"kept.{name}" if name in _STAMPS else f"files.{name}" for name in _FILES)
    connection.execute(
        f"CREATE TEMP VIEW files AS SELECT {', '.join(_FILES)} FROM main.files UNION ALL"
        f" SELECT {whole} FROM main.kept JOIN base.files ON files.number = kept.number"
    )
    for table, condition in _COUNTING.items():
        connection.execute(
            f"CREATE TEMP VIEW {table} AS SELECT * FROM main.{table} UNION ALL SELECT * FROM base.{table}"
            + (f" WHERE {condition}" if condition else "")
        )


def leave_base(connection: sqlite3.Connection) -> None:
    """Let a connection see the tables of its index alone."""
    for table in ("files", *_COUNTING):
        connection.execute(f"DROP VIEW IF EXISTS temp.{table}")


def start_from(seed: sqlite3.Connection, target: sqlite3.Connection, path: Path) -> None:
    """Make an empty database, whose path is given, an index with everything that `seed` has. It rests on the
    base of the seed, or on a copy of the seed."""
    shared = _file_of_base(seed)
    if shared is None:
        with closing(connect(base_file(path), "mode=rwc")) as copy:
            seed.backup(copy)
            copy.execute("PRAGMA journal_mode = DELETE")
        _begin(target, base_file(path))
    else:
        seed.backup(target)
        _link(shared, base_file(path))
    with open(base_file(path), "rb+") as stream:
        os.fsync(stream.fileno())


def _begin(target: sqlite3.Connection, file: Path) -> None:
    """Make an empty database an index that has the files of a base and no other."""
    migrate(target)
    _attach(target, file)
    target.execute("BEGIN")
    target.execute("INSERT INTO main.meta SELECT * FROM base.meta WHERE key <> 'check'")
    target.execute("INSERT INTO main.meta VALUES (?, ?)", (BASE, _name_of_base(target)))
    target.execute(f"INSERT INTO main.kept SELECT number, {', '.join(_STAMPS)} FROM base.files")
    for table in _OWN:
        target.execute(f"INSERT INTO main.{table} SELECT * FROM base.{table}")
    target.execute("COMMIT")
    target.execute("DETACH base")


def _link(file: Path, target: Path) -> None:
    try:
        os.link(file, target)
    except OSError:  # another disk, one without links, or a file with as many as there can be
        try:
            shutil.copyfile(file, target)
        except OSError as error:
            raise cannot_write("the index", error) from error


def _file_of_base(connection: sqlite3.Connection) -> Path | None:
    """Return the file of the base that a connection sees."""
    rows = connection.execute("PRAGMA database_list").fetchall()
    return next((Path(file) for _, name, file in rows if name == "base"), None)


def copy_whole(source: sqlite3.Connection, target: sqlite3.Connection) -> None:
    """Write an index, with what it has of its base, into an empty database that rests on nothing."""
    if _file_of_base(source) is None:
        source.backup(target)
        return
    (application,) = source.execute("PRAGMA application_id").fetchone()
    target.execute(f"PRAGMA application_id = {application}")
    target.execute("BEGIN")
    migrate(target)
    for table in ("files", *_COUNTING, *_OWN):
        columns = ", ".join(row[1] for row in target.execute(f"PRAGMA table_info({table})"))
        chosen = f"SELECT {columns} FROM {table}"
        if table == "symbol_names":
            chosen = "SELECT hash, sum(count) FROM symbol_names GROUP BY hash HAVING sum(count) <> 0"
        marks = ", ".join("?" * len(columns.split(", ")))
        target.executemany(f"INSERT INTO {table} ({columns}) VALUES ({marks})", source.execute(chosen))
    meta = dict(source.execute("SELECT key, value FROM meta WHERE key NOT IN ('check', ?)", (BASE,)))
    meta["check"] = meta_check(meta, target.execute(SCHEMA.format("main")).fetchall())
    target.executemany("INSERT INTO meta VALUES (?, ?)", meta.items())
    target.execute("COMMIT")
