"""Who is a person that shows a token of an identity provider? OpenID Connect bearer tokens, checked offline.

PyJWT checks signatures and claims. What is decided here: which keys count and when they are read again, that
an algorithm belongs to the kind of its key, and which claim says the groups."""

from __future__ import annotations

import threading
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import jwt
import msgspec

from satchel.errors import ConfigError, Unauthorized
from satchel.library.grants import Caller, Grant
from satchel.serving.access import is_loopback
from satchel.settings import OidcSettings

_SKEW_SECONDS = 60  # by which two clocks may differ
_REFRESH_SECONDS = (
    30.0  # between two readings of the keys for an unknown one: a flood of tokens fetches nothing
)
_FETCH_SECONDS = 5.0
_MOST_KEY_BYTES = 1024 * 1024
_MOST_TOKEN_CHARS = 16 * 1024
_ALGORITHMS = {"RSA": "RS256", "EC": "ES256"}  # by kind of key: no other is taken
_LEAST_RSA_BITS = 2048
_REQUIRED = ["exp", "iss", "aud", "sub"]


class OidcVerifier:
    """Checks tokens of one issuer for one audience."""

    def __init__(self, settings: OidcSettings) -> None:
        self._settings = settings
        self._keys = KeySet(settings.jwks)

    def caller(self, token: str) -> Caller:
        """Return the person whom a token names; raise Unauthorized for one that is not to be believed. Why it
        is not is told to nobody: the message is the same for all."""
        try:
            return self._verified(token)
        except (jwt.PyJWTError, _NotBelieved, ValueError, TypeError):
            raise Unauthorized(
                "the token is not valid here", hint="ask the identity provider for another one"
            ) from None

    def _verified(self, token: str) -> Caller:
        if len(token) > _MOST_TOKEN_CHARS:
            raise _NotBelieved
        header = jwt.get_unverified_header(token)
        if "crit" in header:  # names extensions that have to be understood; none is
            raise _NotBelieved
        key = self._keys.find(header.get("kid"))
        claims = jwt.decode(
            token,
            key,
            algorithms=[_algorithm(key)],
            audience=self._settings.audience,
            issuer=self._settings.issuer,
            leeway=_SKEW_SECONDS,
            options={"require": _REQUIRED},
        )
        return Caller(str(claims["sub"]), Grant((), _groups(claims, self._settings.claim)), is_person=True)


class _NotBelieved(Exception):
    """A token that cannot be checked."""


class KeySet:
    """The public keys of an issuer, from a file or a URL. A file that changed is read again; a URL for a key
    that is not known, but not more often than every 30 seconds."""

    def __init__(self, place: str) -> None:
        self._place = place
        self._is_url = "://" in place
        if self._is_url:
            _check_url(place)
        self._lock = threading.Lock()
        self._keys: dict[str | None, jwt.PyJWK] = {}
        self._stamp: tuple[int, int] | None = None
        self._read_at: float | None = None

    def find(self, name: str | None) -> jwt.PyJWK:
        """Return the key of a name. A token without a name of its key is checked by the only key there is."""
        with self._lock:
            if not self._is_url or self._is_due(name):
                self._read()
            found = self._keys.get(name)
            if found is None and name is None and len(self._keys) == 1:
                found = next(iter(self._keys.values()))
        if found is None:
            raise _NotBelieved
        return found

    def _is_due(self, name: str | None) -> bool:
        if self._read_at is None:
            return True
        return name not in self._keys and time.monotonic() - self._read_at >= _REFRESH_SECONDS

    def _read(self) -> None:
        """Read the keys. Where that fails, those that are known stay; without any it is an error."""
        try:
            if self._is_url:
                self._read_at = time.monotonic()
                self._keys = _keys(_fetched(self._place))
                return
            status = Path(self._place).stat()
            stamp = status.st_mtime_ns, status.st_size
            if stamp != self._stamp:
                self._keys = _keys(Path(self._place).read_bytes())
                self._stamp = stamp
        except (OSError, ValueError, jwt.PyJWTError) as error:
            if not self._keys:
                raise ConfigError(
                    "the keys of the identity provider cannot be read",
                    hint="SATCHEL_OIDC_JWKS is a file or an https:// URL with a JSON Web Key Set",
                ) from error


def _keys(data: bytes) -> dict[str | None, jwt.PyJWK]:
    """Return the keys of a set that may check tokens, by name."""
    told = msgspec.json.decode(data, type=dict[str, Any])
    listed = told.get("keys")
    found: dict[str | None, jwt.PyJWK] = {}
    for one in listed if isinstance(listed, list) else ():
        if not isinstance(one, dict) or one.get("use", "sig") != "sig" or one.get("kty") not in _ALGORITHMS:
            continue
        try:
            key = jwt.PyJWK(one, algorithm=_ALGORITHMS[one["kty"]])
        except jwt.PyJWTError:  # a curve that is not taken, a part that is missing
            continue
        if one["kty"] == "RSA" and key.key.key_size < _LEAST_RSA_BITS:
            continue
        found[one.get("kid")] = key
    return found


def _algorithm(key: jwt.PyJWK) -> str:
    """Return the one algorithm that a key may check, whatever the token says of itself."""
    return _ALGORITHMS[str(key.key_type)]


def _groups(claims: Mapping[str, Any], path: str) -> tuple[str, ...]:
    """Return the groups in a claim; dots lead into objects, as in `realm_access.roles`."""
    value: Any = claims.get(path)
    if value is None:
        value = claims
        for part in path.split("."):
            value = value.get(part) if isinstance(value, dict) else None
    named = [value] if isinstance(value, str) else value if isinstance(value, list) else []
    return tuple(dict.fromkeys(one for one in named if isinstance(one, str)))


def _check_url(url: str) -> None:
    parts = urlsplit(url)
    if parts.scheme != "https" and not (parts.scheme == "http" and is_loopback(parts.hostname or "")):
        raise ConfigError(
            f"keys are not fetched over {parts.scheme}://", hint="use https://, or a file of this machine"
        )


def _fetched(url: str) -> bytes:
    """Return what a URL answers. A redirect is an error: the keys come from where the operator said."""
    opener = urllib.request.build_opener(_NoRedirect)
    request = urllib.request.Request(url, headers={"accept": "application/json"})
    with opener.open(request, timeout=_FETCH_SECONDS) as reply:
        data: bytes = reply.read(_MOST_KEY_BYTES + 1)
    if len(data) > _MOST_KEY_BYTES:
        raise ValueError("the key set is too long")
    return data


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *arguments: Any) -> None:
        return None
