"""Agents that call by HTTP: the `mcp` package's session manager behind the guard of all HTTP servers."""

from __future__ import annotations

import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from mcp.server.streamable_http_manager import StreamableHTTPASGIApp, StreamableHTTPSessionManager
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from satchel.serving.access import Access
from satchel.serving.agents.beginning import start_soon
from satchel.serving.agents.ending import end_within
from satchel.serving.agents.server import AgentServer
from satchel.serving.dispatcher import Dispatcher
from satchel.serving.http import server
from satchel.serving.http.guard import Guard
from satchel.serving.transport import ServeOptions

DEFAULT_PATH = "/mcp"
_END_SECONDS = 2.0  # once nothing is served any more


def serve(dispatcher: Dispatcher, agents: AgentServer, access: Access, options: ServeOptions) -> int:
    """Until SIGINT or SIGTERM."""
    assert options.port is not None
    bound = server.bind(options.host, options.port)
    try:
        guarded = Guard(
            _application(agents, options),
            access,
            max_body_bytes=options.max_body_bytes,
            max_concurrent=options.max_concurrent,
            timeout_seconds=options.timeout_seconds,
        )
        signal.signal(signal.SIGTERM, _end_well)  # who reads the line below may end us before we listen
        server.announce("mcp", bound, dispatcher, as_json=options.json, path=DEFAULT_PATH)
        start_soon(dispatcher)
        server.serve(guarded, bound)
    finally:
        end_within(_END_SECONDS)
        for call in list(agents.running):
            call.cancelled.set()
        bound.close()
        dispatcher.close()
    return 0


def _end_well(*_: object) -> None:
    raise SystemExit(0)


def _application(agents: AgentServer, options: ServeOptions) -> Starlette:
    manager = StreamableHTTPSessionManager(
        app=agents.make(), stateless=True, max_request_body_size=options.max_body_bytes
    )

    @asynccontextmanager
    async def running(_: Starlette) -> AsyncIterator[None]:
        async with manager.run():
            yield

    async def health(_: Request) -> JSONResponse:
        return JSONResponse({"status": "ok"})

    routes = [
        Route(DEFAULT_PATH, endpoint=StreamableHTTPASGIApp(manager)),
        Route("/health", endpoint=health, methods=["GET"]),
    ]
    return Starlette(routes=routes, lifespan=running)
