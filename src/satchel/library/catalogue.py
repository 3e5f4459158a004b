"""Which repositories does a library hold? The catalogue: one small SQLite file in the folder of the library.

It knows of each repository its name, where it comes from, which refs are kept, its groups, and how its last
sync ended. It never holds a credential: `plain_url` takes them out of a URL before anything is written."""

from __future__ import annotations

import os
import re
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from enum import StrEnum
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import msgspec

from satchel.errors import ConfigError, IndexIncompatible, InvalidRequest, ProjectNotFound
from satchel.file_writing import make_folder

CATALOGUE_FILE = "catalogue.db"
_SCHEMA_VERSION = 1
_CHANGE_COUNTER = 24  # where it is in the file: https://sqlite.org/fileformat2.html
_WAIT_SECONDS = 20.0  # for another process that writes; every write is a few rows
_NAME = re.compile(r"(?!\.+$)[A-Za-z0-9._][A-Za-z0-9._-]{0,99}")
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")
_SHORT_URL = re.compile(
    r"(?P<user>[\w.-]+@)?(?P<host>[\w.-]+):(?!/)(?P<path>[^\s:].*)"
)  # git@host:owner/name.git
_TABLES = """
CREATE TABLE repositories (
  name TEXT PRIMARY KEY COLLATE NOCASE, origin TEXT NOT NULL, refs TEXT NOT NULL, groups TEXT NOT NULL,
  commits TEXT NOT NULL, state TEXT NOT NULL, problem TEXT NOT NULL
);
CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT NOT NULL);
"""
_STORE_OF = "store of "  # what the setting starts with that is the store of one repository
_COLUMNS = "name, origin, refs, groups, commits, state, problem"


class RepositoryState(StrEnum):
    """How a repository of a library stands."""

    NEW = "new"  # it was added and never synced
    READY = "ready"
    FAILED = "failed"  # the last sync failed; what was synced before can still be asked


class Repository(msgspec.Struct, frozen=True, kw_only=True):
    """A repository of a library. Without `refs` it is the work tree of a folder, which every question brings
    up to date; `commits` has the commit of each ref when it was last synced."""

    name: str
    origin: str
    refs: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    commits: dict[str, str] = msgspec.field(default_factory=dict)
    state: RepositoryState = RepositoryState.NEW
    problem: str = ""
    store: str = ""  # where the indexes of its commits are kept; empty for the store of the library

    @property
    def is_remote(self) -> bool:
        """Return whether the repository is mirrored from a URL."""
        return is_url(self.origin)

    @property
    def is_live(self) -> bool:
        """Return whether the work tree of a folder is asked, not a commit."""
        return not self.refs


class Catalogue:
    """The repositories in the catalogue of a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.file = folder / CATALOGUE_FILE

    def create(self, store: str = "") -> bool:
        """Make the catalogue, and return whether there was none. `store` is the URL under which the indexes
        of mirrors are kept; without one they are kept in the folder."""
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
        """Return the numbers by which a changed catalogue is known; None if there is none. Among them is the
        counter that SQLite moves with every write: two writes may fall into one tick of the file's clock."""
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
        """Return the URL under which the indexes of mirrors are kept; empty for the folder."""
        with self.opened() as database:
            row = database.execute("SELECT value FROM settings WHERE name = 'store'").fetchone()
        return str(row[0]) if row else ""

    def all(self) -> list[Repository]:
        """Return all repositories, by name."""
        with self.opened() as database:
            rows = database.execute(f"SELECT {_COLUMNS} FROM repositories").fetchall()
            stores = dict(database.execute("SELECT name, value FROM settings").fetchall())
        found = (_repository(row, stores.get(_STORE_OF + row[0], "")) for row in rows)
        return sorted(found, key=lambda one: f"{one.name}/")

    def put(self, repository: Repository) -> None:
        """Write a repository, in place of the one of its name."""
        values = [
            msgspec.json.encode(value).decode() if isinstance(value, (tuple, dict)) else str(value)
            for value in (getattr(repository, name) for name in _COLUMNS.split(", "))
        ]
        with self.opened() as database, database:
            marks = ", ".join("?" * len(values))
            database.execute(f"INSERT OR REPLACE INTO repositories ({_COLUMNS}) VALUES ({marks})", values)
            if repository.store:
                setting = _STORE_OF + repository.name, repository.store
                database.execute("INSERT OR REPLACE INTO settings VALUES (?, ?)", setting)

    def drop(self, name: str) -> None:
        """Forget a repository."""
        with self.opened() as database, database:
            database.execute("DELETE FROM repositories WHERE name = ?", (name,))
            database.execute("DELETE FROM settings WHERE name = ?", (_STORE_OF + name,))

    @contextmanager
    def opened(self) -> Iterator[sqlite3.Connection]:
        """Give a connection to the catalogue."""
        if not self.file.is_file():
            raise ProjectNotFound(
                f"{str(self.folder)!r} holds no library",
                hint="make one: satchel library init [--library DIR]; the folder is written --library=DIR",
            )
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


def _repository(row: Sequence[str], store: str) -> Repository:
    name, origin, refs, groups, commits, state, problem = row
    return Repository(
        name=name,
        origin=origin,
        refs=msgspec.json.decode(refs, type=tuple[str, ...]),
        groups=msgspec.json.decode(groups, type=tuple[str, ...]),
        commits=msgspec.json.decode(commits, type=dict[str, str]),
        state=RepositoryState(state),
        problem=problem,
        store=store,
    )


def check_store(store: str) -> str:
    """Return the URL of a store that a library may keep, or raise if there is a password in it."""
    if "://" in store and (":" in store.partition("://")[2].rpartition("@")[0] or "password=" in store):
        raise InvalidRequest(
            "the URL of a store holds a password, which a library does not keep",
            hint="give it to the database's client: ~/.pgpass, PGPASSWORD or a service file",
        )
    return store


def check_name(name: str) -> str:
    """Return a name that a repository may have, or raise an error that says what a name is made of."""
    if not _NAME.fullmatch(name):
        raise InvalidRequest(
            f"{name!r} cannot be the name of a repository",
            hint="a name has letters, digits, `.`, `_` and `-`, up to 100: give one with --name",
        )
    return name


def is_url(origin: str) -> bool:
    """Return whether an origin is a git URL, not a folder."""
    return bool(_URL.match(origin) or _SHORT_URL.fullmatch(origin))


def plain_url(url: str) -> str:
    """Return a git URL without anything that may be a credential: password, query, fragment, and the user of
    HTTP. The user of SSH is a part of the address."""
    if not _URL.match(url):
        return url
    parts = urlsplit(url)
    user = parts.username if parts.username and parts.scheme == "ssh" else ""
    host = (parts.netloc.rpartition("@")[2]) if parts.netloc else ""
    return urlunsplit((parts.scheme.lower(), f"{user}@{host}" if user else host, parts.path, "", ""))


def name_candidates(origin: str) -> Iterator[str]:
    """Yield names for a repository: its own, then with its owner before it, then with numbers."""
    path = (
        urlsplit(origin).path
        if _URL.match(origin)
        else origin.rpartition(":")[2]
        if is_url(origin)
        else origin
    )
    parts = [re.sub(r"[^A-Za-z0-9._-]+", "-", part).strip("-") for part in path.rstrip("/").split("/")]
    parts = [part for part in parts if part.strip(".")] or ["repository"]
    own = parts[-1].removesuffix(".git") or parts[-1]
    yield own
    if len(parts) > 1:
        yield f"{parts[-2]}-{own}"
    number = 2
    while True:
        yield f"{own}-{number}"
        number += 1
