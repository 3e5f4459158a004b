"""What the keeper's thread does: it hears of changes and brings the index up to date with them.

Events are never the only source: after every burst and every half minute everything is looked at, because
events can be lost. Where there are none at all, looking is all there is.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from threading import Event

from satchel.engine import Engine
from satchel.errors import IndexBusy, IndexProblem, ProjectNotFound, SatchelError
from satchel.indexing.freshness import IndexState, decode_watermark, encode_watermark
from satchel.indexing.plan import Refresh
from satchel.serving.keeping.board import Board, Happened, HappenedKind
from satchel.serving.keeping.events import Changes, ticket_name, understand
from satchel.serving.keeping.pace import Pace
from satchel.serving.keeping.places import find_places
from satchel.serving.keeping.watcher import Unwatchable, Watcher

_MANY_PATHS = 200  # from here on a walk costs less than looking at each
_WAIT_MS = 100  # for events, before the clock is looked at
_QUIET_MS = 40  # a burst is over when nothing came for so long
_BURST_SECONDS = 0.1  # a small burst is not waited for any longer
_FLOOD_SECONDS = 2.0  # nor is a checkout of many files
_TICKET_SECONDS = 0.3  # an event that takes longer does not come at all
_MARKS = 3  # watermarks that are taken while files go on changing
LOCK_SECONDS = 0.3  # short, so that a stop is noticed; a busy index is tried again
_MOST_FAILURES = 3  # of the watcher, one after the other, before it is done without
_POLLING = "the file system gives no events here ({}); everything is looked at every {:g} s instead"


class Stopped(Exception):
    """Long work was given up because the keeper stops."""


class Tending:
    """The work on one engine, by one thread."""

    def __init__(
        self,
        engine: Engine,
        board: Board,
        stop: Event,
        tell: Callable[[Happened], None],
        name: str,
        poll_seconds: float,
    ) -> None:
        self.engine = engine
        self._board = board
        self._stop = stop
        self._tell = tell
        self._name = name
        self._pending = Changes(everything=True)
        self._heard = 0  # batches of events that meant something
        self._unheard_since: float | None = None  # an event of ours that should have come
        self._pace = Pace(poll_seconds)
        self._watcher: Watcher | None = None
        self._watcher_failures = 0
        self._version = ""  # of the index that is known to be true to the tree
        engine.progress = self._progress

    def run(self, watch: bool) -> None:
        """Until the keeper stops, or the engine has to be opened anew because the project file changed."""
        try:
            if watch:
                self._watch()
            self._pending.ticket = (
                self._board.asked
            )  # nobody can have written it, and the first look is yet to be
            while not self._stop.is_set() and not self._pending.settings:
                if self._is_due():
                    self._work()
                self._settle()
                self._hear(self._gather())
        finally:
            if self._watcher is not None:
                self._watcher.close()

    def _gather(self) -> Changes:
        """What happened, when it seems to be complete."""
        found = self._next(_WAIT_MS)
        started = time.monotonic()
        while found and not found.ticket:
            many = found.everything or len(found.paths) > _MANY_PATHS
            if self._asks_git and not many:
                break  # while git is asked for the watermark the rest of a small burst comes in
            if time.monotonic() - started > (_FLOOD_SECONDS if many else _BURST_SECONDS):
                break
            more = self._next(_QUIET_MS)
            if not more and not more.ticket:
                break
            found.add(more)
        return found

    @property
    def _asks_git(self) -> bool:
        return self._watcher is not None and bool(self._watcher.places.git_folders)

    def _next(self, milliseconds: int) -> Changes:
        if self._watcher is None:
            with self._board.changed:
                self._board.changed.wait_for(self._is_called, milliseconds / 1000)
            return Changes()
        try:
            events = self._watcher.wait(milliseconds)
        except Unwatchable as problem:
            self._watcher_failures += 1
            self._watch(str(problem))
            return Changes(everything=True)
        if events:
            self._watcher_failures = 0
        return understand(events, self._watcher.places, self._name)

    def _hear(self, changes: Changes) -> None:
        if changes.index and not changes.everything and self._was_overtaken():
            changes.everything = True
        if changes.folders:
            self._watch()  # before anything is looked at, so that nothing falls between
        self._miss_events(changes)
        self._pending.add(changes)
        self._heard += bool(changes)
        if self._pending:
            with self._board.changed:
                self._board.behind, self._board.state = True, None

    def _is_called(self) -> bool:
        return self._board.asked > self._pending.ticket or self._stop.is_set()

    def _miss_events(self, changes: Changes) -> None:
        """A ticket that is not heard of means that others are not either: everything is looked at."""
        if changes.ticket or self._board.asked <= self._pending.ticket:
            self._unheard_since = None
            return
        now = time.monotonic()
        self._unheard_since = self._unheard_since or now
        if self._watcher is None or now - self._unheard_since > _TICKET_SECONDS:
            changes.add(Changes(everything=True, ticket=self._board.asked))
            self._unheard_since = None

    def _was_overtaken(self) -> bool:
        """Whether another process wrote the index: it may have looked at the files before we did."""
        with suppress(SatchelError):
            found = self.engine.snapshot().version
            self.engine.release()
            return found != self._version
        return True

    def _is_due(self) -> bool:
        """Whether there is work, and somebody waits for it or the last work was long enough ago."""
        pending = self._pending
        asked = pending.ticket > self._board.settled
        changed = pending and self._pace.may_work(pending.paths, everything=pending.everything, asked=asked)
        return bool(changed) or self._pace.looks_are_due()

    def _work(self) -> None:
        started = time.monotonic()
        try:
            self._bring_up_to_date(started)
        except Stopped:
            return
        except IndexBusy:
            self._pace.busy()
        except ProjectNotFound:
            raise
        except (SatchelError, OSError) as error:
            self._failed(error.message if isinstance(error, SatchelError) else str(error))
            self._pace.failed()
        finally:
            self.engine.release()  # the log of the index can be cut only when nobody holds an old generation
            with self._board.changed:
                self._board.progress = None

    def _bring_up_to_date(self, started: float) -> None:
        self._check_root()
        known, before = self._version, self._stored_generation()
        self.engine.last_refresh = None
        due = self._pending.everything or self._pace.looks_are_due()
        whole = due or len(self._pending.paths) > _MANY_PATHS
        state = self._look_at_all() if whole else self._look_at_paths()
        self._version = state.version
        paths = set() if whole else self._pending.paths
        self._pending = Changes(ticket=self._pending.ticket, settings=self._pending.settings)
        with self._board.changed:
            self._board.behind, self._board.failure = False, ""
            self._board.state = None if state.stale else state
        report = self.engine.last_refresh
        wrote = report is not None and report.generation > before
        if wrote or not whole or state.stale:
            self._pace.worked(time.monotonic() - started, paths)
        else:
            self._pace.looked(time.monotonic() - started, for_nothing=True)
        if report is not None and wrote:
            self._report(report, started)
        elif not known:
            self._report(Refresh(state.generation), started)

    def _check_root(self) -> None:
        """Is there still something to keep? Making the folder of an index would make its root again."""
        if not self.engine.root.is_dir():
            raise ProjectNotFound(f"{str(self.engine.root)!r} is no longer a folder")

    def _stored_generation(self) -> int:
        with suppress(IndexProblem):
            return self.engine.snapshot().generation
        return 0

    def _look_at_all(self) -> IndexState:
        """A walk tells what differs; then the watermark, which may be older than the files."""
        started = time.monotonic()
        self.engine.ensure_fresh()
        state = self.engine.state()
        if state.stale:
            self.engine.refresh()
            state = self.engine.state()
        if 0 < len(self._pending.paths) <= _MANY_PATHS:  # a walk goes by stamps, and these may have been kept
            found = self.engine.refresh(paths=sorted(self._pending.paths))
            state = state if found.generation == state.generation else self.engine.state()
        self._pace.looked(time.monotonic() - started, for_nothing=False)
        return state

    def _look_at_paths(self) -> IndexState:
        """Only what was heard of. The watermark is taken first, then all events up to it are waited for: so
        nothing that it covers is missing. If there are any, it may be too old, and is taken again."""
        for _ in range(_MARKS):
            heard, mark = self._heard, self.engine.mark()
            if mark.file_count is not None:
                break
            self._wait_for_events()
            if self._pending.everything:
                return self._look_at_all()
            if heard == self._heard:
                break
        self.engine.refresh(paths=sorted(self._pending.paths), mark=mark)
        snapshot = self.engine.snapshot()
        kept = snapshot.meta().get("watermark")
        project = decode_watermark(kept if mark.file_count is not None else encode_watermark(mark))
        if project is None or project != decode_watermark(kept):
            return self.engine.state()
        return IndexState.of(project, snapshot)

    def _wait_for_events(self) -> None:
        ticket = self._board.ask()
        write_ticket(self.engine, self._name, ticket)
        while self._pending.ticket < ticket and not self._stop.is_set():
            self._hear(self._next(_WAIT_MS))

    def _settle(self) -> None:
        """Answer the tickets up to which all is indexed, or could not be."""
        board = self._board
        with board.changed:
            if self._pending.ticket > board.settled and (not self._pending or board.failure):
                board.settled = self._pending.ticket
                board.changed.notify_all()
        following = board.next_wanted()
        if following:
            write_ticket(self.engine, self._name, following)

    def _watch(self, problem: str = "") -> None:
        """Watch the folders that there are now. The new watcher is there before the old one goes."""
        self._check_root()
        old, self._watcher = self._watcher, None
        try:
            if self._watcher_failures > _MOST_FAILURES:
                raise Unwatchable(problem)
            folder = self.engine.index_folder() or Path(self.engine.root)
            places = find_places(self.engine.root, self.engine.options.walk, folder, self.engine.store.file)
            self._watcher = Watcher(places, self._stop)
            self._pace.has_events = True
        except (Unwatchable, SatchelError, OSError) as error:
            self._pace.has_events = False
            text = _POLLING.format(error, self._pace.poll_seconds)
            self._tell(Happened(event=HappenedKind.NOTE, text=text))
        if old is not None:
            old.close()

    def _progress(self, done: int, total: int) -> None:
        if self._stop.is_set():
            raise Stopped
        with self._board.changed:
            self._board.progress = (done, total) if total else None

    def _failed(self, failure: str) -> None:
        with self._board.changed:
            known, self._board.failure = self._board.failure, failure
        if known != failure:
            self._tell(Happened(event=HappenedKind.FAILED, text=failure))

    def _report(self, report: Refresh, started: float) -> None:
        with self._board.changed:
            self._board.performed += report is self.engine.last_refresh
        self._tell(
            Happened(
                event=HappenedKind.REFRESH,
                generation=report.generation,
                parsed=report.parsed,
                moved=report.moved,
                touched=report.touched,
                dropped=report.dropped,
                duration_ms=round((time.monotonic() - started) * 1000),
                text="; ".join(self.engine.notes),
            )
        )


def write_ticket(engine: Engine, keeper: str, number: int) -> None:
    """Make an event that comes after those of all that happened before."""
    if engine.store.scratch is not None:
        path = engine.store.scratch / ticket_name(keeper, number)
        with suppress(OSError):  # then no event comes, and everything is looked at
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
            path.unlink()
