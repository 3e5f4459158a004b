"""Which repositories does a library hold, and who may ask it? The words for it; what a catalogue promises.

A catalogue knows of each repository its name, where it comes from, which refs are kept, its groups, and how
its last sync ended; and of each token what it may see. It never holds a credential: `plain_url` takes them
out of a URL before anything is written, and of a token its hash is kept."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterator, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Protocol
from urllib.parse import urlsplit, urlunsplit

import msgspec

from satchel.errors import InvalidRequest, ProjectNotFound
from satchel.library.grants import Grant

_NAME = re.compile(r"(?!\.+$)[A-Za-z0-9._][A-Za-z0-9._-]{0,99}")
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")
_SHORT_URL = re.compile(
    r"(?P<user>[\w.-]+@)?(?P<host>[\w.-]+):(?!/)(?P<path>[^\s:].*)"
)  # git@host:owner/name.git


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


class Token(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of a token, which is everything but the token. Times are seconds since 1970."""

    name: str
    grant: Grant
    created: float
    expires: float | None = None
    revoked: float | None = None
    last_used: float | None = None

    def is_valid(self, now: float) -> bool:
        """Return whether the token still opens anything."""
        return self.revoked is None and (self.expires is None or now < self.expires)

    def state(self, now: float) -> str:
        """Return `valid`, `expired` or `revoked`."""
        return "revoked" if self.revoked is not None else "valid" if self.is_valid(now) else "expired"


class Catalogue(Protocol):
    """The repositories and the tokens of one library. Every call is complete when it returns, and seen by all
    other processes. Until `create` was called, all calls but `stamp` raise `ProjectNotFound`."""

    @property
    def place(self) -> str:
        """Return the folder or the URL by which another process opens this catalogue."""

    @property
    def location(self) -> str:
        """Return the place as people are told of it, without a password."""

    @property
    def folder(self) -> Path:
        """Return the folder of this machine that belongs to the library: mirrors are in it."""

    @property
    def indexes(self) -> str:
        """Return where the indexes of commits are kept if nothing else is said."""

    def create(self, store: str = "") -> bool:
        """Make the catalogue, and return whether there was none. `store` is the URL under which the indexes
        of commits are kept; without one they are kept at `indexes`."""

    def stamp(self) -> Hashable:
        """Return a value that is another one after every change of a repository; None if there is no
        catalogue."""

    @property
    def store(self) -> str:
        """Return where the indexes of commits are kept."""

    def all(self) -> list[Repository]:
        """Return all repositories, by name."""

    def add(self, repository: Repository) -> bool:
        """Write a new repository, and return whether its name was free, in whatever case of letters."""

    def note_sync(self, repository: Repository) -> None:
        """Write the state, the problem and the commits of a repository that is still there."""

    def drop(self, name: str) -> None:
        """Forget a repository."""

    def tokens(self) -> list[Token]:
        """Return all tokens, also those that are revoked or expired."""

    def add_token(self, token: Token, token_hash: str) -> bool:
        """Write a new token, and return whether its name was free."""

    def revoke_token(self, name: str, now: float) -> None:
        """Note when a token was revoked, unless it was before."""

    def token_by_hash(self, token_hash: str) -> Token | None:
        """Return the token with a hash."""

    def token_by_name(self, name: str) -> tuple[Token, str] | None:
        """Return the token of a name, and its hash."""

    def note_token_use(self, name: str, now: float) -> None:
        """Note when a token was used. It is left out where the catalogue is busy or may not be written."""


class CatalogueScheme(msgspec.Struct, frozen=True):
    """A kind of catalogue, as its file in `library/catalogues/` registers it: `CATALOGUE =
    CatalogueScheme(NAME, open)`.

    `name` is the name of the file and the scheme of its URLs. `open` takes what follows the scheme and its
    colon; it neither reads nor writes anything.
    """

    name: str
    open: Callable[[str], Catalogue]


def no_library(location: str) -> ProjectNotFound:
    """Return the error of a place that holds no catalogue."""
    return ProjectNotFound(
        f"{location!r} holds no library",
        hint="make one: satchel library init [--library DIR|URL]; the place is written --library=DIR",
    )


def to_row(repository: Repository) -> tuple[str, ...]:
    """Return a repository as the values of `COLUMNS`, which every kind of catalogue keeps as text."""
    values = (getattr(repository, name) for name in COLUMNS)
    return tuple(
        msgspec.json.encode(value).decode() if isinstance(value, (tuple, dict)) else str(value)
        for value in values
    )


def from_row(row: Sequence[str], store: str) -> Repository:
    """Return the repository of some values of `COLUMNS`, whose indexes have a `store` of their own if one is
    given."""
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


COLUMNS = ("name", "origin", "refs", "groups", "commits", "state", "problem")
TOKEN_COLUMNS = "name, repositories, groups, created, expires, revoked, last_used"


def to_token_row(token: Token, token_hash: str) -> tuple[str, str, str, str, float, float | None]:
    """Return a new token as values: name, hash, repositories, groups, created and expires."""
    scope = [msgspec.json.encode(part).decode() for part in (token.grant.repositories, token.grant.groups)]
    return token.name, token_hash, scope[0], scope[1], token.created, token.expires


def from_token_row(
    row: tuple[str, str, str, float, float | None, float | None, float | None],
) -> Token:
    """Return the token of some values of `TOKEN_COLUMNS`."""
    name, repositories, groups, created, expires, revoked, last_used = row
    decode = msgspec.json.Decoder(tuple[str, ...]).decode
    return Token(
        name=name,
        grant=Grant(decode(repositories), decode(groups)),
        created=created,
        expires=expires,
        revoked=revoked,
        last_used=last_used,
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
