"""Parse files under a limit of processor time and memory, so that no file stalls an index.

tree-sitter cannot be stopped from inside: version 0.26 of its Python package ignores the progress callback of
a parser that is given bytes and crashes in that of a query, and an error that is recovered from at the end of
a file takes its gigabytes without reading another byte. So a process sets limits on itself, parses, and is
ended by the system when it reaches one; the file is then read by lines. The limit is of processor time, not
of the clock: a busy machine changes nothing. Once callbacks are safe they replace all of this.

The worker of a pool that indexes a whole tree is such a process itself (`limited`; the pool is replaced when
a file ends a worker). Every other process asks a helper process (`parse`), which is kept for the next file.
Workers once asked helpers for large and repetitive files: a tenth of the index of a third of Django, as a
process with threads cannot fork its helper, and both sides write and read all that was found.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import os
import select
import signal
import struct
import subprocess
import sys
import threading
import zlib
from collections.abc import Callable, Iterator
from functools import partial
from typing import IO

import msgspec

from satchel.chunking import helper_process
from satchel.chunking.helper_process import ChildProcess
from satchel.lines import split_lines
from satchel.parsed import Parsed

LARGE_BYTES = 64 * 1024  # a larger file goes to a helper also where processes cannot fork
_LARGE_FOR_WORKER = (
    512 * 1024
)  # bytes; a larger file goes to a helper also in a pool, to keep its memory flat
_SAFE_BYTES = 1024  # the slowest of 14,000 made inputs takes 0.16 s at this size
_WINDOW = 2 * 1024  # bytes; code beside a run of the same few characters does not hide it
_REPETITIVE = 0.05  # of a window, compressed; a repeated line is 0.03 at most, and 1 real file of 4,000 less
BASE_SECONDS = 1.5
SECONDS_PER_MEGABYTE = 4.0  # of 883 real files that a helper parsed, none took an eighth of its limit
_BASE_MEMORY = 96 * 1024 * 1024  # bytes beyond what the process has at rest
_MEMORY_PER_BYTE = 220  # the densest code of a trial (a call on each short line) took 150, real code 110
_IDLE_SECONDS = 900.0  # a helper that nobody asks ends; its compiled queries took up to half a second
_CLOCK_FACTOR = 4  # where no timer counts processor time, the clock is allowed so many times as much
_ATTEMPTS = 3  # a helper that ended for want of work, or that somebody killed, is followed by a new one
_MEMORY_EXIT = 1
_FILE_SIGNALS = ("SIGPROF", "SIGABRT", "SIGBUS", "SIGFPE", "SIGILL", "SIGSEGV")
_ENDED_BY_FILE = frozenset(
    {_MEMORY_EXIT, *(-getattr(signal, name) for name in _FILE_SIGNALS if hasattr(signal, name))}
)
_LENGTH = struct.Struct("!I")
_SPAWNED = (
    "from satchel.chunking import parse_limits, syntax\n"
    "parse_limits.serve(syntax.parse_here, sys.stdin.buffer, sys.stdout.buffer)\n"
)

ParseHere = Callable[[str, str], Parsed]


class _Answer(msgspec.Struct, array_like=True):
    """The result of a helper; its chunks come without their text, which the asking process has."""

    parsed: Parsed | None = None  # None: the helper could not parse in its own surroundings


_REQUESTS = msgspec.msgpack.Decoder(tuple[str, bytes])
_ANSWERS = msgspec.msgpack.Decoder(_Answer)

_own_limits: _Limits | None = None  # of an expendable process


def become_expendable() -> None:
    """Let files end this process: it is the worker of a pool that is replaced when a worker ends."""
    global _own_limits
    if hasattr(signal, "setitimer"):
        _own_limits = _Limits()


def needs_helper(data: bytes) -> bool:
    """Return whether this process has to ask a helper to parse a file of these bytes.

    An expendable process parses files itself, under limits. Where processes cannot fork, a helper costs a
    command more than most files do, so that only a file that could stall goes to one.
    """
    if _own_limits is not None:
        return len(data) >= _LARGE_FOR_WORKER
    return sys.platform == "linux" or could_stall(data)


def could_stall(data: bytes) -> bool:
    """Return whether a file is large, or so repetitive somewhere that its parser could take minutes."""
    if len(data) >= LARGE_BYTES:
        return True
    if len(data) < _SAFE_BYTES:
        return False
    windows = [data[start : start + _WINDOW] for start in range(0, len(data), _WINDOW)]
    return any(
        len(zlib.compress(window, 1)) < _REPETITIVE * len(window)
        for window in windows
        if len(window) >= _SAFE_BYTES
    )


def processor_seconds(size: int) -> float:
    """Return the processor time that a file of `size` bytes may take."""
    return BASE_SECONDS + SECONDS_PER_MEGABYTE * size / 1_000_000


def memory_bytes(size: int) -> int:
    """Return the memory that a file of `size` bytes may take."""
    return _BASE_MEMORY + _MEMORY_PER_BYTE * size


@contextlib.contextmanager
def limited(size: int) -> Iterator[None]:
    """End this process if the block takes more than a file of `size` bytes may; only if it is expendable."""
    if _own_limits is None:
        yield
        return
    _own_limits.set(size)
    try:
        yield
    except MemoryError:
        os._exit(_MEMORY_EXIT)
    finally:
        _own_limits.lift()


class HelperUnavailable(Exception):
    """No helper process can be started here, or it does not know the language."""


def parse(text: str, name: str, parse_here: ParseHere) -> Parsed | None:
    """Return the result of `parse_here` in a helper process, or None where the file reached a limit."""
    data = text.encode("utf-8", "surrogatepass")
    request = msgspec.msgpack.encode((name, data))
    for _ in range(_ATTEMPTS):
        helper = _take_helper(parse_here)
        answer = helper.ask(request, processor_seconds(len(data)))
        if answer is not None:
            _idle.append(helper)
            if answer.parsed is None:
                raise HelperUnavailable
            return _with_text(answer.parsed, text)
        if helper.reached_limit():
            return None
    raise HelperUnavailable


class _Helper:
    """One helper process and its pipes."""

    def __init__(self, process: ChildProcess) -> None:
        self._process = process

    def ask(self, request: bytes, seconds: float) -> _Answer | None:
        """Return the answer to a request, or None where the helper has ended."""
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None
        assert stdout is not None
        clock = None
        if not hasattr(signal, "setitimer"):
            clock = threading.Timer(_CLOCK_FACTOR * seconds, self._process.kill)
            clock.start()
        try:
            _write(stdin, request)
            answer = _read(stdout)
        except BrokenPipeError:
            answer = b""
        except BaseException:  # the asking process gives up in the middle of an answer
            self.end()
            raise
        finally:
            if clock is not None:
                clock.cancel()
        if not answer:
            self.end()
        return _ANSWERS.decode(answer) if answer else None

    def reached_limit(self) -> bool:
        """Return whether a file ended the helper: by its processor time, its memory, or a crash of its
        grammar.

        A helper that went for want of work, or that somebody else ended, says nothing about the file.
        """
        return self._process.returncode in _ENDED_BY_FILE

    def end(self) -> None:
        """Close the pipes of the process, which ends an idle one, and end it where that is not enough."""
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None
        assert stdout is not None
        with contextlib.suppress(OSError):  # what it never read is dropped
            stdin.close()
        try:
            self._process.wait(0.2)  # a process that its limit is ending just now keeps its exit code
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        stdout.close()


_idle: list[_Helper] = []
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_idle.clear)  # a pipe cannot be shared


@atexit.register
def _end_all() -> None:
    while _idle:
        _idle.pop().end()


def _take_helper(parse_here: ParseHere) -> _Helper:
    """Return a helper that is not in use, a new one if there is none."""
    with contextlib.suppress(IndexError):
        return _idle.pop()
    try:
        return _Helper(helper_process.start(partial(serve, parse_here), _SPAWNED))
    except OSError as problem:
        raise HelperUnavailable from problem


def _with_text(parsed: Parsed, text: str) -> Parsed:
    lines = split_lines(text)
    chunks = tuple(
        msgspec.structs.replace(chunk, text="".join(lines[chunk.start_line - 1 : chunk.end_line]))
        for chunk in parsed.chunks
    )
    return msgspec.structs.replace(parsed, chunks=chunks)


def _write(pipe: IO[bytes], message: bytes) -> None:
    pipe.write(_LENGTH.pack(len(message)) + message)
    pipe.flush()


def _read(pipe: IO[bytes]) -> bytes:
    """Return one message, or nothing where the other side has gone."""
    head = pipe.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        return b""
    size = _LENGTH.unpack(head)[0]
    message = pipe.read(size)
    return message if len(message) == size else b""


def serve(parse_here: ParseHere, requests: IO[bytes], answers: IO[bytes]) -> None:
    """Answer requests until none comes any more. This runs in the helper process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the asking process decides
    if hasattr(signal, "SIGPROF"):
        signal.signal(signal.SIGPROF, signal.SIG_DFL)  # a process that ignores it would hand that down
    gc.disable()  # parsing makes no cycles, and looking for them costs an eighth of the time
    limits = _Limits()
    while _has_work(requests) and (request := _read(requests)):
        name, data = _REQUESTS.decode(request)
        limits.set(len(data))
        try:
            answer = _encoded(parse_here(data.decode("utf-8", "surrogatepass"), name))
        except MemoryError:
            os._exit(_MEMORY_EXIT)
        except Exception:  # the asking process meets it again, with its trace
            answer = msgspec.msgpack.encode(_Answer())
        limits.lift()
        _write(answers, answer)


