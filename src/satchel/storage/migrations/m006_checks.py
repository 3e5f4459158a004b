"""A check on every row, and terms in blocks that can be proved complete. All files are indexed anew; only the
ended ids are kept, with the function `row_check` of the connection."""

STATEMENTS = (
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
