"""One generation of the index as arrays: which units exist, how long they are, which files they belong to.

A unit is addressed by its position in all posting runs laid end to end, a file by its position in `files`.
The file is long because all that retrieval reads of an index is read through it.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from msgspec.structs import replace

from satchel import languages
from satchel.caching import Cache, Value
from satchel.embedding import pooling
from satchel.lines import split_lines
from satchel.retrieval.file_cache import (
    DefinedNames,
    DocumentLink,
    FileCache,
    LoadedOutline,
    encode_name,
)
from satchel.storage import postings
from satchel.storage.deflate import crc32
from satchel.storage.file_table import IndexedFiles
from satchel.storage.history import PackedHistory, arrange, unpack_history
from satchel.storage.joined_runs import JoinedRuns
from satchel.storage.protocol import Snapshot, TermRows
from satchel.storage.records import REPOSITORIES, ChunkRecord, FileRecord, HistoryCommit, SymbolRecord
from satchel.terms import last_name
from satchel.types import ChunkKind, Label, Reference

if TYPE_CHECKING:  # loading the types of numpy takes a tenth of a short command
    from numpy.typing import NDArray

    from satchel.retrieval.query_terms import QueryTerms
    from satchel.storage.postings import Counts

    Positions = NDArray[np.signedinteger[Any]]
    Floats = NDArray[np.float64]


_USES = frozenset({Label.CALLS, Label.USES, Label.EXTENDS})
LONG = 0.6  # how much the length of a unit lowers its frequencies, from 0 to 1
_READY_VECTORS = 65_536  # files; of more, vectors as float32 would take a third of what a large library holds
_READY_NORMS = 500_000  # units; those of more are computed where they are needed, a 30th of a warm search
_SYMBOLS_KEPT = 20_000  # definitions of the names that were looked up: about 10 MB
_POSTINGS_KEPT = 3  # times the number of units: 18 bytes for each unit, as much as its own arrays
_LEAST_POSTINGS_KEPT = 500_000  # 3 MB: the common words of questions fill what a tree like Django would keep


class TermLookup(Protocol):
    """Looks up the terms of queries where the files of a corpus lie, if that is not this process."""

    def has_vectors(self, snapshot: Snapshot) -> bool:
        """Return whether the files of a snapshot have vectors there."""

    def __call__(self, corpus: Corpus, query_terms: QueryTerms) -> Any:
        """Return the `QueryPostings` of a query."""


class Corpus:
    """The arrays of a snapshot, built once per generation. `before` is the cache of the last generation. With
    a `spread`, the vectors of files lie elsewhere: it looks up the terms of a query there."""

    def __init__(
        self,
        snapshot: Snapshot,
        before: FileCache | None = None,
        spread: TermLookup | None = None,
    ) -> None:
        # Long, because a corpus is complete once made: every array is laid out along the same positions.
        self.snapshot = snapshot
        self.spread = spread
        # Chunk and unit numbers of another index mean something else.
        index = snapshot.version.rpartition(":")[0]
        self.files = snapshot.files(before.files if before is not None and before.index == index else ())
        found = snapshot.posting_runs()
        runs = found if isinstance(found, JoinedRuns) else JoinedRuns.of(found)
        bases = np.cumsum([0, *runs.unit_counts]).tolist()
        self._base_of = dict(zip(runs.numbers, bases, strict=False))
        counts = runs.files[:, 1].astype(np.int64)
        self.body_lengths, self.comment_lengths = runs.lengths.T
        self.first_lines, self.last_lines = runs.lines.T
        owners = self._owners(runs.files[:, 0])
        # Of four bytes, as positions are below 2³¹: the array has one for every unit.
        self.file_of = np.repeat(owners.astype(np.int32), counts)
        self.alive = self.file_of >= 0
        self.unit_count = int(self.alive.sum())
        self.mean_body_length = self._mean(self.body_lengths)
        self.mean_comment_length = self._mean(self.comment_lengths)
        starts = np.cumsum(counts) - counts
        living = np.flatnonzero(owners >= 0)
        # The position of the first unit of each file, whose other units follow; -1 for a file without units.
        self.unit_offsets = np.full(len(self.files), -1, np.int64)
        self.unit_offsets[owners[living]] = starts[living]
        self.unit_counts = np.zeros(len(self.files), np.int64)
        self.unit_counts[owners[living]] = counts[living]
        self.file_vectors = None if spread is not None else self._vectors_of(runs)
        self._row_of = np.full(len(self.files) if self.file_vectors is not None else 0, -1, np.int32)
        if self.file_vectors is not None:
            self._row_of[owners[living]] = living
        self.has_vectors = self.file_vectors is not None if spread is None else spread.has_vectors(snapshot)
        meta = snapshot.meta()
        # The names of the repositories, each the first folder of its files; none in the index of one.
        self.repositories = tuple(filter(None, meta.get(REPOSITORIES, "").split("\n")))
        self.file_cache = FileCache(index, meta.get("signature", ""), self.files)
        if before is not None:
            self.file_cache.adopt(before)
        self._postings: Cache[str, tuple[Positions, Counts]] = Cache(
            max(_POSTINGS_KEPT * self.unit_count, _LEAST_POSTINGS_KEPT)
        )
        self._symbols: Cache[str, Sequence[SymbolRecord]] = Cache(_SYMBOLS_KEPT)
        self._norms: tuple[float, Floats] | None = None  # of all units, with the mean length that they are of
        self._tagged: dict[str, Positions] = {}
        self._memo: dict[Callable[[Corpus], Any], Any] = {}
        self._changes: FileChanges | None = None

    def _owners(self, first_units: NDArray[np.uint32]) -> NDArray[np.int64]:
        """Return for each file of the posting runs its position in `files`, or -1 when it is gone."""
        with_units = np.flatnonzero(self._column("unit_count"))
        starts = self._column("first_unit")[with_units]
        order = np.argsort(starts, kind="stable")
        starts, positions = np.append(starts[order], -1), np.append(with_units[order], -1)
        places = np.searchsorted(starts[:-1], first_units)  # a place behind the last has no start
        return np.where(starts[places] == first_units, positions[places], -1)

    def _column(self, name: str) -> Positions:
        """Return a number of each file."""
        files = self.files
        if isinstance(files, IndexedFiles):
            return self._in_order(np.asarray(files.column(name)).astype(np.int64))
        return np.fromiter((getattr(record, name) for record in files), np.int64, len(files))

    def _in_order(self, column: Positions) -> Positions:
        """Return a column of a table in the order of its files."""
        order = self.files.order if isinstance(self.files, IndexedFiles) else None
        return column if order is None else column[np.array(order, np.int64)]

    @cached_property
    def _languages_and_tags(self) -> tuple[list[tuple[str, str]], Positions]:
        """Return languages with tags, joined by spaces, and for each file the position of its own among
        them."""
        files = self.files
        if isinstance(files, IndexedFiles):
            texts = [(language, tags) for language, _, _, tags in files.texts]
            return texts, self._in_order(np.asarray(files.texts_of()).astype(np.int64))
        every = [(record.language, " ".join(record.tags)) for record in files]
        known = {text: at for at, text in enumerate(dict.fromkeys(every))}
        return list(known), np.fromiter(map(known.__getitem__, every), np.int64, len(every))

    @property
    def languages(self) -> list[str]:
        """Return the language of each file."""
        texts, texts_of = self._languages_and_tags
        return [texts[at][0] for at in texts_of.tolist()]

    def path(self, at: int) -> str:
        """Return the path of the file at a position."""
        return self.files.path(at) if isinstance(self.files, IndexedFiles) else self.files[at].path

    @cached_property
    def text_bytes(self) -> int:
        """Return how large all files are together."""
        return int(self._column("size").sum())

    def _mean(self, lengths: NDArray[np.uint16]) -> float:
        """Return the mean length of the living units. An integer sum and one division are the same on every
        machine, and whatever the history of the index."""
        return max(1.0, int(lengths[self.alive].sum(dtype=np.int64)) / max(1, self.unit_count))

    @property
    def mean_length(self) -> float:
        """Return the mean length of the living units with their comments."""
        return self.mean_body_length + self.mean_comment_length

    def norms(self, positions: Positions, mean_length: float) -> Floats:
        """Return what term frequencies in some units are divided by where units have this mean length: a word
        in a long unit counts less."""
        if len(self.file_of) > _READY_NORMS:
            return self._norms_of(positions, mean_length)
        if self._norms is None or self._norms[0] != mean_length:
            self._norms = mean_length, self._norms_of(slice(None), mean_length)
        return self._norms[1].take(positions)

    def _norms_of(self, positions: Positions | slice, mean_length: float) -> Floats:
        lengths = self.body_lengths[positions].astype(np.float64) + self.comment_lengths[positions]
        found: Floats = 1.0 - LONG + LONG * lengths / mean_length
        return found

    @cached_property
    def repository_of(self) -> Positions:
        """Return for each file the position of its repository in `repositories`."""
        every = range(len(self.files))
        firsts = [bisect_left(every, f"{name}/", key=self.path) for name in self.repositories]
        return np.repeat(np.arange(len(firsts)), np.diff([*firsts, len(self.files)]))

    def postings(self, term: str) -> tuple[Positions, Counts]:
        """Return the positions of the living units that hold a term, ascending, with their packed counts."""
        return self.postings_many((term,))[0]

    def postings_many(self, terms: Sequence[str]) -> list[tuple[Positions, Counts]]:
        """Return the postings of each term, in the order given; the store is asked once for all of them."""
        found = {term: known for term in terms if (known := self._postings.get(term)) is not None}
        missing = [term for term in dict.fromkeys(terms) if term not in found]
        for term, rows in (self.snapshot.postings_many(missing) if missing else {}).items():
            found[term] = self._decoded(rows)
            self._postings.keep(term, found[term], size=len(found[term][0]) + 1)
        return [found[term] for term in terms]

    def symbols_named(self, name: str) -> Sequence[SymbolRecord]:
        """Return the definitions of a name, in any case of letters."""
        return self.symbols_named_many((name,))[0]

    def symbols_named_many(self, names: Sequence[str]) -> list[Sequence[SymbolRecord]]:
        """Return the definitions of each name, in the order given; the store is asked once for all of
        them."""
        found = {name: known for name in names if (known := self._symbols.get(name)) is not None}
        missing = [name for name in dict.fromkeys(names) if name not in found]
        for name, symbols in (self.snapshot.symbols_named_many(missing) if missing else {}).items():
            found[name] = self._symbols.keep(name, symbols, size=len(symbols) + 1)
        return [found[name] for name in names]

    def files_holding(self, term: str) -> list[int]:
        """Return the positions of the files that hold a term, ascending."""
        positions, _ = self.postings(term)
        return sorted(set(self.file_of[positions].tolist()))

    def _decoded(self, rows: TermRows) -> tuple[Positions, Counts]:
        """Return the positions and counts of the living units in the rows of a term."""
        decoded = [postings.decode(data) for _, data in rows]
        counts = joined([packed for _, packed in decoded], np.uint16)
        positions = np.empty(len(counts), np.int32)
        start = 0
        for (run, _), (offsets, _) in zip(rows, decoded, strict=True):
            own = positions[start : start + len(offsets)]
            np.add(offsets, self._base_of[run], out=own, casting="unsafe")
            start += len(offsets)
        keep = self.alive[positions]
        return (positions, counts) if keep.all() else (positions[keep], counts[keep])

    def _vectors_of(self, runs: JoinedRuns) -> NDArray[np.float32] | NDArray[np.int8] | None:
        """Return the vectors of the files in all runs; None for an index without vectors."""
        if not len(runs.vectors):
            return None
        # They are compared as float32. Where they are many they stay as stored, and are converted in parts.
        return runs.vectors.astype(np.float32) if len(self.files) <= _READY_VECTORS else runs.vectors

    def similarities(self, asked: NDArray[np.int8], files: Positions | None = None) -> Floats | None:
        """Return how near files come to a vector in meaning, all files or some: 0 for a file without units.
        None for an index without vectors."""
        if self.file_vectors is None:
            return None
        rows = self._row_of if files is None else self._row_of[files]
        chosen = self.file_vectors if files is None else self.file_vectors[rows[rows >= 0]]
        near = pooling.similarities(chosen, asked)
        found = np.zeros(len(rows))
        found[rows >= 0] = near[rows[rows >= 0]] if files is None else near
        return found

    def outlines(self, positions: Sequence[int]) -> list[LoadedOutline]:
        """Return the outlines of some files by their positions; those that are kept are not read again."""
        kept = self.file_cache.outlines
        missing = [at for at in positions if at not in kept]
        if missing and self.file_cache.is_full:
            self.file_cache.forget_outlines()
            missing = list(positions)
        found = self.snapshot.outlines([self.files[at].path for at in missing])
        for at, (outline, vectors) in zip(missing, found, strict=True):
            names = DefinedNames(outline.types, outline.others)
            self.file_cache.keep_outline(at, LoadedOutline(outline, vectors, frozenset(outline.head), names))
        return [kept[at] for at in positions]

    def lines(self, path: str) -> Sequence[str]:
        """Return the lines of a file."""
        return self.file_cache.lines.get_or_compute(
            path, lambda: tuple(split_lines(self.snapshot.text(path)))
        )

    def definitions(self, path: str) -> list[tuple[int, int, str]]:
        """Return the first line, the last line and the name of each definition of a file, in order."""
        return self.file_cache.definitions.get_or_compute(
            path,
            lambda: sorted(
                (item.start_line, item.end_line, item.name) for item in self.snapshot.symbols(path)
            ),
        )

    def chunks(self, path: str, first_line: int, last_line: int) -> list[ChunkRecord]:
        """Return the chunks of a file that share a line with the range."""
        key = path, first_line, last_line
        return self.file_cache.chunks.get_or_compute(key, lambda: self.snapshot.chunks(*key))

    def references(self, path: str) -> tuple[Reference, ...]:
        """Return the references of a file."""
        return self.file_cache.references.get_or_compute(path, lambda: self.snapshot.references(path))

    def consulting(self, paths: Iterable[str]) -> set[str]:
        """Return the files whose edges rest on one of some paths."""
        return set(self.snapshot.consulting(set(paths)))

    def passing(self, test: Callable[[str, str, Sequence[str], int], bool]) -> NDArray[np.bool_]:
        """Return for each file whether its path, language, tags and count of chunks pass a test."""
        texts, texts_of = self._languages_and_tags
        apart = [(language, tuple(tags.split())) for language, tags in texts]
        own = (apart[at] for at in texts_of.tolist())
        columns = zip(self.position_of, own, self._column("chunk_count").tolist(), strict=True)
        passed = (test(path, language, tags, chunks) for path, (language, tags), chunks in columns)
        return np.fromiter(passed, bool, len(self.files))

    def is_test(self, path: str) -> bool:
        """Return whether a file of the index is a test by its path."""
        at = self.position_of.get(path)
        return at is not None and "test" in self.files[at].tags

    def is_code(self, path: str) -> bool:
        """Return whether a file is in a programming language, not a document, data or markup."""
        at = self.position_of.get(path)
        return at is not None and languages.get(self.files[at].language).module_kind is ChunkKind.MODULE

    def has_graph(self, path: str) -> bool:
        """Return whether the language of a file has rules for the code graph."""
        at = self.position_of.get(path)
        return at is not None and languages.get(self.files[at].language).graph is not None

    def uses(self, path: str) -> Sequence[tuple[str, int]]:
        """Return the names that a file calls, uses or extends, each with its line."""
        return self.file_cache.uses.get_or_compute(path, lambda: self._read_uses(path))

    def _read_uses(self, path: str) -> tuple[tuple[str, int], ...]:
        kept = self.file_cache.references.get(path)
        # Most packs need no more of the references than this, and they are hundreds of objects for each file.
        references = self.snapshot.references(path) if kept is None else kept
        return tuple((last_name(use.name), use.line) for use in references if use.label in _USES)

    def links(self, path: str) -> tuple[DocumentLink, ...]:
        """Return the links of a document, or none for a file of another kind."""
        return self.file_cache.links.get_or_compute(path, lambda: self._read_links(path))

    def _read_links(self, path: str) -> tuple[DocumentLink, ...]:
        uses = self.snapshot.references(path)
        root = path.partition("/")[0] if self.repositories else ""
        return tuple(DocumentLink.of(use, path, root) for use in uses if use.label is Label.LINKS_TO)

    def own_path(self, path: str) -> str:
        """Return the path of a file in its own repository."""
        return path.partition("/")[2] if self.repositories else path

    def import_statements(self, path: str, parse: Callable[[], Value]) -> Value:
        """Return the import statements of a file, parsed if they are not kept."""
        kept: Cache[str, Value] = self.file_cache.import_statements
        return kept.get_or_compute(path, parse)

    def file_passages(self, path: str, divide: Callable[[], Value]) -> Value:
        """Return the passages of a file, divided if they are not kept. They must not refer to the corpus."""
        kept: Cache[str, Value] = self.file_cache.passages
        return kept.get_or_compute(path, divide)

    def unit_passage(self, path: str, unit: int, divide: Callable[[], Value]) -> Value:
        """Return one unit of a file as a passage. It must not refer to the corpus."""
        kept: Cache[tuple[str, int], Value] = self.file_cache.unit_passages
        return kept.get_or_compute((path, unit), divide)

    def memo(self, compute: Callable[[Corpus], Value]) -> Value:
        """Return `compute(corpus)`, computed once. The value must not refer to the corpus."""
        if compute not in self._memo:
            self._memo[compute] = compute(self)
        value: Value = self._memo[compute]
        return value

    def numbers(
        self, files: Positions, width: int, row: Callable[[FileRecord], tuple[float, ...]]
    ) -> NDArray[np.float64]:
        """Return a row of `width` numbers for each of some files, computed once by `row`, which is given the
        path that the file has in its own repository."""
        known = self.file_cache.numbers_of(row, width)
        for at in files[~known.has(files)].tolist():
            record = self.files[at]
            own = replace(record, path=self.own_path(record.path)) if self.repositories else record
            known.put(at, row(own))
        return known.rows(files)

    def tagged(self, worth: Mapping[str, float]) -> NDArray[np.float64]:
        """Return for each file the sum of what its tags are worth."""
        total = np.zeros(len(self.files))
        for tag, value in worth.items():
            total[self._with_tag(tag)] += value
        return total

    def _with_tag(self, tag: str) -> Positions:
        if tag not in self._tagged:
            self._tagged[tag] = self._find_tagged(tag)
        return self._tagged[tag]

    def _find_tagged(self, tag: str) -> Positions:
        texts, texts_of = self._languages_and_tags
        tagged = np.array([tag in tags.split() for _, tags in texts], bool)
        return np.flatnonzero(tagged[texts_of])

    @cached_property
    def with_graph(self) -> NDArray[np.bool_]:
        """Return whether the language of each file has rules for the code graph."""
        return self._in_languages(lambda name: languages.get(name).graph is not None)

    @cached_property
    def code(self) -> NDArray[np.bool_]:
        """Return whether each file is in a programming language, not a document, data or markup."""
        return self._in_languages(lambda name: languages.get(name).module_kind is ChunkKind.MODULE)

    def _in_languages(self, accepts: Callable[[str], bool]) -> NDArray[np.bool_]:
        texts, texts_of = self._languages_and_tags
        accepted = np.array([accepts(language) for language, _ in texts], bool)
        found: NDArray[np.bool_] = accepted[texts_of]
        return found

    @property
    def position_of(self) -> Mapping[str, int]:
        """Return the position of each path in `files`."""
        return self.file_cache.position_of

    @property
    def changes(self) -> FileChanges:
        """Return which commits of the kept history changed which files; read once, and only if asked for."""
        if self._changes is None:
            self._changes = FileChanges(unpack_history(self.snapshot.history()), self.position_of)
        return self._changes

    def replace_history(self, commits: Sequence[HistoryCommit]) -> None:
        """Use another history than that of the index, as for a copy of a commit without git."""
        self._changes = FileChanges(arrange(commits), self.position_of)

    @cached_property
    def _by_name(self) -> tuple[NDArray[np.uint32], Positions]:
        """Return the hash of each file's name, ascending, and the position of that file."""
        names = (path.rpartition("/")[2] for path in self.position_of)
        hashes = np.fromiter(map(_name_hash, names), np.uint32, len(self.files))
        order = np.argsort(hashes, kind="stable")
        return hashes[order], order.astype(np.int32)

    def files_named(self, name: str) -> list[int]:
        """Return the positions of the files with a name, whatever their folder and the case of letters."""
        hashes, positions = self._by_name
        wanted = np.uint32(_name_hash(name))
        first, last = np.searchsorted(hashes, wanted), np.searchsorted(hashes, wanted, "right")
        found = positions[first:last].tolist()
        return [at for at in found if self.path(at).rpartition("/")[2].lower() == name.lower()]


