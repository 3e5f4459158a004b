"""Keeps the index of one segment fresh while a server runs.

An updater has a thread and an engine of its own. The engines that answer queries see what it wrote because
every query takes the newest generation.
"""

from __future__ import annotations

import os
import secrets
import threading
import time
from collections.abc import Callable
from pathlib import Path

from satchel.cancellation import CancelToken
from satchel.commands.freshness import ReindexItem, ReindexResult
from satchel.engine import Engine
from satchel.errors import SatchelError
from satchel.indexing.index_state import IndexState
from satchel.serving.watching.refresh_loop import LOCK_SECONDS, RefreshLoop, write_cookie
from satchel.serving.watching.updater_state import UpdaterEvent, UpdaterEventKind, UpdaterState

POLL_SECONDS = 2.0  # between checks of all files where the system gives no events
_STOP_SECONDS = 0.9  # `stop` waits no longer; long work gives up by itself
_PROGRESS_SECONDS = 0.2  # between two calls of `on_wait`
_RETRY_SECONDS = 2.0  # before a folder that cannot be opened is tried again


class IndexUpdater:
    """Refreshes one index in the background; `wait_until_fresh` waits until it covers all changes."""

    def __init__(
        self,
        root: str | os.PathLike[str],
        *,
        index_dir: str | os.PathLike[str] | None = None,
        watch: bool = True,
        on_event: Callable[[UpdaterEvent], None] | None = None,
    ) -> None:
        """Prepare the updater; `start` runs it. Without `watch` it refreshes once, then only when asked to.
        `on_event` is called in the updater's thread."""
        self._root, self._index_dir, self._watch = root, index_dir, watch
        self._report = on_event or (lambda event: None)
        self._state = UpdaterState()
        self._stop = threading.Event()
        self._token = CancelToken()  # ends a refresh that is under way
        self._name = f"{os.getpid()}-{secrets.token_hex(4)}"
        self._engine: Engine | None = None
        self._thread = threading.Thread(target=self._run, name="satchel-index-updater", daemon=True)

    def start(self) -> None:
        """Start the first refresh in the background and return at once."""
        self._thread.start()

    def stop(self) -> None:
        """Stop within a second. Unfinished work is given up, and the last complete index stays."""
        self._stop.set()
        self._token.cancel()
        with self._state.condition:
            self._state.condition.notify_all()
        if self._thread.is_alive():
            self._thread.join(_STOP_SECONDS)

    @property
    def is_fresh(self) -> bool:
        """Return whether every known change is indexed. A change of the last moment may not be known yet,
        which `wait_until_fresh` waits for."""
        return not self._state.has_pending_changes and not self._state.stopped

    @property
    def progress(self) -> tuple[int, int] | None:
        """Return the number of files done and the number of files to do, while files are indexed."""
        return self._state.progress

    @property
    def notes(self) -> tuple[str, ...]:
        """Return what there was to say of the last walk over all files."""
        return self._state.notes

    @property
    def state(self) -> IndexState | None:
        """Return the state of the index when it was last known to be fresh; None while it is not."""
        return self._state.index_state if self.is_fresh else None

    def wait_until_fresh(
        self, budget_ms: int, on_wait: Callable[[], None] = lambda: None
    ) -> ReindexItem | None:
        """Wait at most `budget_ms` until every change made before this call is indexed.

        Return what was done, or None if there was nothing to do. `on_wait` is called several times a second;
        an exception that it raises ends the waiting.
        """
        started = time.monotonic()
        state = self._state
        refreshes_before = state.refresh_count
        if budget_ms <= 0 or not self._thread.is_alive():
            return (
                None
                if self.is_fresh
                else self._item(budget_ms, started, ReindexResult.SKIPPED, attempted=False)
            )
        cookie, must_write = state.join_cookie()
        if must_write and self._engine is not None:
            write_cookie(self._engine, self._name, cookie)
        end = started + budget_ms / 1000
        while not (is_synced := state.wait_until_synced(cookie, min(_PROGRESS_SECONDS, _left(end)))):
            if not _left(end):
                break
            on_wait()
        if state.failure or state.stopped:
            return self._item(
                budget_ms, started, ReindexResult.FAILED, error=state.failure or "it was stopped"
            )
        # Also where no change is known: one may have been made whose event has not arrived yet.
        if not is_synced:
            return self._item(budget_ms, started, ReindexResult.BUDGET_EXCEEDED)
        if state.refresh_count == refreshes_before:
            return None
        return self._item(budget_ms, started, ReindexResult.OK, performed=True)

    def _item(
        self,
        budget_ms: int,
        started: float,
        result: ReindexResult,
        *,
        attempted: bool = True,
        performed: bool = False,
        error: str = "",
    ) -> ReindexItem:
        return ReindexItem(
            attempted=attempted,
            performed=performed,
            budget_ms=budget_ms,
            duration_ms=round((time.monotonic() - started) * 1000),
            result=result,
            error=error,
        )

    def _run(self) -> None:
        """Run refresh loops until `stop` is called: the body of the thread."""
        try:
            while not self._stop.is_set():
                self._run_loop()
        finally:
            with self._state.condition:
                self._state.stopped = True
                self._state.condition.notify_all()

    def _record_progress(self, done: int, total: int) -> None:
        """Record how many files of a refresh are done."""
        with self._state.condition:
            self._state.progress = (done, total) if total else None

    def _run_loop(self) -> None:
        """Open an engine and refresh its index until the engine has to be opened anew."""
        try:
            opened = Engine.open(Path(self._root), index_dir=self._index_dir, lock_wait_seconds=LOCK_SECONDS)
            with opened.for_caller(token=self._token, progress=self._record_progress) as engine:
                self._engine = engine
                poll_seconds = POLL_SECONDS if self._watch else 0.0
                loop = RefreshLoop(engine, self._state, self._stop, self._report, self._name, poll_seconds)
                loop.run(self._watch)
        except SatchelError as error:
            self._fail(error.message)
        # A defect must neither end the updates nor go unreported.
        except Exception as error:
            self._fail(f"{type(error).__name__}: {error}")

    def _fail(self, failure: str) -> None:
        """Report a failure to every waiting caller, and wait before the next attempt."""
        state = self._state
        with state.condition:
            known, state.failure, state.has_pending_changes = state.failure, failure, True
            state.synced_cookie = state.last_cookie
            state.condition.notify_all()
        if known != failure:
            self._report(UpdaterEvent(event=UpdaterEventKind.FAILED, text=failure))
        self._stop.wait(_RETRY_SECONDS)


def _left(end: float) -> float:
    """Return the seconds until `end` on the monotonic clock; 0 if it is over."""
    return max(0.0, end - time.monotonic())
