"""Files, their contents, chunks, symbols, and full text by segments."""

STATEMENTS = (
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
