"""The snapshots of many repositories as one snapshot, which is asked as the index of one folder is.

Every path is `REPOSITORY/path`, and the numbers of chunks, units and posting runs are moved behind those of
the repositories before. Nothing is scored here: what is added up over the files of an index is added up over
the files of all repositories, so an answer has the bytes that one index of them would give. Edges and
histories stay inside their repository. What is read of the files and units of a repository is held once, as
packed columns and arrays, and taken over by the next generation if the repository is the same.

The file is long because a snapshot has a method for each thing that can be read of an index."""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cached_property
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from msgspec.structs import replace

from satchel import ids
from satchel.code_facts import FileEdges, FileFacts, ScipUses, Target
from satchel.indexing.plan import CONTENT
from satchel.library.joint_files import JointFiles, RepositoryFiles
from satchel.parsed import Parsed
from satchel.storage.cross_uses import CrossUses
from satchel.storage.file_columns import FileColumns
from satchel.storage.history import join_histories, pack, unpack_history
from satchel.storage.joined_runs import JoinedRuns
from satchel.storage.protocol import LAST_LINE, EnoughSymbols, Extent, Snapshot, TermRows
from satchel.storage.records import (
    REPOSITORIES,
    ChunkRecord,
    FileRecord,
    Outline,
    PostingRun,
    RetiredChunk,
    SkippedRecord,
    SymbolRecord,
    fold,
)
from satchel.types import Reference, Symbol

if TYPE_CHECKING:  # loading the types of numpy takes a tenth of a short command
    from numpy.typing import NDArray

Found = TypeVar("Found")
SHORT_COMMIT = 12  # digits of a commit in a citation
WORK_TREE = "worktree"  # the ref of a repository that is no commit
# Repositories that keep what their edges rest on, about a megabyte each: to read it again takes a few ms.
_CONSULTED_KEPT = 64
# Bases are multiples of this, so that a few new files leave the numbers of all other repositories as they
# are, and what was read of their files is kept.
_ROOM = 1 << 16


