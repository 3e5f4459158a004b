"""Serves an ASGI application with uvicorn: the socket, the limits of connections, and a clean shutdown."""

from __future__ import annotations

import errno
import signal
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import h11
import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

from satchel.errors import ConfigError, InvalidRequest
from satchel.serving.envelope import encode, failure
from satchel.serving.http.middleware import HEADER_BYTES

HEADER_SECONDS = 10.0  # for the headers of a request; only a client that blocks the connection takes longer
_IDLE_SECONDS = 5  # until a connection without a further request is closed
_SHUTDOWN_SECONDS = 2  # for the requests that run when the server is told to stop
_BACKLOG = 256  # connections that wait to be accepted


def bind(host: str, port: int) -> socket.socket:
    """Return a socket that listens on the address. A port in use is an error before anything is loaded."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host.strip("[]"), port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
    except OSError as error:
        raise ConfigError(f"{host!r} is no address: {error.strerror}", hint="try 127.0.0.1") from None
    bound = socket.socket(family, kind, protocol)
    try:
        # On Windows this option would let two servers share the port.
        if sys.platform != "win32":
            bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind(address)
        bound.listen(_BACKLOG)  # from now on callers wait and are not rejected
    except OSError as error:
        bound.close()
        reason = "it is in use" if error.errno == errno.EADDRINUSE else error.strerror
        raise ConfigError(
            f"port {port} of {host} cannot be had: {reason}",
            hint="take another one by --port, or a free one by --port 0",
            details={"port": port},
        ) from None
    return bound


def serve(app: ASGIApp, bound: socket.socket) -> None:
    """Serve until SIGINT or SIGTERM, and answer the requests that run then. Paths are never logged."""
    config = uvicorn.Config(
        app,
        http=HttpConnection,
        ws="none",
        lifespan="auto",
        log_config=None,
        log_level="critical",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        backlog=_BACKLOG,
        h11_max_incomplete_event_size=HEADER_BYTES,
        timeout_keep_alive=_IDLE_SECONDS,
        timeout_graceful_shutdown=_SHUTDOWN_SECONDS,
    )
    UvicornServer(config).run(sockets=[bound])


class UvicornServer(uvicorn.Server):
    """A uvicorn server that a signal ends with exit code 0."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Install the handlers for good: a second signal must not interrupt the shutdown."""
        # Only the main thread can install handlers.
        with suppress(ValueError):
            for number in (signal.SIGINT, signal.SIGTERM):
                signal.signal(number, self.handle_exit)
        yield


class HttpConnection(H11Protocol):
    """A connection that closes if the headers of a request are late: uvicorn itself waits for ever."""

    def __init__(self, *arguments: Any, **others: Any) -> None:
        super().__init__(*arguments, **others)
        self._header_timer = self.loop.call_later(HEADER_SECONDS, self._abort)

    def data_received(self, data: bytes) -> None:
        """Stop the header timer when a request has begun."""
        super().data_received(data)
        if self.cycle is not None and not self.cycle.response_complete:
            # From here on the time limit of the application holds.
            self._header_timer.cancel()

    def on_response_complete(self) -> None:
        """Restart the header timer for the next request."""
        super().on_response_complete()
        self._header_timer.cancel()
        if self.cycle.response_complete and not self.transport.is_closing():
            self._header_timer = self.loop.call_later(HEADER_SECONDS, self._abort)

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the header timer."""
        self._header_timer.cancel()
        super().connection_lost(exc)

    def send_400_response(self, msg: str) -> None:
        """Answer bytes that are not HTTP with an envelope, like every other refusal."""
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            body = encode(failure(InvalidRequest("this is not HTTP/1.1", hint="send a well-formed request")))
            length = str(len(body)).encode()
            headers = [(b"content-type", b"application/json"), (b"content-length", length)]
            head = h11.Response(
                status_code=400, headers=[*headers, (b"connection", b"close")], reason=b"Bad Request"
            )
            for event in (head, h11.Data(data=body), h11.EndOfMessage()):
                self.transport.write(self.conn.send(event) or b"")
        self.transport.close()

    def _abort(self) -> None:
        if not self.transport.is_closing():
            self.transport.abort()
