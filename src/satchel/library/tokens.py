"""Which tokens does a library give out? They are kept in its catalogue, as hashes alone.

A token is 32 random bytes, so one round of SHA-256 hides it: nobody can try them out. A revoked token stays
in the list, so that a library whose tokens are all revoked is not taken for one that asks for none."""

from __future__ import annotations

import re
import secrets
import sqlite3
import time
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, date, datetime

import msgspec

from satchel import ids
from satchel.errors import InvalidRequest, ProjectNotFound, SatchelError
from satchel.globs import check_limits
from satchel.library.catalogue import Catalogue
from satchel.library.grants import Grant

PREFIX = "satchel_"  # by which people and scanners for secrets know one
_RANDOM_BYTES = 32
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@-]{0,99}")
_DAYS = re.compile(r"([1-9][0-9]{0,4})d")
_DAY_SECONDS = 86_400
_TABLE = """CREATE TABLE IF NOT EXISTS tokens (
  name TEXT PRIMARY KEY COLLATE NOCASE, hash TEXT NOT NULL UNIQUE, repositories TEXT NOT NULL,
  groups TEXT NOT NULL, created REAL NOT NULL, expires REAL, revoked REAL, last_used REAL
)"""
_COLUMNS = "name, repositories, groups, created, expires, revoked, last_used"


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


class TokenBook:
    """The tokens of one library."""

    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue

    def create(self, name: str, grant: Grant, expires: float | None = None) -> tuple[str, Token]:
        """Make a token, and return it with what is kept of it. It is not told again."""
        if not _NAME.fullmatch(name):
            raise InvalidRequest(
                f"{name!r} cannot be the name of a token",
                hint="a name has letters, digits, `.`, `_`, `@` and `-`, up to 100",
            )
        if not grant.repositories and not grant.groups:
            raise InvalidRequest(
                "nothing is said of what the token may see",
                hint="give --repo GLOB or --group NAME, each as often as needed; --repo '*' is everything",
            )
        check_limits({"repo": grant.repositories})
        secret = PREFIX + secrets.token_urlsafe(_RANDOM_BYTES)
        token = Token(name=name, grant=grant, created=time.time(), expires=expires)
        scope = [msgspec.json.encode(part).decode() for part in (grant.repositories, grant.groups)]
        values = (name, ids.hash_text(secret), *scope, token.created, expires)
        with self._catalogue.opened() as database, database:
            database.execute(_TABLE)
            try:
                database.execute(
                    "INSERT INTO tokens (name, hash, repositories, groups, created, expires)"
                    " VALUES (?, ?, ?, ?, ?, ?)",
                    values,
                )
            except sqlite3.IntegrityError:
                raise InvalidRequest(
                    f"the library has a token {name!r} already", hint="take another name; a name is used once"
                ) from None
        return secret, token

    def all(self) -> list[Token]:
        """Return all tokens, also those that are revoked or expired, by name."""
        return sorted(self._rows("", ()), key=lambda token: token.name)

    def revoke(self, names: Sequence[str]) -> list[Token]:
        """Let tokens open nothing from now on, and return them."""
        known = {token.name.lower(): token for token in self.all()}
        unknown = [name for name in names if name.lower() not in known]
        if unknown:
            raise ProjectNotFound(
                f"the library has no token {unknown[0]!r}", hint=f"tokens: {', '.join(known) or 'none'}"
            )
        with self._catalogue.opened() as database, database:
            for name in names:
                database.execute(
                    "UPDATE tokens SET revoked = ? WHERE name = ? AND revoked IS NULL", (time.time(), name)
                )
        return [token for token in self.all() if token.name.lower() in {name.lower() for name in names}]

    def find(self, secret: str) -> Token | None:
        """Return the token that is valid now and was told as `secret`."""
        found = self._rows("WHERE hash = ?", (ids.hash_text(secret),))
        return found[0] if found and found[0].is_valid(time.time()) else None

    def named(self, name: str) -> tuple[Token, str] | None:
        """Return a token that is valid now, by its name, and the hash that is kept of it."""
        found = self._rows("WHERE name = ?", (name,))
        if not found or not found[0].is_valid(time.time()):
            return None
        with self._catalogue.opened() as database:
            row = database.execute("SELECT hash FROM tokens WHERE name = ?", (name,)).fetchone()
        return (found[0], str(row[0])) if row else None

    def is_used(self) -> bool:
        """Return whether the library ever gave out a token: then nobody may ask without one."""
        return bool(self._rows("LIMIT 1", ()))

    def note_use(self, name: str) -> None:
        """Write down that a token was used now. Where the catalogue is busy or may not be written, it is left
        out."""
        with suppress(SatchelError, sqlite3.Error), self._catalogue.opened() as database, database:
            database.execute("UPDATE tokens SET last_used = ? WHERE name = ?", (time.time(), name))

    def _rows(self, condition: str, values: tuple[object, ...]) -> list[Token]:
        with self._catalogue.opened() as database:
            try:
                rows = database.execute(f"SELECT {_COLUMNS} FROM tokens {condition}", values).fetchall()
            except sqlite3.OperationalError as error:
                if "no such table" not in str(error):
                    raise
                return []
        return [_token(row) for row in rows]


def _token(row: tuple[str, str, str, float, float | None, float | None, float | None]) -> Token:
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


def expiry(written: str) -> float | None:
    """Return when a token ends that is given for `90d` or until a day such as `2027-01-31`, which is the last
    that it is valid for; None for no end."""
    if not written:
        return None
    if days := _DAYS.fullmatch(written):
        return time.time() + int(days[1]) * _DAY_SECONDS
    try:
        last = date.fromisoformat(written)
        end = datetime(last.year, last.month, last.day, tzinfo=UTC).timestamp() + _DAY_SECONDS
    except (ValueError, OverflowError):
        raise InvalidRequest(
            f"{written!r} is no time that a token could end at", hint="write 90d, or a day: 2027-01-31"
        ) from None
    if end <= time.time():
        raise InvalidRequest(f"{written} is over", hint="give a day to come")
    return end
