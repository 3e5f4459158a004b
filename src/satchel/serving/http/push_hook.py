"""`POST /v1/hooks/push`: a forge says that a repository of the library was pushed to.

Three forms are known: GitHub's and Gitea's, which sign the body (HMAC with SHA-256), and GitLab's, which
sends the secret itself. Of a body that is signed, nothing is believed but which repository it names, and only
if the library has that repository; it is fetched from where the catalogue says. A wrong signature and an
unknown repository are answered alike, so the answer says nothing of what the library holds."""

from __future__ import annotations

import asyncio
import hmac
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import unquote, urlsplit

import msgspec
from starlette.requests import Request as HttpRequest
from starlette.responses import Response as HttpResponse

from satchel.errors import ConfigError, SatchelError, TooLarge, Unauthorized
from satchel.library.catalogue import Repository
from satchel.library.library import Library
from satchel.library.pushes import PushQueue
from satchel.serving.access import MIN_TOKEN_CHARS
from satchel.serving.audit_log import AuditLog
from satchel.serving.envelope import Meta, Response, encode, failure
from satchel.settings import HOOK_SECRET_VARIABLE

MOST_BYTES = 2 * 1024 * 1024  # forges list at most a few thousand commits in a push
_ACCEPTED, _UNAUTHORIZED, _TOO_LARGE = 202, 401, 413
_SIGNATURES = (("x-hub-signature-256", "sha256="), ("x-gitea-signature", ""))
_SECRET = "x-gitlab-token"
_NAMED_IN = ("repository", "project")
_ADDRESSES = (
    "clone_url",
    "ssh_url",
    "git_url",
    "html_url",
    "git_http_url",
    "git_ssh_url",
    "http_url",
    "web_url",
    "url",
    "homepage",
)
_SHORT = re.compile(r"(?:[\w.-]+@)?([\w.-]+):(?!/)(.+)")  # git@host:owner/name.git


class PushHook:
    """The route for pushes to the repositories of one library."""

    def __init__(self, library: Library, queue: PushQueue, secret: str, audit: AuditLog | None) -> None:
        if secret and len(secret) < MIN_TOKEN_CHARS:
            raise ConfigError(
                f"the secret of push hooks has {len(secret)} characters, it must have {MIN_TOKEN_CHARS}",
                hint=f"set {HOOK_SECRET_VARIABLE} to a longer one, and the same in the forge",
            )
        self._library = library
        self.queue = queue
        self._secret = secret
        self._audit = audit

    async def answer(self, http: HttpRequest) -> HttpResponse:
        """Let the repository wait that a signed body names."""
        body = await http.body()
        if len(body) > MOST_BYTES:
            return _refusal(TooLarge(f"a push has at most {MOST_BYTES} bytes here"), _TOO_LARGE)
        headers = {name.lower(): value for name, value in http.headers.items()}
        try:
            taken = await asyncio.to_thread(self._take, headers, body)
        except SatchelError as error:
            return _refusal(error, 503)
        if not taken:
            unknown = Unauthorized(
                "the push is not taken",
                hint="either its signature is wrong, or the library has no such repository",
            )
            return _refusal(unknown, _UNAUTHORIZED)
        told = Response(status="ok", hints=[], next_actions=[], data={"queued": True}, meta=Meta())
        return HttpResponse(encode(told), _ACCEPTED, {"cache-control": "no-store"}, "application/json")

    def _take(self, headers: Mapping[str, str], body: bytes) -> bool:
        """Return whether the push was taken. The catalogue is read and searched in any case, so that a wrong
        signature takes about as long as an unknown repository."""
        is_signed = is_genuine(self._secret, headers, body)
        found = find_repository(self._library.repositories(), body if is_signed else b"")
        if found is None:
            return False
        self.queue.add(found.name)
        if self._audit is not None:
            self._audit.note_push(found.name)
        return True


def is_genuine(secret: str, headers: Mapping[str, str], body: bytes) -> bool:
    """Return whether whoever sent a body knows the secret. Values are compared in constant time."""
    if not secret:
        return False
    signature = hmac.new(secret.encode(), body, "sha256").hexdigest()
    for name, prefix in _SIGNATURES:
        if name in headers:
            return hmac.compare_digest(headers[name].lower().encode(), f"{prefix}{signature}".encode())
    return hmac.compare_digest(headers.get(_SECRET, "").encode(), secret.encode())


def find_repository(known: Sequence[Repository], body: bytes) -> Repository | None:
    """Return the repository of the library that a body names by one of its addresses."""
    try:
        payload = msgspec.json.decode(body, type=dict[str, Any])
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        payload = {}
    places = {place for address in _addresses(payload) if (place := address_key(address))}
    return next((one for one in known if not one.is_live and address_key(one.origin) in places), None)


def _addresses(payload: Mapping[str, Any]) -> Iterator[str]:
    for name in _NAMED_IN:
        part = payload.get(name)
        if isinstance(part, dict):
            given = (part.get(field) for field in _ADDRESSES)
            yield from (address for address in given if isinstance(address, str))


def address_key(address: str) -> tuple[str, str] | None:
    """Return host and path of a repository, the same for every way to write its address; None for none."""
    if "://" not in address:
        short = _SHORT.fullmatch(address)
        host, path = short.groups() if short else ("", address)
    else:
        try:
            parts = urlsplit(address)
            host, path = parts.hostname or "", unquote(parts.path)
        except ValueError:
            return None
    path = path.strip("/").removesuffix(".git").rstrip("/")
    return (host.lower(), path if not host else path.lower()) if path else None


def _refusal(error: SatchelError, status: int) -> HttpResponse:
    return HttpResponse(encode(failure(error)), status, {"cache-control": "no-store"}, "application/json")
