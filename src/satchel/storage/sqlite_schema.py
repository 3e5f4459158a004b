"""The shape of the SQLite file, as small ordered steps; `PRAGMA user_version` counts them."""

from __future__ import annotations

import sqlite3

from satchel.storage.checks import row_check

# Files, their contents, chunks, symbols, and full text by segments.
_INITIAL = (
    "CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
    """CREATE TABLE files (
        number INTEGER PRIMARY KEY,
        path TEXT NOT NULL UNIQUE,
        size INTEGER NOT NULL,
        mtime_ns INTEGER NOT NULL,
        file_hash BLOB NOT NULL,
        language TEXT NOT NULL,
        encoding TEXT NOT NULL,
        line_count INTEGER NOT NULL,
        redactions TEXT NOT NULL,
        tags TEXT NOT NULL,
        first_chunk INTEGER NOT NULL,
        chunk_count INTEGER NOT NULL,
        settled INTEGER NOT NULL
    )""",
    "CREATE INDEX files_content ON files (file_hash)",
    # apart from files, so that reading the manifest does not page through the texts
    "CREATE TABLE contents (file INTEGER PRIMARY KEY, text BLOB NOT NULL, extras BLOB NOT NULL)",
    """CREATE TABLE chunks (
        number INTEGER PRIMARY KEY,
        file INTEGER NOT NULL,
        kind TEXT NOT NULL,
        title TEXT NOT NULL,
        level INTEGER NOT NULL,
        start_line INTEGER NOT NULL,
        end_line INTEGER NOT NULL,
        body_offset INTEGER NOT NULL,
        digest BLOB NOT NULL
    )""",
    "CREATE INDEX chunks_digest ON chunks (digest)",
    """CREATE TABLE symbols (
        file INTEGER NOT NULL,
        position INTEGER NOT NULL,
        name TEXT NOT NULL COLLATE NOCASE,
        qualified_name TEXT NOT NULL,
        kind TEXT NOT NULL,
        start_line INTEGER NOT NULL,
        end_line INTEGER NOT NULL,
        signature TEXT NOT NULL,
        doc TEXT NOT NULL,
        PRIMARY KEY (file, position)
    ) WITHOUT ROWID""",
    "CREATE INDEX symbols_name ON symbols (name)",
    "CREATE TABLE segments (number INTEGER PRIMARY KEY, chunk_numbers BLOB NOT NULL, lengths BLOB NOT NULL)",
    """CREATE TABLE postings (
        segment INTEGER NOT NULL, term TEXT NOT NULL, data BLOB NOT NULL, PRIMARY KEY (segment, term)
    ) WITHOUT ROWID""",
    """CREATE TABLE skipped (
        path TEXT PRIMARY KEY,
        reason TEXT NOT NULL,
        detail TEXT NOT NULL,
        size INTEGER NOT NULL,
        mtime_ns INTEGER NOT NULL
    ) WITHOUT ROWID""",
    """CREATE TABLE retired (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        digest BLOB NOT NULL UNIQUE,
        path TEXT NOT NULL,
        title TEXT NOT NULL,
        file_hash BLOB NOT NULL
    )""",
)
# Full text by units instead of chunks; an outline and vectors of each file. All files are indexed anew.
_UNITS = (
    "ALTER TABLE files ADD COLUMN first_unit INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE files ADD COLUMN unit_count INTEGER NOT NULL DEFAULT 0",
    "CREATE INDEX files_units ON files (first_unit)",
    # apart from files, so that reading the manifest does not page through them
    "CREATE TABLE outlines (file INTEGER PRIMARY KEY, data BLOB NOT NULL, vectors BLOB NOT NULL)",
    "DELETE FROM postings",
    "DROP TABLE segments",
    """CREATE TABLE segments (
        number INTEGER PRIMARY KEY,
        files BLOB NOT NULL,
        lengths BLOB NOT NULL,
        lines BLOB NOT NULL,
        vectors BLOB NOT NULL
    )""",
)
# The past of the files: one row, or none where there is no history.
_HISTORY = ("CREATE TABLE history (data BLOB NOT NULL)",)
# What became of an ended id: the id in its place, and which of several chunks of one title it was.
_SUCCESSORS = (
    "ALTER TABLE retired ADD COLUMN place INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE retired ADD COLUMN successor BLOB NOT NULL DEFAULT x''",
)
# The change time and the number of each file, by which it is known to be unchanged; 0 matches none.
_CHANGE_TIMES = (
    "ALTER TABLE files ADD COLUMN ctime_ns INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE files ADD COLUMN inode INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE skipped ADD COLUMN ctime_ns INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE skipped ADD COLUMN inode INTEGER NOT NULL DEFAULT 0",
)
# A check on every row, and terms in blocks that can be proved complete. All files are indexed anew; only
# the ended ids are kept, with the function `row_check` of the connection.
_CHECKS = (
    "ALTER TABLE files ADD COLUMN contents_check INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE files ADD COLUMN outline_check INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE files ADD COLUMN chunks_check INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE files ADD COLUMN symbols_check INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE files ADD COLUMN row_check INTEGER NOT NULL DEFAULT 0",
    "DROP INDEX files_units",
    "ALTER TABLE symbols ADD COLUMN row_check INTEGER NOT NULL DEFAULT 0",
    # how many symbols have a name: one that SQLite finds too few of is noticed
    "CREATE TABLE symbol_names (hash INTEGER PRIMARY KEY, count INTEGER NOT NULL)",
    "DROP TABLE segments",
    """CREATE TABLE segments (
        number INTEGER PRIMARY KEY,
        row_check INTEGER NOT NULL,
        files BLOB NOT NULL,
        lengths BLOB NOT NULL,
        lines BLOB NOT NULL,
        vectors BLOB NOT NULL
    )""",
    "DROP TABLE postings",
    "CREATE TABLE directories (segment INTEGER PRIMARY KEY, row_check INTEGER NOT NULL, data BLOB NOT NULL)",
    "CREATE TABLE blocks (number INTEGER PRIMARY KEY, row_check INTEGER NOT NULL, data BLOB NOT NULL)",
    "ALTER TABLE skipped ADD COLUMN row_check INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE retired ADD COLUMN row_check INTEGER NOT NULL DEFAULT 0",
    "UPDATE retired SET row_check = row_check(digest, path, title, file_hash, place, successor)",
    "DELETE FROM meta WHERE key = 'signature'",
)
# What each file says about names, and what its names mean. All files are indexed anew.
_CODE_GRAPH = (
    "ALTER TABLE files ADD COLUMN facts_check INTEGER NOT NULL DEFAULT 0",
    # apart from contents: whoever reads a text needs no facts
    "CREATE TABLE facts (file INTEGER PRIMARY KEY, data BLOB NOT NULL)",
    # One row for each file. The check of a row covers the check of its data, not the data: what a file
    # consulted can be checked without reading the data, which comes last so that SQLite does not read it.
    """CREATE TABLE edges (
        file INTEGER PRIMARY KEY,
        row_check INTEGER NOT NULL,
        data_check INTEGER NOT NULL,
        consulted BLOB NOT NULL,
        data BLOB NOT NULL
    )""",
    "DELETE FROM meta WHERE key = 'signature'",
)
# What an index of a compiler says about files, by their path: it outlives the file and its number.
_SCIP = (
    # As for edges, the check of a row covers the check of its data: the list is read without the data.
    """CREATE TABLE scip (
        path TEXT PRIMARY KEY,
        row_check INTEGER NOT NULL,
        data_check INTEGER NOT NULL,
        file_hash TEXT NOT NULL,
        data BLOB NOT NULL
    )""",
)
# What an index that rests on a shared one has of it: the files, with their times here, and not these runs.
_SHARED_BASE = (
    """CREATE TABLE kept (
        number INTEGER PRIMARY KEY,
        mtime_ns INTEGER NOT NULL,
        ctime_ns INTEGER NOT NULL,
        inode INTEGER NOT NULL,
        settled INTEGER NOT NULL,
        row_check INTEGER NOT NULL
    )""",
    "CREATE TABLE dropped_runs (number INTEGER PRIMARY KEY)",
)
# The rows of files once more, as packed columns. All files are indexed anew.
_FILE_BLOCKS = (
    "CREATE TABLE file_blocks (number INTEGER PRIMARY KEY, row_check INTEGER NOT NULL, data BLOB NOT NULL)",
    "DELETE FROM meta WHERE key = 'signature'",
)
MIGRATIONS: tuple[tuple[str, ...], ...] = (
    _INITIAL,
    _UNITS,
    _HISTORY,
    _SUCCESSORS,
    _CHANGE_TIMES,
    _CHECKS,
    _CODE_GRAPH,
    _SCIP,
    _SHARED_BASE,
    _FILE_BLOCKS,
)
SCHEMA_VERSION = len(MIGRATIONS)
SCHEMA = "SELECT type, name, tbl_name, sql FROM {}.sqlite_master ORDER BY type, name"  # of a database
READABLE_SCHEMA = 10  # an index of an older one lacks checks of now: it is not read, and indexed anew


def migrate(connection: sqlite3.Connection) -> bool:
    """Give the tables the shape of now, inside the transaction, and return whether rows lack checks of
    now."""
    connection.create_function("row_check", -1, row_check, deterministic=True)
    before = user_version(connection)
    for version in range(before, SCHEMA_VERSION):
        for statement in MIGRATIONS[version]:
            connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {version + 1}")
    return before < READABLE_SCHEMA


def user_version(connection: sqlite3.Connection) -> int:
    """Return how many steps a file has gone."""
    return int(connection.execute("PRAGMA user_version").fetchone()[0])
