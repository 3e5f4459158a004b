"""How the index of each served root stands, asked without disturbing the calls that run."""

from __future__ import annotations

import time
from contextlib import closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from satchel import ids
from satchel.errors import ConfigError, IndexProblem
from satchel.serving.dispatcher import Dispatcher
from satchel.serving.pool import Pool

if TYPE_CHECKING:
    from satchel.engine import Engine


class Progress(msgspec.Struct, frozen=True):
    """Files done and files to do."""

    done: int
    total: int


class Standing(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One root. `generation` is 0 as long as there is no index that can be read."""

    name: str
    root_fingerprint: str
    ready: bool
    generation: int = 0
    age_seconds: float | None = None  # since the index was last written
    progress: Progress | None = None


class Workers(msgspec.Struct, frozen=True):
    """What answers: processes, or the server itself as the only one. `overdue` are busy beyond the time of
    their calls; `killed` were, and were replaced."""

    count: int
    overdue: int
    killed: int

    @property
    def ready(self) -> bool:
        """Whether any of them can be asked."""
        return self.overdue < self.count


def workers(dispatcher: Dispatcher, overdue: int) -> Workers:
    """Return how many workers a dispatcher has; `overdue` calls run beyond their time."""
    if isinstance(dispatcher, Pool):
        return Workers(dispatcher.count, overdue, dispatcher.killed)
    return Workers(1, overdue, 0)


def standings(dispatcher: Dispatcher) -> list[Standing]:
    """All of them, in the order they were given."""
    return [_standing(dispatcher, root) for root in dispatcher.roots()]


def _standing(dispatcher: Dispatcher, root: Path) -> Standing:
    engine = dispatcher.engine_of(root)
    generation = _generation(engine) if engine is not None else 0
    busy = dispatcher.busy_with(root)
    return Standing(
        name=root.name,
        root_fingerprint=ids.root_fingerprint(root),
        ready=generation > 0,
        generation=generation,
        age_seconds=_age(engine) if engine is not None and generation else None,
        progress=Progress(*busy) if busy else None,
    )


def _generation(engine: Engine) -> int:
    """By a snapshot of its own: that of the engine belongs to the call that runs."""
    with suppress(IndexProblem, ConfigError), closing(engine.store.snapshot()) as snapshot:
        return snapshot.generation
    return 0


def _age(engine: Engine) -> float | None:
    written = engine.store.last_written()
    return round(max(0.0, time.time() - written), 3) if written is not None else None