class FileChanges:
    """Which commits changed which files: one entry for each file of a commit that is still in the index.

    `commits` and `files` are the positions of each entry, `shares` is what the commit gives to each of its
    files. Paths that are gone are dropped here, not when the history is read: files come and go between two
    commits.
    """

    def __init__(self, history: PackedHistory, position_of: Mapping[str, int]) -> None:
        self._history = history
        self._file_count = len(position_of)
        counts = np.frombuffer(history.path_counts, "<u4").astype(np.int64)
        position = np.array([position_of.get(path, -1) for path in history.paths], np.int64)
        files = position[np.frombuffer(history.path_places, "<u4")]
        commits = np.repeat(np.arange(len(counts)), counts)
        self.files: Positions = files[files >= 0]
        self.commits: Positions = commits[files >= 0]
        self.total = len(counts)
        living = np.bincount(self.commits, minlength=self.total)
        self.shares: Floats = 1.0 / np.sqrt(living[self.commits])
        self._living = living > 0
        self.count = int(self._living.sum())  # of commits that changed a file of this generation
        lengths = np.frombuffer(history.lengths, "<u4").astype(np.float64)
        mean = max(1.0, float(lengths[self._living].sum()) / max(1, self.count))
        self.lengths: Floats = lengths / mean  # of the messages; 1 is the mean

    @cached_property
    def last_change(self) -> Positions:
        """Return how many commits of its repository ago each file of the corpus changed last; -1 for a file
        that did not."""
        last = np.full(self._file_count, self.total, np.int64)
        ages = np.frombuffer(self._history.ages, "<u4").astype(np.int64)
        np.minimum.at(last, self.files, ages[self.commits] if len(ages) else self.commits)
        return np.where(last < self.total, last, -1)

    def postings(self, term: str) -> tuple[Positions, Floats]:
        """Return the commits whose messages hold a term, of those that changed a file of this generation, and
        how often they hold it."""
        found, frequencies = self._history.postings(term)
        living = self._living[found]
        return found[living].astype(np.int64), frequencies[living].astype(np.float64)


def _name_hash(name: str) -> int:
    return crc32(encode_name(name.lower()))


def joined(parts: list[NDArray[Any]], kind: type[np.generic]) -> NDArray[Any]:
    """Return arrays end to end; no arrays at all give an empty one of that kind."""
    return np.concatenate(parts) if parts else np.zeros(0, kind)
