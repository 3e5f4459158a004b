"""How an ASGI application is put on the wire: its socket, the limits below it, and a clean end."""

from __future__ import annotations

import errno
import signal
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import h11
import msgspec
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from satchel.errors import ConfigError, InvalidRequest
from satchel.serving.dispatcher import Dispatcher
from satchel.serving.envelope import encode, failure
from satchel.serving.http.exchange import HEADER_BYTES, App

HEADER_SECONDS = 10.0  # for the head of a request; longer takes only who wants to hold the connection
_IDLE_SECONDS = 5  # a connection that waits for its next request
_END_SECONDS = 2  # what runs when the server is told to stop has this long
_BACKLOG = 256  # connections that wait to be taken


def bind(host: str, port: int) -> socket.socket:
    """A socket on that address; a port in use is said before anything is loaded."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host.strip("[]"), port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
    except OSError as error:
        raise ConfigError(f"{host!r} is no address: {error.strerror}", hint="try 127.0.0.1") from None
    bound = socket.socket(family, kind, protocol)
    try:
        if sys.platform != "win32":  # there it would let two servers share the port
            bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind(address)
        bound.listen(_BACKLOG)  # whoever calls from now on waits, and is not turned away
    except OSError as error:
        bound.close()
        reason = "it is in use" if error.errno == errno.EADDRINUSE else error.strerror
        raise ConfigError(
            f"port {port} of {host} cannot be had: {reason}",
            hint="take another one by --port, or a free one by --port 0",
            details={"port": port},
        ) from None
    return bound


def announce(
    transport: str, bound: socket.socket, dispatcher: Dispatcher, *, as_json: bool, path: str = ""
) -> None:
    """Says where it listens: one line."""
    host, port = bound.getsockname()[:2]
    if as_json:
        print(msgspec.json.encode({"transport": transport, "host": host, "port": port}).decode(), flush=True)
        return
    shown = f"[{host}]" if ":" in host else host
    names = ", ".join(root.name for root in dispatcher.roots())
    print(f"satchel: http://{shown}:{port}{path} serves {names}", file=sys.stderr, flush=True)


def serve(app: App, bound: socket.socket) -> None:
    """Serves until SIGINT or SIGTERM, and answers what runs then. Nothing is logged: paths are nobody's."""
    config = uvicorn.Config(
        app,
        http=Connection,
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
        timeout_graceful_shutdown=_END_SECONDS,
    )
    Server(config).run(sockets=[bound])


class Server(uvicorn.Server):
    """Ends by a signal as by its own will: the exit code says that all went well."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        with suppress(ValueError):  # signals come to the main thread alone
            for number in (signal.SIGINT, signal.SIGTERM):
                signal.signal(number, self.handle_exit)  # for good: a second one must not break the end off
        yield


class Connection(H11Protocol):
    """A connection that ends if the head of a request does not come in time: h11 itself waits for ever."""

    def __init__(self, *arguments: Any, **others: Any) -> None:
        super().__init__(*arguments, **others)
        self._late = self.loop.call_later(HEADER_SECONDS, self._give_up)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.cycle is not None and not self.cycle.response_complete:
            self._late.cancel()  # from here on the application counts the time

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._late.cancel()
        if self.cycle.response_complete and not self.transport.is_closing():
            self._late = self.loop.call_later(HEADER_SECONDS, self._give_up)

    def connection_lost(self, exc: Exception | None) -> None:
        self._late.cancel()
        super().connection_lost(exc)

    def send_400_response(self, msg: str) -> None:
        """What is not HTTP is refused as everything else is."""
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

    def _give_up(self) -> None:
        if not self.transport.is_closing():
            self.transport.abort()
