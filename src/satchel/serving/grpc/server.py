"""The gRPC server process: listening, health, reflection, and shutdown."""

from __future__ import annotations

import asyncio
import signal
from typing import Any

import grpc  # type: ignore[import-untyped]
from grpc_health.v1 import health, health_pb2, health_pb2_grpc  # type: ignore[import-untyped]
from grpc_reflection.v1alpha import reflection  # type: ignore[import-untyped]

from satchel.errors import ConfigError
from satchel.serving.access import Access
from satchel.serving.call_runner import CallRunner, run_in_thread
from satchel.serving.dispatcher import Dispatcher
from satchel.serving.grpc.contract import SERVICE
from satchel.serving.grpc.service import AccessInterceptor, SatchelService
from satchel.serving.lifecycle import announce, exit_now, kill_child_processes
from satchel.serving.readiness import worker_readiness
from satchel.serving.transports import ServeOptions

DEFAULT_PORT = 8641
_DEADLINE_SECONDS = 0.5  # for a call to notice its own deadline and report it
_ANSWER_SECONDS = 0.25  # after a signal, for calls that are nearly answered
_GRACE_SECONDS = 0.7  # until all callers know of the end; health watchers are cut off after it
_CANCEL_SECONDS = 0.8  # for a refresh that is cancelled: it ends between two batches of files
_HEALTH_SECONDS = 0.25  # between two updates of the health status
_HEALTH_NAMES = ("", SERVICE)  # the whole server, and the service
_STATUS = health_pb2.HealthCheckResponse


def run(dispatcher: Dispatcher, access: Access, options: ServeOptions) -> int:
    """Serve until a signal comes; return the exit code."""
    runner = asyncio.run(_serve(dispatcher, access, options))
    if runner.running:
        kill_child_processes()
        exit_now()
    dispatcher.close()
    kill_child_processes()
    return 0


async def _serve(dispatcher: Dispatcher, access: Access, options: ServeOptions) -> CallRunner:
    """Serve until told to stop; return the runner, which knows whether calls still run."""
    stop = _stop_signal()
    server = _server(access, options)
    runner = CallRunner(
        timeout_seconds=options.timeout_seconds,
        grace_seconds=_DEADLINE_SECONDS,
        max_calls=options.max_concurrent,
    )
    status = health.aio.HealthServicer()
    for name in _HEALTH_NAMES:
        await status.set(name, _STATUS.NOT_SERVING)
    health_pb2_grpc.add_HealthServicer_to_server(status, server)
    service = SatchelService(dispatcher, runner, access, max_body_bytes=options.max_body_bytes)
    server.add_generic_rpc_handlers((service.handler(),))
    reflection.enable_server_reflection((SERVICE, health.SERVICE_NAME, reflection.SERVICE_NAME), server)
    port = _listen(server, options)
    await server.start()
    announce(dispatcher, "grpc", (options.host, port), "grpc://{}", as_json=options.json)
    # Health requests are answered while the roots are opened.
    opened, _ = run_in_thread(dispatcher.start)
    updating = asyncio.ensure_future(_update_health(status, dispatcher, runner, opened))
    stopped = asyncio.ensure_future(stop.wait())
    await asyncio.wait({stopped, updating}, return_when=asyncio.FIRST_COMPLETED)
    await _shut_down(server, status, runner)
    # Only a root that cannot be opened ends the updates: its error is raised here.
    if updating.done():
        await updating
    updating.cancel()
    return runner


async def _shut_down(server: Any, status: Any, runner: CallRunner) -> None:
    """Refuse new calls, answer the ones that are nearly done, and wait for their threads."""
    await status.enter_graceful_shutdown()
    stopping = asyncio.ensure_future(server.stop(_GRACE_SECONDS))  # no call is accepted from now on
    await runner.stop(_ANSWER_SECONDS)
    await stopping
    await runner.wait_for_threads(_CANCEL_SECONDS)


def _server(access: Access, options: ServeOptions) -> Any:
    """Return the server with its interceptor and limits, not listening yet."""
    return grpc.aio.server(
        interceptors=(AccessInterceptor(access, open_services=(health.SERVICE_NAME,)),),
        # Far above our own limit, so that a refused caller gets our reason.
        maximum_concurrent_rpcs=4 * options.max_concurrent + 64,
        options=(
            # Otherwise a second server could take the same port and half of the calls.
            ("grpc.so_reuseport", 0),
            # Up to this size our own error is sent.
            ("grpc.max_receive_message_length", 2 * options.max_body_bytes),
            # No compression: a small message could unpack to a large one.
            ("grpc.compression_enabled_algorithms_bitset", 1),
        ),
    )


def _listen(server: Any, options: ServeOptions) -> int:
    """Bind the server to its address and return the port."""
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


def _stop_signal() -> asyncio.Event:
    """Return an event that SIGINT and SIGTERM set."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        try:
            loop.add_signal_handler(number, stop.set)
        except NotImplementedError:  # Windows
            signal.signal(number, lambda *_: loop.call_soon_threadsafe(stop.set))
    return stop


async def _update_health(
    status: Any, dispatcher: Dispatcher, runner: CallRunner, opened: asyncio.Future[Any]
) -> None:
    """Update the health status for ever; raise if a root cannot be opened.

    The status is SERVING while every root has an index and some worker can take a call.
    """
    await opened
    while True:
        serving = _has_indexes(dispatcher) and worker_readiness(dispatcher, runner.overdue()).ready
        current = _STATUS.SERVING if serving else _STATUS.NOT_SERVING
        for name in _HEALTH_NAMES:
            await status.set(name, current)
        await asyncio.sleep(_HEALTH_SECONDS)


def _has_indexes(dispatcher: Dispatcher) -> bool:
    engines = [dispatcher.engine_of(root) for root in dispatcher.roots()]
    return all(engine is not None and engine.store.exists() for engine in engines)
