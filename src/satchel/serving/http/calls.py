"""Call the dispatcher from a coroutine: in a thread, with progress, given up when the caller leaves."""

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

_LATE_SECONDS = 1.0  # after a call was given up, for its thread to notice; longer is told
_PROGRESS_SECONDS = 0.1  # between two words of progress; the latest is told
_SAID_BY_STATUS = frozenset({"timeout", "internal"})  # the rest are answers to requests that were understood
_OK = 200


class Progress(NamedTuple):
    """Steps done and steps in all."""

    done: int
    total: int


class Answer(NamedTuple):
    """An envelope, as struct and as bytes, its HTTP status, and how long it took."""

    response: Response
    body: bytes
    status: int
    seconds: float


class Calls:
    """Runs requests of a dispatcher, each in a thread of the executor."""

    def __init__(self, dispatcher: Dispatcher, executor: Executor, timeout_seconds: float) -> None:
        self._dispatcher = dispatcher
        self._executor = executor
        self._timeout_seconds = timeout_seconds
        self._running: set[Call] = set()
        self._given_up: dict[Call, float] = {}  # since when nobody waits for a call

    def overdue(self) -> int:
        """Return how many calls still run although their time is over or their caller has left."""
        latest = time.monotonic() - _LATE_SECONDS
        given_up = self._given_up.copy()  # threads take calls out of it
        return sum(since < latest and call in self._running for call, since in given_up.items())

    async def answer(self, request: Request) -> Answer:
        """The answer. Whoever cancels the coroutine ends the call."""
        async with aclosing(self.steps(request)) as steps:
            async for step in steps:
                if isinstance(step, Answer):
                    return step
        raise AssertionError("a call ends with its answer")

    async def steps(self, request: Request) -> AsyncGenerator[Progress | Answer, None]:
        """What is heard of a call: its progress, the answer last. When the time is over that is the answer,
        also if the work itself has not noticed yet."""
        loop = asyncio.get_running_loop()
        end = loop.time() + self._timeout_seconds
        heard = _Mailbox(loop)
        call = Call(seconds=self._timeout_seconds, progress=heard.put)
        future = loop.run_in_executor(self._executor, self._run, request, call)
        future.add_done_callback(heard.wake)
        try:
            while not future.done() and loop.time() < end:
                await heard.filled(end)
                if (progress := heard.take()) is not None:
                    yield progress
                    await asyncio.wait({future}, timeout=_PROGRESS_SECONDS)
            yield future.result() if future.done() else _late(self._timeout_seconds)
        finally:
            call.cancelled.set()  # heard by a call that is still queued or indexing
            future.cancel()
            if call in self._running:
                self._given_up[call] = time.monotonic()

    def _run(self, request: Request, call: Call) -> Answer:
        started = time.perf_counter()
        self._running.add(call)
        try:
            response = self._dispatcher.answer(request, call)
        finally:
            self._running.discard(call)
            self._given_up.pop(call, None)
        return Answer(response, encode(response), status_of(response), time.perf_counter() - started)


def _late(seconds: float) -> Answer:
    """The answer of a call whose time is over."""
    response = failure(
        Timeout(f"no answer within {seconds:g} seconds", hint="ask for less, or wait longer"),
        Meta(duration_ms=seconds * 1000),
    )
    return Answer(response, encode(response), status_of(response), seconds)


def status_of(response: Response) -> int:
    """The HTTP status: 200 also for an error, as long as the request was one and was answered."""
    code = response.error["code"] if isinstance(response.error, dict) else ""
    return ERRORS[code].http if code in _SAID_BY_STATUS else _OK


class _Mailbox:
    """Holds the latest progress only, so that a slow reader makes nothing pile up."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._latest: Progress | None = None
        self._told_at = 0.0
        self._filled = asyncio.Event()

    def put(self, done: int, total: int) -> None:
        """From the thread that works."""
        self._latest = Progress(done, total)
        now = time.monotonic()
        if now - self._told_at >= _PROGRESS_SECONDS:
            self._told_at = now
            self._loop.call_soon_threadsafe(self._filled.set)

    def wake(self, _: object) -> None:
        self._filled.set()

    async def filled(self, end: float) -> None:
        """Until there is something to take, the work is done, or the time is over."""
        with suppress(TimeoutError):
            async with asyncio.timeout_at(end):
                await self._filled.wait()
        self._filled.clear()

    def take(self) -> Progress | None:
        """The latest that was not told yet."""
        latest, self._latest = self._latest, None
        return latest
