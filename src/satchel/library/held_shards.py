"""What does a worker of a cluster hold, and what does it say of a query? The arrays of some repositories.

A *shard* is one repository at one generation. Whatever is said of it is made of its own postings and of the
counts over all files that are asked, which come with the request; so the numbers are those that one index of
all repositories would give. Nothing here is the only copy: a shard that a worker does not hold is read from
its store, and a worker that is gone is replaced by another.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from satchel.library.cluster import CannotAnswer
from satchel.library.library import Library
from satchel.library.members import Member
from satchel.retrieval.corpus import Corpus, joined
from satchel.retrieval.evidence import first_largest, runs
from satchel.retrieval.query_postings import Postings, TermStatistics, near_files
from satchel.retrieval.query_terms import QueryTerms
from satchel.storage.postings import BODY, COMMENT, FOLDER, NAME, STEM
from satchel.storage.protocol import Snapshot, at_one_moment

if TYPE_CHECKING:
    from satchel.retrieval.corpus import Floats, Positions
    from satchel.storage.postings import Counts

_HELD_BYTES = 1 << 30  # of the arrays of all shards that a process holds
_FILE_BYTES, _UNIT_BYTES = 1_700, 60  # a record with its vector; lengths, lines, owner, norm, some postings
_QUERIES_KEPT = 4  # whose postings are kept between the steps of a query
COUNTS = ("units", "files", "text", "named", "together")
"""What is known of a term in a shard: the units and files that hold it, the most that a unit holds in its
text and in its names, and in how many units of one file it is at most."""


class ShardAt(msgspec.Struct, frozen=True):
    """A repository at one generation, and where its files and units stand among all that are asked."""

    name: str
    version: str
    first_file: int
    first_unit: int
    file_count: int


class Question(msgspec.Struct, frozen=True):
    """What some shards of a library are asked: the terms of a query, the vector of its title, and the counts
    over all files as far as they are known."""

    library: str  # its place
    shards: tuple[ShardAt, ...]
    query_terms: QueryTerms
    title_vector: bytes = b""
    statistics: TermStatistics | None = None


class GenerationGone(CannotAnswer):
    """Raised by a worker whose store has another generation of a repository than the one that is asked."""


class HeldShard:
    """The arrays of one shard, and what is known of terms in it."""

    def __init__(self, snapshot: Snapshot) -> None:
        self.corpus = Corpus(snapshot)
        self._counts: dict[str, tuple[float, ...]] = {}

    @property
    def size(self) -> int:
        """Return about how many bytes the arrays take."""
        return len(self.corpus.files) * _FILE_BYTES + len(self.corpus.file_of) * _UNIT_BYTES

    @cached_property
    def shortest(self) -> float:
        """Return the length of the shortest unit."""
        lengths = self.corpus.body_lengths.astype(np.int64) + self.corpus.comment_lengths
        return float(lengths.min()) if len(lengths) else 0.0

    def counts(self, terms: Sequence[str]) -> list[tuple[float, ...]]:
        """Return the numbers of `COUNTS` for each term."""
        missing = [term for term in dict.fromkeys(terms) if term not in self._counts]
        for term, (positions, packed) in zip(missing, self.corpus.postings_many(missing), strict=True):
            self._counts[term] = _counts(self.corpus.file_of[positions], packed)
        return [self._counts[term] for term in terms]


def _counts(owners: Positions, packed: Counts) -> tuple[float, ...]:
    if not len(packed):
        return (0.0,) * len(COUNTS)
    starts = runs(owners)
    together = np.diff(np.append(starts, len(owners))).max()
    text = (BODY.read(packed) + 1.5 * COMMENT.read(packed)).max()
    named = (3 * (NAME.read(packed) + STEM.read(packed)) + FOLDER.read(packed)).max()
    return len(packed), len(starts), float(text), float(named), float(together)


class HeldShards:
    """The shards that a process holds: read by `open_snapshot` when they are first asked, dropped when they
    were not asked for longest and others need the room."""

    def __init__(self, open_snapshot: Callable[[Question, ShardAt], Snapshot]) -> None:
        self._open = open_snapshot
        self._held: dict[tuple[str, str, str], HeldShard] = {}  # the last is the one that was used last
        self._queries: dict[bytes, dict[ShardAt, Postings]] = {}
        self._lock = threading.Lock()  # a worker may have several threads, and a snapshot has one

    def answer(self, step: str, question: Question, *given: Any) -> Any:
        """Take one step of a query for some shards."""
        with self._lock, at_one_moment():
            return getattr(self, f"_{step}")(question, *given)

    def _count(self, question: Question) -> tuple[Floats, Floats, Positions, Floats]:
        """Return the numbers of each term in each shard, the length of the shortest unit of each shard, and
        the files that are nearest in meaning with their likeness, by position."""
        terms = question.query_terms.terms
        every = [held for _, held in self._shards(question)]
        table = np.array([held.counts(terms) for held in every], np.float64)
        shortest = np.array([held.shortest for held in every])
        files, likeness = self._likeness(question)
        near = np.sort(near_files(likeness))
        return table.reshape(len(every), len(terms), len(COUNTS)), shortest, files[near], likeness[near]

    def _highest(self, question: Question) -> Floats:
        """Return the largest value of each part of the first scores of each shard."""
        return np.array([postings.highest for _, postings in self._postings(question)], np.float64)

    def _best(
        self, question: Question, accepted: bytes, count: int, highest: tuple[float, ...]
    ) -> tuple[Positions, Floats]:
        """Return the `count` accepted files with the best first scores, by position, and their scores."""
        bits = np.unpackbits(np.frombuffer(accepted, np.uint8)).astype(bool)
        files: list[Positions] = []
        scores: list[Floats] = []
        start = 0
        for shard, postings in self._postings(question):
            own = bits[start : start + shard.file_count]
            start += shard.file_count
            found, values = postings.best_scores(own, count, highest)
            order = np.argsort(found, kind="stable")
            files.append(found[order] + shard.first_file)
            scores.append(values[order])
        every, values = joined(files, np.int64), joined(scores, np.float64)
        best = np.sort(first_largest(values, count))
        return every[best], values[best]

    def _entries(
        self, question: Question, chosen: Positions
    ) -> tuple[Positions, Positions, Positions, Counts, Floats]:
        """Return those of the chosen files that are here, their postings, and how near each is in meaning."""
        found: list[tuple[Positions, Positions, Positions, Counts, Floats]] = []
        for shard, postings in self._postings(question):
            own = chosen[(chosen >= shard.first_file) & (chosen < shard.first_file + shard.file_count)]
            is_chosen = np.zeros(shard.file_count, bool)
            is_chosen[own - shard.first_file] = True
            term, positions, counts = postings.entries(is_chosen)
            near = self._similarities(question, postings.corpus, own - shard.first_file)
            found.append((own, term, positions + shard.first_unit, counts, near))
        files, terms, units, every, likeness = map(np.concatenate, zip(*found, strict=True))
        return files, terms, units, every, likeness

    def _likeness(self, question: Question) -> tuple[Positions, Floats]:
        """Return every file of the shards, and how near it is to the title in meaning."""
        files: list[Positions] = []
        near: list[Floats] = []
        for shard, held in self._shards(question) if question.title_vector else ():
            every = np.arange(shard.file_count)
            files.append(every + shard.first_file)
            near.append(self._similarities(question, held.corpus, every))
        return joined(files, np.int64), joined(near, np.float64)

    @staticmethod
    def _similarities(question: Question, corpus: Corpus, files: Positions) -> Floats:
        if not question.title_vector:
            return np.zeros(len(files))
        found = corpus.similarities(np.frombuffer(question.title_vector, np.int8), files)
        return np.zeros(len(files)) if found is None else found

    def _shards(self, question: Question) -> Iterator[tuple[ShardAt, HeldShard]]:
        for shard in question.shards:
            key = question.library, shard.name, shard.version
            held = self._held.pop(key, None)
            if held is None:
                for old in [one for one in self._held if one[:2] == key[:2]]:
                    del self._held[old]
                held = HeldShard(self._open(question, shard))
            self._held[key] = held
            yield shard, held
        self._make_room({(question.library, shard.name, shard.version) for shard in question.shards})

    def _make_room(self, wanted: set[tuple[str, str, str]]) -> None:
        """Drop shards until the rest fits; those of the present question stay."""
        size = sum(held.size for held in self._held.values())
        for key in [key for key in self._held if key not in wanted]:
            if size <= _HELD_BYTES:
                return
            size -= self._held.pop(key).size

    def _postings(self, question: Question) -> Iterator[tuple[ShardAt, Postings]]:
        """Yield the postings of a query in each shard under the counts over all files, kept from the step
        before."""
        key = msgspec.msgpack.encode((question.library, question.query_terms, question.statistics))
        kept = self._queries.pop(key, {})
        self._queries[key] = kept
        while len(self._queries) > _QUERIES_KEPT:
            self._queries.pop(next(iter(self._queries)))
        for shard, held in self._shards(question):
            if shard not in kept:
                kept[shard] = Postings(held.corpus, question.query_terms, question.statistics)
            yield shard, kept[shard]


class _LibraryOfWorker:
    """Opens the repositories of libraries for a worker, which sees their folders under the same path."""

    def __init__(self) -> None:
        self._members: dict[tuple[str, str], Member] = {}

    def open_snapshot(self, question: Question, shard: ShardAt) -> Snapshot:
        """Return the snapshot of a shard. `GenerationGone` if its store has another generation now."""
        key = question.library, shard.name
        if key not in self._members:
            self._members[key] = Library.open(question.library).member(shard.name)
        snapshot = self._members[key].source.snapshot()
        if snapshot.version != shard.version:
            del self._members[key]  # a repository of the same name may have another place by now
            raise GenerationGone(shard.name)
        return snapshot


_of_this_worker = HeldShards(_LibraryOfWorker().open_snapshot)


class ShardWorker:
    """What lives on a worker for one process that asks; all of them share the shards of the worker."""

    def answer(self, step: str, question: Question, *given: Any) -> Any:
        """Take one step of a query with the shards that the worker holds."""
        return _of_this_worker.answer(step, question, *given)