class Shard:
    """The snapshot of one repository, with the paths and numbers that its files have in the joint
    snapshot."""

    def __init__(
        self,
        name: str,
        snapshot: Snapshot,
        bases: tuple[int, int, int] = (0, 0, 0),
        *,
        keeps_vectors: bool = True,
    ) -> None:
        self.name = name
        self._keeps_vectors = keeps_vectors
        self.snapshot = snapshot
        self.prefix = f"{name}/"
        self.first_run, self.first_unit, self.first_chunk = bases
        self._runs: JoinedRuns | None = None
        self._has_vectors = True  # until runs without vectors were read

    @cached_property
    def ref(self) -> str:
        """Return the commit that the index is of, or `worktree`."""
        return self.snapshot.meta().get(CONTENT) or WORK_TREE

    def is_at(self, ref: str) -> bool:
        """Return whether a citation with this ref, which may be the start of a commit, means this
        snapshot."""
        return ref == self.ref or (len(ref) >= SHORT_COMMIT and self.ref.startswith(ref))

    @cached_property
    def files(self) -> FileColumns:
        """Return all files, by path."""
        found = FileColumns(self.snapshot.files())
        self.snapshot.forget_files()  # of each file a kilobyte, a third of what a library holds
        return found

    @property
    def runs(self) -> JoinedRuns:
        """Return all posting runs, by number."""
        if self._runs is None:
            read = JoinedRuns.of(self.snapshot.posting_runs()).moved(self.first_run, self.first_unit)
            self._has_vectors = len(read.vectors) > 0 or not read.has_files
            self._runs = read if self._keeps_vectors else read.without_vectors()
        return self._runs

    @property
    def has_vectors(self) -> bool:
        """Return whether the files have vectors, kept or not."""
        return self.runs is not None and self._has_vectors

    def share(self, runs: JoinedRuns) -> None:
        """Hold the same runs as a part of arrays that hold others too."""
        self._runs = runs

    @cached_property
    def ends(self) -> tuple[int, int, int]:
        """Return the first numbers of runs, units and chunks that the next repository may use."""
        run = max((number + 1 for number in self.runs.numbers), default=self.first_run)
        numbers = self.files.numbers
        unit = self.first_unit + _end(numbers["first_unit"], numbers["unit_count"])
        chunk = self.first_chunk + _end(numbers["first_chunk"], numbers["chunk_count"])
        # Files that are gone may still be in a posting run.
        unit = max(unit, _end(self.runs.files[:, 0], self.runs.files[:, 1]))
        return _rounded(run), _rounded(unit), _rounded(chunk)

    def path(self, own: str) -> str:
        """Return the path of a file of the repository as the joint snapshot has it."""
        return self.prefix + own

    def record(self, own: FileRecord) -> FileRecord:
        """Return the record of a file with its path and numbers in the joint snapshot."""
        return replace(
            own,
            path=self.path(own.path),
            first_chunk=own.first_chunk + self.first_chunk,
            first_unit=own.first_unit + self.first_unit,
        )

    def chunk(self, own: ChunkRecord) -> ChunkRecord:
        """Return a chunk with its path and number in the joint snapshot."""
        return replace(own, path=self.path(own.path), number=own.number + self.first_chunk)

    def symbol(self, own: SymbolRecord) -> SymbolRecord:
        """Return a symbol with the path of its file in the joint snapshot."""
        return SymbolRecord(self.path(own.path), own.symbol)

    def retired(self, own: RetiredChunk) -> RetiredChunk:
        """Return an ended id with the path that its file has or had in the joint snapshot."""
        return replace(own, path=self.path(own.path))

    def skipped(self, own: SkippedRecord) -> SkippedRecord:
        """Return a file that was left out with its path in the joint snapshot."""
        return replace(own, skipped=replace(own.skipped, path=self.path(own.skipped.path)))

    def edges(self, own: FileEdges) -> FileEdges:
        """Return the edges of a file with the paths of their targets in the joint snapshot."""
        return replace(own, targets=self._targets(own.targets)) if own.targets else own

    def scip(self, own: ScipUses) -> ScipUses:
        """Return a SCIP document with the paths of its targets in the joint snapshot."""
        return replace(own, targets=self._targets(own.targets))

    def _targets(self, own: tuple[Target, ...]) -> tuple[Target, ...]:
        return tuple(Target(self.path(target.path), target.name, target.is_value) for target in own)


def _end(firsts: NDArray[Any], counts: NDArray[Any]) -> int:
    """Return the first number behind all of some ranges."""
    return int((firsts.astype(np.int64) + counts).max(initial=0))


