"""Several questions at once: worker processes, each with a desk of its own, behind one door.

Ranking and packing hold the interpreter's lock, so threads would only take turns. The index is kept fresh by
the process that owns the door; what it knows of that goes along with every call.
"""

from __future__ import annotations

import multiprocessing
import queue
import signal
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import msgspec

from satchel.errors import Cancelled, Internal, SatchelError, Timeout
from satchel.serving.call import Call
from satchel.serving.counter import Known
from satchel.serving.desk import Desk
from satchel.serving.envelope import Request, Response, encode, failure

_POLL_SECONDS = 0.05  # between two looks whether the caller is still there
_END_SECONDS = 1.0  # for a worker to end by itself
_CANCEL = b"cancel"
_CAN_HOLD = hasattr(signal, "pthread_sigmask")  # not on Windows


class _Work(msgspec.Struct, frozen=True):
    """A call on its way to a worker."""

    request: Request
    known: Known | None
    seconds: float | None


class _Progress(msgspec.Struct, frozen=True, tag="progress"):
    done: int
    total: int


class _Answer(msgspec.Struct, frozen=True, tag="answer"):
    envelope: bytes


class Pool(Desk):
    """A desk whose answers are worked out by other processes. Their data is JSON, encoded already."""

    def __init__(self, roots: Sequence[Path], workers: int, **settings: Any) -> None:
        super().__init__(roots, **settings)
        self._count = workers
        self._free: queue.SimpleQueue[_Worker] = queue.SimpleQueue()
        self._workers: list[_Worker] = []
        self._closed = False

    def start(self) -> None:
        """Begin to keep the roots fresh; start the workers."""
        super().start()
        for _ in range(self._count):
            self._add()

    def close(self) -> None:
        """End the workers, then the keeping."""
        self._closed = True
        for worker in self._workers:
            worker.end()
        super().close()

    def answer(self, request: Request, call: Call | None = None, known: Known | None = None) -> Response:
        """One request, answered by whichever worker is free first."""
        call = call or Call()
        try:
            known = known or self.known(request, call)
            worker = self._take(call)
        except SatchelError as error:
            return failure(error)
        try:
            response = worker.ask(request, known, call)
        except (EOFError, OSError):  # killed, or out of memory: the others go on
            worker.end()
            self._workers.remove(worker)
            if not self._closed:
                self._add()
            return failure(Internal("the process that worked on this ended", hint="ask again"))
        self._free.put(worker)
        return response

    def _add(self) -> None:
        worker = _Worker(self.settings())
        self._workers.append(worker)
        self._free.put(worker)

    def _take(self, call: Call) -> _Worker:
        while True:
            try:
                return self._free.get(timeout=_POLL_SECONDS)
            except queue.Empty:
                call.check()


class _Worker:
    """One process and the pipe to it."""

    def __init__(self, settings: dict[str, Any]) -> None:
        context = multiprocessing.get_context("spawn")  # this process has threads, which a fork would lose
        self._pipe, other = context.Pipe()
        # no daemon: those may have no processes of their own, which a large index needs
        self._process = context.Process(target=serve, args=(other, settings), name="satchel-worker")
        with _interrupts_held():
            self._process.start()
        other.close()

    def ask(self, request: Request, known: Known | None, call: Call) -> Response:
        """Send a call and hear what comes of it. A worker that was told to stop says so itself."""
        left = None if call.end is None else call.end - time.monotonic()
        self._pipe.send_bytes(msgspec.msgpack.encode(_Work(request, known, left)))
        told = False
        while True:
            if not told and (told := call.cancelled.is_set()):
                self._pipe.send_bytes(_CANCEL)
            if not self._pipe.poll(_POLL_SECONDS):
                continue
            heard = msgspec.msgpack.decode(self._pipe.recv_bytes(), type=_Progress | _Answer)
            if isinstance(heard, _Answer):
                return msgspec.json.decode(heard.envelope, type=_RawResponse)
            with suppress(Cancelled, Timeout):  # the worker finds out as well
                call.progress(heard.done, heard.total)

    def end(self) -> None:
        """Whatever it does is not needed any more; an index that it writes stays as it was."""
        with suppress(OSError):
            self._pipe.close()
        self._process.join(_END_SECONDS)
        if self._process.is_alive():
            self._process.kill()


class _RawResponse(Response, frozen=True, kw_only=True, omit_defaults=True):
    """An envelope whose data is passed on as it came."""

    data: msgspec.Raw


@contextmanager
def _interrupts_held() -> Iterator[None]:
    """A process that is started here hears of no interrupt before it can ignore it: it inherits that."""
    if not _CAN_HOLD:
        yield
        return
    resource_tracker.ensure_running()  # started later, it would let interrupts through again
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def serve(pipe: Connection, settings: dict[str, Any]) -> None:
    """What a worker does until its pipe is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal tells all: the one who owns the door ends us
    if _CAN_HOLD:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    desk = Desk(**settings)
    desk.warm()
    received: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
    current: list[Call] = []
    threading.Thread(target=_listen, args=(pipe, received, current), daemon=True).start()
    while (data := received.get()) is not None:
        work = msgspec.msgpack.decode(data, type=_Work)
        call = Call(seconds=work.seconds, progress=lambda done, total: _send(pipe, _Progress(done, total)))
        current[:] = [call]
        response = desk.answer(work.request, call, work.known)
        current.clear()
        with suppress(OSError):
            _send(pipe, _Answer(encode(response)))
    desk.close()


def _listen(pipe: Connection, received: queue.SimpleQueue[bytes | None], current: Sequence[Call]) -> None:
    """A word to stop is heard while work goes on; a closed pipe means that nobody is there any more."""
    try:
        while True:
            data = pipe.recv_bytes()
            if data != _CANCEL:
                received.put(data)
                continue
            for call in current:
                call.cancelled.set()
    except (EOFError, OSError):
        for call in current:
            call.cancelled.set()
        received.put(None)


def _send(pipe: Connection, message: msgspec.Struct) -> None:
    pipe.send_bytes(msgspec.msgpack.encode(message))
