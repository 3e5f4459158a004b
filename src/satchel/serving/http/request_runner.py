"""Runs blocking requests for coroutines: in threads, with progress, cancelled when the caller leaves."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator
from concurrent.futures import Executor
from contextlib import aclosing, suppress
from typing import NamedTuple

from satchel.errors import Timeout
from satchel.serving.call import Call
from satchel.serving.dispatcher import Dispatcher
from satchel.serving.envelope import Meta, Request, Response, encode, failure
from satchel.serving.error_table import ERRORS

_LATE_SECONDS = 1.0  # for the thread of an abandoned call to end; after that the call counts as overdue
_PROGRESS_SECONDS = 0.1  # between two progress events; only the latest is sent
# All other errors answer a request that was understood, with status 200.
_CODES_WITH_STATUS = frozenset({"timeout", "internal"})
_OK = 200


class RequestProgress(NamedTuple):
    """How many steps of a request are done, and how many there are."""

    done: int
    total: int


class HttpAnswer(NamedTuple):
    """The envelope of an answer, as struct and as bytes, its HTTP status, and how long the call took."""

    response: Response
    body: bytes
    status: int
    seconds: float


class HttpRequestRunner:
    """Runs requests, each in a thread of the executor."""

    def __init__(self, dispatcher: Dispatcher, executor: Executor, timeout_seconds: float) -> None:
        self._dispatcher = dispatcher
        self._executor = executor
        self._timeout_seconds = timeout_seconds
        self._running: set[Call] = set()
        self._abandoned: dict[Call, float] = {}  # since when nobody waits for a call

    def overdue(self) -> int:
        """Return how many calls still run although their time is over or their caller has left."""
        latest = time.monotonic() - _LATE_SECONDS
        abandoned = self._abandoned.copy()  # other threads remove calls from it
        return sum(since < latest and call in self._running for call, since in abandoned.items())

    async def run(self, request: Request) -> HttpAnswer:
        """Return the answer to a request; cancelling the coroutine cancels the call."""
        async with aclosing(self.run_with_progress(request)) as steps:
            async for step in steps:
                if isinstance(step, HttpAnswer):
                    return step
        raise AssertionError("a call ends with its answer")

    async def run_with_progress(self, request: Request) -> AsyncGenerator[RequestProgress | HttpAnswer, None]:
        """Yield the progress of a request, and its answer last.

        The answer is a timeout when the time is over, even if the thread has not noticed that yet.
        """
        loop = asyncio.get_running_loop()
        end = loop.time() + self._timeout_seconds
        latest = _LatestProgress(loop)
        call = Call(seconds=self._timeout_seconds, progress=latest.put)
        future = loop.run_in_executor(self._executor, self._run, request, call)
        future.add_done_callback(latest.wake)
        try:
            while not future.done() and loop.time() < end:
                await latest.wait_until(end)
                if (progress := latest.take()) is not None:
                    yield progress
                    await asyncio.wait({future}, timeout=_PROGRESS_SECONDS)
            yield future.result() if future.done() else _timeout_answer(self._timeout_seconds)
        finally:
            call.token.cancel()  # a call that is queued or indexing checks this
            future.cancel()
            if call in self._running:
                self._abandoned[call] = time.monotonic()

    def _run(self, request: Request, call: Call) -> HttpAnswer:
        """Answer a request; runs in a thread of the executor."""
        started = time.perf_counter()
        self._running.add(call)
        try:
            response = self._dispatcher.answer(request, call)
        finally:
            self._running.discard(call)
            self._abandoned.pop(call, None)
        return HttpAnswer(response, encode(response), http_status(response), time.perf_counter() - started)


def _timeout_answer(seconds: float) -> HttpAnswer:
    response = failure(
        Timeout(f"no answer within {seconds:g} seconds", hint="ask for less, or wait longer"),
        Meta(duration_ms=round(seconds * 1000)),
    )
    return HttpAnswer(response, encode(response), http_status(response), seconds)


def http_status(response: Response) -> int:
    """Return the HTTP status: 200 also for most errors, because the request was understood and answered."""
    code = response.error["code"] if isinstance(response.error, dict) else ""
    return ERRORS[code].http if code in _CODES_WITH_STATUS else _OK


class _LatestProgress:
    """Hands progress from a thread to a coroutine; it keeps the latest step alone, for slow readers."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._latest: RequestProgress | None = None
        self._woken_at = 0.0
        self._changed = asyncio.Event()

    def put(self, done: int, total: int) -> None:
        """Record a step; called by the thread that works."""
        self._latest = RequestProgress(done, total)
        now = time.monotonic()
        if now - self._woken_at >= _PROGRESS_SECONDS:
            self._woken_at = now
            self._loop.call_soon_threadsafe(self._changed.set)

    def wake(self, _: object) -> None:
        """Wake the waiting coroutine, because the work is done."""
        self._changed.set()

    async def wait_until(self, end: float) -> None:
        """Wait until there is a new step, the work is done, or the time is over."""
        with suppress(TimeoutError):
            async with asyncio.timeout_at(end):
                await self._changed.wait()
        self._changed.clear()

    def take(self) -> RequestProgress | None:
        """Return the latest step, if it was not taken before."""
        latest, self._latest = self._latest, None
        return latest
