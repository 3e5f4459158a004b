"""MCP over streamable HTTP: the `mcp` package's session manager behind the middleware of all HTTP servers."""

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
from satchel.serving.dispatcher import Dispatcher
from satchel.serving.http import server
from satchel.serving.http.middleware import GuardMiddleware
from satchel.serving.lifecycle import announce, exit_within, start_in_background
from satchel.serving.mcp.server import McpServer
from satchel.serving.transports import ServeOptions

DEFAULT_PATH = "/mcp"
_EXIT_SECONDS = 2.0  # after the server stopped


def serve(dispatcher: Dispatcher, mcp_server: McpServer, access: Access, options: ServeOptions) -> int:
    """Serve until SIGINT or SIGTERM; return the exit code."""
    assert options.port is not None
    bound = server.bind(options.host, options.port)
    try:
        guarded = GuardMiddleware(_application(mcp_server, options), access, options)
        # A reader of the announcement may send a signal before uvicorn installs its own handler.
        signal.signal(signal.SIGTERM, _exit_cleanly)
        address = bound.getsockname()[:2]
        announce(dispatcher, "mcp", address, f"http://{{}}{DEFAULT_PATH}", as_json=options.json)
        start_in_background(dispatcher)
        server.serve(guarded, bound)
    finally:
        exit_within(_EXIT_SECONDS)
        for call in list(mcp_server.running):
            call.token.cancel()
        bound.close()
        dispatcher.close()
    return 0


def _exit_cleanly(*_: object) -> None:
    raise SystemExit(0)


def _application(mcp_server: McpServer, options: ServeOptions) -> Starlette:
    """Return the routes `/mcp` and `/health`."""
    manager = StreamableHTTPSessionManager(
        app=mcp_server.make_protocol_server(), stateless=True, max_request_body_size=options.max_body_bytes
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
