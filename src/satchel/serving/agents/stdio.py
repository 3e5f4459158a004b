"""Agents at the other end of standard input and output: one message a line, and nothing else on the wire."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import anyio
import anyio.to_thread
from mcp.server.stdio import stdio_server

from satchel.serving.agents.beginning import start_soon
from satchel.serving.agents.ending import end_within
from satchel.serving.agents.server import AgentServer
from satchel.serving.agents.wire import Wire
from satchel.serving.desk import Desk

_READ_BYTES = 64 * 1024
_EXIT_SECONDS = 1.6  # from the end of the input; clients give a server two seconds
_LAST_ANSWERS_SECONDS = 1.0  # who closes the input at once may still wait for what was asked before
_WIND_UP_SECONDS = 0.3  # for calls to notice that nobody waits


def serve(wire: Wire, desk: Desk, agents: AgentServer, *, most_bytes: int) -> int:
    """Until the input ends, the reader of the output goes away, or a signal comes."""
    asyncio.run(_serve(wire, agents, most_bytes, lambda: start_soon(desk)))
    end = time.monotonic() + _WIND_UP_SECONDS
    while agents.running and time.monotonic() < end:
        time.sleep(0.01)
    desk.close()
    return 0


async def _serve(
    wire: Wire, agents: AgentServer, most_bytes: int, after_first_reply: Callable[[], None]
) -> None:
    server = agents.make()
    lines = _Lines(wire.input, most_bytes, lambda: agents.unanswered > 0)
    replies = _Replies(wire.output, after_first_reply, lines.end)
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        with contextlib.suppress(NotImplementedError, RuntimeError):  # not everywhere, and not in a thread
            loop.add_signal_handler(number, lines.end)
    streams: Any = stdio_server(lines, replies)  # type: ignore[arg-type]  # it iterates, writes and flushes
    async with streams as (reading, writing):
        await server.run(reading, writing, server.create_initialization_options())


class _Lines:
    """The lines of a descriptor. A thread reads them that no one need wait for: a read cannot be ended."""

    def __init__(self, descriptor: int, most_bytes: int, is_busy: Callable[[], bool]) -> None:
        self._descriptor = descriptor
        self._most_bytes = most_bytes
        self._is_busy = is_busy
        self._queue: asyncio.Queue[str | None] = asyncio.Queue()
        self._room = threading.Semaphore(64)  # lines read ahead; a client that floods waits
        self._loop = asyncio.get_running_loop()
        self._ended = asyncio.Event()
        threading.Thread(target=self._read, daemon=True).start()

    def __aiter__(self) -> _Lines:
        return self

    async def __anext__(self) -> str:
        line = await self._queue.get()
        self._room.release()
        if line is None:
            end_within(_EXIT_SECONDS)
            await self._let_answer()
            raise StopAsyncIteration
        return line

    def end(self) -> None:
        """Nothing more is read."""
        self._ended.set()
        self._queue.put_nowait(None)

    async def _let_answer(self) -> None:
        """What was asked is answered if that is soon done: the package ends all calls with the input."""
        end = time.monotonic() + _LAST_ANSWERS_SECONDS
        await asyncio.sleep(0.02)  # the last line is still on its way to whoever answers it
        while self._is_busy() and not self._ended.is_set() and time.monotonic() < end:
            await asyncio.sleep(0.02)

    def _read(self) -> None:
        parts: list[bytes] = []
        while block := _read_block(self._descriptor):
            *whole, rest = block.split(b"\n")
            for line in whole:
                self._hand_over(b"".join([*parts, line]))
                parts = []
            if rest and sum(map(len, parts)) <= self._most_bytes:  # what is too long is read and forgotten
                parts.append(rest)
        self._hand_over(b"".join(parts))
        self._put(None)

    def _hand_over(self, line: bytes) -> None:
        if len(line) > self._most_bytes:
            print(f"satchel: a message of more than {self._most_bytes} bytes was not read", file=sys.stderr)
        elif line.strip():
            self._put(line.decode("utf-8", "replace"))

    def _put(self, line: str | None) -> None:
        self._room.acquire()
        with contextlib.suppress(RuntimeError):  # the loop has ended: so has the conversation
            self._loop.call_soon_threadsafe(self._queue.put_nowait, line)


class _Replies:
    """The other descriptor. A reader that has gone ends the conversation, quietly."""

    def __init__(self, descriptor: int, after_first: Callable[[], None], lost: Callable[[], None]) -> None:
        self._descriptor = descriptor
        self._after_first: Callable[[], None] | None = after_first
        self._lost = lost
        self._is_lost = False

    async def write(self, text: str) -> None:
        if self._is_lost:
            return
        try:
            await anyio.to_thread.run_sync(
                _write_all, self._descriptor, text.encode(), abandon_on_cancel=True
            )
        except OSError:
            self._is_lost = True
            self._lost()

    async def flush(self) -> None:
        first, self._after_first = self._after_first, None
        if first is not None:
            first()


def _read_block(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, _READ_BYTES)
    except OSError:
        return b""


def _write_all(descriptor: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]
