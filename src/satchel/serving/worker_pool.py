"""Several questions at once: worker processes, each with a dispatcher of its own, behind one door.

Ranking and packing hold the interpreter's lock, so threads would only take turns. The index is kept fresh by
the process that owns the door; what it knows of that goes along with every call.

A worker is told when its time is over. One that does not hear it, because it spins or hangs, is killed and
replaced: an index that it writes is a transaction, and stays as it was.
"""

from __future__ import annotations

import math
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

from satchel.errors import Cancelled, Internal, InvalidRequest, SatchelError, Timeout
from satchel.serving.call import Call
from satchel.serving.dispatcher import Dispatcher
from satchel.serving.envelope import Request, Response, encode, failure
from satchel.serving.served_project import KnownFreshness

_POLL_SECONDS = 0.05  # between two looks whether the caller is still there
_END_SECONDS = 1.0  # for a worker to end by itself
GRACE_SECONDS = 3.0  # from the end of a call until its worker must have heard of it; ranking takes less
_START_SECONDS = 300.0  # for a worker to load the indexes; longer takes only one that hangs
_MOST_FAILED_STARTS = 3  # in a row, after which callers are told and need not wait for the next one
_RETRY_SECONDS, _MOST_RETRY_SECONDS = 0.1, 30.0  # before another try; twice as long after each that fails
_CANCEL = b"cancel"
_CAN_HOLD = hasattr(signal, "pthread_sigmask")  # not on Windows


class _Work(msgspec.Struct, frozen=True):
    """A call on its way to a worker."""

    request: Request
    known: KnownFreshness | None
    seconds: float | None


class _Progress(msgspec.Struct, frozen=True, tag="progress"):
    done: int
    total: int


class _Answer(msgspec.Struct, frozen=True, tag="answer"):
    envelope: bytes


class _Ready(msgspec.Struct, frozen=True, tag="ready"):
    """A worker has loaded what it needs, and can be asked."""


class _Overdue(Exception):
    """A worker did not end a call in time."""


class WorkerPool(Dispatcher):
    """A dispatcher whose answers are worked out by other processes. Their data is JSON, encoded already."""

    def __init__(self, roots: Sequence[Path], workers: int, **settings: Any) -> None:
        super().__init__(roots, **settings)
        self.count = workers
        self.killed = 0  # workers that did not end a call in time
        self._free: queue.SimpleQueue[_Worker] = queue.SimpleQueue()
        self._workers: list[_Worker] = []
        self._changing = threading.Lock()  # around the list, the count and the end
        self._failed_starts = 0
        self._closed = threading.Event()

    def start(self) -> None:
        """Begin to keep the roots fresh; start the workers."""
        super().start()
        for _ in range(self.count):
            self._add()

    def close(self) -> None:
        """End the workers, then the keeping."""
        with self._changing:
            self._closed.set()
            workers = list(self._workers)
        for worker in workers:
            worker.let_go()
        for worker in workers:
            worker.end()
        super().close()

    def answer(
        self, request: Request, call: Call | None = None, known: KnownFreshness | None = None
    ) -> Response:
        """One request, answered by whichever worker is free first."""
        call = call or Call()
        try:
            known = known or self.known(request, call)
            worker = self._take(call)
        except SatchelError as error:
            return failure(error)
        try:
            response = worker.ask(request, known, call)
        except _Overdue:
            with self._changing:
                self.killed += 1
            self._replace(worker)
            return failure(_given_up(call))
        except (EOFError, OSError):  # killed, or out of memory: the others go on
            self._replace(worker)
            return failure(Internal("the process that worked on this ended", hint="ask again"))
        except OverflowError:  # nothing was sent: the worker is as it was
            self._free.put(worker)
            return failure(InvalidRequest("a number takes more than 64 bits", hint="give a smaller one"))
        self._free.put(worker)
        return response

    def _add(self) -> None:
        """Start a worker; it is free as soon as it says that it is ready."""
        waiting = threading.Thread(target=self._wait, args=(self._started(),), daemon=True)
        waiting.start()

    def _wait(self, worker: _Worker | None) -> None:
        """Wait until a worker is ready; if it cannot start, start others until one is."""
        while not self._closed.is_set():
            if worker is not None and worker.wait_until_ready(_START_SECONDS):
                self._failed_starts = 0
                self._free.put(worker)
                return
            if worker is not None:
                self._forget(worker)
            self._failed_starts += 1
            self._closed.wait(min(_RETRY_SECONDS * 2**self._failed_starts, _MOST_RETRY_SECONDS))
            worker = self._started()

    def _started(self) -> _Worker | None:
        with self._changing:
            if self._closed.is_set():
                return None
            try:
                worker = _Worker(self.settings())
            except OSError:  # no process can be had, or it was killed before it heard what to do
                return None
            self._workers.append(worker)
            return worker

    def _replace(self, worker: _Worker) -> None:
        self._forget(worker)
        if not self._closed.is_set():
            self._add()

    def _forget(self, worker: _Worker) -> None:
        worker.kill()
        with self._changing:
            if worker in self._workers:
                self._workers.remove(worker)

    def _take(self, call: Call) -> _Worker:
        while True:
            try:
                worker = self._free.get(timeout=_POLL_SECONDS)
            except queue.Empty:
                call.check()
                if self._failed_starts >= _MOST_FAILED_STARTS:
                    raise Internal(
                        f"the processes that answer end while they start ({self._failed_starts} times)",
                        hint="ask again; satchel doctor looks at the installation",
                    ) from None
                continue
            if worker.is_alive():
                return worker
            self._replace(worker)  # ended while nobody asked it


