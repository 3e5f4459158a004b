"""Parsing over the cores: batches of files in, batches of rows out, in the order given.

Threads gain nothing here (parsing in Python objects holds the interpreter lock), so larger work
goes to processes. What is in flight is bounded, so memory stays flat however large the tree is.
"""

from __future__ import annotations

import gc
import os
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from satchel.indexing.analysis import Batch, Stages, analyse
from satchel.types import FileEntry

if TYPE_CHECKING:
    from concurrent.futures import Future
    from multiprocessing.context import BaseContext

_BATCH_BYTES = 2 * 1024 * 1024  # a batch takes half a second or so: progress moves, handing over is cheap
_BATCH_FILES = 128
_POOL_BYTES = 3 * 1024 * 1024  # below this a pool costs more than it saves
_IN_FLIGHT_PER_WORKER = 3
_BEAT_SECONDS = 0.2  # how soon somebody who gives up is heard

_stages: Stages | None = None
Analyse = Callable[[Stages, Sequence[FileEntry], Callable[[], None]], Iterator[Batch]]
"""What yields the batches of all entries in order; the function that it is given is called now and then, and
gives up by raising."""


def batches(entries: Sequence[FileEntry]) -> Iterator[list[FileEntry]]:
    """Return the files in batches, neighbours together, bounded by bytes and by number."""
    batch: list[FileEntry] = []
    size = 0
    for entry in entries:
        if batch and (size + entry.size > _BATCH_BYTES or len(batch) >= _BATCH_FILES):
            yield batch
            batch, size = [], 0
        batch.append(entry)
        size += entry.size
    if batch:
        yield batch


def analyse_all(
    stages: Stages, entries: Sequence[FileEntry], beat: Callable[[], None] = lambda: None, *, workers: int
) -> Iterator[Batch]:
    """Yield the batches of all entries in order, made by this process or by a pool of `workers`.

    `beat` is called now and then while the pool is waited for, and gives up by raising. A file that takes
    more time or memory than it may, or that crashes its parser, ends a worker and with it the pool. What the
    pool had begun is then done by this process, which parses in a helper process and so finds the file and
    reads it by lines; the rest goes to a new pool.
    """
    if workers <= 1 or sum(entry.size for entry in entries) < _POOL_BYTES:
        for batch in batches(entries):
            yield analyse(stages, batch)
        return
    from concurrent.futures.process import BrokenProcessPool  # only large work pays for loading it

    if stages.prepare is not None:
        stages.prepare(entries)  # before the workers fork, so that it is done once
    waiting = deque(batches(entries))
    while waiting:
        try:
            yield from _analyse_in_pool(stages, waiting, workers, beat)
        except BrokenProcessPool:
            for _ in range(min(workers * _IN_FLIGHT_PER_WORKER, len(waiting))):
                yield analyse(stages, waiting.popleft())


def _analyse_in_pool(
    stages: Stages, waiting: deque[list[FileEntry]], workers: int, beat: Callable[[], None]
) -> Iterator[Batch]:
    """Yield the batches of `waiting` in order; an item leaves the queue when its batch is complete."""
    from concurrent.futures import ProcessPoolExecutor

    with ProcessPoolExecutor(workers, _context(), initializer=_start, initargs=(stages,)) as pool:
        pending: deque[Future[Batch]] = deque()
        submitted = 0
        try:
            while waiting:
                while submitted < len(waiting) and len(pending) < workers * _IN_FLIGHT_PER_WORKER:
                    pending.append(pool.submit(_run, waiting[submitted]))
                    submitted += 1
                batch = _result(pending.popleft(), beat)
                waiting.popleft()
                submitted -= 1
                yield batch
        except BaseException:  # whoever asked has given up: nobody waits for what is begun
            begun = list((pool._processes or {}).values())  # forgotten by the shutdown
            pool.shutdown(wait=False, cancel_futures=True)
            for process in begun:
                process.terminate()
            raise


def _result(future: Future[Batch], beat: Callable[[], None]) -> Batch:
    while True:
        try:
            return future.result(_BEAT_SECONDS)
        except TimeoutError:
            if future.done():  # it is the worker's own
                raise
            beat()


def default_workers() -> int:
    """Return the number of workers: one for each core that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _context() -> BaseContext:
    """Fork where it is safe (no other threads) because it starts at once; otherwise spawn."""
    import multiprocessing

    if "fork" in multiprocessing.get_all_start_methods() and threading.active_count() == 1:
        return multiprocessing.get_context("fork")
    return multiprocessing.get_context("spawn")


def _start(stages: Stages) -> None:
    global _stages
    _stages = stages
    if stages.prepare_worker is not None:
        stages.prepare_worker()
    gc.disable()  # parsing makes no cycles, and looking for them costs an eighth of the time
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """End this process once its parent has ended: one that was killed tells its workers nothing, and they
    would wait for work for ever."""
    import multiprocessing

    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _run(entries: list[FileEntry]) -> Batch:
    assert _stages is not None
    return analyse(_stages, entries)
