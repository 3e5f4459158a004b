"""The routes: one for envelopes, one for each command, and the ones that monitor a server."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import aclosing
from enum import StrEnum
from typing import Any, NamedTuple

import msgspec
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware.exceptions import ExceptionMiddleware
from starlette.requests import Request as HttpRequest
from starlette.responses import Response as HttpResponse
from starlette.responses import StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp

from satchel import plugins
from satchel._version import __version__
from satchel.commands.payloads import too_deep
from satchel.errors import Cancelled, InvalidRequest, PathNotAllowed, SatchelError, Timeout, Unsupported
from satchel.library.grants import CALLER, Caller
from satchel.serving.call_runner import CallRunner, ProgressStream
from satchel.serving.dispatcher import Dispatcher
from satchel.serving.envelope import Call, Meta, Progress, Request, Response, decode, encode, failure
from satchel.serving.error_table import ERRORS
from satchel.serving.http import openapi
from satchel.serving.http.metrics import CONTENT_TYPE, Metrics
from satchel.serving.http.middleware import HOOK_PATH
from satchel.serving.http.push_hook import PushHook
from satchel.serving.readiness import root_readiness, worker_readiness
from satchel.serving.viewer.routes import Viewer

_Endpoint = Callable[[HttpRequest], Awaitable[HttpResponse]]
_RequestParser = Callable[[bytes], Request]

_JSON = "application/json"
_OK, _NOT_READY, _WRONG_TYPE = 200, 503, 415
# All other errors answer a request that was understood, with status 200.
_CODES_WITH_STATUS = frozenset({"timeout", "internal"})
_RETRY_SECONDS = 1.0  # until a client should ask again whether the server is ready


def make_app(
    dispatcher: Dispatcher,
    runner: CallRunner,
    metrics: Metrics,
    viewer: Viewer | None = None,
    push_hook: PushHook | None = None,
) -> Starlette:
    """Return the application, without the middleware that guards it; with a viewer, its pages as well, and
    with a library the route for pushes."""
    handlers = _Handlers(dispatcher, runner, metrics, viewer)
    names = plugins.names("command")
    routes = [
        Route("/", handlers.index),
        Route("/health", handlers.health),
        Route("/ready", handlers.ready),
        Route("/metrics", handlers.metrics_text),
        Route("/openapi.json", handlers.openapi),
        Route(openapi.COMMAND_PATH, handlers.command_endpoint(decode), methods=["POST"]),
        *(
            Route(openapi.path_of(name), handlers.command_endpoint(_payload_parser(name)), methods=["POST"])
            for name in names
        ),
        *([Route(HOOK_PATH, push_hook.answer, methods=["POST"])] if push_hook is not None else ()),
        *(viewer.routes() if viewer is not None else ()),
    ]
    app = _Application(routes=routes, exception_handlers={HTTPException: handlers.unknown_route})
    app.router.redirect_slashes = False
    return app


class _Application(Starlette):
    """An application that leaves unexpected exceptions to the middleware, which answers with an envelope."""

    def build_middleware_stack(self) -> ASGIApp:
        """Return the router without Starlette's error page."""
        return ExceptionMiddleware(self.router, handlers=self.exception_handlers)


