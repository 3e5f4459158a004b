"""Who may call a server: the address it listens on, the token it asks for, the names it answers to."""

from __future__ import annotations

import hmac
import ipaddress
from collections.abc import Sequence
from contextlib import suppress
from urllib.parse import urlsplit

import msgspec

from satchel import settings
from satchel.errors import ConfigError, PathNotAllowed, Unauthorized

LEAST_TOKEN = 16  # characters; what is shorter can be guessed
_LOCAL_NAMES = ("localhost", "127.0.0.1", "::1")


class Access(msgspec.Struct, frozen=True, kw_only=True):
    """The rules of one server. `hosts` are the names it answers to beside the local ones; a page of another
    origin than `origins` is refused, so that no web site can use a server on its reader's machine."""

    host: str = "127.0.0.1"
    token: str = ""
    hosts: tuple[str, ...] = ()
    origins: tuple[str, ...] = ()

    def check_token(self, authorization: str | None) -> None:
        """The header `Authorization: Bearer …`."""
        if not self.token:
            return
        scheme, _, given = (authorization or "").partition(" ")
        same = hmac.compare_digest(given.strip().encode(), self.token.encode())
        if scheme.lower() != "bearer" or not same:
            raise Unauthorized(
                "a valid token is needed", hint="send the header: Authorization: Bearer <token>"
            )

    def check_host(self, host: str | None) -> None:
        """The name the caller used. Another than ours is a page that made its own name lead here."""
        name = _host_name(host or "")
        if name not in (*_LOCAL_NAMES, self.host.lower(), *(known.lower() for known in self.hosts)):
            raise PathNotAllowed(
                f"this server does not answer to the name {name!r}", hint="start it with --allow-host"
            )

    def check_origin(self, origin: str | None) -> None:
        """The page that a browser calls from; other clients send none."""
        if origin is None or origin in self.origins:
            return
        with suppress(ValueError):  # of what only looks like an address
            parts = urlsplit(origin)
            if parts.scheme in ("http", "https") and (parts.hostname or "") in _LOCAL_NAMES:
                return
        raise PathNotAllowed(
            "pages of another origin may not call this server", hint="start it with --allow-origin"
        )


def grant(host: str, *, public: bool, token: str, hosts: Sequence[str], origins: Sequence[str]) -> Access:
    """The rules for a server on that address. Beyond this machine it needs --public and a token."""
    token = token or settings.token()
    if not is_loopback(host) and not (public and token):
        raise ConfigError(
            f"{host} can be reached from other machines, so --public and a token are needed",
            hint=f"set {settings.TOKEN_VARIABLE} and add --public, or listen on 127.0.0.1",
        )
    if token and len(token) < LEAST_TOKEN:
        raise ConfigError(
            f"the token has {len(token)} characters, it must have at least {LEAST_TOKEN}",
            hint="make one: python3 -c 'import secrets; print(secrets.token_urlsafe())'",
        )
    return Access(host=host, token=token, hosts=tuple(hosts), origins=tuple(origins))


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches that address."""
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def _host_name(host: str) -> str:
    """The name in a Host header, without its port."""
    host = host.strip().lower()
    if host.startswith("["):
        return host.partition("]")[0][1:]
    return host.rpartition(":")[0] if host.count(":") == 1 else host
