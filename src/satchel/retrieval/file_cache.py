"""What was read of the files of a generation, whatever the query, and what of it the next one may keep."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from operator import itemgetter
from typing import Any, TypeVar

import msgspec

from satchel.storage.records import ChunkRecord, FileRecord, Outline
from satchel.types import Reference

Kept = TypeVar("Kept")
Key = TypeVar("Key", bound=Hashable)


def encode_name(name: str) -> bytes:
    """A name as it is searched for; one read from a file may hold halves of a character."""
    return name.encode("utf-8", "surrogatepass")


class DefinedNames:
    """Names of definitions, laid out so that those with some words are found at once."""

    def __init__(self, types: Sequence[str], others: Sequence[str]) -> None:
        self._joined = encode_name("\n".join((*types, *others)))
        self._folded = self._joined.lower()  # of bytes: letters beyond ASCII stay, so positions do, too
        self._types_end = len(encode_name("\n".join(types)))

    def holding(self, parts: Iterable[bytes]) -> tuple[Iterable[bytes], Iterable[bytes]]:
        """The names of types and the other names that hold one of some parts, encoded as by `encode_name`."""
        types: dict[bytes, None] = {}
        others: dict[bytes, None] = {}
        joined, folded = self._joined, self._folded
        for part in filter(None, parts):  # nothing would be found everywhere
            start = folded.find(part)
            while start >= 0:
                last = folded.find(b"\n", start)
                last = len(folded) if last < 0 else last
                name = joined[folded.rfind(b"\n", 0, start) + 1 : last]
                (types if start < self._types_end else others)[name] = None
                start = folded.find(part, last)
        return types, others


class LoadedOutline(msgspec.Struct, frozen=True):
    """A file's outline, the vectors of its units, and parts of the outline in the form they are looked up."""

    outline: Outline
    vectors: bytes
    head: frozenset[str]
    names: DefinedNames

    @property
    def defines(self) -> dict[str, None]:
        """Every name that the file defines, once."""
        return dict.fromkeys((*self.outline.types, *self.outline.others))


class FileCache:
    """What was read of the files of one generation; where a file stays as it was, good for the next one."""

    def __init__(self, index: str, signature: str, files: Sequence[FileRecord]) -> None:
        self.index = index
        self.signature = signature
        self.files = files
        self.position_of = {record.path: at for at, record in enumerate(files)}
        self.known: dict[int, LoadedOutline] = {}
        self.defining: dict[str, tuple[int, ...]] = {}  # name -> the known files that define it
        self.lines: dict[str, Sequence[str]] = {}
        self.definitions: dict[str, list[tuple[int, int, str]]] = {}
        self.references: dict[str, tuple[Reference, ...]] = {}
        self.uses: dict[str, list[tuple[str, int]]] = {}
        self.passages: dict[str, Any] = {}  # path → its pieces
        self.unit_passages: dict[tuple[str, int], Any] = {}  # path and unit → that one piece
        self.chunks: dict[tuple[str, int, int], list[ChunkRecord]] = {}  # path and its lines

    def take(self, before: FileCache) -> None:
        """An edit changes one file of thousands: the others need not be read again."""
        if (before.index, before.signature) != (self.index, self.signature):
            return
        self._take_known(before)
        self._take(self.lines, before.lines, before)
        self._take(self.definitions, before.definitions, before)
        self._take(self.references, before.references, before)
        self._take(self.uses, before.uses, before)
        self._take(self.passages, before.passages, before)
        self._take(self.unit_passages, before.unit_passages, before, itemgetter(0))
        self._take(self.chunks, before.chunks, before, itemgetter(0))

    def note(self, at: int, known: LoadedOutline) -> None:
        """Keep what is known of the file at a position."""
        self.known[at] = known
        defining, alone = self.defining, (at,)  # most names are defined by one file: all share its tuple
        for name in known.defines:
            defining[name] = defining.get(name, ()) + alone

    def _take_known(self, before: FileCache) -> None:
        """Where every file stands where it stood, only what changed is taken out again."""
        if list(self.position_of) != list(before.position_of):
            for old, known in before.known.items():
                at = self._same_file(before, before.files[old].path)
                if at is not None:
                    self.note(at, known)
            return
        self.known, self.defining = dict(before.known), dict(before.defining)
        for at in before.known:
            if self._same_file(before, self.files[at].path) is None:
                for name in self.known.pop(at).defines:
                    self.defining[name] = tuple(other for other in self.defining[name] if other != at)

    def _take(
        self,
        mine: dict[Key, Kept],
        theirs: dict[Key, Kept],
        before: FileCache,
        path_of: Callable[[Any], str] = str,
    ) -> None:
        mine.update((key, theirs[key]) for key in theirs if self._same_file(before, path_of(key)) is not None)

    def _same_file(self, before: FileCache, path: str) -> int | None:
        """Where a file stands that has the content it had before."""
        at, old = self.position_of.get(path), before.position_of.get(path)
        if at is None or old is None:
            return None
        mine, theirs = self.files[at], before.files[old]
        if (mine.file_hash, mine.language) != (theirs.file_hash, theirs.language):
            return None
        return at if (mine.first_chunk, mine.first_unit) == (theirs.first_chunk, theirs.first_unit) else None