class _Handlers:
    """The handlers of the routes."""

    def __init__(
        self, dispatcher: Dispatcher, runner: CallRunner, metrics: Metrics, viewer: Viewer | None
    ) -> None:
        self._viewer = viewer
        self._dispatcher = dispatcher
        self._runner = runner
        self._metrics = metrics
        self._openapi_document = openapi.text().encode()

    def command_endpoint(self, parse: _RequestParser) -> _Endpoint:
        """Return the handler of a route that runs commands; `parse` makes a request of the body."""

        async def answer(http: HttpRequest) -> HttpResponse:
            try:
                _check_type(http.headers.get("content-type", ""))
                request = parse(await http.body())
            except _WrongType as error:
                return self._refusal(error, _WRONG_TYPE)
            except SatchelError as error:
                return self._refusal(error, ERRORS[error.code].http)
            stream_format = _accepted_stream(http.headers.get("accept", ""))
            if stream_format is None:
                return await self._answer_whole(http, request)
            steps = self._run_with_progress(request, caller_of(http))
            parts = _stream(stream_format, steps, lambda answer: self._count(request, answer))
            headers = {"cache-control": "no-store"}
            return StreamingResponse(parts, media_type=stream_format.value, headers=headers)

        return answer

    async def _answer_whole(self, http: HttpRequest, request: Request) -> HttpResponse:
        """Return the answer in one piece; the call is cancelled when the caller leaves."""
        answering = asyncio.ensure_future(self._run(request, caller_of(http)))
        leaving = asyncio.ensure_future(_wait_for_disconnect(http))
        try:
            await asyncio.wait({answering, leaving}, return_when=asyncio.FIRST_COMPLETED)
            if not answering.done():
                return self._refusal(Cancelled("the caller left"), ERRORS[Cancelled.code].http)
            answer = answering.result()
        finally:
            answering.cancel()
            leaving.cancel()
        self._count(request, answer)
        return _json(answer.body, answer.status)

    async def _run(self, request: Request, caller: Caller, progress: Progress | None = None) -> HttpAnswer:
        """Return the answer to a request. It is a timeout when the time is over, even if the thread has not
        noticed that yet."""

        def work(call: Call) -> HttpAnswer:
            started = time.perf_counter()
            response = self._dispatcher.answer(request, call)
            return HttpAnswer(response, encode(response), time.perf_counter() - started)

        try:
            return await self._runner.run(work, caller, progress=progress)
        except Timeout:
            seconds = self._runner.timeout_seconds
            late = Timeout(f"no answer within {seconds:g} seconds", hint="ask for less, or wait longer")
            response = failure(late, Meta(duration_ms=round(seconds * 1000)))
            return HttpAnswer(response, encode(response), seconds)

    async def _run_with_progress(
        self, request: Request, caller: Caller
    ) -> AsyncGenerator[tuple[int, int] | HttpAnswer, None]:
        """Yield the steps of a request, done and total, and its answer last."""
        progress = ProgressStream()
        answering = asyncio.ensure_future(self._run(request, caller, progress.put))
        try:
            async for step in progress.until(answering):
                yield step
            yield await answering
        finally:
            answering.cancel()  # does nothing unless the caller has left

    def _count(self, request: Request, answer: HttpAnswer) -> None:
        self._metrics.count_answer(request.action, answer.response, answer.status, answer.seconds)

    def _refusal(self, error: SatchelError, status: int) -> HttpResponse:
        self._metrics.count_refusal(error, status)
        return _json(encode(failure(error)), status)

    async def unknown_route(self, http: HttpRequest, error: Exception) -> HttpResponse:
        """Return 404 and 405 as envelopes."""
        assert isinstance(error, HTTPException)
        is_route = error.status_code == 405
        message = "this route takes another method" if is_route else "there is no such route"
        response = self._refusal(Unsupported(message, hint="see / for the routes"), error.status_code)
        response.headers.update(error.headers or {})
        return response

    async def index(self, http: HttpRequest) -> HttpResponse:
        """Return the first page of the viewer to a browser, and the list of routes to everybody else."""
        if self._viewer is not None and "text/html" in http.headers.get("accept", ""):
            return await self._viewer.home(http)
        return HttpResponse(openapi.overview(), media_type="text/plain")

    async def health(self, http: HttpRequest) -> HttpResponse:
        """Return that the process is alive (liveness probe)."""
        return _json(msgspec.json.encode({"status": "ok", "version": __version__}), 200)

    async def ready(self, http: HttpRequest) -> HttpResponse:
        """Return whether every root has an index and some worker can take a call (readiness probe)."""
        if not caller_of(http).is_operator:
            return self._refusal(_of_the_operator(), ERRORS[PathNotAllowed.code].http)
        roots = await asyncio.to_thread(root_readiness, self._dispatcher)
        workers = worker_readiness(self._dispatcher, self._runner.overdue())
        ready = workers.ready and all(root.ready for root in roots)
        report = {"ready": ready, "roots": roots, "workers": workers}
        if not workers.ready:
            report["reason"] = f"{workers.overdue} of {workers.count} workers are busy beyond their time"
        response = _json(msgspec.json.encode(report), 200 if ready else _NOT_READY)
        if not ready:
            response.headers["retry-after"] = f"{_RETRY_SECONDS:.0f}"
        return response

    async def metrics_text(self, http: HttpRequest) -> HttpResponse:
        """Return the metrics for Prometheus."""
        if not caller_of(http).is_operator:
            return self._refusal(_of_the_operator(), ERRORS[PathNotAllowed.code].http)
        return HttpResponse(
            await asyncio.to_thread(self._metrics.text), headers={"content-type": CONTENT_TYPE}
        )

    async def openapi(self, http: HttpRequest) -> HttpResponse:
        """Return the OpenAPI document, byte for byte as it is published."""
        return HttpResponse(self._openapi_document, media_type=_JSON)


