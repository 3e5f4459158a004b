"""Which rights does a caller of a served library have? Tokens of its catalogue, and those of people.

What is found out is kept for half a second: a token that is revoked opens nothing a second later, in every
server of the library, and a caller who asks all the time costs no look at the catalogue for each call."""

from __future__ import annotations

import hmac
import time
from typing import TYPE_CHECKING

from satchel import extras, ids, settings
from satchel.caching import Cache
from satchel.errors import Unauthorized
from satchel.library.catalogue import Catalogue, Token
from satchel.library.grants import Caller
from satchel.library.tokens import PREFIX, TokenBook
from satchel.plugins import late

if TYPE_CHECKING:
    from satchel.serving import oidc
else:  # it loads PyJWT, which only the extra brings
    oidc = late("satchel.serving.oidc")

_KEPT_SECONDS = 0.5
_USE_SECONDS = 60.0  # between two notes of the last use of a token
_CALLERS_KEPT = 1024
_SESSION_PURPOSE = b"viewer session"


class Rights:
    """The callers of one library."""

    def __init__(self, catalogue: Catalogue) -> None:
        self.tokens = TokenBook(catalogue)
        provider = settings.oidc()
        if provider is not None:
            extras.require("oidc", "checking tokens of an identity provider")
        self._oidc = oidc.OidcVerifier(provider) if provider is not None else None
        self._callers: Cache[str, tuple[float, Caller]] = Cache(_CALLERS_KEPT)
        self._uses: Cache[str, float] = Cache(_CALLERS_KEPT)  # when the last use of a token was noted
        self._is_guarded = self._oidc is not None
        self._looked_until = 0.0  # how long it is believed that no token was given out

    def are_asked_for(self) -> bool:
        """Return whether callers must say who they are: a token was given out, or an issuer is believed."""
        # A catalogue that was restored from before its first token must not open a server to everybody.
        if not self._is_guarded and time.monotonic() >= self._looked_until:
            self._is_guarded = self.tokens.is_used()
            self._looked_until = time.monotonic() + _KEPT_SECONDS
        return self._is_guarded

    def caller(self, bearer: str) -> Caller | None:
        """Return whose token this is; None if it opens nothing."""
        key = ids.hash_text(bearer)
        until, known = self._callers.get(key) or (0.0, None)
        if known is None or time.monotonic() >= until:
            known = self._look_up(bearer)
            if known is not None:
                self._callers.keep(key, (time.monotonic() + _KEPT_SECONDS, known))
        return known

    def _look_up(self, bearer: str) -> Caller | None:
        token = self.tokens.find(bearer)
        if token is not None:
            return self._used(token)
        if self._oidc is None or bearer.startswith(PREFIX):
            return None
        try:
            return self._oidc.caller(bearer)
        except Unauthorized:
            return None

    def session(self, bearer: str) -> str | None:
        """Return the value of the cookie of a browser that has shown a token of the catalogue. It does not
        tell the token, and ends with it."""
        token = self.tokens.find(bearer)
        found = self.tokens.named(token.name) if token is not None else None
        return _session(*found) if found is not None else None

    def signed_in(self, session: str) -> Caller | None:
        """Return whose session a cookie holds."""
        written = session.rpartition(":")[0]
        try:
            name = bytes.fromhex(written).decode()
        except ValueError:
            return None
        found = self.tokens.named(name) if name else None
        if found is None or not hmac.compare_digest(session.encode(), _session(*found).encode()):
            return None
        return self._used(found[0])

    def _used(self, token: Token) -> Caller:
        if time.monotonic() >= self._uses.get(token.name, 0.0):
            self._uses.keep(token.name, time.monotonic() + _USE_SECONDS)
            self.tokens.note_use(token.name)
        return Caller(token.name, token.grant)


def _session(token: Token, kept: str) -> str:
    return f"{token.name.encode().hex()}:{hmac.new(kept.encode(), _SESSION_PURPOSE, 'sha256').hexdigest()}"
