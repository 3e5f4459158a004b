"""Parse a file in a process of its own, which ends when the file takes more time or memory than code does.

tree-sitter cannot be stopped from inside: version 0.26 of its Python package crashes in the progress
callbacks of parsers and of queries, and an error that is recovered from at the end of a file takes its
gigabytes without reading another byte. So a file that could stall is read by a helper process under a
limit of processor time (not of the clock: a busy machine changes nothing) and of memory. It is kept for
the next file, and a new one is started when a limit ended it. Once callbacks are safe they replace it.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import select
import signal
import struct
import subprocess
import sys
import threading
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import IO

import msgspec

from satchel.lines import split_lines
from satchel.types import Parsed

ALWAYS_BYTES = 64 * 1024  # a larger file is always confined: starting the helper costs little beside it
_SAFE_BYTES = 1024  # the slowest of 14,000 made inputs takes 0.16 s at this size
_WINDOW = 2 * 1024  # bytes; code beside a run of the same few characters does not hide it
_REPETITIVE = 0.05  # of a window, compressed; a repeated line is 0.03 at most, and 1 real file of 4,000 less
BASE_SECONDS = 1.5
SECONDS_PER_MEGABYTE = 4.0  # of 883 real files that are confined, none took an eighth of its limit
_BASE_MEMORY = 96 * 1024 * 1024  # bytes beyond what the helper has at rest
_MEMORY_PER_BYTE = 220  # the densest code of a trial (a call on each short line) took 150, real code 110
_IDLE_SECONDS = 60.0  # a helper that nobody asks ends
_CLOCK_FACTOR = 4  # where no timer counts processor time, the clock is allowed so many times as much
_LENGTH = struct.Struct("!I")
_START = (
    "import sys; sys.path[:] = {!r}\n"
    "from satchel.chunking import confined, syntax\n"
    "confined.serve(syntax.parse_here)\n"
)


class _Answer(msgspec.Struct, array_like=True):
    """What a helper found; the chunks come without their text, which the asker has."""

    parsed: Parsed | None = None  # None: the helper could not parse in its own surroundings


_REQUESTS = msgspec.msgpack.Decoder(tuple[str, bytes, float])
_ANSWERS = msgspec.msgpack.Decoder(_Answer)


def could_stall(data: bytes) -> bool:
    """Whether a file is large, or so repetitive somewhere that its parser could take minutes."""
    if len(data) >= ALWAYS_BYTES:
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
    """The processor time that a file of `size` bytes may take."""
    return BASE_SECONDS + SECONDS_PER_MEGABYTE * size / 1_000_000


def memory_bytes(size: int) -> int:
    """The memory that a file of `size` bytes may take."""
    return _BASE_MEMORY + _MEMORY_PER_BYTE * size


class HelperUnavailable(Exception):
    """No helper process can be started here, or it does not know the language."""


def parse(text: str, name: str) -> Parsed | None:
    """Return what a helper makes of a file, or nothing where the file reached a limit."""
    data = text.encode("utf-8", "surrogatepass")
    request = msgspec.msgpack.encode((name, data, processor_seconds(len(data))))
    for _ in range(2):  # one that had just ended for want of work is followed by a new one
        helper = _taken()
        answer = helper.ask(request, processor_seconds(len(data)))
        if answer is not None:
            _idle.append(helper)
            if answer.parsed is None:
                raise HelperUnavailable
            return _with_text(answer.parsed, text)
        if not helper.ended_idle():
            return None
    raise HelperUnavailable


class _Helper:
    """One helper process and its pipes."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-c", _START.format(sys.path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )

    def ask(self, request: bytes, seconds: float) -> _Answer | None:
        """Return the helper's answer, or nothing where it has ended."""
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
        except BaseException:  # whoever asked has given up in the middle of an answer
            self.end()
            raise
        finally:
            if clock is not None:
                clock.cancel()
        if not answer:
            self.end()
        return _ANSWERS.decode(answer) if answer else None

    def ended_idle(self) -> bool:
        """Whether an ended helper went by itself rather than by a limit."""
        return self._process.returncode == 0

    def end(self) -> None:
        """End the process, if it has not ended, and close its pipes."""
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None
        assert stdout is not None
        try:
            self._process.wait(0.2)  # what its limit is ending just now keeps its exit code
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        stdout.close()
        with contextlib.suppress(OSError):  # what it never read is dropped
            stdin.close()


_idle: list[_Helper] = []
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_idle.clear)  # a pipe cannot be shared


@atexit.register
def _end_all() -> None:
    while _idle:
        helper = _idle.pop()
        helper._process.kill()
        helper.end()


def _taken() -> _Helper:
    """A helper that nobody else is asking."""
    try:
        return _idle.pop()
    except IndexError:
        pass
    try:
        return _Helper()
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
    """One message; nothing where the other side has gone."""
    head = pipe.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        return b""
    size = _LENGTH.unpack(head)[0]
    message = pipe.read(size)
    return message if len(message) == size else b""


def serve(parse_here: Callable[[str, str], Parsed]) -> None:
    """Answer requests until nobody asks any more. This runs in the helper process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the asker decides
    if hasattr(signal, "SIGPROF"):
        signal.signal(signal.SIGPROF, signal.SIG_DFL)  # an asker that ignores it would hand that down
    requests, answers = sys.stdin.buffer, sys.stdout.buffer
    while _has_work(requests) and (request := _read(requests)):
        name, data, seconds = _REQUESTS.decode(request)
        _limit_memory(len(data))
        _limit_processor_time(seconds)
        try:
            parsed = parse_here(data.decode("utf-8", "surrogatepass"), name)
        except MemoryError:
            os._exit(1)
        except Exception:  # the asker meets it again, with its trace
            answer = _Answer()
        else:
            chunks = tuple(msgspec.structs.replace(chunk, text="") for chunk in parsed.chunks)
            answer = _Answer(msgspec.structs.replace(parsed, chunks=chunks))
        _limit_processor_time(0)
        _write(answers, msgspec.msgpack.encode(answer))


def _has_work(requests: IO[bytes]) -> bool:
    """Wait for a request; whether there is one in time. Pipes of Windows cannot be waited for so."""
    return os.name == "nt" or bool(select.select([requests], [], [], _IDLE_SECONDS)[0])


def _limit_memory(size: int) -> None:
    """Refuse this process more memory than a file of `size` bytes may take."""
    pages = Path("/proc/self/statm")
    if not pages.exists():  # only Linux both says what is used and holds to a limit
        return
    import resource

    used = int(pages.read_text().split()[0]) * resource.getpagesize()
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    limit = used + memory_bytes(size)
    resource.setrlimit(resource.RLIMIT_AS, (limit if hard < 0 else min(limit, hard), hard))


def _limit_processor_time(seconds: float) -> None:
    """End this process after so much processor time; 0 takes the limit away."""
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_PROF, seconds)  # nothing handles its signal, so that it ends us
