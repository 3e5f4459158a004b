"""Which indexes of other commits are kept, and what does a new one start from?

A new index starts from one that is there already, so that a refresh has only the difference to do and the
two share a file (`storage.shared_base`).
The least recently used ones are removed, but never one that somebody has open.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress

import msgspec

from satchel.errors import SatchelError
from satchel.storage.protocol import Snapshot, Store
from satchel.storage.shared_base import BASE
from satchel.types import FileEntry

_SHARING = 20  # a twentieth of all files is parsed in about the time that copying and storing all takes
KEPT = 6  # what a review goes back and forth between; the first of Django takes 50 MB
_LOOKING = 50  # files: parsing so many takes as long as reading every blob of Django


class Sources(msgspec.Struct, frozen=True):
    """The indexes that a new one may take from, and the one among them that it starts from."""

    snapshots: tuple[Snapshot, ...] = ()
    seed: Snapshot | None = None


class RefIndexes:
    """The indexes of one segment at other commits, beside the `main` index of its work tree."""

    def __init__(self, main: Store) -> None:
        self._main = main
        self._siblings = main.siblings()

    def store(self, name: str) -> Store:
        """Return the store of a ref, whether it holds an index yet or not."""
        return self._siblings.open(name)

    @contextmanager
    def sources(self, name: str, signature: str, files: Sequence[FileEntry]) -> Iterator[Sources]:
        """Open what the index of `name` may take from: all indexes of this signature. The one that has most
        of these files is the seed."""
        others = [self._siblings.open(other) for other in self._siblings.names() if other != name]
        with open_sources((*others, self._main), signature, files) as found:
            yield found

    def mark_used(self, name: str) -> None:
        """Note that an index is used now, and remove those that were not used for longest."""
        with suppress(OSError, SatchelError):  # in a folder that may not be written nothing is removed either
            self._siblings.mark_used(name)
            others = [other for other in self._siblings.names() if other != name]
            for other in others[KEPT - 1 :]:
                self._siblings.remove(other)

    def remove(self, name: str) -> None:
        """Remove an index that is of no use, unless somebody still reads it."""
        self._siblings.remove(name)


@contextmanager
def open_sources(stores: Sequence[Store], signature: str, files: Sequence[FileEntry]) -> Iterator[Sources]:
    """Open the indexes of these stores that have the signature. The one that has most of the files is the
    seed."""
    with ExitStack() as stack:
        found = tuple(_readable(stores, signature, stack))
        yield Sources(found, max(found, key=lambda seed: _likeness(seed, files), default=None))


def _readable(stores: Sequence[Store], signature: str, stack: ExitStack) -> Iterator[Snapshot]:
    """Yield the snapshots that hold what an index of this signature would; an unreadable one is no help."""
    for store in stores:
        with suppress(SatchelError):
            snapshot = store.snapshot()
            stack.callback(snapshot.close)
            if snapshot.meta().get("signature") == signature:
                yield snapshot


def _likeness(snapshot: Snapshot, files: Sequence[FileEntry]) -> int:
    """Return how many files a refresh would keep. A size that is the same counts where no time is, as in the
    index of a work tree: it costs a look at the content of every file. An index whose bulk can be shared is
    preferred to a slightly better one that has to be copied."""
    stamps = {record.path: (record.size, record.mtime_ns) for record in snapshot.files()}
    sizes = {path: size for path, (size, _) in stamps.items()}
    kept = sum(stamps.get(entry.path) == (entry.size, entry.mtime_ns) for entry in files)
    alike = max(kept, sum(sizes.get(entry.path) == entry.size for entry in files) - _LOOKING)
    return alike + (1 + len(files) // _SHARING if snapshot.meta().get(BASE) else 0)
