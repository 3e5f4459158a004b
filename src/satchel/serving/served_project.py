"""One root that is served: its engine, one caller at a time, and the updater that keeps its index fresh."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from satchel import settings
from satchel.commands.freshness import BoundedFreshener, ReindexItem
from satchel.indexing.index_state import IndexState
from satchel.library.grants import Caller
from satchel.plugins import late
from satchel.serving.envelope import Call

if TYPE_CHECKING:
    from satchel import engine
    from satchel.engine import Engine
    from satchel.serving import local_server
    from satchel.serving.watching.index_updater import IndexUpdater
else:  # a server answers its first handshake before anything is loaded
    engine, local_server = late("satchel.engine"), late("satchel.serving.local_server")

_PATIENCE_SECONDS = 0.05  # between two looks whether the caller is still there


class KnownFreshness(msgspec.Struct, frozen=True):
    """What an updater knows of an index at the time of a call, and what it did for that call."""

    reindex: ReindexItem | None
    state: IndexState | None  # after the index was brought up to date for this call; None if it was not
    busy: tuple[int, int] | None


class KnownFreshener(BoundedFreshener):
    """Tells what the updater did for this call. An index that cannot be read is built anew by the engine of
    the caller."""

    def __init__(self, known: KnownFreshness) -> None:
        self._known = known

    def freshen(self, engine: Engine, budget_ms: int) -> ReindexItem | None:
        return self._known.reindex

    def busy_with(self) -> tuple[int, int] | None:
        return self._known.busy

    def known_state(self) -> IndexState | None:
        return self._known.state


class ServedProject:
    """One root: its engine, and one caller at a time."""

    is_library = False

    def __init__(self, root: Path) -> None:
        self.root = root
        self.engine: Engine | None = None  # that of the last caller, which has read most of the index
        self.updater: IndexUpdater | None = None
        self._local: local_server.LocalServer | None = None
        self._index_dir = self._profile = ""
        self._options: settings.Options | None = None  # as the server was started with; a call may differ
        self._stamp: Hashable = None  # of the file that says what is indexed, as it was read
        self._lock = threading.Lock()

    def open(self, index_dir: str, profile: str, make_updater: Callable[[Path], IndexUpdater] | None) -> None:
        """Open the index; nothing is read yet. With `make_updater`, start to keep it fresh."""
        self._index_dir, self._profile = index_dir, profile
        self.root = self._open_engine().root
        self._stamp = self._file_stamp()
        if make_updater is not None and not self.is_library:
            self.updater = make_updater(self.root)
            if not index_dir:  # a command line that does not name the index means another one
                self._local = local_server.LocalServer(self)
                self._local.start()
            self.updater.start()

    def _open_engine(self) -> Engine:
        self.engine = engine.Engine.open(self.root, index_dir=self._index_dir or None, profile=self._profile)
        self._options = self.engine.options
        return self.engine

    def close(self) -> None:
        """Stop the updater and release the index."""
        if self._local is not None:
            self._local.close()
        if self.updater is not None:
            self.updater.stop()
        self._close_engines()

    def _close_engines(self) -> None:
        if self.engine is not None:
            self.engine.close()

    def release_if_old(self) -> None:
        """Release an old generation while nobody asks."""
        if self.engine is not None and self._lock.acquire(blocking=False):
            try:
                for one in self._engines():
                    one.release_if_old()
            finally:
                self._lock.release()

    def _engines(self) -> list[Engine]:
        """Return the engines that are open."""
        return [self.engine] if self.engine is not None else []

    def _file_stamp(self) -> Hashable:
        return settings.project_stamp(self.root)

    def _reopen(self) -> None:
        """Open the engine anew if the project file changed, which says what is indexed. The updater does the
        same."""
        stamp = self._file_stamp()
        if self.engine is not None and stamp != self._stamp:
            self.engine.close()
            self._open_engine()
            self._stamp = stamp

    @contextmanager
    def taken(self, call: Call, profile: str = "") -> Iterator[Engine]:
        """Wait for the callers before this one, then give the engine as this call wants it.

        Every call has an engine of its own, with its token, its progress and its profile. It takes over what
        the one before has read.
        """
        while not self._lock.acquire(timeout=_PATIENCE_SECONDS):
            call.token.check()
        try:
            call.token.check()
            self._reopen()
            assert self.engine is not None and self._options is not None
            options = settings.with_profile(self._options, profile) if profile else self._options
            before = self._engine_for(call.caller)
            taken = before.for_caller(options=options, token=call.token, progress=call.progress)
            self._keep(call.caller, taken)
            yield taken
        finally:
            self._lock.release()

    def _engine_for(self, caller: Caller) -> Engine:
        """Return the engine that the caller before left."""
        assert self.engine is not None
        return self.engine

    def _keep(self, caller: Caller, taken: Engine) -> None:
        """Keep the engine of a caller for the next one."""
        self.engine = taken
