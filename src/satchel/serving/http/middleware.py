"""The ASGI middleware of every HTTP server: access checks, a limit of concurrent requests, and a time limit.

Of each request it checks host name, origin and token, reads the body within its limits, and cancels the
application when its time is over. Every answer gets the same headers; every refusal carries an envelope.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from urllib.parse import quote

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from satchel.errors import (
    Cancelled,
    IndexBusy,
    InvalidRequest,
    PathNotAllowed,
    SatchelError,
    Timeout,
    TooLarge,
    Unauthorized,
)
from satchel.library.grants import CALLER, NOBODY, Caller
from satchel.serving.access import LOGIN_PATH, Access
from satchel.serving.dispatcher import defect
from satchel.serving.envelope import encode, failure
from satchel.serving.error_table import ERRORS
from satchel.serving.transports import ServeOptions

HttpHeaders = list[tuple[bytes, bytes]]

HEADER_BYTES = 32 * 1024  # a token and the headers that proxies add
# A process monitor has no token, and asks while the server is busy as well.
OPEN_PATHS = ("/health",)
HOOK_PATH = "/v1/hooks/push"
# A client that still sends its body when it is refused would lose the answer to a reset connection.
_LINGER_SECONDS = 1.0
_ASSETS = "/assets/"
_MISDIRECTED, _FORBIDDEN, _HEAD_TOO_LARGE, _SEE_OTHER, _NOT_READY = 421, 403, 431, 303, 503
_CLOSE: HttpHeaders = [(b"connection", b"close")]
OnRefusal = Callable[[SatchelError, int], None]
BODY_SECONDS = 10.0  # for a whole body: the largest arrives in that time over 7 Mbit/s
# A call that notices its own deadline reports more than one that is cancelled from outside.
_GRACE_SECONDS = 0.5
_RETRY_AFTER = b"1"
# For one of the places to become free, which a request waits for before its body is read: a moment in which
# the server is held up, as by the indexing of an edit, is no reason to send anybody away.
_PLACE_SECONDS = 2.0
_TOO_MANY, _STOPPING = 429, 503


class RequestRefused(Exception):
    """A request that is refused, with the error, HTTP status and headers of the answer."""

    def __init__(self, error: SatchelError, status: int = 0, headers: HttpHeaders | None = None) -> None:
        super().__init__(error.message)
        self.error = error
        self.status = status or ERRORS[error.code].http
        self.headers = headers or []


class HttpExchange:
    """One HTTP request and its answer, as ASGI messages."""

    def __init__(
        self, scope: Scope, receive: Receive, send: Send, access: Access, *, has_pages: bool = False
    ) -> None:
        self.scope = scope
        self._has_pages = has_pages
        self.path: str = scope["path"]
        self.method: str = scope["method"]
        self.started = False
        self._receive = receive
        self._send = send
        self._access = access
        self._body: bytes | None = None
        self._unread = True

    @property
    def is_preflight(self) -> bool:
        """Return whether a browser asks if a page of another origin may call."""
        return self.method == "OPTIONS" and self._header(b"access-control-request-method") is not None

    async def check(self) -> None:
        """Check host name, origin and token, in this order: a foreign page learns nothing about the token.
        Who calls is noted in the scope."""
        self._check_form()
        try:
            self._access.check_host(self._header(b"host"))
        except PathNotAllowed as error:
            raise RequestRefused(error, _MISDIRECTED) from None
        try:
            self._access.check_origin(self._header(b"origin"), self._header(b"host"))
            is_open = self.path in OPEN_PATHS or self._is_open_page() or self._is_signed()
            self.scope[CALLER] = NOBODY if is_open else await self._caller()
        except PathNotAllowed as error:
            raise RequestRefused(error, _FORBIDDEN) from None
        except Unauthorized as error:
            if self._wants_page():
                target = quote(self.path + (f"?{query}" if (query := self._query()) else ""))
                headers = [(b"location", f"{LOGIN_PATH}?next={target}".encode())]
                raise RequestRefused(error, _SEE_OTHER, headers) from None
            raise RequestRefused(error, headers=[(b"www-authenticate", b'Bearer realm="satchel"')]) from None
        except SatchelError as error:  # the catalogue cannot be read, or the keys of an identity provider
            raise RequestRefused(error, _NOT_READY) from None

    def _is_open_page(self) -> bool:
        """Return whether the request is for the page that asks for the token, or for what that page looks
        like."""
        return self._has_pages and (self.path == LOGIN_PATH or self.path.startswith(_ASSETS))

    def _is_signed(self) -> bool:
        """Return whether the request is a push hook, which is known by its signature and not by a token."""
        return self._has_pages and self.path == HOOK_PATH and self.method == "POST"

    async def _caller(self) -> Caller:
        """Return who calls, by a token or, to read pages, by the cookie of a browser that has shown one."""
        if self._access.rights is None:
            return self._known_caller()
        # The catalogue or an identity provider may have to be asked, which must not hold up other calls.
        return await asyncio.to_thread(self._known_caller)

    def _known_caller(self) -> Caller:
        return self._signed_in() or self._access.caller(self._header(b"authorization"))

    def _signed_in(self) -> Caller | None:
        """Return whose browser reads a page after it has shown a token. Only reading is open to it."""
        cookies, site = self._header(b"cookie"), self._header(b"sec-fetch-site")
        port = (self.scope.get("server") or ("", 0))[1] or 0
        is_reading = self._has_pages and self.method == "GET"
        return self._access.signed_in(cookies, site, port) if is_reading else None

    def _wants_page(self) -> bool:
        """Return whether a browser asks for a page, which it can be led away from."""
        is_reading = self._has_pages and self.method == "GET"
        return is_reading and "text/html" in (self._header(b"accept") or "")

    def _query(self) -> str:
        query: bytes = self.scope.get("query_string", b"")
        return query.decode("latin-1")

    def _check_form(self) -> None:
        """Refuse what the HTTP parser lets through: headers that are too long, a body with two lengths."""
        headers = self.scope["headers"]
        if sum(len(name) + len(value) for name, value in headers) > HEADER_BYTES:
            error = TooLarge("the head of the request is too long", details={"max_bytes": HEADER_BYTES})
            raise RequestRefused(error, _HEAD_TOO_LARGE, _CLOSE)
        if {b"content-length", b"transfer-encoding"} <= {name for name, _ in headers}:
            raise RequestRefused(
                InvalidRequest("the body has two lengths", hint="send one of them"), headers=_CLOSE
            )

    def check_listed_origin(self) -> None:
        """Refuse the preflight of a page whose origin was not listed; local origins are not listed."""
        try:
            self._access.check_host(self._header(b"host"))
        except PathNotAllowed as error:
            raise RequestRefused(error, _MISDIRECTED) from None
        if not self._is_listed():
            foreign = PathNotAllowed(
                "pages of another origin may not call this server", hint="start it with --allow-origin"
            )
            raise RequestRefused(foreign, _FORBIDDEN)

    async def answer_preflight(self) -> None:
        """Tell a browser that the page may call."""
        wanted = self._header(b"access-control-request-headers") or "authorization, content-type"
        headers = [
            (b"access-control-allow-methods", b"GET, POST, DELETE"),
            (b"access-control-allow-headers", wanted.encode("latin-1", "replace")),
            (b"access-control-max-age", b"600"),
        ]
        await self.send({"type": "http.response.start", "status": 204, "headers": headers})
        await self.send({"type": "http.response.body", "body": b""})

    async def read_body(self, limit: int, seconds: float) -> None:
        """Read the whole body; refuse one that is too long or too slow."""
        declared = self._header(b"content-length") or "0"
        if not declared.isdecimal() or int(declared[:20]) > limit:
            raise _too_large(limit)
        parts: list[bytes] = []
        try:
            async with asyncio.timeout(seconds):
                while self._unread:
                    message = await self._receive()
                    if message["type"] == "http.disconnect":
                        raise RequestRefused(InvalidRequest("the connection ended inside the body"))
                    parts.append(message.get("body", b""))
                    self._unread = message.get("more_body", False)
                    if sum(map(len, parts)) > limit:
                        raise _too_large(limit)
        except TimeoutError:
            error = Timeout(f"the request took longer than {seconds:g} seconds to arrive", hint="send faster")
            raise RequestRefused(error, headers=_CLOSE) from None
        self._body = b"".join(parts)

    async def receive(self) -> Message:
        """Return the whole body as one message, and after it the messages of the connection."""
        if self._body is None:
            return await self._receive()
        body, self._body = self._body, None
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(self, message: Message) -> None:
        """Send a message of the answer, with the headers that every answer has."""
        if message["type"] == "http.response.start":
            self.started = True
            headers = [*message.get("headers", []), (b"x-content-type-options", b"nosniff")]
            message = {**message, "headers": headers + self._shared_headers()}
        await self._send(message)

    async def answer(self, status: int, body: bytes, headers: HttpHeaders) -> None:
        """Send a whole answer, and read the rest of the body for a moment if the client still sends it."""
        headers = [
            (b"content-type", b"application/json"),
            (b"content-length", str(len(body)).encode()),
            (b"cache-control", b"no-store"),
            *headers,
        ]
        await self.send({"type": "http.response.start", "status": status, "headers": headers})
        await self.send({"type": "http.response.body", "body": body, "more_body": self._unread})
        if self._unread:
            await self._drain()
            await self.send({"type": "http.response.body", "body": b""})

    async def _drain(self) -> None:
        """Read and drop the rest of the body, for a limited time."""
        try:
            async with asyncio.timeout(_LINGER_SECONDS):
                while self._unread:
                    message = await self._receive()
                    self._unread = message["type"] == "http.request" and message.get("more_body", False)
        except TimeoutError:
            return

    def _shared_headers(self) -> HttpHeaders:
        """Return the CORS headers for a page whose origin is listed."""
        origin = self._header(b"origin")
        if origin is None or not self._is_listed():
            return []
        return [
            (b"access-control-allow-origin", origin.encode("latin-1", "replace")),
            (b"access-control-expose-headers", b"mcp-session-id, retry-after"),
            (b"vary", b"origin"),
        ]

    def _is_listed(self) -> bool:
        return self._header(b"origin") in self._access.origins

    def _header(self, name: bytes) -> str | None:
        found = [value for given, value in self.scope["headers"] if given == name]
        return found[0].decode("utf-8", "replace") if found else None


def _too_large(limit: int) -> RequestRefused:
    error = TooLarge(f"the request has more than {limit} bytes", details={"max_bytes": limit})
    return RequestRefused(error, headers=_CLOSE)


class GuardMiddleware:
    """Lets permitted requests through to `app`. `on_refusal` gets the error and HTTP status of the others."""

    def __init__(
        self,
        app: ASGIApp,
        access: Access,
        limits: ServeOptions,
        *,
        on_refusal: OnRefusal | None = None,
        has_pages: bool = False,
    ) -> None:
        self._has_pages = has_pages  # whether a browser may sign in, to read the pages of a viewer
        self._app = app
        self._access = access
        self._max_body_bytes = limits.max_body_bytes
        self._max_concurrent = limits.max_concurrent
        self._timeout_seconds = limits.timeout_seconds
        self._on_refusal = on_refusal
        self.running = 0  # requests that count towards `max_concurrent`
        self.places = asyncio.Semaphore(limits.max_concurrent)
        self._waiting = 0  # requests without a place

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one ASGI connection."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
        elif scope["type"] == "http":
            pages = self._has_pages
            await self._serve(HttpExchange(scope, receive, send, self._access, has_pages=pages))
        # Web sockets are not served, and none may pass unchecked.
        else:
            await send({"type": "websocket.close", "code": 1008})

    async def _serve(self, exchange: HttpExchange) -> None:
        try:
            if exchange.is_preflight:
                exchange.check_listed_origin()
                await exchange.answer_preflight()
                return
            await exchange.check()
            await self._run_in_slot(exchange)
        except RequestRefused as refused:
            await self._refuse(exchange, refused)

    async def _run_in_slot(self, exchange: HttpExchange) -> None:
        """Read the body and run the application, as one of the concurrent requests."""
        slot = await self._take_slot() if exchange.path not in OPEN_PATHS else None
        try:
            await exchange.read_body(self._max_body_bytes, min(BODY_SECONDS, self._timeout_seconds))
            await self._run(exchange, slot)
        finally:
            if slot is not None:
                slot.release()

    async def _take_slot(self) -> _Slot:
        """Wait for a place, behind those who came before. Who waits for long is told to come again, and so is
        everybody else while as many wait as there are places."""
        is_full = self.places.locked() and self._waiting >= self._max_concurrent
        self._waiting += 1
        try:
            async with asyncio.timeout(0 if is_full else _PLACE_SECONDS):
                await self.places.acquire()
        except TimeoutError:
            error = IndexBusy(f"{self.running} requests run already", hint="come again in a second")
            raise RequestRefused(error, _TOO_MANY, [(b"retry-after", _RETRY_AFTER)]) from None
        finally:
            self._waiting -= 1
        return _Slot(self)

    async def _run(self, exchange: HttpExchange, slot: _Slot | None) -> None:
        """Run the application within its time; its failures become refusals."""
        try:
            async with asyncio.timeout(self._timeout_seconds + _GRACE_SECONDS) as deadline:

                async def send(message: Message) -> None:
                    # The answer to a GET may be a stream of events that lasts: it needs no slot any more.
                    if message["type"] == "http.response.start" and exchange.method == "GET":
                        deadline.reschedule(None)
                        if slot is not None:
                            slot.release()
                    await exchange.send(message)

                await self._app(exchange.scope, exchange.receive, send)
        except TimeoutError as error:
            if not deadline.expired():
                raise RequestRefused(defect(error)) from None
            # The connection is closed, so that half an answer is not taken for a whole one.
            if exchange.started:
                return
            late = Timeout(
                f"no answer within {self._timeout_seconds:g} seconds", hint="ask for less, or wait longer"
            )
            raise RequestRefused(late) from None
        # Only a server that stops cancels a request.
        except asyncio.CancelledError:
            if not exchange.started:
                await self._refuse(exchange, RequestRefused(Cancelled("the server is stopping"), _STOPPING))
            raise
        except Exception as error:
            reported = defect(error)
            if not exchange.started:
                raise RequestRefused(reported) from None

    async def _refuse(self, exchange: HttpExchange, refused: RequestRefused) -> None:
        if self._on_refusal is not None:
            self._on_refusal(refused.error, refused.status)
        await exchange.answer(refused.status, encode(failure(refused.error)), refused.headers)


class _Slot:
    """The place of one of the `max_concurrent` requests that may run at the same time."""

    def __init__(self, guard: GuardMiddleware) -> None:
        self._guard: GuardMiddleware | None = guard
        guard.running += 1

    def release(self) -> None:
        """Free the slot; releasing it again does nothing."""
        if self._guard is not None:
            self._guard.running -= 1
            self._guard.places.release()
            self._guard = None
