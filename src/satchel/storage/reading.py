"""Which generation of an index does a reader see, and for how long?"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress

from satchel.errors import ConfigError, IndexProblem
from satchel.storage.protocol import Snapshot, Store


class Reading:
    """A reader of one store. It takes the newest generation for each question, and holds on to one where an
    answer needs more than one look."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self._held = False  # the generation stays as it is
        self._snapshot: Snapshot | None = None

    def snapshot(self) -> Snapshot:
        """The last complete generation; the same object until a newer one is there. One that somebody still
        reads, such as a question that is being answered, is closed when he is done."""
        if self._held and self._snapshot is not None:
            return self._snapshot
        latest = self.store.snapshot()
        if self._snapshot is not None and self._snapshot.version == latest.version:
            latest.close()
            return self._snapshot
        self._forget()
        self._snapshot = latest
        return latest

    @contextmanager
    def one_generation(self) -> Iterator[None]:
        """Everything inside is answered from one generation, whatever is written meanwhile: the lines of a
        chunk are cut from the text that it was found in."""
        held, self._held = self._held, True
        try:
            yield
        finally:
            self._held = held

    @contextmanager
    def newest_generation(self) -> Iterator[None]:
        """Nothing is held inside, and what was read before is forgotten afterwards."""
        held, self._held = self._held, False
        try:
            yield
        finally:
            self._held = held
            self._forget()

    def let_go(self) -> None:
        """Release the generation that was read last; the next question takes the newest. Who rests for long
        does so, because the log of the index grows for as long as anybody holds an old generation."""
        self._release()

    def rest(self) -> None:
        """Release a generation that is no longer the newest, as long as nobody asks."""
        if self._snapshot is None:
            return
        with suppress(IndexProblem, ConfigError), closing(self.store.snapshot()) as latest:
            if latest.version == self._snapshot.version:
                return
        self._release()

    def _release(self) -> None:
        if self._snapshot is not None:
            self._snapshot.close()
        self._forget()

    def _forget(self) -> None:
        """The next question takes the newest generation."""
        self._snapshot = None
