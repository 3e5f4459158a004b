"""A pool of worker processes that answer requests in parallel.

Ranking and packing hold the interpreter lock, so threads would only take turns. Each worker has a dispatcher
of its own. The parent process keeps the indexes fresh and sends what it knows of that with every call.

A worker is told when the time of its call is over. If it does not notice, because it spins or hangs, it is
killed and replaced: an index that it writes is one transaction, and stays as it was.
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
from satchel.library.grants import Caller
from satchel.serving.dispatcher import Dispatcher
from satchel.serving.envelope import Call, Request, Response, encode, failure
from satchel.serving.free_memory import FreeMemory, FrozenSurvivors
from satchel.serving.served_project import KnownFreshness

_POLL_SECONDS = 0.05  # between two checks whether the caller is still there
_EXIT_SECONDS = 1.0  # for a worker to end by itself
GRACE_SECONDS = 3.0  # from the end of a call until its worker must have noticed; ranking takes less
_START_SECONDS = 300.0  # for a worker to load the indexes; only a worker that hangs takes longer
_MAX_FAILED_STARTS = 3  # in a row, after which callers get an error and do not wait for the next start
_RETRY_SECONDS, _MAX_RETRY_SECONDS = 0.1, 30.0  # before another start; doubled after each failure
_CANCEL = b"cancel"
_CAN_BLOCK_SIGNALS = hasattr(signal, "pthread_sigmask")  # not on Windows


class _CallMessage(msgspec.Struct, frozen=True):
    """A call that is sent to a worker."""

    request: Request
    known: KnownFreshness | None
    seconds: float | None
    caller: Caller


class _ProgressMessage(msgspec.Struct, frozen=True, tag="progress"):
    """The progress of a call, sent by its worker."""

    done: int
    total: int


class _AnswerMessage(msgspec.Struct, frozen=True, tag="answer"):
    """The answer of a call, sent by its worker."""

    envelope: bytes


class _ReadyMessage(msgspec.Struct, frozen=True, tag="ready"):
    """Sent by a worker that has loaded its indexes and can take calls."""


class _WorkerOverdue(Exception):
    """A worker did not end a call in time."""


class WorkerPool(Dispatcher):
    """A dispatcher whose worker processes answer the requests. The data of its responses is encoded JSON."""

    def __init__(self, roots: Sequence[Path], workers: int, **settings: Any) -> None:
        super().__init__(roots, **settings)
        self.count = workers
        self.killed = 0  # workers that did not end a call in time
        self._free: queue.SimpleQueue[_Worker] = queue.SimpleQueue()
        self._workers: list[_Worker] = []
        self._changing = threading.Lock()  # guards the list, the counters and the end
        self._failed_starts = 0
        self._closed = threading.Event()

    def start(self) -> None:
        """Open the roots, start to keep them fresh, and start the workers."""
        super().start()
        for _ in range(self.count):
            self._add()

    def close(self) -> None:
        """End the workers, then close the roots."""
        with self._changing:
            self._closed.set()
            workers = list(self._workers)
        for worker in workers:
            worker.disconnect()
        for worker in workers:
            worker.end()
        super().close()

    def _answer(self, request: Request, call: Call, known: KnownFreshness | None) -> Response:
        """Answer a request by the first worker that is free."""
        try:
            known = known or self.known(request, call)
            # Somebody may have killed the first worker. A call that ends a second one too is not tried again:
            # it may be the call itself that takes all memory.
            answered = self._ask_free(request, known, call) or self._ask_free(request, known, call)
        except SatchelError as error:
            return failure(self._as_told(error))
        return answered or failure(Internal("the process that worked on this ended", hint="ask again"))

    def _ask_free(self, request: Request, known: KnownFreshness | None, call: Call) -> Response | None:
        """Return the answer of the first worker that is free; None if its process ended meanwhile."""
        worker = self._take_free(call)
        try:
            response = worker.ask(request, known, call)
        except _WorkerOverdue:
            with self._changing:
                self.killed += 1
            self._replace(worker)
            return failure(_killed_error(call))
        # The worker was killed or ran out of memory; the others go on.
        except (EOFError, OSError):
            self._replace(worker)
            return None
        # Nothing was sent, so the worker can be used again.
        except OverflowError:
            self._free.put(worker)
            return failure(InvalidRequest("a number takes more than 64 bits", hint="give a smaller one"))
        self._free.put(worker)
        return response

    def _add(self) -> None:
        """Start a worker in the background; it joins the free ones when it is ready."""
        waiting = threading.Thread(target=self._wait_for_start, args=(self._start_worker(),), daemon=True)
        waiting.start()

    def _wait_for_start(self, worker: _Worker | None) -> None:
        """Wait until a worker is ready; if it fails to start, start others until one is."""
        while not self._closed.is_set():
            if worker is not None and worker.wait_until_ready(_START_SECONDS):
                self._failed_starts = 0
                self._free.put(worker)
                return
            if worker is not None:
                self._remove(worker)
            self._failed_starts += 1
            self._closed.wait(min(_RETRY_SECONDS * 2**self._failed_starts, _MAX_RETRY_SECONDS))
            worker = self._start_worker()

    def _start_worker(self) -> _Worker | None:
        """Start a process; return None if the pool is closed or no process can be started."""
        with self._changing:
            if self._closed.is_set():
                return None
            try:
                worker = _Worker(self.settings())
            # No process can be created, or it was killed before it read its settings.
            except OSError:
                return None
            self._workers.append(worker)
            return worker

    def _replace(self, worker: _Worker) -> None:
        """Kill a worker and start another one."""
        self._remove(worker)
        if not self._closed.is_set():
            self._add()

    def _remove(self, worker: _Worker) -> None:
        """Kill a worker and remove it from the pool."""
        worker.kill()
        with self._changing:
            if worker in self._workers:
                self._workers.remove(worker)

    def _take_free(self, call: Call) -> _Worker:
        """Wait for a free worker; raise if the call ends or no worker can be started."""
        while True:
            try:
                worker = self._free.get(timeout=_POLL_SECONDS)
            except queue.Empty:
                call.token.check()
                if self._failed_starts >= _MAX_FAILED_STARTS:
                    raise Internal(
                        f"the processes that answer end while they start ({self._failed_starts} times)",
                        hint="ask again; satchel doctor looks at the installation",
                    ) from None
                continue
            if worker.is_alive():
                return worker
            self._replace(worker)  # it ended while it was idle


def _killed_error(call: Call) -> SatchelError:
    """Return the error for a call whose worker was killed."""
    if call.token.is_expired:
        return Timeout("the time for this call is over: its process was ended", hint="ask for less")
    return Cancelled("the call was cancelled: its process was ended")


class _Worker:
    """A worker process and the pipe to it."""

    def __init__(self, settings: dict[str, Any]) -> None:
        # This process has threads, which a fork would lose.
        context = multiprocessing.get_context("spawn")
        self._pipe, other = context.Pipe()
        # Not a daemon: daemons may not start processes, which indexing a large tree does.
        self._process = context.Process(target=run_worker, args=(other, settings), name="satchel-worker")
        with _interrupts_blocked():
            self._process.start()
        other.close()

    def wait_until_ready(self, seconds: float) -> bool:
        """Return whether the worker is ready in time; False if it ended or takes longer than `seconds`."""
        end = time.monotonic() + seconds
        try:
            while time.monotonic() < end:
                if self._pipe.poll(_POLL_SECONDS):
                    return isinstance(self._receive(), _ReadyMessage)
        except (EOFError, OSError):
            pass
        return False

    def is_alive(self) -> bool:
        """Return whether the process is running."""
        return self._process.is_alive()

    def ask(self, request: Request, known: KnownFreshness | None, call: Call) -> Response:
        """Send a call and return its response. The worker itself answers a call that is cancelled."""
        left = None if call.token.deadline is None else call.token.deadline - time.monotonic()
        self._pipe.send_bytes(msgspec.msgpack.encode(_CallMessage(request, known, left, call.caller)))
        due_at = call.token.deadline  # when the worker should have answered
        is_cancelled = False
        while True:
            if not is_cancelled and (is_cancelled := call.token.is_cancelled):
                self._pipe.send_bytes(_CANCEL)
                due_at = min(time.monotonic(), due_at or math.inf)
            if due_at is not None and time.monotonic() > due_at + GRACE_SECONDS:
                raise _WorkerOverdue
            if not self._pipe.poll(_POLL_SECONDS):
                continue
            message = self._receive()
            if isinstance(message, _AnswerMessage):
                return msgspec.json.decode(message.envelope, type=_RawResponse)
            if isinstance(message, _ProgressMessage):
                call.progress(message.done, message.total)

    def disconnect(self) -> None:
        """Close the pipe, which tells the worker to end."""
        with suppress(OSError):
            self._pipe.close()

    def end(self) -> None:
        """Ask the worker to end, and kill it if it does not; an index that it writes stays as it was."""
        self.disconnect()
        self._process.join(_EXIT_SECONDS)
        self.kill()

    def kill(self) -> None:
        """Kill the process."""
        if self._process.is_alive():
            self._process.kill()
            self._process.join(_EXIT_SECONDS)
        self.disconnect()

    def _receive(self) -> _ProgressMessage | _AnswerMessage | _ReadyMessage:
        return msgspec.msgpack.decode(
            self._pipe.recv_bytes(), type=_ProgressMessage | _AnswerMessage | _ReadyMessage
        )


class _RawResponse(Response, frozen=True, kw_only=True, omit_defaults=True):
    """A response whose data stays encoded JSON."""

    data: msgspec.Raw


@contextmanager
def _interrupts_blocked() -> Iterator[None]:
    """Block SIGINT while a process starts, so that it is not killed before it can ignore the signal."""
    if not _CAN_BLOCK_SIGNALS:
        yield
        return
    # The tracker unblocks interrupts when it starts, so it is started first.
    resource_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def run_worker(pipe: Connection, settings: dict[str, Any]) -> None:
    """Answer calls until the pipe is closed: the main function of a worker process."""
    # A terminal sends SIGINT to all processes; the parent ends its workers itself.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if _CAN_BLOCK_SIGNALS:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    dispatcher = Dispatcher(**settings)
    dispatcher.warm()
    memory = FreeMemory()
    FrozenSurvivors()
    received: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
    current: list[Call] = []
    threading.Thread(target=_listen, args=(pipe, received, current), daemon=True).start()
    with suppress(OSError):
        _send(pipe, _ReadyMessage())
    while (data := received.get()) is not None:
        message = msgspec.msgpack.decode(data, type=_CallMessage)
        call = Call(
            seconds=message.seconds,
            progress=lambda done, total: _send(pipe, _ProgressMessage(done, total)),
            caller=message.caller,
        )
        current[:] = [call]
        response = dispatcher.answer(message.request, call, message.known)
        current.clear()
        with suppress(OSError):
            _send(pipe, _AnswerMessage(encode(response)))
        memory.give_back()
    dispatcher.close()


def _listen(pipe: Connection, received: queue.SimpleQueue[bytes | None], current: Sequence[Call]) -> None:
    """Read the pipe in a thread, so that a call can be cancelled while it runs; a closed pipe cancels too."""
    try:
        while True:
            data = pipe.recv_bytes()
            if data != _CANCEL:
                received.put(data)
                continue
            for call in current:
                call.token.cancel()
    except (EOFError, OSError):
        for call in current:
            call.token.cancel()
        received.put(None)


def _send(pipe: Connection, message: msgspec.Struct) -> None:
    pipe.send_bytes(msgspec.msgpack.encode(message))
