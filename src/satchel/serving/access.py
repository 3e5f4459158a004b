"""Access rules of a server: the address it listens on, its token, and the hosts and origins it accepts."""

from __future__ import annotations

import hmac
import ipaddress
from collections.abc import Sequence
from contextlib import suppress
from urllib.parse import urlsplit

import msgspec

from satchel import settings
from satchel.errors import ConfigError, PathNotAllowed, Unauthorized

LOGIN_PATH = "/login"
_SESSION_PURPOSE = b"viewer session"
_OWN_PAGES = (
    None,
    "none",
    "same-origin",
)  # Sec-Fetch-Site of what a person opened, or our own page asked for
MIN_TOKEN_CHARS = 16  # a shorter token can be guessed
_LOCAL_NAMES = ("localhost", "127.0.0.1", "::1")


class Access(msgspec.Struct, frozen=True, kw_only=True):
    """The access rules of one server.

    `hosts` are accepted host names beside the local ones. Pages of other origins than `origins` are refused,
    so that no web site can call a server on the machine of its reader.
    """

    host: str = "127.0.0.1"
    token: str = ""
    hosts: tuple[str, ...] = ()
    origins: tuple[str, ...] = ()

    def check_token(self, authorization: str | None) -> None:
        """Check the header `Authorization: Bearer …`."""
        if not self.token:
            return
        scheme, _, given = (authorization or "").partition(" ")
        same = hmac.compare_digest(given.strip().encode(), self.token.encode())
        if scheme.lower() != "bearer" or not same:
            raise Unauthorized(
                "a valid token is needed", hint="send the header: Authorization: Bearer <token>"
            )

    @property
    def session(self) -> str:
        """The value of the cookie of a browser that has shown the token. It does not tell the token."""
        return hmac.new(self.token.encode(), _SESSION_PURPOSE, "sha256").hexdigest()

    def is_signed_in(self, cookies: str | None, fetch_site: str | None, port: int) -> bool:
        """Return whether a browser that has shown the token asks for a page, and no page of another server
        does: browsers send cookies to every port of a host."""
        given = _cookie(cookies or "", session_cookie(port))
        is_same = hmac.compare_digest(given.encode(), self.session.encode())
        return bool(self.token) and is_same and fetch_site in _OWN_PAGES

    def check_host(self, host: str | None) -> None:
        """Check the Host header. A foreign name means DNS rebinding: a page whose own name leads here."""
        name = _host_name(host or "")
        if name not in (*_LOCAL_NAMES, self.host.lower(), *(known.lower() for known in self.hosts)):
            raise PathNotAllowed(
                f"this server does not answer to the name {name!r}", hint="start it with --allow-host"
            )

    def check_origin(self, origin: str | None) -> None:
        """Check the Origin header, which only browsers send."""
        if origin is None or origin in self.origins:
            return
        # A malformed origin cannot be parsed.
        with suppress(ValueError):
            parts = urlsplit(origin)
            if parts.scheme in ("http", "https") and (parts.hostname or "") in _LOCAL_NAMES:
                return
        raise PathNotAllowed(
            "pages of another origin may not call this server", hint="start it with --allow-origin"
        )


def session_cookie(port: int) -> str:
    """Return the name of the cookie of a browser that is signed in. It has the port of the server, because
    the servers of one host share their cookies."""
    return f"satchel_session_{port}"


def make_access(
    host: str, *, public: bool, token: str, hosts: Sequence[str], origins: Sequence[str]
) -> Access:
    """Return the access rules; an address that other machines can reach needs --public and a token."""
    token = token or settings.token()
    if not is_loopback(host) and not (public and token):
        raise ConfigError(
            f"{host} can be reached from other machines, so --public and a token are needed",
            hint=f"set {settings.TOKEN_VARIABLE} and add --public, or listen on 127.0.0.1",
        )
    if token and len(token) < MIN_TOKEN_CHARS:
        raise ConfigError(
            f"the token has {len(token)} characters, it must have at least {MIN_TOKEN_CHARS}",
            hint="make one: python3 -c 'import secrets; print(secrets.token_urlsafe())'",
        )
    return Access(host=host, token=token, hosts=tuple(hosts), origins=tuple(origins))


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach the address."""
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
