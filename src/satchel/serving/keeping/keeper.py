"""Keeps the index of one segment fresh while a server runs.

It has a thread and an engine of its own; those who answer questions have theirs, and see what it wrote
because every question takes the newest generation.
"""

from __future__ import annotations

import os
import secrets
import threading
import time
from collections.abc import Callable
from pathlib import Path

from satchel.commands.freshness import ReindexItem, ReindexResult
from satchel.engine import Engine
from satchel.errors import SatchelError
from satchel.indexing.freshness import IndexState
from satchel.serving.keeping.board import Board, Happened, HappenedKind
from satchel.serving.keeping.tending import LOCK_SECONDS, Tending, write_ticket

POLL_SECONDS = 2.0  # between looks at everything where the system gives no events
_STOP_SECONDS = 0.9  # who stops waits no longer; long work gives up by itself
_SLICE_SECONDS = 0.2  # of waiting for an index, between two words of progress
_AGAIN_SECONDS = 2.0  # before a folder that cannot be opened is tried again


class Keeper:
    """Start it, ask whether it is `fresh` or let it `settle`, stop it."""

    def __init__(
        self,
        root: str | os.PathLike[str],
        *,
        index_dir: str | os.PathLike[str] | None = None,
        watch: bool = True,
        on_event: Callable[[Happened], None] | None = None,
    ) -> None:
        """With `watch` off nothing is done unasked after the first refresh. `on_event` is called by the
        keeper's thread."""
        self._root, self._index_dir, self._watch = root, index_dir, watch
        self._tell = on_event or (lambda happened: None)
        self._board = Board()
        self._stop = threading.Event()
        self._name = f"{os.getpid()}-{secrets.token_hex(4)}"
        self._engine: Engine | None = None
        self._thread = threading.Thread(target=self._run, name="satchel-keeper", daemon=True)

    def start(self) -> None:
        """Returns at once; the first refresh runs in the background."""
        self._thread.start()

    def stop(self) -> None:
        """Within a second; work that is not done is given up, and the last complete index stays."""
        self._stop.set()
        with self._board.changed:
            self._board.changed.notify_all()
        if self._thread.is_alive():
            self._thread.join(_STOP_SECONDS)

    @property
    def fresh(self) -> bool:
        """No change is known that is not indexed. A change of the last moment may not be known yet: `settle`
        waits for that."""
        return not self._board.behind and not self._board.ended

    @property
    def progress(self) -> tuple[int, int] | None:
        """Files done and files to do, while it indexes."""
        return self._board.progress

    @property
    def state(self) -> IndexState | None:
        """How the index stood to the tree when it was last known to be fresh; None while it is not."""
        return self._board.state if self.fresh else None

    def settle(self, budget_ms: int, on_wait: Callable[[], None] = lambda: None) -> ReindexItem | None:
        """Wait until everything that changed before this call is indexed, at most so long; None if there was
        nothing to do. `on_wait` is called now and then; what it raises ends the waiting."""
        started = time.monotonic()
        board = self._board
        performed = board.performed
        if budget_ms <= 0 or not self._thread.is_alive():
            return (
                None if self.fresh else self._item(budget_ms, started, ReindexResult.SKIPPED, attempted=False)
            )
        ticket, is_first = board.join()
        if is_first and self._engine is not None:
            write_ticket(self._engine, self._name, ticket)
        end = started + budget_ms / 1000
        while not (in_time := board.wait_for(ticket, min(_SLICE_SECONDS, end - time.monotonic()))):
            if time.monotonic() >= end:
                break
            on_wait()
        if board.failure or board.ended:
            return self._item(
                budget_ms, started, ReindexResult.FAILED, error=board.failure or "it was stopped"
            )
        if not in_time:  # also where no change is known: one may have been made that was not heard of yet
            return self._item(budget_ms, started, ReindexResult.BUDGET_EXCEEDED)
        if board.performed == performed:
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
        try:
            while not self._stop.is_set():
                self._tend()
        finally:
            with self._board.changed:
                self._board.ended = True
                self._board.changed.notify_all()

    def _tend(self) -> None:
        """One engine, until it has to be opened anew."""
        try:
            with Engine.open(
                Path(self._root), index_dir=self._index_dir, lock_wait_seconds=LOCK_SECONDS
            ) as engine:
                self._engine = engine
                poll = POLL_SECONDS if self._watch else 0.0
                Tending(engine, self._board, self._stop, self._tell, self._name, poll).run(self._watch)
        except SatchelError as error:
            self._fail(error.message)
        except Exception as error:  # a defect must not end the keeping, nor go unsaid
            self._fail(f"{type(error).__name__}: {error}")

    def _fail(self, failure: str) -> None:
        """Whoever waits hears of it; then it is tried again."""
        board = self._board
        with board.changed:
            known, board.failure, board.behind = board.failure, failure, True
            board.settled = board.asked
            board.changed.notify_all()
        if known != failure:
            self._tell(Happened(event=HappenedKind.FAILED, text=failure))
        self._stop.wait(_AGAIN_SECONDS)
