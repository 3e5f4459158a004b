"""The tables of a PostgreSQL database that keeps indexes, as ordered steps.

All tables are in the schema `satchel`. Rows of a segment lie in one hash partition of each table; `segments`
knows which, so that statements name the partition itself and PostgreSQL plans nothing over the others.
`contents` is shared: what parsing gave for a file is kept once, however many segments hold the same. Texts
are `bytea` wherever a NUL may stand in them. Long values are compressed already, so PostgreSQL only moves
them out of the row.
"""

from __future__ import annotations

from collections.abc import Iterator

SCHEMA = "satchel"
PARTITIONS = 8  # a segment's rows are in one; more would only help beyond the disks of one server
# The tables whose rows belong to a segment, with the columns and types after the number of the segment.
SEGMENT_TABLES = {
    "files": (
        "number path content file_hash digests row_check data",
        "int4 text bytea bytea bytea int8 bytea",
    ),
    "names": ("folded file spelled", "bytea int4 bytea[]"),
    "name_counts": ("hash count", "int8 int4"),
    "edges": ("file row_check data_check consulted data", "int4 int8 int8 bytea bytea"),
    "runs": (
        "number row_check files lengths lines vectors directory_check directory",
        "int4 int8 bytea bytea bytea bytea int8 bytea",
    ),
    "blocks": ("number row_check data", "int4 int8 bytea"),
    "skipped": ("path row_check data", "text int8 bytea"),
    "retired": ("number digest row_check data", "int4 bytea int8 bytea"),
    "scip": ("path row_check data_check file_hash data", "text int8 int8 text bytea"),
    "histories": ("data", "bytea"),
}

_SEGMENTS = f"""
CREATE TABLE {SCHEMA}.segments (
    number integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    home text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    part integer,
    generation integer NOT NULL DEFAULT 0,
    mark bytea NOT NULL DEFAULT '',
    written timestamptz,
    used timestamptz NOT NULL DEFAULT clock_timestamp(),
    row_check bigint NOT NULL DEFAULT 0,
    state bytea NOT NULL DEFAULT '',
    UNIQUE (home, name)
)"""

_CONTENTS = f"""
CREATE TABLE {SCHEMA}.contents (
    key bytea PRIMARY KEY,
    text bytea NOT NULL,
    extras bytea NOT NULL,
    outline bytea NOT NULL,
    vectors bytea NOT NULL,
    facts bytea NOT NULL,
    chunks bytea NOT NULL,
    symbols bytea NOT NULL
) PARTITION BY RANGE (key)"""

_COLUMNS = {
    "files": """number integer, path text COLLATE "C" NOT NULL, content bytea NOT NULL,
        file_hash bytea NOT NULL, digests bytea NOT NULL, row_check bigint NOT NULL, data bytea NOT NULL,
        PRIMARY KEY (segment, number)""",
    # one row for each name, in lower case, and file; `spelled` only where the name is written otherwise
    "names": """folded bytea, file integer, spelled bytea[], PRIMARY KEY (segment, folded, file)""",
    # how many rows of `names` a name has: one that is lost is missed
    "name_counts": "hash bigint, count integer NOT NULL, PRIMARY KEY (segment, hash)",
    "edges": """file integer, row_check bigint NOT NULL, data_check bigint NOT NULL,
        consulted bytea NOT NULL, data bytea NOT NULL, PRIMARY KEY (segment, file)""",
    "runs": """number integer, row_check bigint NOT NULL, files bytea NOT NULL, lengths bytea NOT NULL,
        lines bytea NOT NULL, vectors bytea NOT NULL, directory_check bigint NOT NULL,
        directory bytea NOT NULL, PRIMARY KEY (segment, number)""",
    "blocks": """number integer, row_check bigint NOT NULL, data bytea NOT NULL,
        PRIMARY KEY (segment, number)""",
    "skipped": """path text COLLATE "C", row_check bigint NOT NULL, data bytea NOT NULL,
        PRIMARY KEY (segment, path)""",
    "retired": """number integer, digest bytea NOT NULL, row_check bigint NOT NULL, data bytea NOT NULL,
        PRIMARY KEY (segment, digest)""",
    "scip": """path text COLLATE "C", row_check bigint NOT NULL, data_check bigint NOT NULL,
        file_hash text NOT NULL, data bytea NOT NULL, PRIMARY KEY (segment, path)""",
    "histories": "data bytea NOT NULL, PRIMARY KEY (segment)",
}
_INDEXES = (
    f"CREATE UNIQUE INDEX files_path ON {SCHEMA}.files (segment, path)",
    f"CREATE INDEX files_content ON {SCHEMA}.files (content)",  # what is shared by nobody is swept
    f"CREATE INDEX files_hash ON {SCHEMA}.files (segment, file_hash)",
)
# What is long and compressed already is kept as it is.
_LONG = {
    "edges": ("consulted", "data"),
    "runs": ("files", "lengths", "lines", "vectors", "directory"),
    "blocks": ("data",),
    "scip": ("data",),
    "histories": ("data",),
}
# A block of terms is half a page: it stays in its row. Of the others, what is long goes out of it.
_IN_ROW = {"blocks": 8160}


