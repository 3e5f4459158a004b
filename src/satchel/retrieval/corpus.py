"""One generation of the index as arrays: which units exist, how long they are, whose they are.

Units are addressed by *place*: their position in all runs laid end to end.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from satchel.lines import split_lines
from satchel.retrieval.changes import Changes
from satchel.retrieval.file_cache import DefinedNames, FileCache, Kept, Key, LoadedOutline
from satchel.retrieval.names import last_name
from satchel.storage import postings
from satchel.storage.history import arrange, unpack_history
from satchel.storage.protocol import Snapshot
from satchel.storage.records import ChunkRecord, FileRecord, HistoryCommit, PostingRun
from satchel.types import Label, Reference

if TYPE_CHECKING:  # loading the types of numpy takes a tenth of a short command
    from numpy.typing import NDArray

    from satchel.storage.postings import Counts

    Places = NDArray[np.int64]


_USES = frozenset({Label.CALLS, Label.USES, Label.EXTENDS})
LONG = 0.6  # how much a long unit is held against it
_FILES_AT_HAND = 600  # those of some dozen queries: about 40 MB with what they are cut into
_POSTINGS_AT_HAND = 3  # for each unit, of the words that were asked for: 30 bytes, about as much as of itself
_UNITS_AT_HAND = 2_000  # cut out of other files: about 3 MB


class Corpus:
    """The arrays of a snapshot; built once per generation, with what was `read` in the one before."""

    def __init__(self, snapshot: Snapshot, before: FileCache | None = None) -> None:
        self.snapshot = snapshot
        index = snapshot.version.rpartition(":")[0]  # numbers of another index mean something else
        self.files = snapshot.files(before.files if before is not None and before.index == index else ())
        runs = snapshot.posting_runs()
        self._runs = [run.number for run in runs]
        self._bases = np.cumsum([0, *(run.unit_count for run in runs)]).tolist()
        covered = joined([np.frombuffer(item.files, "<u4") for item in runs], np.uint32).reshape(-1, 2)
        self._counts = covered[:, 1].astype(np.int64)
        lengths = joined([np.frombuffer(item.lengths, "<u2") for item in runs], np.uint16)
        self.body_lengths, self.comment_lengths = lengths.reshape(-1, 2).T
        lines = joined([np.frombuffer(item.lines, "<u4") for item in runs], np.uint32)
        self.first_lines, self.last_lines = lines.reshape(-1, 2).T
        owners = self._owners(covered[:, 0])
        self.file_of = np.repeat(owners, self._counts)
        self.alive = self.file_of >= 0
        self.unit_count = int(self.alive.sum())
        self.mean_body_length = self._mean(self.body_lengths)
        self.mean_comment_length = self._mean(self.comment_lengths)
        starts = np.cumsum(self._counts) - self._counts
        self.first_place = np.full(len(self.files), -1, np.int64)  # of each file; its units follow
        self.first_place[owners[owners >= 0]] = starts[owners >= 0]
        self.unit_counts = np.zeros(len(self.files), np.int64)
        self.unit_counts[owners[owners >= 0]] = self._counts[owners >= 0]
        self.file_vectors = self._file_vectors(runs, owners)
        self.file_cache = FileCache(index, snapshot.meta().get("signature", ""), self.files)
        if before is not None:
            self.file_cache.take(before)
        self._postings: dict[str, tuple[Places, Counts]] = {}
        self._postings_kept = 0  # how many they are, each term with one more for itself
        self._tagged: dict[str, Places] = {}
        self._numbers: dict[Callable[[FileRecord], tuple[float, ...]], tuple[Any, NDArray[np.float64]]] = {}
        self._history: Changes | None = None

    def _owners(self, first_units: NDArray[np.uint32]) -> NDArray[np.int64]:
        """For each covered file its position in `files`, or -1 when it is gone."""
        position = {record.first_unit: at for at, record in enumerate(self.files) if record.unit_count}
        return np.fromiter((position.get(first, -1) for first in first_units.tolist()), np.int64)

    def _mean(self, lengths: NDArray[np.uint16]) -> float:
        """An integer sum and one division: the same on every machine and for every history."""
        return max(1.0, int(lengths[self.alive].sum(dtype=np.int64)) / max(1, self.unit_count))

    @cached_property
    def norms(self) -> NDArray[np.float64]:
        """What frequencies in each unit are divided by: long units are held against them."""
        lengths = self.body_lengths.astype(np.float64) + self.comment_lengths
        norms: NDArray[np.float64] = (
            1.0 - LONG + LONG * lengths / (self.mean_body_length + self.mean_comment_length)
        )
        return norms

    def postings(self, term: str) -> tuple[Places, Counts]:
        """The places of the living units that hold a term, ascending, with their packed counts."""
        found = self._postings.get(term)
        if found is None:
            found = self._read_postings(term)
            self._postings_kept += len(found[0]) + 1
            if self._postings_kept > _POSTINGS_AT_HAND * self.unit_count:
                self._postings.clear()
                self._postings_kept = len(found[0]) + 1
            self._postings[term] = found
        return found

    def _read_postings(self, term: str) -> tuple[Places, Counts]:
        rows = [
            (base, data)
            for base, run in zip(self._bases, self._runs, strict=False)
            if (data := self.snapshot.postings(run, term))
        ]
        decoded = [postings.decode(data) for _, data in rows]
        counts = joined([packed for _, packed in decoded], np.uint16)
        places = np.empty(len(counts), np.int64)
        start = 0
        for (base, _), (offsets, _) in zip(rows, decoded, strict=True):
            np.add(offsets, base, out=places[start : start + len(offsets)])
            start += len(offsets)
        keep = self.alive[places]
        return (places, counts) if keep.all() else (places[keep], counts[keep])

    def _file_vectors(self, runs: list[PostingRun], owners: Places) -> NDArray[np.float32] | None:
        """A row for each file, zero for one without units; None for an index made without a model."""
        joined = np.frombuffer(b"".join(run.vectors for run in runs), np.int8)
        if not len(joined):
            return None
        rows = joined.reshape(len(owners), -1)
        vectors = np.zeros((len(self.files), rows.shape[1]), np.float32)  # as they are compared
        vectors[owners[owners >= 0]] = rows[owners >= 0]
        return vectors

    def outlines(self, positions: Sequence[int]) -> list[LoadedOutline]:
        """What ranking asks of some files, each read once."""
        kept = self.file_cache.known
        missing = [at for at in positions if at not in kept]
        found = self.snapshot.outlines([self.files[at].path for at in missing])
        for at, (outline, vectors) in zip(missing, found, strict=True):
            names = DefinedNames(outline.types, outline.others)
            self.file_cache.note(at, LoadedOutline(outline, vectors, frozenset(outline.head), names))
        return [kept[at] for at in positions]

    @property
    def defining(self) -> dict[str, tuple[int, ...]]:
        """Name → the files that define it, of those that were looked at."""
        return self.file_cache.defining

    def lines(self, path: str) -> Sequence[str]:
        """The lines of a file."""
        return self._at_hand(self.file_cache.lines, path, lambda: split_lines(self.snapshot.text(path)))

    def definitions(self, path: str) -> list[tuple[int, int, str]]:
        """The first and last line of each definition of a file and its name, in order."""
        return self._at_hand(
            self.file_cache.definitions,
            path,
            lambda: sorted(
                (item.start_line, item.end_line, item.name) for item in self.snapshot.symbols(path)
            ),
        )

    def chunks(self, path: str, first_line: int, last_line: int) -> list[ChunkRecord]:
        """The chunks of a file that share a line with the range."""
        key = path, first_line, last_line
        return self._at_hand(self.file_cache.chunks, key, lambda: self.snapshot.chunks(*key), _UNITS_AT_HAND)

    def references(self, path: str) -> tuple[Reference, ...]:
        """What a file refers to."""
        return self._at_hand(self.file_cache.references, path, lambda: self.snapshot.references(path))

    def uses(self, path: str) -> list[tuple[str, int]]:
        """The names that a file calls, uses or extends, each with its line."""
        return self._at_hand(
            self.file_cache.uses,
            path,
            lambda: [(last_name(use.name), use.line) for use in self.references(path) if use.label in _USES],
        )

    def file_passages(self, path: str, divide: Callable[[], Kept]) -> Kept:
        """What a file is cut into; it must not refer to the corpus."""
        kept: dict[str, Kept] = self.file_cache.passages
        return self._at_hand(kept, path, divide)

    def unit_passage(self, path: str, unit: int, divide: Callable[[], Kept]) -> Kept:
        """What is cut out of a file at a unit; it must not refer to the corpus."""
        kept: dict[tuple[str, int], Kept] = self.file_cache.unit_passages
        return self._at_hand(kept, (path, unit), divide, _UNITS_AT_HAND)

    @staticmethod
    def _at_hand(
        kept: dict[Key, Kept], key: Key, read: Callable[[], Kept], most: int = _FILES_AT_HAND
    ) -> Kept:
        """What was read of a few files is kept, each questioned again and again."""
        found = kept.get(key)
        if found is None:
            if len(kept) >= most:
                kept.clear()
            found = kept[key] = read()
        return found

    def numbers(
        self, files: Places, width: int, row: Callable[[FileRecord], tuple[float, ...]]
    ) -> NDArray[np.float64]:
        """Rows of numbers that depend on a file alone, each worked out once."""
        if row not in self._numbers:
            count = len(self.files)
            self._numbers[row] = np.zeros(count, bool), np.zeros((count, width))
        known, table = self._numbers[row]
        for at in files[~known[files]].tolist():
            table[at] = row(self.files[at])
            known[at] = True
        return table[files]

    def tagged(self, worth: Mapping[str, float]) -> NDArray[np.float64]:
        """For each file the sum of what its tags are worth."""
        total = np.zeros(len(self.files))
        for tag, value in worth.items():
            total[self._with_tag(tag)] += value
        return total

    def _with_tag(self, tag: str) -> Places:
        if tag not in self._tagged:
            found = [at for at, record in enumerate(self.files) if tag in record.tags]
            self._tagged[tag] = np.array(found, np.int64)
        return self._tagged[tag]

    @property
    def position_of(self) -> dict[str, int]:
        """Where a path stands in `files`."""
        return self.file_cache.position_of

    @property
    def history(self) -> Changes:
        """What the last commits did to the files; read once, and only if asked for."""
        if self._history is None:
            self._history = Changes(unpack_history(self.snapshot.history()), self.position_of)
        return self._history

    @history.setter
    def history(self, commits: Sequence[HistoryCommit]) -> None:
        """Another past than the index keeps: that of the commit which a copy without git was taken from."""
        self._history = Changes(arrange(commits), self.position_of)
        self.__dict__.pop("last_changes", None)

    @cached_property
    def last_changes(self) -> Places:
        """How many commits ago each file changed last; -1 for one that did not."""
        return self.history.last_change(len(self.files))

    @cached_property
    def _by_name(self) -> dict[str, list[int]]:
        found: dict[str, list[int]] = defaultdict(list)
        for at, record in enumerate(self.files):
            found[record.path.rpartition("/")[2].lower()].append(at)
        return found

    def files_named(self, name: str) -> list[int]:
        """The files of a name, whatever their folder and the case of letters."""
        return self._by_name.get(name.lower(), [])


def joined(parts: list[NDArray[Any]], kind: type[np.generic]) -> NDArray[Any]:
    """Arrays end to end; none at all are an empty one of that kind."""
    return np.concatenate(parts) if parts else np.zeros(0, kind)
