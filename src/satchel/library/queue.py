"""Which repositories wait to be brought up to date? A queue in the database of a library, for many workers.

A worker takes a row with `FOR UPDATE SKIP LOCKED` and holds it while it works: no two workers have the same
row, and that of a worker which is killed is free again at once. A row that fails waits longer each time.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

import msgspec

from satchel.cancellation import CancelToken
from satchel.errors import Cancelled, SatchelError, Timeout, Unsupported
from satchel.library.catalogue import RepositoryState
from satchel.library.library import Library, SyncResult
from satchel.plugins import late
from satchel.storage import postgres, scheme_of

if TYPE_CHECKING:
    from satchel.storage import postgres_connection
else:  # it loads psycopg, which only the extra brings
    postgres_connection = late("satchel.storage.postgres_connection")

_MOST_ATTEMPTS = 8
_FIRST_DELAY_SECONDS = 5
_LONGEST_DELAY_SECONDS = 3600
_LOOK_SECONDS = 0.5  # between two looks at an empty queue: a push is searchable in well under ten seconds

_TAKE = """SELECT number, repository, attempts FROM satchel.queue
    WHERE library = %s AND not_before <= clock_timestamp()
    ORDER BY number LIMIT 1 FOR UPDATE SKIP LOCKED"""
_ADD = """INSERT INTO satchel.queue (library, repository)
    SELECT %s, name FROM unnest(%s::text[]) AS names (name) WHERE NOT EXISTS (
        SELECT 1 FROM satchel.queue WHERE library = %s AND repository = name
        FOR UPDATE SKIP LOCKED) RETURNING repository"""
_LATER = """UPDATE satchel.queue SET attempts = attempts + 1, problem = %s,
    not_before = clock_timestamp() + %s * interval '1 second' WHERE number = %s"""


class QueuedRepository(msgspec.Struct, frozen=True):
    """A repository that waits: how often it failed so far, and why."""

    name: str
    attempts: int = 0
    problem: str = ""


def has_queue(library: Library) -> bool:
    """Return whether a library has a queue for workers: its indexes are in PostgreSQL."""
    return scheme_of(library.catalogue.store).name == postgres.STORE.name


class SyncQueue:
    """The repositories of one library that wait, in the database of its indexes."""

    def __init__(self, library: Library) -> None:
        if not has_queue(library):
            raise Unsupported(
                "only a library whose indexes are in PostgreSQL has a queue for workers",
                hint="satchel library init --store postgresql://user@host/database, or satchel library sync",
            )
        self._library = library
        self._database, self._name = postgres.open_database(library.catalogue.store)
        self._database.make_schema()

    def add(self, names: Sequence[str]) -> list[str]:
        """Let repositories wait, and return those that did not already. One that a worker has at this moment
        waits again: what it fetched may be older than the reason to ask."""
        values = self._name, list(names), self._name
        return [name for (name,) in self._database.rows(_ADD, values)]

    def waiting(self) -> list[QueuedRepository]:
        """Return what waits, or is being worked on, in the order of its arrival."""
        statement = (
            "SELECT repository, attempts, problem FROM satchel.queue WHERE library = %s ORDER BY number"
        )
        return [QueuedRepository(*row) for row in self._database.rows(statement, (self._name,))]

    def work(
        self,
        *,
        once: bool = False,
        poll_seconds: float = 0,
        token: CancelToken | None = None,
        idle: Callable[[float], None] = time.sleep,
    ) -> Iterator[SyncResult]:
        """Bring what waits up to date, and yield how each ended; without `once` for ever. With
        `poll_seconds` all mirrors are put into the queue that often."""
        token = token or CancelToken()
        polled = -poll_seconds
        while True:
            token.check()
            if poll_seconds and time.monotonic() - polled >= poll_seconds:
                polled = time.monotonic()
                self.add([one.name for one in self._library.repositories() if one.is_remote])
            result = self._work_on_next(token)
            if result is not None:
                yield result
            elif once:
                return
            else:
                idle(_LOOK_SECONDS)

    def _work_on_next(self, token: CancelToken) -> SyncResult | None:
        """Take the next row, bring its repository up to date and return how that ended; None for no row."""
        with self._taken() as (connection, row):
            if row is None:
                return None
            number, name, attempts = row
            result = self._sync(name, token)
            run = postgres_connection.run
            if result.problem and attempts + 1 < _MOST_ATTEMPTS:
                delay = min(_FIRST_DELAY_SECONDS * 2**attempts, _LONGEST_DELAY_SECONDS)
                run(connection, _LATER, (result.problem, delay, number))
            else:
                run(connection, "DELETE FROM satchel.queue WHERE number = %s", (number,))
            run(connection, "COMMIT")
            return result

    @contextmanager
    def _taken(self) -> Iterator[tuple[postgres_connection.Connection, tuple[int, str, int] | None]]:
        with self._database.connection() as connection:
            postgres_connection.run(connection, "BEGIN")
            rows = postgres_connection.run(connection, _TAKE, (self._name,))
            yield connection, rows[0] if rows else None

    def _sync(self, name: str, token: CancelToken) -> SyncResult:
        known = {one.name: one for one in self._library.repositories()}
        if name not in known:  # it was removed meanwhile
            return SyncResult(name=name, state=RepositoryState.READY)
        try:
            result = self._library.bring_up_to_date(known[name], token=token)
        except (Cancelled, Timeout):
            raise
        except SatchelError as error:
            result = SyncResult(name=name, state=RepositoryState.FAILED, problem=error.message)
        self._library.note(known[name], result)
        return result
