"""Whether a server is ready: the index of each served root and the workers, read without disturbing calls."""

from __future__ import annotations

import time
from contextlib import closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from satchel import ids
from satchel.errors import ConfigError, IndexProblem
from satchel.serving.dispatcher import Dispatcher
from satchel.serving.worker_pool import WorkerPool

if TYPE_CHECKING:
    from satchel.engine import Engine


class IndexingProgress(msgspec.Struct, frozen=True):
    """How many files a refresh has done, and how many it has to do."""

    done: int
    total: int


class RootReadiness(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The state of one served root. `generation` is 0 while there is no index that can be read."""

    name: str
    root_fingerprint: str
    ready: bool
    generation: int = 0
    age_seconds: float | None = None  # since the index was last written
    progress: IndexingProgress | None = None


class WorkerReadiness(msgspec.Struct, frozen=True):
    """The state of the workers: processes, or the server itself as the only one.

    `overdue` counts calls that run beyond their time, `killed` the workers that were replaced for that.
    """

    count: int
    overdue: int
    killed: int

    @property
    def ready(self) -> bool:
        """Return whether any worker can take a call."""
        return self.overdue < self.count


def worker_readiness(dispatcher: Dispatcher, overdue: int) -> WorkerReadiness:
    """Return the state of the workers; `overdue` is the number of calls that run beyond their time."""
    if isinstance(dispatcher, WorkerPool):
        return WorkerReadiness(dispatcher.count, overdue, dispatcher.killed)
    return WorkerReadiness(1, overdue, 0)


def root_readiness(dispatcher: Dispatcher) -> list[RootReadiness]:
    """Return the state of every served root, in the order in which they were given."""
    return [_readiness_of(dispatcher, root) for root in dispatcher.roots()]


def _readiness_of(dispatcher: Dispatcher, root: Path) -> RootReadiness:
    engine = dispatcher.engine_of(root)
    generation = _generation(engine) if engine is not None else 0
    progress = dispatcher.busy_with(root)
    return RootReadiness(
        name=root.name,
        root_fingerprint=ids.root_fingerprint(root),
        ready=generation > 0,
        generation=generation,
        age_seconds=_index_age(engine) if engine is not None and generation else None,
        progress=IndexingProgress(*progress) if progress else None,
    )


def _generation(engine: Engine) -> int:
    """Return the generation of the index, 0 if none can be read.

    It opens a snapshot of its own: the engine's snapshot belongs to the call that runs.
    """
    with suppress(IndexProblem, ConfigError), closing(engine.store.snapshot()) as snapshot:
        return snapshot.generation
    return 0


def _index_age(engine: Engine) -> float | None:
    """Return the seconds since the index was last written; None if the store does not know."""
    written = engine.store.last_written()
    return round(max(0.0, time.time() - written), 3) if written is not None else None
