"""HTTP: the Command API's envelope, a route for each command, and what a server is watched by."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from satchel.plugins import late
from satchel.serving.access import Access
from satchel.serving.dispatcher import Dispatcher
from satchel.serving.transport import ServeOptions, Transport

if TYPE_CHECKING:
    from satchel.serving.agents import ending
    from satchel.serving.http import app, calls, guard, metrics, server
else:  # whoever lists the transports loads no web server
    ending = late("satchel.serving.agents.ending")
    app, calls, guard, metrics, server = (
        late(f"satchel.serving.http.{name}") for name in ("app", "calls", "guard", "metrics", "server")
    )

DEFAULT_PORT = 8640
_END_SECONDS = 2.0  # for work that nobody waits for any more to notice that


def run(dispatcher: Dispatcher, access: Access, options: ServeOptions) -> int:
    """Serve until SIGINT or SIGTERM."""
    bound = server.bind(options.host, DEFAULT_PORT if options.port is None else options.port)
    workers = ThreadPoolExecutor(options.max_concurrent, thread_name_prefix="satchel-call")
    try:
        dispatcher.start()
        server.announce("http", bound, dispatcher, as_json=options.json)
        server.serve(_application(dispatcher, access, options, workers), bound)
    finally:
        ending.end_within(_END_SECONDS)
        bound.close()
        workers.shutdown(cancel_futures=True)
        dispatcher.close()
    return 0


def _application(
    dispatcher: Dispatcher, access: Access, options: ServeOptions, workers: ThreadPoolExecutor
) -> guard.Guard:
    """The routes behind the guard, which counts for them."""
    answering = calls.Calls(dispatcher, workers, options.timeout_seconds)
    counts = metrics.Metrics(dispatcher, lambda: guarded.running, answering.overdue)
    routes = app.make_app(dispatcher, answering, counts)
    guarded = guard.Guard(
        routes,
        access,
        max_body_bytes=options.max_body_bytes,
        max_concurrent=options.max_concurrent,
        timeout_seconds=options.timeout_seconds,
        heard=counts.refused,
    )
    return guarded


TRANSPORT = Transport("http", run, extra="http", parallel=True)