def _first_tables() -> Iterator[str]:
    yield f"CREATE TABLE {SCHEMA}.versions (version integer NOT NULL)"
    yield f"INSERT INTO {SCHEMA}.versions VALUES (0)"
    yield _SEGMENTS
    yield _CONTENTS
    for part in range(PARTITIONS):
        step = 256 // PARTITIONS
        low = f"'\\x{part * step:02x}'" if part else "MINVALUE"
        high = f"'\\x{(part + 1) * step:02x}'" if part < PARTITIONS - 1 else "MAXVALUE"
        yield (
            f"CREATE TABLE {SCHEMA}.contents_{part} PARTITION OF {SCHEMA}.contents"
            f" FOR VALUES FROM ({low}) TO ({high})"
        )
    for column in ("text", "extras", "outline", "vectors", "facts", "chunks", "symbols"):
        yield f"ALTER TABLE {SCHEMA}.contents ALTER {column} SET STORAGE EXTERNAL"
    for table, columns in _COLUMNS.items():
        yield from _partitioned(table, columns)
    yield from _INDEXES


def _partitioned(table: str, columns: str) -> Iterator[str]:
    yield f"CREATE TABLE {SCHEMA}.{table} (segment integer, {columns}) PARTITION BY HASH (segment)"
    for part in range(PARTITIONS):
        yield (
            f"CREATE TABLE {SCHEMA}.{table}_{part} PARTITION OF {SCHEMA}.{table}"
            f" FOR VALUES WITH (MODULUS {PARTITIONS}, REMAINDER {part})"
        )
        if table in _IN_ROW:
            yield f"ALTER TABLE {SCHEMA}.{table}_{part} SET (toast_tuple_target = {_IN_ROW[table]})"
    for column in _LONG.get(table, ()):
        yield f"ALTER TABLE {SCHEMA}.{table} ALTER {column} SET STORAGE EXTERNAL"


# Repositories of libraries that wait for a worker. Content that another segment of the same signature has is
# not parsed again, so it is found by its hash in all of them.
_MANY_REPOSITORIES = (
    f"ALTER TABLE {SCHEMA}.segments ADD COLUMN signature text NOT NULL DEFAULT ''",
    f"DROP INDEX {SCHEMA}.files_hash",
    f"CREATE INDEX files_hash ON {SCHEMA}.files (file_hash, segment)",
    f"""CREATE TABLE {SCHEMA}.queue (
        number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        library text NOT NULL,
        repository text NOT NULL,
        asked timestamptz NOT NULL DEFAULT clock_timestamp(),
        not_before timestamptz NOT NULL DEFAULT clock_timestamp(),
        attempts integer NOT NULL DEFAULT 0,
        problem text NOT NULL DEFAULT ''
    )""",
    f"CREATE INDEX queue_library ON {SCHEMA}.queue (library, number)",
)

# Libraries whose catalogue is here. Lists and commits are JSON, as in a catalogue of SQLite. `changes` moves
# with every change of a repository.
_CATALOGUES = (
    f"""CREATE TABLE {SCHEMA}.libraries (
        name text COLLATE "C" PRIMARY KEY,
        store text NOT NULL,
        changes bigint NOT NULL DEFAULT 1
    )""",
    f"""CREATE TABLE {SCHEMA}.repositories (
        library text COLLATE "C" NOT NULL REFERENCES {SCHEMA}.libraries,
        name text COLLATE "C" NOT NULL,
        store text NOT NULL,
        origin text NOT NULL,
        refs text NOT NULL,
        groups text NOT NULL,
        commits text NOT NULL,
        state text NOT NULL,
        problem text NOT NULL
    )""",
    f"CREATE UNIQUE INDEX repositories_name ON {SCHEMA}.repositories (library, lower(name))",
    f"""CREATE TABLE {SCHEMA}.tokens (
        library text COLLATE "C" NOT NULL REFERENCES {SCHEMA}.libraries,
        name text COLLATE "C" NOT NULL,
        hash text COLLATE "C" NOT NULL,
        repositories text NOT NULL,
        groups text NOT NULL,
        created float8 NOT NULL,
        expires float8,
        revoked float8,
        last_used float8
    )""",
    f"CREATE UNIQUE INDEX tokens_name ON {SCHEMA}.tokens (library, lower(name))",
    f"CREATE UNIQUE INDEX tokens_hash ON {SCHEMA}.tokens (library, hash)",
)

MIGRATIONS: tuple[tuple[str, ...], ...] = (tuple(_first_tables()), _MANY_REPOSITORIES, _CATALOGUES)
SCHEMA_VERSION = len(MIGRATIONS)

# The partition of a segment, as PostgreSQL computes it.
PART_OF = (
    f"SELECT part FROM generate_series(0, {PARTITIONS - 1}) AS part"
    f" WHERE satisfies_hash_partition('{SCHEMA}.files'::regclass, {PARTITIONS}, part, %s::integer)"
)


def table_names(part: int) -> dict[str, str]:
    """Return the name of each table as statements about a segment of a partition use it."""
    own = {table: f"{SCHEMA}.{table}_{part}" for table in SEGMENT_TABLES}
    return {**own, "contents": f"{SCHEMA}.contents", "segments": f"{SCHEMA}.segments"}
