"""`satchel serve http`: a route for envelopes, one for each command, and the routes that monitor a server."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from satchel.plugins import late
from satchel.serving.access import Access
from satchel.serving.dispatcher import Dispatcher
from satchel.serving.transport import ServeOptions, Transport

if TYPE_CHECKING:
    from satchel.serving import lifecycle
    from satchel.serving.http import app, metrics, middleware, request_runner, server
else:  # listing the transports must load no web server
    lifecycle = late("satchel.serving.lifecycle")
    app, metrics, middleware, request_runner, server = (
        late(f"satchel.serving.http.{name}")
        for name in ("app", "metrics", "middleware", "request_runner", "server")
    )

DEFAULT_PORT = 8640
_EXIT_SECONDS = 2.0  # for abandoned calls to notice that they are cancelled


def run(dispatcher: Dispatcher, access: Access, options: ServeOptions) -> int:
    """Serve until SIGINT or SIGTERM; return the exit code."""
    bound = server.bind(options.host, DEFAULT_PORT if options.port is None else options.port)
    workers = ThreadPoolExecutor(options.max_concurrent, thread_name_prefix="satchel-call")
    try:
        dispatcher.start()
        server.announce("http", bound, dispatcher, as_json=options.json)
        server.serve(_application(dispatcher, access, options, workers), bound)
    finally:
        lifecycle.exit_within(_EXIT_SECONDS)
        bound.close()
        workers.shutdown(cancel_futures=True)
        dispatcher.close()
    return 0


def _application(
    dispatcher: Dispatcher, access: Access, options: ServeOptions, workers: ThreadPoolExecutor
) -> middleware.GuardMiddleware:
    """Return the routes behind the middleware; both count into the same metrics."""
    runner = request_runner.HttpRequestRunner(dispatcher, workers, options.timeout_seconds)
    counts = metrics.Metrics(dispatcher, lambda: guarded.running, runner.overdue)
    routes = app.make_app(dispatcher, runner, counts)
    guarded = middleware.GuardMiddleware(
        routes,
        access,
        max_body_bytes=options.max_body_bytes,
        max_concurrent=options.max_concurrent,
        timeout_seconds=options.timeout_seconds,
        on_refusal=counts.count_refusal,
    )
    return guarded


TRANSPORT = Transport("http", run, extra="http", parallel=True)