def _given_up(call: Call) -> SatchelError:
    """Return why a worker was killed, for a caller who may still be there."""
    if call.end is not None and time.monotonic() > call.end:
        return Timeout("the time for this call is over: its process was ended", hint="ask for less")
    return Cancelled("the call was cancelled: its process was ended")


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

    def wait_until_ready(self, seconds: float) -> bool:
        """Return whether the worker can be asked; False if it ended or takes longer than that."""
        end = time.monotonic() + seconds
        try:
            while time.monotonic() < end:
                if self._pipe.poll(_POLL_SECONDS):
                    return isinstance(self._heard(), _Ready)
        except (EOFError, OSError):
            pass
        return False

    def is_alive(self) -> bool:
        """Return whether there still is a process."""
        return self._process.is_alive()

    def ask(self, request: Request, known: KnownFreshness | None, call: Call) -> Response:
        """Send a call and hear what comes of it. A worker that was told to stop says so itself."""
        left = None if call.end is None else call.end - time.monotonic()
        self._pipe.send_bytes(msgspec.msgpack.encode(_Work(request, known, left)))
        over_at = call.end  # when the worker should have ended
        told = False
        while True:
            if not told and (told := call.cancelled.is_set()):
                self._pipe.send_bytes(_CANCEL)
                over_at = min(time.monotonic(), over_at or math.inf)
            if over_at is not None and time.monotonic() > over_at + GRACE_SECONDS:
                raise _Overdue
            if not self._pipe.poll(_POLL_SECONDS):
                continue
            heard = self._heard()
            if isinstance(heard, _Answer):
                return msgspec.json.decode(heard.envelope, type=_RawResponse)
            if isinstance(heard, _Progress):
                with suppress(Cancelled, Timeout):  # the worker finds out as well
                    call.progress(heard.done, heard.total)

    def let_go(self) -> None:
        """Tell the worker that nobody asks any more; it ends."""
        with suppress(OSError):
            self._pipe.close()

    def end(self) -> None:
        """Whatever it does is not needed any more; an index that it writes stays as it was."""
        self.let_go()
        self._process.join(_END_SECONDS)
        self.kill()

    def kill(self) -> None:
        """End the process whatever it does."""
        if self._process.is_alive():
            self._process.kill()
            self._process.join(_END_SECONDS)
        self.let_go()

    def _heard(self) -> _Progress | _Answer | _Ready:
        return msgspec.msgpack.decode(self._pipe.recv_bytes(), type=_Progress | _Answer | _Ready)


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
    dispatcher = Dispatcher(**settings)
    dispatcher.warm()
    received: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
    current: list[Call] = []
    threading.Thread(target=_listen, args=(pipe, received, current), daemon=True).start()
    with suppress(OSError):
        _send(pipe, _Ready())
    while (data := received.get()) is not None:
        work = msgspec.msgpack.decode(data, type=_Work)
        call = Call(seconds=work.seconds, progress=lambda done, total: _send(pipe, _Progress(done, total)))
        current[:] = [call]
        response = dispatcher.answer(work.request, call, work.known)
        current.clear()
        with suppress(OSError):
            _send(pipe, _Answer(encode(response)))
    dispatcher.close()


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