def _encoded(parsed: Parsed) -> bytes:
    chunks = tuple(msgspec.structs.replace(chunk, text="") for chunk in parsed.chunks)
    return msgspec.msgpack.encode(_Answer(msgspec.structs.replace(parsed, chunks=chunks)))


def _has_work(requests: IO[bytes]) -> bool:
    """Wait for a request; whether there is one in time. Pipes of Windows cannot be waited for so."""
    return os.name == "nt" or bool(select.select([requests], [], [], _IDLE_SECONDS)[0])


class _Limits:
    """The limits that a process sets on itself; each process makes its own and reads its own size."""

    def __init__(self) -> None:
        self._size_file: int | None = None
        with contextlib.suppress(OSError):  # only Linux both says what is used and holds to a limit
            self._size_file = os.open("/proc/self/statm", os.O_RDONLY)

    def set(self, size: int) -> None:
        """Let this process be ended when it takes more than a file of `size` bytes may."""
        self._limit_memory(memory_bytes(size))
        if hasattr(signal, "setitimer"):  # nothing handles its signal, so that it ends the process
            signal.setitimer(signal.ITIMER_PROF, processor_seconds(size))

    def lift(self) -> None:
        """Take the limits away."""
        if hasattr(signal, "setitimer"):
            signal.setitimer(signal.ITIMER_PROF, 0)
        self._limit_memory(None)

    def _limit_memory(self, more: int | None) -> None:
        """Refuse this process `more` memory than it has now; None takes the limit away."""
        if self._size_file is None:
            return
        import resource

        hard = resource.getrlimit(resource.RLIMIT_AS)[1]
        if more is None:
            limit = hard
        else:
            pages = int(os.pread(self._size_file, 32, 0).split()[0])
            limit = pages * resource.getpagesize() + more
            limit = limit if hard == resource.RLIM_INFINITY else min(limit, hard)
        resource.setrlimit(resource.RLIMIT_AS, (limit, hard))