class HttpAnswer(NamedTuple):
    """The envelope of an answer, as struct and as bytes, and how long the call took."""

    response: Response
    body: bytes
    seconds: float

    @property
    def status(self) -> int:
        """Return the HTTP status: 200 also for most errors, because the request was understood and
        answered."""
        code = self.response.error["code"] if isinstance(self.response.error, dict) else ""
        return ERRORS[code].http if code in _CODES_WITH_STATUS else _OK


def caller_of(http: HttpRequest) -> Caller:
    """Return who sent a request, as the middleware found out."""
    caller: Caller = http.scope[CALLER]
    return caller


def _of_the_operator() -> PathNotAllowed:
    """Return the refusal of what is told of the server as a whole, also of repositories outside a grant."""
    return PathNotAllowed(
        "only the operator may read this", hint="send the token that the server was started with"
    )


class _WrongType(InvalidRequest):
    """The Content-Type is not JSON: the form of a web page could send such a body without a preflight."""


def _check_type(content_type: str) -> None:
    kind = content_type.partition(";")[0].strip().lower()
    if kind and kind != _JSON and not kind.endswith("+json"):
        raise _WrongType("the body is not JSON", hint=f"send the header: Content-Type: {_JSON}")


def _payload_parser(action: str) -> _RequestParser:
    """Return a function that parses a body as the payload of an action."""

    def parse(body: bytes) -> Request:
        try:
            payload: dict[str, Any] = msgspec.json.decode(body, type=dict[str, Any]) if body.strip() else {}
        except RecursionError:
            raise too_deep() from None
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise InvalidRequest(
                f"this is no payload: {error}", hint="the body is an object with the fields of the action"
            ) from None
        return Request(action, payload)

    return parse


async def _wait_for_disconnect(http: HttpRequest) -> None:
    """Return when the caller has closed the connection."""
    while (await http.receive())["type"] != "http.disconnect":
        pass


def _json(body: bytes, status: int) -> HttpResponse:
    return HttpResponse(body, status, {"cache-control": "no-store"}, _JSON)


class StreamFormat(StrEnum):
    """How a streamed answer is written; the value is its content type."""

    LINES = "application/x-ndjson"
    EVENTS = "text/event-stream"


def _accepted_stream(accept: str) -> StreamFormat | None:
    """Return the stream format that an Accept header asks for; None if it asks for none."""
    kinds = {kind.partition(";")[0].strip().lower() for kind in accept.split(",")}
    return next((known for known in StreamFormat if known in kinds), None)


async def _stream(
    stream_format: StreamFormat,
    steps: AsyncGenerator[tuple[int, int] | HttpAnswer, None],
    on_answer: Callable[[HttpAnswer], None],
) -> AsyncIterator[bytes]:
    """Yield `{"progress": {"done", "total"}}` for each step, then `{"response": <envelope>}`."""
    # Closing the generator of a caller who left cancels the call.
    async with aclosing(steps):
        async for step in steps:
            if isinstance(step, HttpAnswer):
                on_answer(step)
                yield _stream_part(stream_format, b"response", step.body)
            else:
                done, total = step
                yield _stream_part(stream_format, b"progress", b'{"done":%d,"total":%d}' % (done, total))


def _stream_part(stream_format: StreamFormat, name: bytes, value: bytes) -> bytes:
    line = b'{"%s":%s}' % (name, value)
    if stream_format is StreamFormat.LINES:
        return line + b"\n"
    return b"event: %s\ndata: %s\n\n" % (name, line)
