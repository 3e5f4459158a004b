"""Who gets through to an HTTP server, how many at once, and how long they may take.

One ASGI middleware for everything that listens on HTTP: it checks names, origins and tokens, reads the body
within its limits, and gives the application up when its time is over. Every refusal carries the envelope.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from satchel.errors import Cancelled, IndexBusy, SatchelError, Timeout
from satchel.serving.access import Access
from satchel.serving.dispatcher import defect
from satchel.serving.envelope import encode, failure
from satchel.serving.http.exchange import OPEN_PATHS, App, Exchange, Message, Receive, Refused, Scope, Send

Heard = Callable[[SatchelError, int], None]

BODY_SECONDS = 10.0  # for a whole body: the largest comes in that time over 7 Mbit/s
_GRACE_SECONDS = 0.5  # a call that ends itself at its deadline says more than one that is given up
_RETRY_AFTER = b"1"
_TOO_MANY, _STOPPING = 429, 503


class Guard:
    """Lets through what may pass. `heard` is told of every refusal: the error and the HTTP status."""

    def __init__(
        self,
        app: App,
        access: Access,
        *,
        max_body_bytes: int,
        max_concurrent: int,
        timeout_seconds: float,
        heard: Heard | None = None,
    ) -> None:
        self._app = app
        self._access = access
        self._max_body_bytes = max_body_bytes
        self._max_concurrent = max_concurrent
        self._timeout_seconds = timeout_seconds
        self._heard = heard
        self.running = 0  # requests that hold a place

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
        elif scope["type"] == "http":
            await self._serve(Exchange(scope, receive, send, self._access))
        else:  # no web socket is served, and none may pass unchecked
            await send({"type": "websocket.close", "code": 1008})

    async def _serve(self, exchange: Exchange) -> None:
        try:
            if exchange.is_preflight:
                exchange.check_listed_origin()
                await exchange.allow()
                return
            exchange.check()
            await self._in_place(exchange)
        except Refused as refused:
            await self._refuse(exchange, refused)

    async def _in_place(self, exchange: Exchange) -> None:
        """Within a place of its own, which a stream that only listens gives back when it begins."""
        counted = exchange.path not in OPEN_PATHS
        if counted and self.running >= self._max_concurrent:
            error = IndexBusy(f"{self.running} requests run already", hint="come again in a second")
            raise Refused(error, _TOO_MANY, [(b"retry-after", _RETRY_AFTER)])
        place = _Place(self) if counted else None
        try:
            await exchange.read_body(self._max_body_bytes, min(BODY_SECONDS, self._timeout_seconds))
            await self._run(exchange, place)
        finally:
            if place is not None:
                place.leave()

    async def _run(self, exchange: Exchange, place: _Place | None) -> None:
        try:
            async with asyncio.timeout(self._timeout_seconds + _GRACE_SECONDS) as deadline:

                async def send(message: Message) -> None:
                    if message["type"] == "http.response.start" and exchange.method == "GET":
                        deadline.reschedule(None)
                        if place is not None:
                            place.leave()
                    await exchange.send(message)

                await self._app(exchange.scope, exchange.receive, send)
        except TimeoutError as error:
            if not deadline.expired():
                raise Refused(defect(error)) from None
            if exchange.started:
                return  # the connection is closed: the half answer cannot be taken for a whole one
            late = Timeout(
                f"no answer within {self._timeout_seconds:g} seconds", hint="ask for less, or wait longer"
            )
            raise Refused(late) from None
        except asyncio.CancelledError:  # by the end of the server: nobody else cancels a request
            if not exchange.started:
                await self._refuse(exchange, Refused(Cancelled("the server is stopping"), _STOPPING))
            raise
        except Exception as error:
            told = defect(error)
            if not exchange.started:
                raise Refused(told) from None

    async def _refuse(self, exchange: Exchange, refused: Refused) -> None:
        if self._heard is not None:
            self._heard(refused.error, refused.status)
        await exchange.answer(refused.status, encode(failure(refused.error)), refused.headers)


class _Place:
    """One of the places for requests that run."""

    def __init__(self, guard: Guard) -> None:
        self._guard: Guard | None = guard
        guard.running += 1

    def leave(self) -> None:
        """Can be left once, whoever says so first."""
        if self._guard is not None:
            self._guard.running -= 1
            self._guard = None