def _rounded(number: int) -> int:
    return -(-number // _ROOM) * _ROOM


class JointSnapshot:
    """One generation of each of some repositories, as one snapshot."""

    def __init__(
        self,
        snapshots: Mapping[str, Snapshot],
        before: JointSnapshot | None = None,
        *,
        closes: bool = False,
        keeps_vectors: bool = True,
    ) -> None:
        """Join snapshots by the names of their repositories. What `before` has read of a repository that is
        the same is taken over. With `closes` they are closed with this one, otherwise by their owners. The
        vectors of files are only read where they are kept."""
        self._keeps_vectors = keeps_vectors
        # A slash sorts behind `-` and `.`: this order of names is the order of all their paths.
        self._snapshots = {name: snapshots[name] for name in sorted(snapshots, key=lambda name: f"{name}/")}
        self._kept = before.shards if before is not None else {}
        # By name, the one that was asked last at the end.
        self._consulted: dict[str, Shard] = dict(before._consulted) if before is not None else {}
        self._closes = closes

    @cached_property
    def shards(self) -> dict[str, Shard]:
        """Return the repositories by name, in the order of their paths."""
        found: dict[str, Shard] = {}
        bases = (0, 0, 0)
        for name, snapshot in self._snapshots.items():
            shard = self._kept.get(name)
            if shard is None or shard.snapshot is not snapshot or _bases(shard) != bases:
                shard = Shard(name, snapshot, bases, keeps_vectors=self._keeps_vectors)
            found[name] = shard
            bases = shard.ends
        self._kept = {}
        self._consulted = {name: one for name, one in self._consulted.items() if found.get(name) is one}
        return found

    @property
    def generation(self) -> int:
        return sum(snapshot.generation for snapshot in self._snapshots.values())

    @cached_property
    def version(self) -> str:
        known = [(name, snapshot.version) for name, snapshot in self._snapshots.items()]
        index = ids.hash_text("\n".join(f"{name} {version.partition(':')[0]}" for name, version in known))
        state = ids.hash_text("\n".join(f"{name} {version}" for name, version in known))
        return f"joint-{index[:16]}:{state[:16]}"

    def meta(self) -> dict[str, str]:
        """Return what holds for all repositories, and their names."""
        every = [shard.snapshot.meta() for shard in self._all]
        signatures = dict.fromkeys(meta.get("signature", "") for meta in every)
        return {"signature": "\n".join(signatures), REPOSITORIES: "\n".join(self.shards)}

    def files(self, known: Sequence[FileRecord] = ()) -> Sequence[FileRecord]:
        return self._files

    @cached_property
    def _files(self) -> JointFiles:
        return JointFiles(
            [
                RepositoryFiles(shard.name, shard.files, shard.first_chunk, shard.first_unit)
                for shard in self._all
            ]
        )

    def forget_files(self) -> None:
        """Do nothing: the records are those of the joint snapshot, which every answer needs."""

    def file_languages(self) -> dict[str, str]:
        return {
            shard.path(path): language
            for shard in self._all
            for path, language in shard.snapshot.file_languages().items()
        }

    def file(self, path: str) -> FileRecord | None:
        shard, own = self._find(path)
        found = shard.snapshot.file(own) if shard is not None else None
        return shard.record(found) if shard is not None and found is not None else None

    def file_with_content(self, file_hash: str, language: str) -> FileRecord | None:
        for shard in self._all:
            if (found := shard.snapshot.file_with_content(file_hash, language)) is not None:
                return shard.record(found)
        return None

    def text(self, path: str) -> str:
        shard, own = self._shard_of(path)
        return shard.snapshot.text(own)

    def encoded_text(self, path: str) -> bytes:
        shard, own = self._shard_of(path)
        return shard.snapshot.encoded_text(own)

    def chunks(self, path: str, first_line: int = 1, last_line: int = LAST_LINE) -> list[ChunkRecord]:
        shard, own = self._find(path)
        if shard is None:
            return []
        return [shard.chunk(chunk) for chunk in shard.snapshot.chunks(own, first_line, last_line)]

    def chunks_by_number(self, numbers: Sequence[int]) -> list[ChunkRecord]:
        found: dict[int, ChunkRecord] = {}
        for shard in self._all:
            own = [number - shard.first_chunk for number in numbers]
            inside = [number for number in own if 0 <= number < shard.ends[2] - shard.first_chunk]
            found.update(
                {chunk.number: chunk for chunk in map(shard.chunk, shard.snapshot.chunks_by_number(inside))}
            )
        return [found[number] for number in numbers if number in found]

    def chunks_by_digest(self, digest: str) -> list[ChunkRecord]:
        return [
            shard.chunk(chunk) for shard in self._all for chunk in shard.snapshot.chunks_by_digest(digest)
        ]

    def parsed(self, path: str) -> Parsed:
        shard, own = self._shard_of(path)
        return shard.snapshot.parsed(own)

    def outlines(self, paths: Sequence[str]) -> list[tuple[Outline, bytes]]:
        found = self._by_shard(paths, lambda shard, own: shard.snapshot.outlines(own))
        return found if self.has_vectors else [(outline, b"") for outline, _ in found]

    def living(self, first_units: Sequence[int]) -> set[int]:
        found: set[int] = set()
        for shard in self._all:
            first, end = shard.first_unit, shard.ends[1]
            own = [number - first for number in first_units if first <= number < end]
            found.update(number + first for number in shard.snapshot.living(own))
        return found

    def references(self, path: str) -> tuple[Reference, ...]:
        shard, own = self._shard_of(path)
        return shard.snapshot.references(own)

    def facts(self, path: str) -> FileFacts:
        shard, own = self._shard_of(path)
        return shard.snapshot.facts(own)

    def edges(self, paths: Sequence[str]) -> list[FileEdges]:
        return self._by_shard(paths, lambda shard, own: [*map(shard.edges, shard.snapshot.edges(own))])

    def cross_uses(self) -> CrossUses:
        found = []
        for shard in self._all:
            found.append((shard.snapshot.cross_uses(), len(shard.files)))
            shard.snapshot.forget_files()
        return CrossUses.joined(found)

    def edges_mark(self, path: str) -> int:
        shard, own = self._shard_of(path)
        return shard.snapshot.edges_mark(own)

    def consulting(self, keys: Collection[str]) -> list[str]:
        """Return the files whose edges rest on one of some keys. A key that is a path is asked of its own
        repository, any other of all of them."""
        found: list[str] = []
        for shard in self._all:
            own = {own for key in keys if (own := self._own_key(shard, key))}
            if own:
                found += map(shard.path, shard.snapshot.consulting(own))
                self._note_consulted(shard)
        return found

    def _note_consulted(self, shard: Shard) -> None:
        """Let the repositories that were not asked for longest forget what their edges rest on."""
        self._consulted.pop(shard.name, None)
        self._consulted[shard.name] = shard
        while len(self._consulted) > _CONSULTED_KEPT:
            self._consulted.pop(next(iter(self._consulted))).snapshot.forget_files()

    def _own_key(self, shard: Shard, key: str) -> str:
        asked, own = self._find(key)
        return key if asked is None else own if asked is shard else ""

    def scip_documents(self) -> dict[str, str]:
        return {
            shard.path(path): file_hash
            for shard in self._all
            for path, file_hash in shard.snapshot.scip_documents().items()
        }

    def scip_uses(self, path: str) -> ScipUses:
        shard, own = self._shard_of(path)
        return shard.scip(shard.snapshot.scip_uses(own))

    def symbols(self, path: str) -> list[Symbol]:
        shard, own = self._find(path)
        return shard.snapshot.symbols(own) if shard is not None else []

    def symbols_named(self, name: str) -> list[SymbolRecord]:
        return [shard.symbol(item) for shard in self._all for item in shard.snapshot.symbols_named(name)]

    def symbols_named_many(
        self, names: Sequence[str], enough: EnoughSymbols | None = None
    ) -> dict[str, list[SymbolRecord]]:
        found: dict[str, list[SymbolRecord]] = {name: [] for name in names}
        for shard in self._all if names else ():
            for name, symbols in shard.snapshot.symbols_named_many(names, enough).items():
                found[name] += map(shard.symbol, symbols)
            if enough is not None:
                names = [name for name in names if not enough(name, found[name])]
        return found

    def symbol_names(self, prefix: str, limit: int) -> list[str]:
        names = {name for shard in self._all for name in shard.snapshot.symbol_names(prefix, limit)}
        return sorted(names, key=lambda name: (fold(name), name))[:limit]

    def symbol_count(self) -> int:
        return sum(shard.snapshot.symbol_count() for shard in self._all)

    def kind_counts(self) -> dict[str, int]:
        total: Counter[str] = Counter()
        for shard in self._all:
            total.update(shard.snapshot.kind_counts())
        return dict(sorted(total.items()))

    def all_symbols(self) -> Iterable[SymbolRecord]:
        for shard in self._all:
            yield from map(shard.symbol, shard.snapshot.all_symbols())
            shard.snapshot.forget_files()

    @property
    def has_vectors(self) -> bool:
        """Return whether the files of all repositories have vectors: some alone cannot be compared."""
        return all(shard.has_vectors for shard in self._all)

    def run_sizes(self) -> dict[int, int]:
        pairs = (zip(shard.runs.numbers, shard.runs.unit_counts, strict=True) for shard in self._all)
        return dict(chain.from_iterable(pairs))

    def posting_runs(self) -> JoinedRuns:
        return self._runs

    @cached_property
    def _runs(self) -> JoinedRuns:
        """Return the runs of all repositories in the same arrays, of which each repository then has its
        part."""
        found = JoinedRuns.joined([shard.runs for shard in self._all])
        if self.has_vectors:  # otherwise some repositories have more than their part
            parts = found.parted([len(shard.runs) for shard in self._all])
            for shard, part in zip(self._all, parts, strict=True):
                shard.share(part)
        return found

    def posting_run(self, number: int) -> PostingRun:
        shard = next(item for item in self._all if item.first_run <= number < item.ends[0])
        return shard.runs[shard.runs.numbers.index(number)]

    def postings_many(self, terms: Sequence[str]) -> Mapping[str, TermRows]:
        found: dict[str, list[tuple[int, bytes]]] = {term: [] for term in terms}
        for shard in self._all:
            for term, rows in shard.snapshot.postings_many(terms).items():
                found[term] += [(run + shard.first_run, data) for run, data in rows]
        return found

    def run_terms(self, run: int) -> Iterable[tuple[str, bytes]]:
        shard = next(item for item in self._all if item.first_run <= run < item.ends[0])
        return shard.snapshot.run_terms(run - shard.first_run)

    def terms(self, prefix: str, limit: int) -> list[str]:
        every = heapq.merge(*(shard.snapshot.terms(prefix, limit) for shard in self._all))
        return list(islice(dict.fromkeys(every), limit))

    def skipped(self, paths: Sequence[str] | None = None) -> list[SkippedRecord]:
        found: list[SkippedRecord] = []
        for shard in self._all:
            own = (
                None if paths is None else [path for asked, path in map(self._find, paths) if asked is shard]
            )
            found += map(shard.skipped, shard.snapshot.skipped(own))
        return found

    def extent(self) -> Extent:
        every = [shard.snapshot.extent() for shard in self._all]
        return Extent(
            sum(item.file_count for item in every),
            max((item.latest_mtime_ns for item in every), default=0),
            sum(item.total_bytes for item in every),
        )

    def retired(self, digest: str) -> list[RetiredChunk]:
        return [shard.retired(item) for shard in self._all for item in shard.snapshot.retired(digest)]

    def history(self) -> bytes:
        parts = [(shard.prefix, unpack_history(shard.snapshot.history())) for shard in self._all]
        return pack(join_histories(parts))

    def close(self) -> None:
        for snapshot in self._snapshots.values() if self._closes else ():
            snapshot.close()

    @property
    def _all(self) -> Collection[Shard]:
        return self.shards.values()

    def _find(self, path: str) -> tuple[Shard | None, str]:
        """Return the repository of a path and the path in it. The path may be written as in a citation,
        `NAME@COMMIT:path`, if the index is of that commit."""
        name, _, own = path.partition("/")
        if shard := self.shards.get(name):
            return shard, own
        cited, _, own = path.partition(":")
        name, at, ref = cited.partition("@")
        shard = self.shards.get(name) if at else None
        return (shard, own) if shard is not None and shard.is_at(ref) else (None, "")

    def _shard_of(self, path: str) -> tuple[Shard, str]:
        shard, own = self._find(path)
        if shard is None:
            raise KeyError(path)
        return shard, own

    def _by_shard(self, paths: Sequence[str], read: Callable[[Shard, list[str]], list[Found]]) -> list[Found]:
        """Return what is read of each path, in the order given, with one call for each repository."""
        wanted: dict[str, list[tuple[int, str]]] = {}
        for number, path in enumerate(paths):
            shard, own = self._shard_of(path)
            wanted.setdefault(shard.name, []).append((number, own))
        found: dict[int, Found] = {}
        for name, asked in wanted.items():
            numbers, own_paths = zip(*asked, strict=True)
            found.update(zip(numbers, read(self.shards[name], list(own_paths)), strict=True))
        return [found[number] for number in range(len(paths))]


def _bases(shard: Shard) -> tuple[int, int, int]:
    return shard.first_run, shard.first_unit, shard.first_chunk
