"""The server: where it listens, what it refuses, whether it is healthy, how it ends."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from contextlib import suppress
from typing import Any

import grpc  # type: ignore[import-untyped]
import msgspec
from grpc_health.v1 import health, health_pb2, health_pb2_grpc  # type: ignore[import-untyped]
from grpc_reflection.v1alpha import reflection  # type: ignore[import-untyped]

from satchel.errors import ConfigError
from satchel.serving.access import Access
from satchel.serving.dispatcher import Dispatcher
from satchel.serving.http.standing import workers
from satchel.serving.rpc.calls import Calls, in_thread
from satchel.serving.rpc.contract import SERVICE
from satchel.serving.rpc.refusal import Gate
from satchel.serving.rpc.service import Service
from satchel.serving.transport import ServeOptions

DEFAULT_PORT = 8641
_ANSWER_SECONDS = 0.25  # after a signal, for what is nearly answered
_GRACE_SECONDS = 0.7  # until all have heard of the end; whoever only watches is cut off after it
_UNDO_SECONDS = 0.8  # for an index that is given up: it ends between two batches of files
_LOOK_SECONDS = 0.25  # between two looks whether there is an index
_HEALTH_NAMES = ("", SERVICE)  # the whole server, and the service
_STATUS = health_pb2.HealthCheckResponse


def run(dispatcher: Dispatcher, access: Access, options: ServeOptions) -> int:
    """Serve until a signal comes."""
    calls = asyncio.run(_serve(dispatcher, access, options))
    if calls.running:
        _end_helpers()
        _leave()
    dispatcher.close()
    _end_helpers()
    return 0


async def _serve(dispatcher: Dispatcher, access: Access, options: ServeOptions) -> Calls:
    """Serve until told to stop; the calls say whether some are still at work."""
    stop = _stop_signal()
    server = _server(access, options)
    calls = Calls(dispatcher, most=options.max_concurrent, seconds=options.timeout_seconds)
    status = health.aio.HealthServicer()
    for name in _HEALTH_NAMES:
        await status.set(name, _STATUS.NOT_SERVING)
    health_pb2_grpc.add_HealthServicer_to_server(status, server)
    service = Service(calls, max_body_bytes=options.max_body_bytes)
    server.add_generic_rpc_handlers((service.handler(),))
    reflection.enable_server_reflection((SERVICE, health.SERVICE_NAME, reflection.SERVICE_NAME), server)
    port = _listen(server, options)
    await server.start()
    _announce(dispatcher, options, port)
    opened = in_thread(dispatcher.start)  # health is answered meanwhile
    watching = asyncio.ensure_future(_keep_status(status, dispatcher, calls, opened))
    stopped = asyncio.ensure_future(stop.wait())
    await asyncio.wait({stopped, watching}, return_when=asyncio.FIRST_COMPLETED)
    await _end(server, status, calls)
    if watching.done():  # only a folder that cannot be opened ends it
        await watching
    watching.cancel()
    return calls


async def _end(server: Any, status: Any, calls: Calls) -> None:
    await status.enter_graceful_shutdown()
    stopping = asyncio.ensure_future(server.stop(_GRACE_SECONDS))  # from now on no call is taken
    await calls.end(_ANSWER_SECONDS)
    await stopping
    await calls.settle(_UNDO_SECONDS)


def _server(access: Access, options: ServeOptions) -> Any:
    most = options.max_concurrent
    return grpc.aio.server(
        interceptors=(Gate(access, free=(health.SERVICE_NAME,)),),
        maximum_concurrent_rpcs=4 * most + 64,  # far above, so that who is refused is told why
        options=(
            ("grpc.so_reuseport", 0),  # otherwise a second server takes the same port and half of the calls
            ("grpc.max_receive_message_length", 2 * options.max_body_bytes),  # up to there we can say why
            ("grpc.compression_enabled_algorithms_bitset", 1),  # none: a small message stays a small one
        ),
    )


def _listen(server: Any, options: ServeOptions) -> int:
    host = f"[{options.host}]" if ":" in options.host else options.host
    port = DEFAULT_PORT if options.port is None else options.port
    try:
        bound: int = server.add_insecure_port(f"{host}:{port}")
    except RuntimeError:
        bound = 0
    if not bound:
        raise ConfigError(
            f"{host}:{port} cannot be listened on: the port is in use, or the address is not of this machine",
            hint="choose another --port; 0 takes a free one",
        )
    return bound


def _announce(dispatcher: Dispatcher, options: ServeOptions, port: int) -> None:
    if options.json:
        said = {"transport": "grpc", "host": options.host, "port": port}
        print(msgspec.json.encode(said).decode(), flush=True)
        return
    host = f"[{options.host}]" if ":" in options.host else options.host
    names = ", ".join(root.name for root in dispatcher.roots())
    print(f"satchel: grpc://{host}:{port} serves {names}", file=sys.stderr, flush=True)


def _stop_signal() -> asyncio.Event:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        try:
            loop.add_signal_handler(number, stop.set)
        except NotImplementedError:  # Windows
            signal.signal(number, lambda *_: loop.call_soon_threadsafe(stop.set))
    return stop


async def _keep_status(
    status: Any, dispatcher: Dispatcher, calls: Calls, opened: asyncio.Future[Any]
) -> None:
    """Serving means that every root has its index, and that not all workers are busy beyond their time. Ends
    only if a root cannot be opened."""
    await opened
    while True:
        serving = _has_indexes(dispatcher) and workers(dispatcher, calls.overdue()).ready
        current = _STATUS.SERVING if serving else _STATUS.NOT_SERVING
        for name in _HEALTH_NAMES:
            await status.set(name, current)
        await asyncio.sleep(_LOOK_SECONDS)


def _has_indexes(dispatcher: Dispatcher) -> bool:
    engines = [dispatcher.engine_of(root) for root in dispatcher.roots()]
    return all(engine is not None and engine.store.exists() for engine in engines)


def _end_helpers() -> None:
    """Nobody waits for what the processes of a cancelled index still parse, but the end of this one would."""
    processes = sys.modules.get("multiprocessing")
    for helper in processes.active_children() if processes is not None else ():
        helper.kill()


def _leave() -> None:
    """End at once although a call is still at work: what it writes is one transaction, and is undone, but to
    close the index under it could crash."""
    with suppress(OSError):
        sys.stdout.flush()
    os._exit(0)
