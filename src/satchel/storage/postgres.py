"""An index in a PostgreSQL database: `postgresql://user@host:port/database/segment`.

One database keeps the indexes of any number of segments; the path after the database names one of them. A
reader's transaction sees one generation for as long as it likes. Writers of one segment are held apart by an
advisory lock, which ends with its connection. A writer's transaction becomes visible as a whole or not at
all, whoever is killed.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import SplitResult, parse_qs, quote, unquote, urlsplit

import msgspec

from satchel import extras, ids
from satchel.errors import ConfigError, IndexBusy
from satchel.plugins import late
from satchel.storage.postgres_schema import PART_OF, SCHEMA, SEGMENT_TABLES, table_names
from satchel.storage.protocol import LOCK_WAIT_SECONDS, Snapshot, StoreScheme

if TYPE_CHECKING:
    from satchel.storage import (
        postgres_connection,
        postgres_contents,
        postgres_reader,
        postgres_tables,
        postgres_writer,
    )
else:  # they load psycopg, which only the extra brings
    postgres_connection, postgres_contents, postgres_reader, postgres_tables, postgres_writer = (
        late(f"satchel.storage.postgres_{name}")
        for name in ("connection", "contents", "reader", "tables", "writer")
    )

_FORM = "write postgresql://user@host:port/database/segment"
_SHOWN_OPTIONS = ("host", "port", "user", "dbname")  # of a URL; others may be secrets
# The name of a segment's index among those of its home: its own has none.
_SIBLING, _BESIDE, _ASIDE = "@", "=", "!"
_CACHE = "~/.cache/satchel"


class Address(msgspec.Struct, frozen=True):
    """What a URL says: the database as libpq understands it and as people are told, and the segment."""

    conninfo: str
    shown: str
    home: str

    @property
    def location(self) -> str:
        base, mark, options = self.shown.partition("?")
        return f"{base}/{quote(self.home)}{mark}{options}"


class PostgresStore:
    """The store of one segment in a PostgreSQL database. `name` is empty for the index of the segment
    itself."""

    def __init__(
        self, address: Address, name: str = "", *, lock_wait_seconds: float = LOCK_WAIT_SECONDS
    ) -> None:
        extras.require("library", "an index in PostgreSQL")
        self._address = address
        self._name = name
        self._lock_wait_seconds = lock_wait_seconds

    @property
    def location(self) -> str:
        return self._address.location + quote(self._name, safe="@=!")

    @property
    def scratch(self) -> Path:
        named = ids.hash_text(self._address.location)[:16]
        return Path(_CACHE).expanduser() / f"{Path(self._address.home).name[:40]}-{named}"

    @property
    def file(self) -> None:
        return None

    @property
    def _database(self) -> postgres_connection.Database:
        return postgres_connection.database(self._address.conninfo, self._address.shown)

    @property
    def _key(self) -> tuple[str, str]:
        return self._address.home, self._name

    def exists(self) -> bool:
        return self.last_written() is not None

    def last_written(self) -> float | None:
        if not self._database.has_tables():
            return None
        statement = (
            f"SELECT extract(epoch FROM written)::float8 FROM {SCHEMA}.segments"
            " WHERE home = %s AND name = %s AND generation > 0"
        )
        found = self._database.rows(statement, self._key)
        return float(found[0][0]) if found else None

    def size_bytes(self) -> int:
        known = self._number() if self._database.has_tables() else None
        if known is None:
            return 0
        number, part = known
        tables = table_names(part)
        sums = " + ".join(
            f"(SELECT coalesce(sum(pg_column_size(t.*)), 0) FROM {tables[table]} t WHERE segment = {number})"
            for table in SEGMENT_TABLES
        )
        columns = " + ".join(f"octet_length({column})" for column in postgres_contents.COLUMNS)
        contents = (
            f"(SELECT coalesce(sum({columns}), 0) FROM {tables['contents']}"
            f" WHERE key IN (SELECT content FROM {tables['files']} WHERE segment = {number}))"
        )
        return int(self._database.rows(f"SELECT ({sums} + {contents})::int8")[0][0])

    def is_locked(self) -> bool:
        known = self._number() if self._database.has_tables() else None
        if known is None:
            return False
        statement = (
            "SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND granted AND mode = 'ExclusiveLock'"
            " AND classid = %s AND objid = %s"
            " AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
        )
        return bool(self._database.rows(statement, (postgres_connection.WRITER_LOCK, known[0])))

    def snapshot(self, known: Snapshot | None = None) -> postgres_reader.PostgresSnapshot:
        tables = postgres_tables.SegmentTables(self._database, *self._key)
        try:
            meta = postgres_tables.read_state(tables.row.state, tables.row.row_check, tables.number)
            return postgres_reader.PostgresSnapshot(tables, meta)
        except BaseException:
            tables.close()
            raise

    @contextmanager
    def write(self, seed: Snapshot | None = None) -> Iterator[postgres_writer.PostgresWriter]:
        database = self._database
        database.make_schema()
        with self._locked() as (connection, number, part):
            with database.typed_errors():
                postgres_connection.run(
                    connection, f"SELECT pg_advisory_xact_lock_shared({postgres_connection.CONTENT_LOCK}, 0)"
                )
                tables = postgres_tables.WriterTables(connection, number, part, database)
                writer = postgres_writer.PostgresWriter(tables, self._meta(tables, seed))
            yield writer
            with database.typed_errors():
                writer.finish()
                postgres_connection.run(connection, "COMMIT")
        if writer.dropped_contents:
            postgres_contents.sweep(database, sorted(writer.dropped_contents))

    def _meta(self, tables: postgres_tables.WriterTables, seed: Snapshot | None) -> dict[str, str]:
        """Return what the last generation says of itself, or the seed that a first one starts from."""
        ((generation, state, check),) = tables.execute(
            "SELECT generation, state, row_check FROM {segments} WHERE number = %s", tables.number
        )
        if generation:
            return postgres_tables.read_state(state, check, tables.number)
        if isinstance(seed, postgres_reader.PostgresSnapshot):
            return tables.copy_segment(seed.segment)
        return {}

    @contextmanager
    def _locked(self) -> Iterator[tuple[postgres_connection.Connection, int, int]]:
        """Begin the only transaction that writes, moves or removes this index; leaving it commits nothing."""
        database = self._database
        wait = max(1, round(self._lock_wait_seconds * 1000))
        connection = database.connect()
        try:
            found = None
            while found is None:  # it may have been removed after its number was read
                number, part = self._number() or self._new_number()
                with self._busy_is_told(), database.typed_errors():
                    for statement in (
                        "ROLLBACK",
                        "BEGIN",
                        f"SET LOCAL lock_timeout = {wait}",
                        f"SELECT pg_advisory_xact_lock({postgres_connection.WRITER_LOCK}, {number})",
                        "SET LOCAL lock_timeout = 0",
                    ):
                        postgres_connection.run(connection, statement)
                    asked = (
                        f"SELECT 1 FROM {SCHEMA}.segments WHERE number = {number} AND home = %s AND name = %s"
                    )
                    found = postgres_connection.run(connection, asked, self._key) or None
            yield connection, number, part
        finally:
            database.give_back(connection)

    @contextmanager
    def _busy_is_told(self) -> Iterator[None]:
        try:
            yield
        except IndexBusy:
            raise IndexBusy(
                f"another process has been indexing for more than {self._lock_wait_seconds:g} s",
                hint="wait for it to finish, then try again",
            ) from None

    def _number(self) -> tuple[int, int] | None:
        """Return the number and the partition of the segment, if the database knows it."""
        found = self._database.rows(
            f"SELECT number, part FROM {SCHEMA}.segments WHERE home = %s AND name = %s", self._key
        )
        return (found[0][0], found[0][1]) if found else None

    def _new_number(self) -> tuple[int, int]:
        self._database.rows(
            f"INSERT INTO {SCHEMA}.segments (home, name) VALUES (%s, %s) ON CONFLICT DO NOTHING", self._key
        )
        self._database.rows(
            f"UPDATE {SCHEMA}.segments SET part = ({PART_OF.replace('%s', 'number')})"
            " WHERE home = %s AND name = %s AND part IS NULL",
            self._key,
        )
        known = self._number()
        assert known is not None
        return known

    def set_aside(self) -> str:
        self._database.make_schema()
        with self._locked() as (connection, number, part), self._database.typed_errors():
            postgres_contents.remove_damaged(connection, table_names(part)["files"], number)
            statement = f"SELECT count(*) FROM {SCHEMA}.segments WHERE home = %s AND starts_with(name, %s)"
            start = f"{self._name}{_ASIDE}"
            ((count,),) = postgres_connection.run(connection, statement, (self._address.home, start))
            aside = f"{start}{count + 1}"
            postgres_connection.run(
                connection, f"UPDATE {SCHEMA}.segments SET name = %s WHERE number = %s", (aside, number)
            )
            postgres_connection.run(connection, "COMMIT")
        return f"{self._address.home}{aside}"

    def known_parses(self, signature: str) -> postgres_contents.ParsesOfDatabase | None:
        if not self._database.has_tables():
            return None
        return postgres_contents.ParsesOfDatabase(self._address.conninfo, self._address.shown, signature)

    def remove(self) -> None:
        known = self._number() if self._database.has_tables() else None
        if known is None:
            return
        number, part = known
        with self._database.connection() as connection, connection.transaction():
            locks = postgres_connection.WRITER_LOCK, postgres_connection.READER_LOCK
            free = [
                postgres_connection.run(connection, f"SELECT pg_try_advisory_xact_lock({lock}, {number})")
                for lock in locks
            ]
            if free != [[(True,)], [(True,)]]:
                return
            for table in SEGMENT_TABLES:
                postgres_connection.run(
                    connection, f"DELETE FROM {table_names(part)[table]} WHERE segment = {number}"
                )
            postgres_connection.run(connection, f"DELETE FROM {SCHEMA}.segments WHERE number = {number}")
        postgres_contents.sweep(self._database)

    def siblings(self) -> PostgresSiblings:
        return PostgresSiblings(self._address)

    def beside(self, name: str) -> PostgresStore:
        return PostgresStore(self._address, f"{_BESIDE}{name}", lock_wait_seconds=self._lock_wait_seconds)

    def close(self) -> None:
        """Do nothing: connections belong to snapshots, to writers and to the process."""


class PostgresSiblings:
    """The indexes of other commits: segments of the same home."""

    def __init__(self, address: Address) -> None:
        self._address = address

    @property
    def _database(self) -> postgres_connection.Database:
        return postgres_connection.database(self._address.conninfo, self._address.shown)

    def open(self, name: str) -> PostgresStore:
        return PostgresStore(self._address, f"{_SIBLING}{name}")

    def names(self) -> list[str]:
        if not self._database.has_tables():
            return []
        statement = (
            f"SELECT name FROM {SCHEMA}.segments WHERE home = %s AND starts_with(name, %s)"
            " AND position(%s in name) = 0 AND generation > 0 ORDER BY used DESC, name"
        )
        found = self._database.rows(statement, (self._address.home, _SIBLING, _ASIDE))
        return [name.removeprefix(_SIBLING) for (name,) in found]

    def mark_used(self, name: str) -> None:
        self._database.rows(
            f"UPDATE {SCHEMA}.segments SET used = clock_timestamp() WHERE home = %s AND name = %s",
            (self._address.home, f"{_SIBLING}{name}"),
        )

    def remove(self, name: str) -> None:
        self.open(name).remove()


def _open(place: str, lock_wait_seconds: float) -> PostgresStore:
    """Return the store of a URL without its scheme: `//user@host:port/database/segment?options`."""
    address = address_of(place)
    if not address.home:
        raise ConfigError("this URL names no segment of its database", hint=_FORM)
    return PostgresStore(address, lock_wait_seconds=lock_wait_seconds)


def open_database(place: str) -> tuple[postgres_connection.Database, str]:
    """Return the database that a whole URL names, with or without a segment, and what follows the database in
    its path."""
    extras.require("library", "an index in PostgreSQL")
    address = address_of(place.partition(":")[2])
    return postgres_connection.database(address.conninfo, address.shown), address.home


def address_of(place: str) -> Address:
    """Return what a URL without its scheme says."""
    url = _split(place)
    database, _, home = url.path.strip("/").partition("/")
    options = f"?{url.query}" if url.query else ""
    return Address(f"postgresql://{url.netloc}/{database}{options}", _shown(url, database), unquote(home))


def _within(place: str, name: str) -> str:
    """Return the place of one root's index in a database that is named without a segment."""
    url = _split(place)
    if "/" in url.path.strip("/"):
        return place
    path = f"{url.path.rstrip('/')}/{quote(name)}/"
    return f"//{url.netloc}{path}" + (f"?{url.query}" if url.query else "")


def _split(place: str) -> SplitResult:
    url = urlsplit(f"postgresql:{place}")
    if not place.startswith("//") or not url.path.strip("/"):
        raise ConfigError("this URL names no database", hint=_FORM)
    return url


def _shown(url: SplitResult, database: str) -> str:
    """Return the URL of a database as people are told: without a password, in whatever part it stood."""
    login, _, hosts = url.netloc.rpartition("@")
    user = login.partition(":")[0]
    told = {key: found[0] for key, found in parse_qs(url.query).items() if key in _SHOWN_OPTIONS}
    options = "&".join(f"{key}={quote(value, safe='/')}" for key, value in told.items())
    return f"postgresql://{user}{'@' if user else ''}{hosts}/{database}" + (f"?{options}" if options else "")


STORE = StoreScheme("postgres", _open, within=_within)
