"""Which generation of an index does an answer come from?"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress

from satchel.errors import ConfigError, IndexProblem
from satchel.storage.protocol import Snapshot, Store


class SnapshotSource:
    """Gives every call the newest snapshot of one store, and all calls of one answer the same snapshot."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self._is_pinned = False
        self._snapshot: Snapshot | None = None  # the last one given; kept because its caches are worth it

    def snapshot(self) -> Snapshot:
        """Return the pinned snapshot inside `pinned`, and the newest one outside of it.

        The same object is returned until the index has a newer generation. An older snapshot that somebody
        still reads, such as a corpus, stays open until that reader is gone.
        """
        if self._is_pinned and self._snapshot is not None:
            return self._snapshot
        return self._take_newest()

    @contextmanager
    def pinned(self) -> Iterator[None]:
        """Answer all calls inside from the generation that is the newest when the block is entered.

        The lines of a chunk are then cut from the text that it was found in, and the index state describes
        that text, whatever is written meanwhile. A refresh inside the block moves the pin to its own
        generation. A block inside another one keeps the pin of the outer.
        """
        if self._is_pinned:
            yield
            return
        try:
            self._take_newest()
        except (IndexProblem, ConfigError):  # no index to read: the first call inside says so, or makes one
            self._forget()
        self._is_pinned = True
        try:
            yield
        finally:
            self._is_pinned = False

    @contextmanager
    def unpinned(self) -> Iterator[None]:
        """Give the newest snapshot to every call inside; a pin around the block is taken anew after it."""
        pinned, self._is_pinned = self._is_pinned, False
        try:
            yield
        finally:
            self._is_pinned = pinned
            self._forget()

    def release(self) -> None:
        """Close the snapshot that was given last.

        The write-ahead log of an index grows for as long as anybody holds an old generation, so whoever
        rests for long releases it.
        """
        if self._snapshot is not None:
            self._snapshot.close()
        self._forget()

    def release_if_old(self) -> None:
        """Close the snapshot that was given last if the index has a newer generation."""
        if self._snapshot is None:
            return
        with suppress(IndexProblem, ConfigError), closing(self.store.snapshot()) as latest:
            if latest.version == self._snapshot.version:
                return
        self.release()

    def _take_newest(self) -> Snapshot:
        latest = self.store.snapshot(self._snapshot)
        if self._snapshot is not None and self._snapshot.version == latest.version:
            if latest is not self._snapshot:
                latest.close()
            return self._snapshot
        self._forget()
        self._snapshot = latest
        return latest

    def _forget(self) -> None:
        """Drop the last snapshot without closing it; a reader that holds it may go on."""
        self._snapshot = None
