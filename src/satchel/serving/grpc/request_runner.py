"""Runs blocking requests for the gRPC event loop: each in a daemon thread, with progress and a time limit."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from typing import Any

from satchel.errors import Cancelled, IndexBusy, SatchelError, Timeout
from satchel.serving.call import Call, Progress
from satchel.serving.dispatcher import Dispatcher, defect
from satchel.serving.envelope import Request, Response, failure

_PROGRESS_SECONDS = 0.1  # between two progress events: a reader sees movement, and a long refresh stays cheap
_LATE_SECONDS = 1.0  # for the thread of an abandoned call to end; after that the call counts as overdue
# A call that notices its own deadline reports more than one that is abandoned.
_GRACE_SECONDS = 0.5


class ServerBusy(IndexBusy):
    """More calls run at the same time than the server accepts."""


class GrpcRequestRunner:
    """Runs requests in daemon threads, so that a server that is told to stop waits for none of them."""

    def __init__(self, dispatcher: Dispatcher, *, max_calls: int, timeout_seconds: float) -> None:
        self._dispatcher = dispatcher
        self._max_calls = max_calls
        self._timeout_seconds = timeout_seconds
        self._running: set[asyncio.Future[Response]] = set()
        self._abandoned: dict[asyncio.Future[Response], float] = {}  # since when nobody waits for a call
        self._stopping: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    @property
    def running(self) -> int:
        """The number of threads that still run, also those whose callers have left."""
        return len(self._running)

    def overdue(self) -> int:
        """Return how many calls still run although their time is over or their caller has left."""
        latest = time.monotonic() - _LATE_SECONDS
        return sum(since < latest for since in self._abandoned.values())

    async def run(
        self, request: Request, seconds: float | None, progress: Progress | None = None
    ) -> Response:
        """Return the answer to a request; raise as soon as its time is over or the server stops."""
        if self.running >= self._max_calls:
            raise ServerBusy(f"{self._max_calls} calls are being answered", hint="come again in a moment")
        limit = self._timeout_seconds if seconds is None else min(seconds, self._timeout_seconds)
        call = Call(seconds=limit, progress=progress)
        answered: asyncio.Future[Response] = run_in_thread(lambda: self._dispatcher.answer(request, call))
        self._running.add(answered)
        answered.add_done_callback(self._running.discard)
        try:
            await _wait_for_first(answered, self._stopping, seconds=limit + _GRACE_SECONDS)
        finally:
            call.token.cancel()  # the caller does not wait any more
            if not answered.done():
                self._abandoned[answered] = time.monotonic()
                answered.add_done_callback(lambda done: self._abandoned.pop(done, None))
        if answered.done():
            return answered.result()
        if self._stopping.done():
            raise Cancelled("the server is stopping", hint="ask again when it is back")
        raise Timeout(f"there was no answer within {limit:g} s", hint="ask for less, or wait longer")

    async def stop(self, seconds: float) -> None:
        """Wait `seconds` for the calls that run, then fail the rest with `Cancelled`."""
        await self.wait_for_threads(seconds)
        if not self._stopping.done():
            self._stopping.set_result(None)

    async def wait_for_threads(self, seconds: float) -> None:
        """Wait at most `seconds` until all threads have ended."""
        if self._running:
            await asyncio.wait(self._running, timeout=seconds)


async def _wait_for_first(*futures: asyncio.Future[Any], seconds: float) -> None:
    await asyncio.wait(futures, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)


class ProgressStream:
    """Hands the latest step of long work from its thread to the event loop; older steps are skipped."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._changed = asyncio.Event()
        self._latest = (0, 0)

    def put(self, done: int, total: int) -> None:
        """Record a step; called by the thread that works."""
        self._latest = (done, total)
        # The loop may have ended, and with it the reader.
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._changed.set)

    async def until(self, answer: asyncio.Future[Any]) -> AsyncIterator[tuple[int, int]]:
        """Yield the latest steps until there is an answer."""
        while not answer.done():
            changed = asyncio.ensure_future(self._changed.wait())
            await asyncio.wait({changed, answer}, return_when=asyncio.FIRST_COMPLETED)
            changed.cancel()
            if self._changed.is_set():
                self._changed.clear()
                yield self._latest
                await asyncio.wait({answer}, timeout=_PROGRESS_SECONDS)


def run_in_thread(work: Callable[[], Any]) -> asyncio.Future[Any]:
    """Run blocking work in a daemon thread and return its result or exception as a future.

    The thread pool of the loop is not used, because the loop waits for its threads at the end.
    """
    loop = asyncio.get_running_loop()
    result: asyncio.Future[Any] = loop.create_future()

    def run() -> None:
        value: Any = None
        problem: Exception | None = None
        try:
            value = work()
        except Exception as error:
            problem = error
        # The loop may have ended, and with it the caller.
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(_finish, result, value, problem)

    threading.Thread(target=run, daemon=True).start()
    return result


def _finish(result: asyncio.Future[Any], value: Any, problem: Exception | None) -> None:
    """Complete a future, unless its caller has cancelled it."""
    if result.done():
        return
    if problem is None:
        result.set_result(value)
    else:
        result.set_exception(problem)


def error_response(error: Exception) -> Response:
    """Return the envelope of an error; an unexpected exception is reported as a defect."""
    return failure(error if isinstance(error, SatchelError) else defect(error))
