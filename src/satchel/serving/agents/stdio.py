"""Agents at the other end of standard input and output: one message a line, and nothing else on the wire."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import signal
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import anyio
import anyio.to_thread
import msgspec
from mcp.server.stdio import stdio_server

from satchel.commands.payloads import too_deep
from satchel.errors import SatchelError
from satchel.serving.agents.beginning import start_soon
from satchel.serving.agents.ending import end_within
from satchel.serving.agents.server import AgentServer
from satchel.serving.agents.wire import Wire
from satchel.serving.dispatcher import Dispatcher
from satchel.serving.error_table import ERRORS

_READ_BYTES = 64 * 1024
_MOST_DEPTH = 150  # of a message, which holds the arguments of a call; the package reads 200
_STRING_OR_BRACKET = re.compile(rb'"(?:[^"\\]|\\.)*+"?|[\[\]{}]', re.DOTALL)
_EXIT_SECONDS = 1.6  # from the end of the input; clients give a server two seconds
_LAST_ANSWERS_SECONDS = 1.0  # who closes the input at once may still wait for what was asked before
_WIND_UP_SECONDS = 0.3  # for calls to notice that nobody waits


def serve(wire: Wire, dispatcher: Dispatcher, agents: AgentServer, *, most_bytes: int) -> int:
    """Until the input ends, the reader of the output goes away, or a signal comes."""
    asyncio.run(_serve(wire, agents, most_bytes, lambda: start_soon(dispatcher)))
    end = time.monotonic() + _WIND_UP_SECONDS
    while agents.running and time.monotonic() < end:
        time.sleep(0.01)
    dispatcher.close()
    return 0


async def _serve(
    wire: Wire, agents: AgentServer, most_bytes: int, after_first_reply: Callable[[], None]
) -> None:
    server = agents.make()
    replies = _Replies(wire.output, after_first_reply, lambda: lines.end())
    lines = _Lines(wire.input, most_bytes, lambda: agents.unanswered > 0, replies.refuse)
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        with contextlib.suppress(NotImplementedError, RuntimeError):  # not everywhere, and not in a thread
            loop.add_signal_handler(number, lines.end)
    streams: Any = stdio_server(lines, replies)  # type: ignore[arg-type]  # it iterates, writes and flushes
    async with streams as (reading, writing):
        await server.run(reading, writing, server.create_initialization_options())


class _Lines:
    """The lines of a descriptor. A thread reads them that no one need wait for: a read cannot be ended."""

    def __init__(
        self,
        descriptor: int,
        most_bytes: int,
        is_busy: Callable[[], bool],
        refuse: Callable[[bytes, SatchelError], None],
    ) -> None:
        self._descriptor = descriptor
        self._most_bytes = most_bytes
        self._is_busy = is_busy
        self._refuse = refuse
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
        elif _depth(line) > _MOST_DEPTH:
            self._refuse(line, too_deep())
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
        self._writing = threading.Lock()  # one message at a time

    def refuse(self, line: bytes, error: SatchelError) -> None:
        """Answer a message that the package would drop without a word. Called by the thread that reads."""
        told = {"code": ERRORS[error.code].mcp, "message": error.message, "data": error.as_dict()}
        reply = {"jsonrpc": "2.0", "id": _number(line), "error": told}
        with contextlib.suppress(OSError):
            self._write_all(msgspec.json.encode(reply) + b"\n")

    async def write(self, text: str) -> None:
        if self._is_lost:
            return
        try:
            await anyio.to_thread.run_sync(self._write_all, text.encode(), abandon_on_cancel=True)
        except OSError:
            self._is_lost = True
            self._lost()

    def _write_all(self, data: bytes) -> None:
        rest = memoryview(data)
        with self._writing:
            while rest:
                rest = rest[os.write(self._descriptor, rest) :]

    async def flush(self) -> None:
        first, self._after_first = self._after_first, None
        if first is not None:
            first()


def _read_block(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, _READ_BYTES)
    except OSError:
        return b""


class _Named(msgspec.Struct, frozen=True):
    """A message, as far as its answer needs it."""

    id: int | str | None = None


def _number(line: bytes) -> int | str | None:
    """Return the id of a message; None where it cannot be read."""
    try:
        return msgspec.json.decode(line, type=_Named).id
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def _depth(line: bytes) -> int:
    """Return how deep the brackets of a message are nested; 0 if there are too few of them to matter."""
    if line.count(b"[") + line.count(b"{") <= _MOST_DEPTH:
        return 0
    depth = deepest = 0
    for sign in re.finditer(_STRING_OR_BRACKET, line):
        if sign[0] in b"[{":
            depth += 1
            deepest = max(deepest, depth)
        elif sign[0] in b"]}":
            depth -= 1
    return deepest
