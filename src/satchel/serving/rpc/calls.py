"""How does a call that waits on the event loop get its answer from a dispatcher that blocks a thread?"""

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

_STEP_SECONDS = 0.1  # between two reports of progress: a reader sees it move, and a long index stays cheap
_LATE_SECONDS = 1.0  # after a call was given up, for its thread to notice; longer is told
_GRACE_SECONDS = 0.5  # a call that ends itself at its deadline says more than one that is given up


class Busy(IndexBusy):
    """More calls at once than the server takes."""


class Calls:
    """What is being answered. The threads are daemons: a server that is told to stop waits for none."""

    def __init__(self, dispatcher: Dispatcher, *, most: int, seconds: float) -> None:
        self._dispatcher = dispatcher
        self._most = most
        self._seconds = seconds
        self._running: set[asyncio.Future[Response]] = set()
        self._given_up: dict[asyncio.Future[Response], float] = {}  # since when nobody waits
        self._ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    @property
    def running(self) -> int:
        """How many threads still work; one whose caller has left counts until it ends."""
        return len(self._running)

    def overdue(self) -> int:
        """Return how many calls still run although their time is over or their caller has left."""
        latest = time.monotonic() - _LATE_SECONDS
        return sum(since < latest for since in self._given_up.values())

    async def answer(
        self, request: Request, seconds: float | None, progress: Progress | None = None
    ) -> Response:
        """The dispatcher's answer, or an error as soon as the time is over."""
        if self.running >= self._most:
            raise Busy(f"{self._most} calls are being answered", hint="come again in a moment")
        limit = self._seconds if seconds is None else min(seconds, self._seconds)
        call = Call(seconds=limit, progress=progress)
        answered: asyncio.Future[Response] = in_thread(lambda: self._dispatcher.answer(request, call))
        self._running.add(answered)
        answered.add_done_callback(self._running.discard)
        try:
            await _first(answered, self._ended, seconds=limit + _GRACE_SECONDS)
        finally:
            call.cancelled.set()  # nobody waits any more
            if not answered.done():
                self._given_up[answered] = time.monotonic()
                answered.add_done_callback(lambda done: self._given_up.pop(done, None))
        if answered.done():
            return answered.result()
        if self._ended.done():
            raise Cancelled("the server is stopping", hint="ask again when it is back")
        raise Timeout(f"there was no answer within {limit:g} s", hint="ask for less, or wait longer")

    async def end(self, seconds: float) -> None:
        """Wait so long for those that run, then tell the callers of the rest that there is no answer."""
        await self.settle(seconds)
        if not self._ended.done():
            self._ended.set_result(None)

    async def settle(self, seconds: float) -> None:
        """Wait so long for the threads."""
        if self._running:
            await asyncio.wait(self._running, timeout=seconds)


async def _first(*futures: asyncio.Future[Any], seconds: float) -> None:
    await asyncio.wait(futures, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)


class Steps:
    """The newest step of long work, from its thread to the event loop; older ones are passed over."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._news = asyncio.Event()
        self._newest = (0, 0)

    def heard(self, done: int, total: int) -> None:
        """Called by the thread that works."""
        self._newest = (done, total)
        with suppress(RuntimeError):  # the loop has ended: nobody listens
            self._loop.call_soon_threadsafe(self._news.set)

    async def until(self, answer: asyncio.Future[Any]) -> AsyncIterator[tuple[int, int]]:
        """The steps, as long as there is no answer."""
        while not answer.done():
            news = asyncio.ensure_future(self._news.wait())
            await asyncio.wait({news, answer}, return_when=asyncio.FIRST_COMPLETED)
            news.cancel()
            if self._news.is_set():
                self._news.clear()
                yield self._newest
                await asyncio.wait({answer}, timeout=_STEP_SECONDS)


def in_thread(work: Callable[[], Any]) -> asyncio.Future[Any]:
    """What some blocking work gives, or raises. The loop's own pool would be waited for at the end."""
    loop = asyncio.get_running_loop()
    result: asyncio.Future[Any] = loop.create_future()

    def run() -> None:
        value: Any = None
        problem: Exception | None = None
        try:
            value = work()
        except Exception as error:
            problem = error
        with suppress(RuntimeError):  # the loop has ended: nobody waits
            loop.call_soon_threadsafe(_finish, result, value, problem)

    threading.Thread(target=run, daemon=True).start()
    return result


def _finish(result: asyncio.Future[Any], value: Any, problem: Exception | None) -> None:
    if result.done():
        return
    if problem is None:
        result.set_result(value)
    else:
        result.set_exception(problem)


def told(error: Exception) -> Response:
    """The envelope of whatever went wrong."""
    return failure(error if isinstance(error, SatchelError) else defect(error))
