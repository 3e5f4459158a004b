"""Which tokens does a library give out? They are kept in its catalogue, as hashes alone.

A token is 32 random bytes, so one round of SHA-256 hides it: nobody can try them out. A revoked token stays
in the list, so that a library whose tokens are all revoked is not taken for one that asks for none."""

from __future__ import annotations

import re
import secrets
import time
from collections.abc import Sequence
from datetime import UTC, date, datetime

from satchel import ids
from satchel.errors import InvalidRequest, ProjectNotFound
from satchel.globs import check_limits
from satchel.library.catalogue import Catalogue, Token
from satchel.library.grants import Grant

PREFIX = "satchel_"  # by which people and scanners for secrets know one
_RANDOM_BYTES = 32
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@-]{0,99}")
_DAYS = re.compile(r"([1-9][0-9]{0,4})d")
_DAY_SECONDS = 86_400


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
        if not self._catalogue.add_token(token, ids.hash_text(secret)):
            raise InvalidRequest(
                f"the library has a token {name!r} already", hint="take another name; a name is used once"
            )
        return secret, token

    def all(self) -> list[Token]:
        """Return all tokens, also those that are revoked or expired, by name."""
        return sorted(self._catalogue.tokens(), key=lambda token: token.name)

    def revoke(self, names: Sequence[str]) -> list[Token]:
        """Let tokens open nothing from now on, and return them."""
        known = {token.name.lower(): token for token in self.all()}
        unknown = [name for name in names if name.lower() not in known]
        if unknown:
            raise ProjectNotFound(
                f"the library has no token {unknown[0]!r}", hint=f"tokens: {', '.join(known) or 'none'}"
            )
        for name in names:
            self._catalogue.revoke_token(name, time.time())
        return [token for token in self.all() if token.name.lower() in {name.lower() for name in names}]

    def find(self, secret: str) -> Token | None:
        """Return the token that is valid now and was told as `secret`."""
        found = self._catalogue.token_by_hash(ids.hash_text(secret))
        return found if found is not None and found.is_valid(time.time()) else None

    def named(self, name: str) -> tuple[Token, str] | None:
        """Return a token that is valid now, by its name, and the hash that is kept of it."""
        found = self._catalogue.token_by_name(name)
        return found if found is not None and found[0].is_valid(time.time()) else None

    def is_used(self) -> bool:
        """Return whether the library ever gave out a token: then nobody may ask without one."""
        return bool(self._catalogue.tokens())

    def note_use(self, name: str) -> None:
        """Write down that a token was used now. Where the catalogue is busy or may not be written, it is left
        out."""
        self._catalogue.note_token_use(name, time.time())


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
