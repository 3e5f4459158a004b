"""One root that is served: its engine, one caller at a time, and the updater that keeps its index fresh."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from satchel import settings
from satchel.commands.freshness import ReindexItem
from satchel.indexing.freshness import IndexState
from satchel.plugins import late
from satchel.serving.call import Call
from satchel.serving.envelope import Config

if TYPE_CHECKING:
    from satchel import engine
    from satchel.engine import Engine
    from satchel.serving.watching.index_updater import IndexUpdater
else:
    engine = late("satchel.engine")  # a server answers its first handshake before anything is loaded

_PATIENCE_SECONDS = 0.05  # between two looks whether the caller is still there


class KnownFreshness(msgspec.Struct, frozen=True):
    """What an updater knows of an index at the time of a call, and what it did for that call."""

    reindex: ReindexItem | None
    state: IndexState | None  # after the index was brought up to date for this call; None if it was not
    busy: tuple[int, int] | None

    def freshen(self, engine: Engine, budget_ms: int) -> ReindexItem | None:
        return self.reindex

    def busy_with(self) -> tuple[int, int] | None:
        return self.busy

    def known_state(self) -> IndexState | None:
        return self.state


class ServedProject:
    """One root: its engine, and one caller at a time."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.engine: Engine | None = None
        self.updater: IndexUpdater | None = None
        self._index_dir = self._profile = ""
        self._stamp: tuple[int, int] | None = None  # of the project file, as it was read
        self._lock = threading.Lock()

    def open(self, index_dir: str, profile: str, make_updater: Callable[[Path], IndexUpdater] | None) -> None:
        self._index_dir, self._profile = index_dir, profile
        self.engine = engine.Engine.open(self.root, index_dir=index_dir or None, profile=profile)
        self.root = self.engine.root
        self._stamp = settings.project_stamp(self.root)
        if make_updater is not None:
            self.updater = make_updater(self.root)
            self.updater.start()

    def close(self) -> None:
        if self.updater is not None:
            self.updater.stop()
        if self.engine is not None:
            self.engine.close()

    def release_if_old(self) -> None:
        """Hold no old generation while nobody asks."""
        if self.engine is not None and self._lock.acquire(blocking=False):
            try:
                self.engine.release_if_old()
            finally:
                self._lock.release()

    def _reopen(self) -> None:
        """The project file says what is indexed: the updater has read it anew."""
        stamp = settings.project_stamp(self.root)
        if self.engine is not None and stamp != self._stamp:
            self.engine.close()
            self.engine = engine.Engine.open(
                self.root, index_dir=self._index_dir or None, profile=self._profile
            )
            self._stamp = stamp

    @contextmanager
    def taken(self, call: Call) -> Iterator[ServedProject]:
        while not self._lock.acquire(timeout=_PATIENCE_SECONDS):
            call.check()
        try:
            call.check()
            self._reopen()
            assert self.engine is not None
            self.engine.progress, self.engine.poll = call.progress, call.check
            self.engine.last_refresh = None  # an earlier caller's is not told to this one
            yield self
        finally:
            if self.engine is not None:
                self.engine.progress = self.engine.poll = None
            self._lock.release()

    @contextmanager
    def configured(self, config: Config | None) -> Iterator[Engine]:
        """The engine as one call wants it."""
        assert self.engine is not None
        options = self.engine.options
        if config is not None and config.profile:
            self.engine.options = settings.with_profile(options, config.profile)
        try:
            yield self.engine
        finally:
            self.engine.options = options
