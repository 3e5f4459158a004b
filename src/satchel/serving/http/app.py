"""The routes: one for the envelope, one for each command of the registry, those a server is watched by."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

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
from satchel.errors import Cancelled, InvalidRequest, SatchelError, Unsupported
from satchel.serving.dispatcher import Dispatcher
from satchel.serving.envelope import Request, decode, encode, failure
from satchel.serving.error_table import ERRORS
from satchel.serving.http import openapi
from satchel.serving.http.calls import Answer, Calls
from satchel.serving.http.metrics import CONTENT_TYPE, Metrics
from satchel.serving.http.standing import standings, workers
from satchel.serving.http.streaming import stream, wanted

Endpoint = Callable[[HttpRequest], Awaitable[HttpResponse]]
Read = Callable[[bytes], Request]

_JSON = "application/json"
_NOT_READY, _WRONG_TYPE = 503, 415
_SOON = 1.0  # seconds after which it pays to ask again whether a server is ready


def make_app(dispatcher: Dispatcher, calls: Calls, metrics: Metrics) -> Starlette:
    """The application, without the guard that stands before it."""
    served = _Served(dispatcher, calls, metrics)
    names = [*plugins.names("command"), *plugins.aliases("command")]
    routes = [
        Route("/", served.index),
        Route("/health", served.health),
        Route("/ready", served.ready),
        Route("/metrics", served.metrics_text),
        Route("/openapi.json", served.openapi),
        Route(openapi.COMMAND_PATH, served.endpoint(decode), methods=["POST"]),
        *(Route(openapi.path_of(name), served.endpoint(_reader(name)), methods=["POST"]) for name in names),
    ]
    app = _Routes(routes=routes, exception_handlers={HTTPException: served.no_route})
    app.router.redirect_slashes = False
    return app


class _Routes(Starlette):
    """Routes whose defects the guard answers: the page that would be shown otherwise is no envelope."""

    def build_middleware_stack(self) -> ASGIApp:
        return ExceptionMiddleware(self.router, handlers=self.exception_handlers)


class _Served:
    """What the routes answer."""

    def __init__(self, dispatcher: Dispatcher, calls: Calls, metrics: Metrics) -> None:
        self._dispatcher = dispatcher
        self._calls = calls
        self._metrics = metrics
        self._document = openapi.text().encode()

    def endpoint(self, read: Read) -> Endpoint:
        """A route that answers calls; `read` makes a request of the body."""

        async def answer(http: HttpRequest) -> HttpResponse:
            try:
                _check_type(http.headers.get("content-type", ""))
                request = read(await http.body())
            except _WrongType as error:
                return self._refusal(error, _WRONG_TYPE)
            except SatchelError as error:
                return self._refusal(error, ERRORS[error.code].http)
            form = wanted(http.headers.get("accept", ""))
            if form is None:
                return await self._whole(http, request)
            parts = stream(form, self._calls.steps(request), lambda answer: self._count(request, answer))
            return StreamingResponse(parts, media_type=form.value, headers={"cache-control": "no-store"})

        return answer

    async def _whole(self, http: HttpRequest, request: Request) -> HttpResponse:
        """An answer in one piece; the call ends when the caller leaves."""
        answering = asyncio.ensure_future(self._calls.answer(request))
        leaving = asyncio.ensure_future(_left(http))
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

    def _count(self, request: Request, answer: Answer) -> None:
        self._metrics.answered(request.action, answer.response, answer.status, answer.seconds)

    def _refusal(self, error: SatchelError, status: int) -> HttpResponse:
        self._metrics.refused(error, status)
        return _json(encode(failure(error)), status)

    async def no_route(self, http: HttpRequest, error: Exception) -> HttpResponse:
        """404 and 405, as envelopes."""
        assert isinstance(error, HTTPException)
        known = error.status_code == 405
        said = "this route takes another method" if known else "there is no such route"
        response = self._refusal(Unsupported(said, hint="see / for the routes"), error.status_code)
        response.headers.update(error.headers or {})
        return response

    async def index(self, http: HttpRequest) -> HttpResponse:
        """For people who open the address in a browser."""
        return HttpResponse(openapi.overview(), media_type="text/plain")

    async def health(self, http: HttpRequest) -> HttpResponse:
        """The process lives."""
        return _json(msgspec.json.encode({"status": "ok", "version": __version__}), 200)

    async def ready(self, http: HttpRequest) -> HttpResponse:
        """Every root has an index and some worker is free of overdue calls; otherwise what is missing."""
        found = await asyncio.to_thread(standings, self._dispatcher)
        answering = workers(self._dispatcher, self._calls.overdue())
        ready = answering.ready and all(standing.ready for standing in found)
        said = {"ready": ready, "roots": found, "workers": answering}
        if not answering.ready:
            said["reason"] = f"{answering.overdue} of {answering.count} workers are busy beyond their time"
        response = _json(msgspec.json.encode(said), 200 if ready else _NOT_READY)
        if not ready:
            response.headers["retry-after"] = f"{_SOON:.0f}"
        return response

    async def metrics_text(self, http: HttpRequest) -> HttpResponse:
        """For Prometheus."""
        return HttpResponse(
            await asyncio.to_thread(self._metrics.text), headers={"content-type": CONTENT_TYPE}
        )

    async def openapi(self, http: HttpRequest) -> HttpResponse:
        """The contract, byte for byte as it is published."""
        return HttpResponse(self._document, media_type=_JSON)


class _WrongType(InvalidRequest):
    """A body that does not say it is JSON. A form of a web page could send one without asking."""


def _check_type(content_type: str) -> None:
    kind = content_type.partition(";")[0].strip().lower()
    if kind and kind != _JSON and not kind.endswith("+json"):
        raise _WrongType("the body is not JSON", hint=f"send the header: Content-Type: {_JSON}")


def _reader(action: str) -> Read:
    """Reads the payload of a route's action."""

    def read(body: bytes) -> Request:
        try:
            payload: dict[str, Any] = msgspec.json.decode(body, type=dict[str, Any]) if body.strip() else {}
        except RecursionError:
            raise too_deep() from None
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise InvalidRequest(
                f"this is no payload: {error}", hint="the body is an object with the fields of the action"
            ) from None
        return Request(action, payload)

    return read


async def _left(http: HttpRequest) -> None:
    """Until the caller is gone."""
    while (await http.receive())["type"] != "http.disconnect":
        pass


def _json(body: bytes, status: int) -> HttpResponse:
    return HttpResponse(body, status, {"cache-control": "no-store"}, _JSON)
