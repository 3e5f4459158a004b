"""How are the terms of a query looked up in repositories that lie with the workers of a cluster?

In steps, each of them one call for each worker. First the workers count: what holds each term is added up,
and rarity is measured by the sum. Then they score their files under these counts and give the best, of which
the best of all are taken here. Last they give the postings of the files that were chosen; everything after
that is done in this process as for any index. So an answer has the same bytes, however many workers there
are. A shard is not scored if even its largest numbers together could not bring a file among the best.

What no worker answers, because it was killed or because its store has a newer generation already, is done in
this process from its own snapshots.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec.structs import replace

from satchel.library.held_shards import HeldShards, Question, ShardAt, ShardWorker
from satchel.library.joint_snapshot import JointSnapshot
from satchel.retrieval.corpus import LONG, Corpus, joined
from satchel.retrieval.evidence import first_largest, saturated
from satchel.retrieval.query_postings import TermStatistics, first_weightings, near_files, title_vector
from satchel.retrieval.query_terms import QueryTerms
from satchel.storage.protocol import Snapshot

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from satchel.library.cluster import Cluster
    from satchel.retrieval.corpus import Floats, Positions
    from satchel.retrieval.query_postings import Entries

_FIRST_SHARE = 8  # one of so many shards is scored at first, the most promising ones
_FIRST_LEAST = 6  # shards that are scored at first
_SLACK = 1e-6  # by which a bound may be below the value because of rounding


class Spread:
    """The workers of a cluster that look up the terms of queries in one library."""

    def __init__(self, cluster: Cluster, place: str) -> None:
        self._cluster = cluster
        self._place = place
        self._own = HeldShards(self._own_snapshot)
        self._asked: JointSnapshot | None = None  # whose shards this process would read itself
        self._workers = [""]  # that were there when the last query came; none is this process
        self._holders: dict[str, str] = {}  # repository → worker
        self.scored = self.skipped = 0  # shards of all queries so far

    def has_vectors(self, snapshot: Snapshot) -> bool:
        """Return whether the files of all repositories of a snapshot have vectors."""
        assert isinstance(snapshot, JointSnapshot)
        return snapshot.has_vectors

    def __call__(self, corpus: Corpus, query_terms: QueryTerms) -> SpreadPostings:
        """Look up the terms of a query."""
        assert isinstance(corpus.snapshot, JointSnapshot)
        if corpus.snapshot is not self._asked:  # the one before may be closed
            self._asked, self._own = corpus.snapshot, HeldShards(self._own_snapshot)
        self._workers = self._cluster.workers() or [""]
        return SpreadPostings(corpus, query_terms, self)

    def _own_snapshot(self, question: Question, shard: ShardAt) -> Snapshot:
        assert self._asked is not None
        return self._asked.shards[shard.name].snapshot

    def note(self, scored: int, skipped: int) -> None:
        """Note how many shards a query had to score, and how many it could leave out."""
        self.scored += scored
        self.skipped += skipped

    def question(self, corpus: Corpus, query_terms: QueryTerms, title: bytes) -> Question:
        """Return what all shards of a corpus are asked first."""
        return Question(self._place, corpus.memo(_shards_of), query_terms, title)

    def ask(
        self, step: str, question: Question, given: Callable[[Sequence[ShardAt]], tuple[Any, ...]]
    ) -> list[tuple[Sequence[ShardAt], Any]]:
        """Take a step of a query on all workers that hold some of its shards, and return what each says of
        its own. `given` makes the further arguments for the shards of a worker."""
        parts = self._by_worker(question.shards)
        calls = [(step, replace(question, shards=shards), *given(shards)) for shards in parts.values()]
        said = self._cluster.ask(ShardWorker, dict(zip(parts, calls, strict=True)), self._own.answer)
        return list(zip(parts.values(), said, strict=True))

    def _by_worker(self, shards: Sequence[ShardAt]) -> dict[str, tuple[ShardAt, ...]]:
        """Return the shards of each worker. A repository stays with its worker as long as that is there."""
        load = dict.fromkeys(self._workers, 0)
        for shard in shards:
            if (worker := self._holders.get(shard.name, "")) in load:
                load[worker] += shard.file_count
        homeless = [shard for shard in shards if self._holders.get(shard.name) not in load]
        for shard in sorted(homeless, key=lambda one: (-one.file_count, one.name)):
            worker = min(load, key=lambda name: (load[name], name))
            self._holders[shard.name] = worker
            load[worker] += shard.file_count
        found: dict[str, list[ShardAt]] = {}
        for shard in shards:
            found.setdefault(self._holders[shard.name], []).append(shard)
        return {worker: tuple(own) for worker, own in found.items()}


def _shards_of(corpus: Corpus) -> tuple[ShardAt, ...]:
    snapshot = corpus.snapshot
    assert isinstance(snapshot, JointSnapshot)
    found: list[ShardAt] = []
    file = unit = 0
    for name, shard in snapshot.shards.items():
        found.append(ShardAt(name, shard.snapshot.version, file, unit, len(shard.files)))
        file += len(shard.files)
        unit += sum(shard.runs.unit_counts)
    return tuple(found)


class SpreadPostings:
    """The postings of a query's terms in a corpus whose shards lie with workers."""

    def __init__(self, corpus: Corpus, query_terms: QueryTerms, spread: Spread) -> None:
        self.corpus = corpus
        self.query_terms = query_terms
        self._spread = spread
        self.title_vector = title_vector(query_terms) if corpus.has_vectors else None
        title = b"" if self.title_vector is None else self.title_vector.tobytes()
        counting = spread.question(corpus, query_terms, title)
        self._counted = spread.ask("count", counting, lambda shards: ())
        units, files = self._table[:, :, 0].sum(axis=0), self._table[:, :, 1].sum(axis=0)
        self.statistics = TermStatistics(
            corpus.unit_count,
            len(corpus.files),
            corpus.mean_length,
            tuple(map(int, units.tolist())),
            tuple(map(int, files.tolist())),
        )
        self.unit_rarity = self.statistics.unit_rarity
        self.file_rarity = self.statistics.file_rarity
        self._question = replace(counting, statistics=self.statistics)
        self._likeness: dict[int, float] = {}  # of the files that were chosen

    @cached_property
    def _table(self) -> Floats:
        """Return the numbers of each term in each shard, in the order of repositories."""
        return self._of_shards(0)

    @cached_property
    def _shortest(self) -> Floats:
        """Return the length of the shortest unit of each shard."""
        return self._of_shards(1)

    def _of_shards(self, part: int) -> Floats:
        """Return one part of what was counted, in the order of repositories."""
        found = {
            shard.name: row
            for shards, said in self._counted
            for shard, row in zip(shards, said[part], strict=True)
        }
        return np.array([found[name] for name in self.corpus.repositories])

    def nearest(self) -> Positions:
        """Return the files that come nearest to the title in meaning, whatever words they use."""
        files, likeness = _by_position((said[2], said[3]) for _, said in self._counted)
        return files[near_files(likeness)]

    def units_by_repository(self) -> list[Positions]:
        """Return for each term how many units of each repository hold it."""
        return list(self._table[:, :, 0].astype(np.int64).T)

    def best_files(self, accepted: NDArray[np.bool_], count: int) -> Positions:
        """Return the `count` accepted files with the best first scores, best first. The most promising shards
        are scored first, and others until none is left that could bring in a file or a larger value."""
        search = _BestFiles(self, accepted, count)
        promise = self._bounds / np.maximum(self._bounds.max(axis=0, initial=0.0), _SLACK)
        holding = np.flatnonzero(self._table[:, :, 0].any(axis=1))
        by_promise = holding[np.argsort(-promise[holding].sum(axis=1), kind="stable")]
        wanted = by_promise[: max(_FIRST_LEAST, len(holding) // _FIRST_SHARE)]
        while len(wanted):
            search.score(wanted)
            wanted = np.array(
                [at for at in by_promise if search.may_need(int(at), self._bounds[at])], np.int64
            )
        self._spread.note(len(search.scored), len(holding) - len(search.scored))
        return search.files

    @cached_property
    def _bounds(self) -> Floats:
        """Return for each shard what no file of it exceeds, for each part of the first scores."""
        text, named, together = (self._table[:, :, at] for at in (2, 3, 4))
        norms = 1.0 - LONG + LONG * self._shortest / self.statistics.mean_length
        impacts = saturated(text / norms[:, None] + named)
        found: list[Floats] = []
        for weighting in first_weightings(self.query_terms):
            worth = np.zeros(len(self.unit_rarity))
            scored = self.statistics.scored_terms(self.query_terms, weighting)
            for number in scored:
                worth[number] = self.query_terms.weights[weighting][number] * self.unit_rarity[number]
            # The root of a sum of squares is at most the sum of the roots for each term.
            found += [impacts @ worth, (impacts * np.sqrt(together)) @ worth]
        return np.stack(found, axis=1) * (1.0 + _SLACK)

    def ask(
        self, step: str, wanted: Iterable[int], given: Callable[[Sequence[ShardAt]], tuple[Any, ...]]
    ) -> list[tuple[Sequence[ShardAt], Any]]:
        """Take a step for some shards, by their numbers."""
        shards = tuple(self._question.shards[at] for at in wanted)
        return self._spread.ask(step, replace(self._question, shards=shards), given)

    def entries(self, chosen: NDArray[np.bool_]) -> Entries:
        """Return the postings of the chosen files."""
        files = np.flatnonzero(chosen)
        holding = sorted(set(self.corpus.repository_of[files].tolist()))
        asked = self.ask("entries", holding, lambda shards: (files,))
        for _, (own, *_, likeness) in asked:
            self._likeness.update(zip(own.tolist(), likeness.tolist(), strict=True))
        term, positions, counts = (joined([said[part] for _, said in asked], np.int64) for part in (1, 2, 3))
        order = np.lexsort((positions, term))
        return term[order], positions[order], counts[order]

    def similarities(self, files: Positions) -> Floats | None:
        """Return how near some of the chosen files come to the title in meaning; None without vectors."""
        if self.title_vector is None:
            return None
        return np.array([self._likeness[at] for at in files.tolist()])


class _BestFiles:
    """The best files of the shards that were scored so far."""

    def __init__(self, postings: SpreadPostings, accepted: NDArray[np.bool_], count: int) -> None:
        self.files: Positions = np.zeros(0, np.int64)
        self.scored: set[int] = set()
        self._postings = postings
        self._accepted = accepted
        self._count = count
        self._highest: Floats = np.zeros(2 * len(first_weightings(postings.query_terms)))
        self._least = -np.inf  # what a file must reach to be among the best

    def score(self, wanted: Iterable[int]) -> None:
        """Score further shards, and take the best files of all that were scored."""
        new = [int(at) for at in wanted]
        self.scored.update(new)
        said = self._postings.ask("highest", new, lambda shards: ())
        self._highest = np.max([self._highest, *(rows.max(axis=0) for _, rows in said)], axis=0)
        highest = tuple(self._highest.tolist())
        found = self._postings.ask(
            "best", sorted(self.scored), lambda shards: (self._bits(shards), self._count, highest)
        )
        files, scores = _by_position(pair for _, pair in found)
        best = first_largest(scores, self._count)
        self.files = files[best]
        self._least = float(scores[best[-1]]) if len(best) == self._count else -np.inf

    def _bits(self, shards: Sequence[ShardAt]) -> bytes:
        """Return which files of some shards are accepted."""
        parts = [self._accepted[one.first_file : one.first_file + one.file_count] for one in shards]
        return np.packbits(np.concatenate(parts)).tobytes()

    def may_need(self, at: int, bounds: Floats) -> bool:
        """Return whether a shard that was not scored might have one of the best files, or a larger value of a
        part of the scores, which would change the scores of all others."""
        if at in self.scored:
            return False
        held = self._highest > 0
        reached = float((bounds[held] / self._highest[held]).sum()) + _SLACK
        return bool((bounds > self._highest).any()) or reached >= self._least


def _by_position(pairs: Iterable[tuple[Positions, Floats]]) -> tuple[Positions, Floats]:
    """Return the files that several workers gave, with their values, by position."""
    every = list(pairs)
    files = joined([found for found, _ in every], np.int64)
    values = joined([given for _, given in every], np.float64)
    order = np.argsort(files, kind="stable")
    return files[order], values[order]
