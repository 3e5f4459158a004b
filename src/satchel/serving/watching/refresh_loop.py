"""The loop of an index updater's thread: it receives file system events and refreshes the index.

Events are never the only source, because events can be lost: after every burst and every half minute all
files are checked. Where the system gives no events, these checks are all there is.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING

from satchel.engine import Engine
from satchel.errors import Cancelled, IndexBusy, IndexProblem, ProjectNotFound, SatchelError
from satchel.indexing.index_state import IndexState, decode_watermark, encode_watermark
from satchel.indexing.plan import Refresh
from satchel.serving.free_memory import FreeMemory
from satchel.serving.watching.file_events import (
    FolderWatcher,
    PendingChanges,
    WatchFailed,
    cookie_name,
    find_watched_folders,
    interpret_events,
    watch_folders,
)
from satchel.serving.watching.refresh_schedule import RefreshSchedule
from satchel.serving.watching.updater_state import UpdaterEvent, UpdaterEventKind, UpdaterState

if TYPE_CHECKING:
    from satchel.walking.watermark import Watermark

_MANY_PATHS = 200  # from here on a walk costs less than checking each path
_WAIT_MS = 100  # for events, before the schedule is asked again
_QUIET_MS = 40  # a burst of events ends after this much silence
_BURST_SECONDS = 0.1  # a small burst is not waited for any longer
_FLOOD_SECONDS = 2.0  # nor is a checkout of many files
_COOKIE_SECONDS = 0.3  # an event that takes longer does not come at all
_MAX_WATERMARKS = 3  # attempts to take a watermark while files keep changing
LOCK_SECONDS = 0.3  # short, so that a stop is noticed; a busy index is tried again
_MAX_FAILURES = 3  # of the watcher in a row, before all files are polled instead
_POLLING = "the file system gives no events here ({}); everything is looked at every {:g} s instead"


class RefreshLoop:
    """Keeps the index of one engine fresh, in one thread."""

    def __init__(
        self,
        engine: Engine,
        state: UpdaterState,
        stop: Event,
        report: Callable[[UpdaterEvent], None],
        name: str,
        poll_seconds: float,
    ) -> None:
        self.engine = engine
        self._state = state
        self._stop = stop
        self._report = report
        self._name = name  # of the updater; the names of its cookies contain it
        self._pending = PendingChanges(everything=True)
        self._batches = 0  # batches of events that reported a change
        self._cookie_missing_since: float | None = None  # a cookie was written, and its event has not come
        self._schedule = RefreshSchedule(poll_seconds)
        self._memory = FreeMemory()
        self._watcher: FolderWatcher | None = None
        self._watcher_failures = 0
        self._version = ""  # of the index that is known to match the tree

    def run(self, watch: bool) -> None:
        """Refresh until the updater stops, or until a changed project file asks for a new engine."""
        try:
            if watch:
                self._watch()
            # A cookie that was issued before now has no event, and the first check covers its changes.
            self._pending.cookie = self._state.last_cookie
            while not self._stop.is_set() and not self._pending.settings:
                is_due = self._is_refresh_due()
                if is_due:
                    self._try_refresh()
                self._confirm_cookies()
                if is_due:
                    self._memory.give_back()
                self._add_changes(self._next_burst())
        finally:
            if self._watcher is not None:
                self._watcher.close()

    def _next_burst(self) -> PendingChanges:
        """Return the changes of the next burst of events, debounced: once no further events follow."""
        burst = self._next_batch(_WAIT_MS)
        started = time.monotonic()
        while burst and not burst.cookie:
            is_flood = burst.everything or len(burst.paths) > _MANY_PATHS
            # The watermark of a git work tree takes a moment, in which the rest of a small burst arrives.
            if self._in_git_work_tree and not is_flood:
                break
            if time.monotonic() - started > (_FLOOD_SECONDS if is_flood else _BURST_SECONDS):
                break
            more = self._next_batch(_QUIET_MS)
            if not more and not more.cookie:
                break
            burst.add(more)
        return burst

    @property
    def _in_git_work_tree(self) -> bool:
        return self._watcher is not None and bool(self._watcher.watched.git_folders)

    def _next_batch(self, milliseconds: int) -> PendingChanges:
        """Return the changes of the next batch of events; without a watcher, wait for a caller instead."""
        if self._watcher is None:
            with self._state.condition:
                self._state.condition.wait_for(self._is_awaited, milliseconds / 1000)
            return PendingChanges()
        try:
            events = self._watcher.wait(milliseconds)
        except WatchFailed as problem:
            self._watcher_failures += 1
            self._watch(str(problem))
            return PendingChanges(everything=True)
        if events:
            self._watcher_failures = 0
        return interpret_events(events, self._watcher.watched, self._name)

    def _add_changes(self, changes: PendingChanges) -> None:
        """Add reported changes to the pending ones, and watch other folders if that is needed."""
        if changes.index and not changes.everything and self._was_written_by_other():
            changes.everything = True
        # New folders are watched before any file is read, so that no change falls between the two.
        if changes.folders:
            self._watch()
        self._replace_missing_cookie(changes)
        self._pending.add(changes)
        self._batches += bool(changes)
        if self._pending:
            with self._state.condition:
                self._state.has_pending_changes, self._state.index_state = True, None

    def _is_awaited(self) -> bool:
        """Return whether a caller waits for a cookie, or the updater stops."""
        return self._state.last_cookie > self._pending.cookie or self._stop.is_set()

    def _replace_missing_cookie(self, changes: PendingChanges) -> None:
        """Have all files checked when the event of a cookie does not arrive: other events may be lost too."""
        if changes.cookie or self._state.last_cookie <= self._pending.cookie:
            self._cookie_missing_since = None
            return
        now = time.monotonic()
        self._cookie_missing_since = self._cookie_missing_since or now
        if self._watcher is None or now - self._cookie_missing_since > _COOKIE_SECONDS:
            changes.add(PendingChanges(everything=True, cookie=self._state.last_cookie))
            self._cookie_missing_since = None

    def _was_written_by_other(self) -> bool:
        """Return whether another process wrote the index; it may have read the files before this loop did."""
        with suppress(SatchelError):
            found = self.engine.snapshot().version
            self.engine.release()
            return found != self._version
        return True

    def _is_refresh_due(self) -> bool:
        """Return whether a change is pending that may be indexed now, or all files have to be checked."""
        pending = self._pending
        may_refresh = pending and self._schedule.may_refresh(
            pending.paths, everything=pending.everything, is_awaited=self._is_cookie_awaited
        )
        return bool(may_refresh) or self._is_check_due()

    def _is_check_due(self) -> bool:
        return self._schedule.is_check_due(is_awaited=self._is_cookie_awaited)

    @property
    def _is_cookie_awaited(self) -> bool:
        """Return whether a caller waits for what the last cookie confirms."""
        return self._pending.cookie > self._state.synced_cookie

    def _try_refresh(self) -> None:
        """Refresh the index; a failure is reported and tried again later."""
        started = time.monotonic()
        try:
            self._refresh(started)
        except Cancelled:  # the updater stops
            return
        except IndexBusy:
            self._schedule.record_busy()
        except ProjectNotFound:
            raise
        except (SatchelError, OSError) as error:
            self._report_failure(error.message if isinstance(error, SatchelError) else str(error))
            self._schedule.record_failure()
        finally:
            # SQLite can shorten its write-ahead log only while nobody holds an old generation.
            self.engine.release()
            with self._state.condition:
                self._state.progress = None

    def _refresh(self, started: float) -> None:
        """Bring the index up to date with the pending changes and record what was done."""
        self._check_root()
        version_before, generation_before = self._version, self._stored_generation()
        last = self.engine.last_refresh
        check_all = self._pending.everything or self._is_check_due()
        check_all = check_all or len(self._pending.paths) > _MANY_PATHS
        state = self._refresh_all() if check_all else self._refresh_paths()
        self._version = state.version
        paths = set() if check_all else self._pending.paths
        self._pending = PendingChanges(cookie=self._pending.cookie, settings=self._pending.settings)
        with self._state.condition:
            self._state.has_pending_changes, self._state.failure = False, ""
            self._state.index_state = None if state.stale else state
        done = self.engine.last_refresh if self.engine.last_refresh is not last else None
        has_written = done is not None and done.generation > generation_before
        if has_written or not check_all or state.stale:
            self._schedule.record_refresh(time.monotonic() - started, paths)
        else:
            self._schedule.record_check(time.monotonic() - started, found_nothing=True)
        if done is not None and has_written:
            self._report_refresh(done, started)
        elif not version_before:
            self._report_refresh(Refresh(state.generation), started)

    def _check_root(self) -> None:
        """Raise if the root is gone: creating the index folder would create the root again."""
        if not self.engine.root.is_dir():
            raise ProjectNotFound(f"{str(self.engine.root)!r} is no longer a folder")

    def _stored_generation(self) -> int:
        with suppress(IndexProblem):
            return self.engine.snapshot().generation
        return 0

    def _refresh_all(self) -> IndexState:
        """Refresh what a walk over all files finds changed, and return the state after it."""
        started = time.monotonic()
        with self.engine.answering():  # so that one look at the files serves both
            self.engine.ensure_fresh()
            state = self.engine.state()
        if state.stale:
            self.engine.refresh()
            state = self.engine.state()
        with self._state.condition:
            self._state.notes = self.engine.notes
        # A walk goes by time stamps, which an edit can preserve; an event proves that the file was written.
        if 0 < len(self._pending.paths) <= _MANY_PATHS:
            paths = sorted(self._pending.paths)
            found = self.engine.refresh(paths=paths, looked=self.engine.look_at(paths))
            state = state if found.generation == state.generation else self.engine.state()
        self._schedule.record_check(time.monotonic() - started, found_nothing=False)
        return state

    def _refresh_paths(self) -> IndexState:
        """Refresh the pending paths alone, and return the state after it.

        They are looked at first, and then the events up to that are waited for, so that no change that the
        noted watermark covers is missed. If there were any, the look may be too old, and they are looked at
        again. Where nothing is known of the last walk, git is asked for a watermark of all files.
        """
        mark: Watermark | None = None
        looked = False
        for _ in range(_MAX_WATERMARKS):
            batches = self._batches
            looked = self.engine.look_at(sorted(self._pending.paths))
            mark = None if looked else self.engine.mark()
            if mark is not None and mark.file_count is not None:
                break
            self._wait_for_events()
            if self._pending.everything:
                return self._refresh_all()
            if batches == self._batches:
                break
        else:
            looked = False  # there are changes after the last look
        self.engine.refresh(paths=sorted(self._pending.paths), mark=mark, looked=looked)
        snapshot = self.engine.snapshot()
        stored = snapshot.meta().get("watermark")
        is_noted = looked or (mark is not None and mark.file_count is not None)
        told = stored if is_noted else encode_watermark(mark) if mark is not None else None
        project = decode_watermark(told)
        if project is None or project != decode_watermark(stored):
            return self.engine.state()
        return IndexState.of(project, snapshot)

    def _wait_for_events(self) -> None:
        """Add every change made before now to the pending ones: write a cookie and wait for its event."""
        cookie = self._state.issue_cookie()
        write_cookie(self.engine, self._name, cookie)
        while self._pending.cookie < cookie and not self._stop.is_set():
            self._add_changes(self._next_batch(_WAIT_MS))

    def _confirm_cookies(self) -> None:
        """Mark the cookies as synced whose changes are indexed or could not be, and write the next one."""
        state = self._state
        with state.condition:
            if self._pending.cookie > state.synced_cookie and (not self._pending or state.failure):
                state.synced_cookie = self._pending.cookie
                state.condition.notify_all()
        cookie = state.issue_requested_cookie()
        if cookie:
            write_cookie(self.engine, self._name, cookie)

    def _watch(self, problem: str = "") -> None:
        """Watch the folders that exist now. The new watcher starts before the old one is closed."""
        self._check_root()
        old, self._watcher = self._watcher, None
        try:
            if self._watcher_failures > _MAX_FAILURES:
                raise WatchFailed(problem)
            folder = self.engine.index_folder() or Path(self.engine.root)
            watched = find_watched_folders(
                self.engine.root, self.engine.options.walk, folder, self.engine.store.file
            )
            self._watcher = watch_folders(watched, self._stop)
            self._schedule.has_events = True
        except (WatchFailed, SatchelError, OSError) as error:
            self._schedule.has_events = False
            text = _POLLING.format(error, self._schedule.poll_seconds)
            self._report(UpdaterEvent(event=UpdaterEventKind.NOTE, text=text))
        if old is not None:
            old.close()

    def _report_failure(self, failure: str) -> None:
        """Report a failure, once as long as it stays the same."""
        with self._state.condition:
            known, self._state.failure = self._state.failure, failure
        if known != failure:
            self._report(UpdaterEvent(event=UpdaterEventKind.FAILED, text=failure))

    def _report_refresh(self, done: Refresh, started: float) -> None:
        """Count and report a refresh; the first one is reported even if it wrote nothing."""
        with self._state.condition:
            self._state.refresh_count += done is self.engine.last_refresh
        self._report(
            UpdaterEvent(
                event=UpdaterEventKind.REFRESH,
                generation=done.generation,
                parsed=done.parsed,
                moved=done.moved,
                touched=done.touched,
                dropped=done.dropped,
                duration_ms=round((time.monotonic() - started) * 1000),
                text="; ".join(self.engine.notes),
            )
        )


def write_cookie(engine: Engine, updater: str, number: int) -> None:
    """Write and delete a cookie file, whose event comes after those of all earlier changes."""
    if engine.store.scratch is not None:
        path = engine.store.scratch / cookie_name(updater, number)
        # Without the file no event comes, and the loop checks all files instead.
        with suppress(OSError):
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
            path.unlink()
