"""The ASGI middleware of every HTTP server: access checks, a limit of concurrent requests, and a time limit.

It checks host names, origins and tokens, reads the body within its limits, and cancels the application when
its time is over. Every refusal carries an envelope.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from satchel.errors import Cancelled, IndexBusy, SatchelError, Timeout
from satchel.serving.access import Access
from satchel.serving.dispatcher import defect
from satchel.serving.envelope import encode, failure
from satchel.serving.http.exchange import OPEN_PATHS, HttpExchange, RequestRefused

OnRefusal = Callable[[SatchelError, int], None]

BODY_SECONDS = 10.0  # for a whole body: the largest arrives in that time over 7 Mbit/s
# A call that notices its own deadline reports more than one that is cancelled from outside.
_GRACE_SECONDS = 0.5
_RETRY_AFTER = b"1"
_TOO_MANY, _STOPPING = 429, 503


class GuardMiddleware:
    """Lets permitted requests through to `app`. `on_refusal` gets the error and HTTP status of the others."""

    def __init__(
        self,
        app: ASGIApp,
        access: Access,
        *,
        max_body_bytes: int,
        max_concurrent: int,
        timeout_seconds: float,
        on_refusal: OnRefusal | None = None,
    ) -> None:
        self._app = app
        self._access = access
        self._max_body_bytes = max_body_bytes
        self._max_concurrent = max_concurrent
        self._timeout_seconds = timeout_seconds
        self._on_refusal = on_refusal
        self.running = 0  # requests that count towards `max_concurrent`

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one ASGI connection."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
        elif scope["type"] == "http":
            await self._serve(HttpExchange(scope, receive, send, self._access))
        # Web sockets are not served, and none may pass unchecked.
        else:
            await send({"type": "websocket.close", "code": 1008})

    async def _serve(self, exchange: HttpExchange) -> None:
        try:
            if exchange.is_preflight:
                exchange.check_listed_origin()
                await exchange.answer_preflight()
                return
            exchange.check()
            await self._run_in_slot(exchange)
        except RequestRefused as refused:
            await self._refuse(exchange, refused)

    async def _run_in_slot(self, exchange: HttpExchange) -> None:
        """Read the body and run the application, as one of the concurrent requests."""
        is_counted = exchange.path not in OPEN_PATHS
        if is_counted and self.running >= self._max_concurrent:
            error = IndexBusy(f"{self.running} requests run already", hint="come again in a second")
            raise RequestRefused(error, _TOO_MANY, [(b"retry-after", _RETRY_AFTER)])
        slot = _Slot(self) if is_counted else None
        try:
            await exchange.read_body(self._max_body_bytes, min(BODY_SECONDS, self._timeout_seconds))
            await self._run(exchange, slot)
        finally:
            if slot is not None:
                slot.release()

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
    """One of the `max_concurrent` requests that may run at the same time."""

    def __init__(self, guard: GuardMiddleware) -> None:
        self._guard: GuardMiddleware | None = guard
        guard.running += 1

    def release(self) -> None:
        """Free the slot; releasing it again does nothing."""
        if self._guard is not None:
            self._guard.running -= 1
            self._guard = None
