"""Access rules of a server: the address it listens on, its token, and the hosts and origins it accepts."""

from __future__ import annotations

import hmac
import ipaddress
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Protocol
from urllib.parse import urlsplit

import msgspec

from satchel import settings
from satchel.errors import ConfigError, PathNotAllowed, Unauthorized
from satchel.library.grants import OPERATOR, Caller

LOGIN_PATH = "/login"
_SESSION_PURPOSE = b"viewer session"
_OWN_PAGES = (
    None,
    "none",
    "same-origin",
)  # Sec-Fetch-Site of what a person opened, or our own page asked for
MIN_TOKEN_CHARS = 16  # a shorter token can be guessed
_LOCAL_NAMES = ("localhost", "127.0.0.1", "::1")


class CallerRights(Protocol):
    """What is asked about callers who do not have the token of the server."""

    def are_asked_for(self) -> bool:
        """Return whether callers must say who they are."""

    def caller(self, bearer: str) -> Caller | None:
        """Return whose token this is; None if it opens nothing."""

    def session(self, bearer: str) -> str | None:
        """Return the value of the cookie of a browser that has shown a token; None if it gets none."""

    def signed_in(self, session: str) -> Caller | None:
        """Return whose session a cookie holds; None if it is nobody's."""


class Access(msgspec.Struct, frozen=True, kw_only=True):
    """The access rules of one server.

    `hosts` are accepted host names beside the local ones. Pages of other origins than `origins` are refused,
    so that no web site can call a server on the machine of its reader. `rights` knows the callers of a
    library; whoever has the `token` of the server is its operator.
    """

    host: str = "127.0.0.1"
    token: str = ""
    hosts: tuple[str, ...] = ()
    origins: tuple[str, ...] = ()
    rights: CallerRights | None = None
    on_refusal: Callable[[], None] | None = None  # hears of every call without access

    @property
    def is_guarded(self) -> bool:
        """Return whether callers must say who they are."""
        return bool(self.token) or (self.rights is not None and self.rights.are_asked_for())

    def caller(self, authorization: str | None) -> Caller:
        """Return who sends the header `Authorization: Bearer …`; raise Unauthorized for nobody. This may read
        files and take a while."""
        if not self.is_guarded:
            return OPERATOR
        scheme, _, given = (authorization or "").partition(" ")
        given = given.strip()
        found = None
        if scheme.lower() == "bearer" and given:
            if self.token and hmac.compare_digest(given.encode(), self.token.encode()):
                found = OPERATOR
            elif self.rights is not None:
                found = self.rights.caller(given)
        if found is None:
            if self.on_refusal is not None:
                self.on_refusal()
            raise Unauthorized(
                "a valid token is needed", hint="send the header: Authorization: Bearer <token>"
            )
        return found

    def session(self, bearer: str) -> str | None:
        """Return the value of the cookie of a browser that has shown a token; None if the token opens no
        session. It does not tell the token."""
        if self.token and hmac.compare_digest(bearer.encode(), self.token.encode()):
            return self.own_session
        found = self.rights.session(bearer) if self.rights is not None else None
        if found is None and self.on_refusal is not None:
            self.on_refusal()
        return found

    @property
    def own_session(self) -> str:
        """Return the value of the cookie of a browser that has shown the token of the server."""
        return hmac.new(self.token.encode(), _SESSION_PURPOSE, "sha256").hexdigest()

    def signed_in(self, cookies: str | None, fetch_site: str | None, port: int) -> Caller | None:
        """Return who asks for a page with a browser that has shown a token; None if that is nobody, or a page
        of another server asks: browsers send cookies to every port of a host."""
        given = _cookie(cookies or "", session_cookie(port))
        if not given or fetch_site not in _OWN_PAGES:
            return None
        if self.token and hmac.compare_digest(given.encode(), self.own_session.encode()):
            return OPERATOR
        return self.rights.signed_in(given) if self.rights is not None else None

    def check_host(self, host: str | None) -> None:
        """Check the Host header. A foreign name means DNS rebinding: a page whose own name leads here."""
        name = _host_name(host or "")
        if name not in (*_LOCAL_NAMES, self.host.lower(), *(known.lower() for known in self.hosts)):
            raise PathNotAllowed(
                f"this server does not answer to the name {name!r}", hint="start it with --allow-host"
            )

    def check_origin(self, origin: str | None, host: str | None = None) -> None:
        """Check the Origin header, which only browsers send. A page of the `host` that is asked, a name that
        `check_host` has let pass, is a page of this server: a proxy before it may speak another scheme."""
        if origin is None or origin in self.origins:
            return
        # A malformed origin cannot be parsed.
        with suppress(ValueError):
            parts = urlsplit(origin)
            own = (parts.hostname or "") in _LOCAL_NAMES or parts.netloc.lower() == (host or "").lower()
            if parts.scheme in ("http", "https") and parts.netloc and own:
                return
        raise PathNotAllowed(
            "pages of another origin may not call this server", hint="start it with --allow-origin"
        )


def session_cookie(port: int) -> str:
    """Return the name of the cookie of a browser that is signed in. It has the port of the server, because
    the servers of one host share their cookies."""
    return f"satchel_session_{port}"


def make_access(
    host: str,
    *,
    public: bool,
    token: str,
    hosts: Sequence[str],
    origins: Sequence[str],
    rights: CallerRights | None = None,
) -> Access:
    """Return the access rules; an address that other machines can reach needs --public and a token, of the
    server or of its library."""
    token = token or settings.token()
    is_guarded = bool(token) or (rights is not None and rights.are_asked_for())
    if not is_loopback(host) and not (public and is_guarded):
        raise ConfigError(
            f"{host} can be reached from other machines, so --public and a token are needed",
            hint=f"set {settings.TOKEN_VARIABLE} and add --public, or listen on 127.0.0.1",
        )
    if token and len(token) < MIN_TOKEN_CHARS:
        raise ConfigError(
            f"the token has {len(token)} characters, it must have at least {MIN_TOKEN_CHARS}",
            hint="make one: python3 -c 'import secrets; print(secrets.token_urlsafe())'",
        )
    return Access(host=host, token=token, hosts=tuple(hosts), origins=tuple(origins), rights=rights)


def is_loopback(host: str) -> bool:
    """Return whether only this machine can reach the address."""
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def _cookie(header: str, name: str) -> str:
    """Return the value of a cookie; empty if there is none."""
    pairs = (part.strip().partition("=") for part in header.split(";"))
    return next((value for key, _, value in pairs if key == name), "")


def _host_name(host: str) -> str:
    """Return the name in a Host header, without its port."""
    host = host.strip().lower()
    if host.startswith("["):
        return host.partition("]")[0][1:]
    return host.rpartition(":")[0] if host.count(":") == 1 else host
