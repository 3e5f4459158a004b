"""A catalogue in a PostgreSQL database: `postgresql://user@host:port/database[/library]`.

One database holds any number of libraries, with the indexes of their commits beside them, so that any process
that reaches it can serve one. What a machine keeps itself are mirrors, which a sync fetches anew where they
are missing."""

from __future__ import annotations

from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from satchel import extras, ids, settings
from satchel.errors import SatchelError
from satchel.library.catalogue import (
    COLUMNS,
    TOKEN_COLUMNS,
    CatalogueScheme,
    Repository,
    Token,
    check_store,
    from_row,
    from_token_row,
    no_library,
    to_row,
    to_token_row,
)
from satchel.plugins import late
from satchel.storage import postgres
from satchel.storage.postgres_schema import SCHEMA

if TYPE_CHECKING:
    from satchel.storage import postgres_connection
else:  # it loads psycopg, which only the extra brings
    postgres_connection = late("satchel.storage.postgres_connection")

_SCHEME = "postgresql:"
_LIBRARY = f"SELECT store, changes FROM {SCHEMA}.libraries WHERE name = %s"
_CREATE = (
    f"INSERT INTO {SCHEMA}.libraries (name, store) VALUES (%s, %s) ON CONFLICT DO NOTHING RETURNING name"
)
_NOTE_CHANGE = f"UPDATE {SCHEMA}.libraries SET changes = changes + 1 WHERE name = %s RETURNING name"
_ALL = (
    f"SELECT {', '.join(f'r.{name}' for name in COLUMNS)}, r.store FROM {SCHEMA}.libraries l"
    f" LEFT JOIN {SCHEMA}.repositories r ON r.library = l.name WHERE l.name = %s"
)
_ADD = (
    f"INSERT INTO {SCHEMA}.repositories (library, store, {', '.join(COLUMNS)})"
    f" VALUES (%s, %s, {', '.join(['%s'] * len(COLUMNS))}) ON CONFLICT DO NOTHING RETURNING name"
)
_NOTE_SYNC = (
    f"UPDATE {SCHEMA}.repositories SET commits = %s, state = %s, problem = %s"
    " WHERE library = %s AND lower(name) = lower(%s)"
)
_DROP = f"DELETE FROM {SCHEMA}.repositories WHERE library = %s AND lower(name) = lower(%s)"
_TOKENS = (
    f"SELECT t.hash, {', '.join(f't.{name}' for name in TOKEN_COLUMNS.split(', '))} FROM {SCHEMA}.libraries l"
    f" LEFT JOIN {SCHEMA}.tokens t ON t.library = l.name AND {{}} WHERE l.name = %s"
)
_ADD_TOKEN = (
    f"INSERT INTO {SCHEMA}.tokens (library, name, hash, repositories, groups, created, expires)"
    " VALUES (%s, %s, %s, %s, %s, %s, %s) ON CONFLICT DO NOTHING RETURNING name"
)
_REVOKE_TOKEN = (
    f"UPDATE {SCHEMA}.tokens SET revoked = %s"
    " WHERE library = %s AND lower(name) = lower(%s) AND revoked IS NULL"
)
_NOTE_USE = f"UPDATE {SCHEMA}.tokens SET last_used = %s WHERE library = %s AND lower(name) = lower(%s)"


class PostgresCatalogue:
    """The catalogue of one library in a database."""

    def __init__(self, place: str, address: postgres.Address) -> None:
        extras.require("library", "a library in PostgreSQL")
        self.place = place
        self._address = address

    @property
    def location(self) -> str:
        return self._address.location if self._name else self._address.shown

    @cached_property
    def folder(self) -> Path:
        """Return the folder of this machine: it is called as the library, or as the database of an only
        one."""
        database = self._address.shown.partition("?")[0].rpartition("/")[2]
        known = ids.hash_text(self.location)[:16]
        return settings.libraries_folder() / known / (self._name.rpartition("/")[2] or database)

    @property
    def indexes(self) -> str:
        return self.place

    @property
    def _name(self) -> str:
        return self._address.home

    @property
    def _database(self) -> postgres_connection.Database:
        """Return the database, which has tables of the shape that is read here."""
        found = postgres_connection.database(self._address.conninfo, self._address.shown)
        if not found.has_tables():
            raise no_library(self.location)
        found.require_schema()
        return found

    def create(self, store: str = "") -> bool:
        check_store(store)
        database = postgres_connection.database(self._address.conninfo, self._address.shown)
        database.make_schema()
        return bool(database.rows(_CREATE, (self._name, store)))

    def stamp(self) -> int | None:
        try:
            return int(self._library()[1])
        except SatchelError:  # whoever asks for repositories is told
            return None

    @property
    def store(self) -> str:
        return self._library()[0] or self.indexes

    def _library(self) -> tuple[str, int]:
        found = self._database.rows(_LIBRARY, (self._name,))
        if not found:
            raise no_library(self.location)
        store, changes = found[0]
        return store, changes

    def all(self) -> list[Repository]:
        rows = self._database.rows(_ALL, (self._name,))
        if not rows:
            raise no_library(self.location)
        found = (from_row(row[:-1], row[-1]) for row in rows if row[0] is not None)
        return sorted(found, key=lambda one: f"{one.name}/")

    def add(self, repository: Repository) -> bool:
        return bool(self._change(_ADD, (self._name, repository.store, *to_row(repository))))

    def note_sync(self, repository: Repository) -> None:
        row = dict(zip(COLUMNS, to_row(repository), strict=True))
        values = row["commits"], row["state"], row["problem"], self._name, repository.name
        self._change(_NOTE_SYNC, values)

    def drop(self, name: str) -> None:
        self._change(_DROP, (self._name, name))

    def _change(self, statement: str, values: tuple[Any, ...]) -> list[Any]:
        """Change the repositories, and the stamp with them."""
        with self._database.connection() as connection, connection.transaction():
            if not postgres_connection.run(connection, _NOTE_CHANGE, (self._name,)):
                raise no_library(self.location)
            return postgres_connection.run(connection, statement, values)

    def tokens(self) -> list[Token]:
        return [token for token, _ in self._tokens("true", ())]

    def add_token(self, token: Token, token_hash: str) -> bool:
        self._library()  # raises if there is none
        values = self._name, *to_token_row(token, token_hash)
        return bool(self._database.rows(_ADD_TOKEN, values))

    def revoke_token(self, name: str, now: float) -> None:
        self._database.rows(_REVOKE_TOKEN, (now, self._name, name))

    def token_by_hash(self, token_hash: str) -> Token | None:
        return next((token for token, _ in self._tokens("t.hash = %s", (token_hash,))), None)

    def token_by_name(self, name: str) -> tuple[Token, str] | None:
        return next(iter(self._tokens("lower(t.name) = lower(%s)", (name,))), None)

    def note_token_use(self, name: str, now: float) -> None:
        with suppress(SatchelError):
            self._database.rows(_NOTE_USE, (now, self._name, name))

    def _tokens(self, condition: str, values: tuple[str, ...]) -> list[tuple[Token, str]]:
        """Return tokens and their hashes."""
        rows = self._database.rows(_TOKENS.format(condition), (*values, self._name))
        if not rows:
            raise no_library(self.location)
        return [(from_token_row(row[1:]), row[0]) for row in rows if row[0] is not None]


def _open(place: str) -> PostgresCatalogue:
    """Return the catalogue that follows the scheme in a URL: `//user@host:port/database/library?options`."""
    return PostgresCatalogue(f"{_SCHEME}{place}", postgres.address_of(place))


CATALOGUE = CatalogueScheme("postgres", _open)
