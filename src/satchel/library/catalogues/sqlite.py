"""A catalogue in one small SQLite file, in the folder of its library: indexes and mirrors lie beside it."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from satchel.errors import ConfigError, IndexIncompatible, SatchelError
from satchel.file_writing import make_folder
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

CATALOGUE_FILE = "catalogue.db"
_SCHEMA_VERSION = 1
_CHANGE_COUNTER = 24  # where it is in the file: https://sqlite.org/fileformat2.html
_WAIT_SECONDS = 20.0  # for another process that writes; every write is a few rows
_TABLES = """
CREATE TABLE repositories (
  name TEXT PRIMARY KEY COLLATE NOCASE, origin TEXT NOT NULL, refs TEXT NOT NULL, groups TEXT NOT NULL,
  commits TEXT NOT NULL, state TEXT NOT NULL, problem TEXT NOT NULL
);
CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT NOT NULL);
"""
_TOKENS = """CREATE TABLE IF NOT EXISTS tokens (
  name TEXT PRIMARY KEY COLLATE NOCASE, hash TEXT NOT NULL UNIQUE, repositories TEXT NOT NULL,
  groups TEXT NOT NULL, created REAL NOT NULL, expires REAL, revoked REAL, last_used REAL
)"""
_STORE_OF = "store of "  # what the setting starts with that is the store of one repository
_READ = f"SELECT {', '.join(COLUMNS)} FROM repositories"
_ADD = f"INSERT INTO repositories ({', '.join(COLUMNS)}) VALUES ({', '.join('?' * len(COLUMNS))})"
_ADD_TOKEN = (
    "INSERT INTO tokens (name, hash, repositories, groups, created, expires) VALUES (?, ?, ?, ?, ?, ?)"
)


class SqliteCatalogue:
    """The catalogue in a folder."""

    def __init__(self, folder: Path) -> None:
        self.location = str(folder)
        self.folder = folder.resolve()
        self.file = self.folder / CATALOGUE_FILE

    @property
    def place(self) -> str:
        return str(self.folder)

    @property
    def indexes(self) -> str:
        return str(self.folder / "indexes")

    def create(self, store: str = "") -> bool:
        check_store(store)
        make_folder(self.folder, what="the library", elsewhere="name another folder: --library DIR")
        if self.file.exists():
            return False
        with closing(sqlite3.connect(self.file, timeout=_WAIT_SECONDS)) as database, database:
            database.executescript(
                f"BEGIN IMMEDIATE;{_TABLES}PRAGMA user_version = {_SCHEMA_VERSION};COMMIT;"
            )
            database.execute("INSERT OR REPLACE INTO settings VALUES ('store', ?)", (store,))
        return True

    def stamp(self) -> tuple[int, ...] | None:
        """Return the numbers of the file that move when it is written. Among them is the counter that SQLite
        moves with every write: two writes may fall into one tick of the file's clock."""
        try:
            with open(self.file, "rb") as opened:
                found = os.fstat(opened.fileno())
                opened.seek(_CHANGE_COUNTER)
                counter = int.from_bytes(opened.read(4), "big")
        except OSError:
            return None
        return found.st_mtime_ns, found.st_size, found.st_ino, counter

    @property
    def store(self) -> str:
        with self._opened() as database:
            row = database.execute("SELECT value FROM settings WHERE name = 'store'").fetchone()
        return str(row[0]) if row and row[0] else self.indexes

    def all(self) -> list[Repository]:
        with self._opened() as database:
            rows = database.execute(_READ).fetchall()
            stores = dict(database.execute("SELECT name, value FROM settings").fetchall())
        found = (from_row(row, stores.get(_STORE_OF + row[0], "")) for row in rows)
        return sorted(found, key=lambda one: f"{one.name}/")

    def add(self, repository: Repository) -> bool:
        with self._opened() as database, database:
            try:
                database.execute(_ADD, to_row(repository))
            except sqlite3.IntegrityError:
                return False
            if repository.store:
                setting = _STORE_OF + repository.name, repository.store
                database.execute("INSERT OR REPLACE INTO settings VALUES (?, ?)", setting)
        return True

    def note_sync(self, repository: Repository) -> None:
        values = dict(zip(COLUMNS, to_row(repository), strict=True))
        with self._opened() as database, database:
            database.execute(
                "UPDATE repositories SET commits = :commits, state = :state, problem = :problem"
                " WHERE name = :name",
                values,
            )

    def drop(self, name: str) -> None:
        with self._opened() as database, database:
            database.execute("DELETE FROM repositories WHERE name = ?", (name,))
            database.execute("DELETE FROM settings WHERE name = ?", (_STORE_OF + name,))

    def tokens(self) -> list[Token]:
        return [token for token, _ in self._tokens("", ())]

    def add_token(self, token: Token, token_hash: str) -> bool:
        with self._opened() as database, database:
            database.execute(_TOKENS)
            try:
                database.execute(_ADD_TOKEN, to_token_row(token, token_hash))
            except sqlite3.IntegrityError:
                return False
        return True

    def revoke_token(self, name: str, now: float) -> None:
        with self._opened() as database, database:
            statement = "UPDATE tokens SET revoked = ? WHERE name = ? AND revoked IS NULL"
            database.execute(statement, (now, name))

    def token_by_hash(self, token_hash: str) -> Token | None:
        return next((token for token, _ in self._tokens("WHERE hash = ?", (token_hash,))), None)

    def token_by_name(self, name: str) -> tuple[Token, str] | None:
        return next(iter(self._tokens("WHERE name = ?", (name,))), None)

    def note_token_use(self, name: str, now: float) -> None:
        with suppress(SatchelError, sqlite3.Error), self._opened() as database, database:
            database.execute("UPDATE tokens SET last_used = ? WHERE name = ?", (now, name))

    def _tokens(self, condition: str, values: tuple[str, ...]) -> list[tuple[Token, str]]:
        """Return tokens and their hashes. The table is made with the first token."""
        with self._opened() as database:
            try:
                rows = database.execute(f"SELECT hash, {TOKEN_COLUMNS} FROM tokens {condition}", values)
                return [(from_token_row(row), token_hash) for token_hash, *row in rows]
            except sqlite3.OperationalError as error:
                if "no such table" not in str(error):
                    raise
                return []

    @contextmanager
    def _opened(self) -> Iterator[sqlite3.Connection]:
        """Give a connection to the catalogue."""
        if not self.file.is_file():
            raise no_library(self.location)
        try:
            with closing(sqlite3.connect(self.file, timeout=_WAIT_SECONDS)) as database:
                (version,) = database.execute("PRAGMA user_version").fetchone()
                if version != _SCHEMA_VERSION:
                    raise IndexIncompatible(
                        f"the catalogue has version {version}, this Satchel reads {_SCHEMA_VERSION}",
                        hint="use the Satchel that wrote it, or make a new library",
                    )
                yield database
        except sqlite3.DatabaseError as error:
            raise ConfigError(
                f"the catalogue of the library cannot be used: {error}",
                hint=f"restore {CATALOGUE_FILE}, or remove it and run satchel library init",
            ) from error


def _open(place: str) -> SqliteCatalogue:
    """Return the catalogue of a folder, or of what follows `sqlite:` in a URL."""
    return SqliteCatalogue(Path(place.removeprefix("//")))


CATALOGUE = CatalogueScheme("sqlite", _open)
