"""What an index of a compiler says about files, by their path: it outlives the file and its number."""

STATEMENTS = (
    # As for edges, the check of a row covers the check of its data: the list is read without the data.
    """CREATE TABLE scip (
        path TEXT PRIMARY KEY,
        row_check INTEGER NOT NULL,
        data_check INTEGER NOT NULL,
        file_hash TEXT NOT NULL,
        data BLOB NOT NULL
    )""",
)
