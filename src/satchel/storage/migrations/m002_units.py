"""Full text by units instead of chunks; an outline and vectors of each file. All files are indexed anew."""

STATEMENTS = (
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
