"""Runs blocking calls for an event loop: each in a daemon thread, with progress and a time limit.

It knows which calls still run although their time is over or their caller has left.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from typing import Any, TypeVar

from satchel.errors import Cancelled, IndexBusy, Timeout
from satchel.library.grants import Caller
from satchel.serving.envelope import Call, Progress

_Result = TypeVar("_Result")

_PROGRESS_SECONDS = 0.1  # between two progress events: a reader sees movement, and a long refresh stays cheap
_LATE_SECONDS = 1.0  # for the thread of an abandoned call to end; after that the call counts as overdue


class ServerBusy(IndexBusy):
    """More calls run at the same time than the server accepts."""


class CallRunner:
    """Runs calls in daemon threads, so that a server that is told to stop waits for none of them.

    A call that notices its own deadline reports more than one that is abandoned, so it has `grace_seconds`
    for that. More than `max_calls` at once are refused; None leaves that limit to the caller.
    """

    def __init__(
        self, *, timeout_seconds: float, grace_seconds: float = 0.0, max_calls: int | None = None
    ) -> None:
        self.timeout_seconds = timeout_seconds
        self._grace_seconds = grace_seconds
        self._max_calls = max_calls
        self._running: dict[asyncio.Future[Any], threading.Thread] = {}
        self._abandoned: dict[asyncio.Future[Any], float] = {}  # since when nobody waits for a call
        self._stopping: asyncio.Future[None] | None = None  # of the loop, which may not run yet

    @property
    def running(self) -> int:
        """Return the number of threads that still run, also those whose callers have left."""
        return len(self._running)

    def overdue(self) -> int:
        """Return how many calls still run although their time is over or their caller has left."""
        latest = time.monotonic() - _LATE_SECONDS
        abandoned = self._abandoned.copy()  # the loop removes calls from it while another thread counts
        return sum(since < latest for since in abandoned.values())

    async def run(
        self,
        work: Callable[[Call], _Result],
        caller: Caller,
        seconds: float | None = None,
        progress: Progress | None = None,
    ) -> _Result:
        """Return the result of `work` for a caller; raise as soon as its time is over or the server stops.

        Cancelling the coroutine cancels the call.
        """
        if self._max_calls is not None and self.running >= self._max_calls:
            raise ServerBusy(f"{self._max_calls} calls are being answered", hint="come again in a moment")
        limit = self.timeout_seconds if seconds is None else min(seconds, self.timeout_seconds)
        call = Call(seconds=limit, progress=progress, caller=caller)
        answered, thread = run_in_thread(lambda: work(call))
        self._running[answered] = thread
        answered.add_done_callback(self._running.pop)
        stopping = self._stop_future()
        try:
            await asyncio.wait(
                {answered, stopping},
                timeout=limit + self._grace_seconds,
                return_when=asyncio.FIRST_COMPLETED,
            )
        finally:
            call.token.cancel()  # a call that is queued or indexing checks this
            if not answered.done():
                self._abandoned[answered] = time.monotonic()
                answered.add_done_callback(lambda done: self._abandoned.pop(done, None))
        if answered.done():
            result: _Result = answered.result()
            return result
        if stopping.done():
            raise Cancelled("the server is stopping", hint="ask again when it is back")
        raise Timeout(f"there was no answer within {limit:g} s", hint="ask for less, or wait longer")

    def _stop_future(self) -> asyncio.Future[None]:
        if self._stopping is None:
            self._stopping = asyncio.get_running_loop().create_future()
        return self._stopping

    async def stop(self, seconds: float) -> None:
        """Wait `seconds` for the calls that run, then fail the rest with `Cancelled`."""
        await self.wait_for_threads(seconds)
        if not self._stop_future().done():
            self._stop_future().set_result(None)

    async def wait_for_threads(self, seconds: float) -> None:
        """Wait at most `seconds` until all threads have ended."""
        if self._running:
            await asyncio.wait(self._running, timeout=seconds)

    def join(self) -> None:
        """Wait until all threads have ended, after the loop has."""
        for thread in list(self._running.values()):
            thread.join()


class ProgressStream:
    """Hands the latest step of long work from its thread to the event loop; older steps are skipped."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._changed = asyncio.Event()
        self._latest = (0, 0)
        self._woken_at = 0.0

    def put(self, done: int, total: int) -> None:
        """Record a step; called by the thread that works."""
        self._latest = (done, total)
        now = time.monotonic()
        if now - self._woken_at < _PROGRESS_SECONDS:
            return
        self._woken_at = now
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


def run_in_thread(work: Callable[[], Any]) -> tuple[asyncio.Future[Any], threading.Thread]:
    """Run blocking work in a daemon thread; return its result or exception as a future, and the thread.

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

    thread = threading.Thread(target=run, daemon=True, name="satchel-call")
    thread.start()
    return result, thread


def _finish(result: asyncio.Future[Any], value: Any, problem: Exception | None) -> None:
    """Complete a future, unless its caller has cancelled it."""
    if result.done():
        return
    if problem is None:
        result.set_result(value)
    else:
        result.set_exception(problem)
