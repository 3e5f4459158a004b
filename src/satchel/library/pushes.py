"""What happens when a repository of a library was pushed to? It is brought up to date, soon and once.

A library in PostgreSQL has a queue, which `satchel library worker` empties. Any other is brought up to date
by a thread of the server that heard of the push."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Sequence

from satchel.cancellation import CancelToken
from satchel.errors import SatchelError
from satchel.library.library import Library, SyncResult
from satchel.library.queue import QueuedRepository, SyncQueue, has_queue


class PushQueue:
    """The repositories of one library that wait because they were pushed to."""

    def __init__(self, library: Library, told: Callable[[SyncResult], None] = lambda result: None) -> None:
        """Start with nothing that waits; `told` is called with the result of each sync of this process."""
        self._library = library
        self._told = told
        self._token = CancelToken()
        self._waiting: dict[str, None] = {}  # in the order of their arrival
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None

    def add(self, name: str) -> None:
        """Let a repository wait. One that is worked on at this moment waits again: what was fetched may be
        older than the push."""
        if has_queue(self._library):
            SyncQueue(self._library).add([name])
            return
        with self._changed:
            self._waiting[name] = None
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, daemon=True, name="satchel-push")
                self._thread.start()
            self._changed.notify()

    def waiting(self) -> list[QueuedRepository]:
        """Return what waits, in the order of its arrival."""
        if has_queue(self._library):
            return SyncQueue(self._library).waiting()
        with self._changed:
            return [QueuedRepository(name) for name in self._waiting]

    def close(self) -> None:
        """End the thread after the file that it works on. What waits is synced by the next push or sync."""
        self._token.cancel()
        with self._changed:
            self._changed.notify()

    def _work(self) -> None:
        while not self._token.is_cancelled:
            with self._changed:
                self._changed.wait_for(lambda: self._waiting or self._token.is_cancelled)
                if self._token.is_cancelled:
                    return
                name = next(iter(self._waiting))
                del self._waiting[name]
            self._sync([name])

    def _sync(self, names: Sequence[str]) -> None:
        try:
            for result in self._library.sync(names, token=self._token):
                self._told(result)
        except SatchelError:  # it was removed meanwhile, or the server ends
            return
        except Exception as error:  # the next push is to be taken all the same
            sys.stderr.write(f"satchel: a push could not be synced: {type(error).__name__}\n")
