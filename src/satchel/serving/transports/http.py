"""`satchel serve http`: a route for envelopes, one for each command, and the routes that monitor a server."""

from __future__ import annotations

from typing import TYPE_CHECKING

from satchel import settings
from satchel.plugins import late
from satchel.serving.access import Access
from satchel.serving.dispatcher import Dispatcher
from satchel.serving.transports import ServeOptions, Transport

if TYPE_CHECKING:
    from satchel.library import pushes
    from satchel.serving import call_runner, lifecycle
    from satchel.serving.http import app, metrics, middleware, push_hook, server
    from satchel.serving.viewer import routes
else:  # listing the transports must load no web server
    call_runner, lifecycle = late("satchel.serving.call_runner"), late("satchel.serving.lifecycle")
    app, metrics, middleware, push_hook, server = (
        late(f"satchel.serving.http.{name}")
        for name in ("app", "metrics", "middleware", "push_hook", "server")
    )
    pushes = late("satchel.library.pushes")
    routes = late("satchel.serving.viewer.routes")

DEFAULT_PORT = 8640
_EXIT_SECONDS = 2.0  # for abandoned calls to notice that they are cancelled


def run(dispatcher: Dispatcher, access: Access, options: ServeOptions) -> int:
    """Serve until SIGINT or SIGTERM; return the exit code."""
    bound = server.bind(options.host, DEFAULT_PORT if options.port is None else options.port)
    runner = call_runner.CallRunner(timeout_seconds=options.timeout_seconds)
    hook = None
    try:
        dispatcher.start()
        address = bound.getsockname()[:2]
        lifecycle.announce(dispatcher, "http", address, "http://{}", as_json=options.json)
        hook = make_push_hook(dispatcher)
        viewer = routes.Viewer(dispatcher, runner, access, pushes=hook.queue if hook is not None else None)
        server.serve(guarded_application(dispatcher, access, options, runner, viewer, hook), bound)
    finally:
        lifecycle.exit_within(_EXIT_SECONDS)
        if hook is not None:
            hook.queue.close()
        bound.close()
        runner.join()
        dispatcher.close()
    return 0


def make_push_hook(dispatcher: Dispatcher) -> push_hook.PushHook | None:
    """Return the route for pushes to the served library; None where none is served."""
    if dispatcher.library is None:
        return None
    queue = pushes.PushQueue(dispatcher.library)
    return push_hook.PushHook(dispatcher.library, queue, settings.hook_secret(), dispatcher.audit)


def guarded_application(
    dispatcher: Dispatcher,
    access: Access,
    options: ServeOptions,
    runner: call_runner.CallRunner,
    viewer: routes.Viewer,
    hook: push_hook.PushHook | None = None,
) -> middleware.GuardMiddleware:
    """Return the routes behind the middleware; both count into the same metrics."""
    counts = metrics.Metrics(dispatcher, lambda: guarded.running, runner.overdue)
    routes = app.make_app(dispatcher, runner, counts, viewer, hook)
    guarded = middleware.GuardMiddleware(
        routes, access, options, on_refusal=counts.count_refusal, has_pages=True
    )
    return guarded


TRANSPORT = Transport("http", run, extra="http", parallel=True)
