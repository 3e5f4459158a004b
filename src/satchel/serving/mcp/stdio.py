"""MCP over standard input and output: one message per line, and nothing else on the wire."""

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
from typing import Any, NamedTuple

import anyio
import anyio.to_thread
import msgspec
from mcp.server.stdio import stdio_server

from satchel.commands.payloads import too_deep
from satchel.errors import SatchelError
from satchel.serving.dispatcher import Dispatcher
from satchel.serving.error_table import ERRORS
from satchel.serving.lifecycle import exit_within, start_in_background
from satchel.serving.mcp.server import McpServer

_READ_BYTES = 64 * 1024
_MAX_DEPTH = 150  # of a message around the arguments of a call; the `mcp` package reads 200
_STRING_OR_BRACKET = re.compile(rb'"(?:[^"\\]|\\.)*+"?|[\[\]{}]', re.DOTALL)
_EXIT_SECONDS = 1.6  # from the end of the input; clients give a server two seconds
_LAST_ANSWERS_SECONDS = 1.0  # a client that closes the input may still wait for earlier answers
_CANCEL_SECONDS = 0.3  # for calls to notice that they are cancelled
_POLL_SECONDS = 0.02  # between two checks whether calls still run


class StandardStreams(NamedTuple):
    """The descriptors that the messages of the client come from and go to."""

    input: int
    output: int


def serve(streams: StandardStreams, dispatcher: Dispatcher, mcp_server: McpServer, *, max_bytes: int) -> int:
    """Serve until the input ends, the client stops reading, or a signal comes; return the exit code."""
    asyncio.run(_serve(streams, mcp_server, max_bytes, lambda: start_in_background(dispatcher)))
    end = time.monotonic() + _CANCEL_SECONDS
    while mcp_server.running and time.monotonic() < end:
        time.sleep(0.01)
    dispatcher.close()
    return 0


async def _serve(
    streams: StandardStreams, mcp_server: McpServer, max_bytes: int, after_first_reply: Callable[[], None]
) -> None:
    """Run the protocol over the descriptors until the lines end."""
    server = mcp_server.make_protocol_server()
    replies = _ReplyWriter(streams.output, after_first_reply, lambda: lines.end())
    lines = _LineReader(streams.input, max_bytes, lambda: mcp_server.unanswered > 0, replies.refuse)
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        # Windows has no signal handlers on the loop, and no thread but the main one has any.
        with contextlib.suppress(NotImplementedError, RuntimeError):
            loop.add_signal_handler(number, lines.end)
    # The package only iterates over the lines, and writes and flushes the replies.
    connection: Any = stdio_server(lines, replies)  # type: ignore[arg-type]
    async with connection as (reading, writing):
        await server.run(reading, writing, server.create_initialization_options())


class _LineReader:
    """Reads the lines of a descriptor in a daemon thread, because a blocking read cannot be interrupted."""

    def __init__(
        self,
        descriptor: int,
        max_bytes: int,
        is_busy: Callable[[], bool],
        refuse: Callable[[bytes, SatchelError], None],
    ) -> None:
        self._descriptor = descriptor
        self._max_bytes = max_bytes
        self._is_busy = is_busy
        self._refuse = refuse
        self._queue: asyncio.Queue[str | None] = asyncio.Queue()
        self._room = threading.Semaphore(64)  # lines that are read ahead; after that a client has to wait
        self._loop = asyncio.get_running_loop()
        self._ended = asyncio.Event()
        threading.Thread(target=self._read, daemon=True).start()

    def __aiter__(self) -> _LineReader:
        return self

    async def __anext__(self) -> str:
        line = await self._queue.get()
        self._room.release()
        if line is None:
            exit_within(_EXIT_SECONDS)
            await self._wait_for_answers()
            raise StopAsyncIteration
        return line

    def end(self) -> None:
        """End the iteration: no further line is read."""
        self._ended.set()
        self._queue.put_nowait(None)

    async def _wait_for_answers(self) -> None:
        """Wait a moment for calls that still run: the package cancels all calls when the input ends."""
        end = time.monotonic() + _LAST_ANSWERS_SECONDS
        # The last line may not have reached its handler yet.
        await asyncio.sleep(_POLL_SECONDS)
        while self._is_busy() and not self._ended.is_set() and time.monotonic() < end:
            await asyncio.sleep(_POLL_SECONDS)

    def _read(self) -> None:
        """Read lines until the input ends: the body of the thread."""
        parts: list[bytes] = []
        while block := _read_block(self._descriptor):
            *whole, rest = block.split(b"\n")
            for line in whole:
                self._accept(b"".join([*parts, line]))
                parts = []
            # The rest of a line that is too long is read and dropped.
            if rest and sum(map(len, parts)) <= self._max_bytes:
                parts.append(rest)
        self._accept(b"".join(parts))
        self._put(None)

    def _accept(self, line: bytes) -> None:
        """Pass a line on, unless it is empty, too long or nested too deeply."""
        if len(line) > self._max_bytes:
            print(f"satchel: a message of more than {self._max_bytes} bytes was not read", file=sys.stderr)
        elif _nesting_depth(line) > _MAX_DEPTH:
            self._refuse(line, too_deep())
        elif line.strip():
            self._put(line.decode("utf-8", "replace"))

    def _put(self, line: str | None) -> None:
        self._room.acquire()
        # The loop may have ended, and with it the conversation.
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._queue.put_nowait, line)


class _ReplyWriter:
    """Writes replies to a descriptor. A client that has gone away ends the conversation, quietly."""

    def __init__(self, descriptor: int, after_first: Callable[[], None], lost: Callable[[], None]) -> None:
        self._descriptor = descriptor
        self._after_first: Callable[[], None] | None = after_first
        self._lost = lost
        self._is_lost = False
        self._writing = threading.Lock()  # one message at a time

    def refuse(self, line: bytes, error: SatchelError) -> None:
        """Answer a message that the package would drop silently. Called by the reader thread."""
        described = {"code": ERRORS[error.code].mcp, "message": error.message, "data": error.as_dict()}
        reply = {"jsonrpc": "2.0", "id": _message_id(line), "error": described}
        with contextlib.suppress(OSError):
            self._write_all(msgspec.json.encode(reply) + b"\n")

    async def write(self, text: str) -> None:
        """Write a reply; after a failure all further replies are dropped."""
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
        """Run `after_first` once, after the first reply: writes are not buffered."""
        after_first, self._after_first = self._after_first, None
        if after_first is not None:
            after_first()


def _read_block(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, _READ_BYTES)
    except OSError:
        return b""


class _MessageId(msgspec.Struct, frozen=True):
    """The only field of a message that a refusal needs."""

    id: int | str | None = None


def _message_id(line: bytes) -> int | str | None:
    """Return the id of a message; None if it cannot be parsed."""
    try:
        return msgspec.json.decode(line, type=_MessageId).id
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def _nesting_depth(line: bytes) -> int:
    """Return how deep the brackets of a message are nested; 0 if there are too few to reach the limit."""
    if line.count(b"[") + line.count(b"{") <= _MAX_DEPTH:
        return 0
    depth = deepest = 0
    for sign in re.finditer(_STRING_OR_BRACKET, line):
        if sign[0] in b"[{":
            depth += 1
            deepest = max(deepest, depth)
        elif sign[0] in b"]}":
            depth -= 1
    return deepest
