"""What each file says about names, and what its names mean. All files are indexed anew."""

STATEMENTS = (
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
