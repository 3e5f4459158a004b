"""What every place that keeps an index promises: `Store`, `Snapshot`, `Writer`, `Siblings`.

A store holds tables and nothing else: scoring, planning, tokenising and packing stay above it. The nouns:

- A *generation* is one complete state of an index. Every committed write makes the next one, counted from 1.
- A *snapshot* reads one generation and never sees another.
- A file has a row for each *chunk* (what is cited) and a count of *units* (what is scored). The chunks of a
  file are numbered `first_chunk … first_chunk + chunk_count - 1`, its units `first_unit … first_unit +
  unit_count - 1`. Numbers are never shown and never used twice, also not after `clear`.
- Full text is kept in *posting runs*: for some files, one row per term with the units that hold it.
- A file has *facts*, what it says about names, and *edges*, what its names mean. Facts are known from its
  content alone; edges rest on other files too, whose paths, in the index or not, are *consulted*.
- *SCIP documents* are what an index of a compiler says about files, each bound to the content of its file.
  They are kept by path, whatever becomes of the file.

Binary layouts are the same in every store, so that an index can be copied from one kind into another. Whoever
writes them and whoever reads them stand in one file each: `storage.records` for texts, references, outlines,
facts, edges and the arrays of a posting run, `storage.postings` for the row of a term, `storage.history` for
the past commits. A store keeps these bytes as they are.

Damage is noticed. A store either keeps a checksum with every row and compares it when the row is read
(`storage.checks` does that for SQLite), or lies on something that does. Data that is not as it was written is
`IndexCorrupt`, never a wrong answer.
The file is long because every method that a store has to offer is promised here.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import msgspec

from satchel.code_facts import FileEdges, FileFacts, ScipUses
from satchel.parsed import Parsed
from satchel.storage.records import (
    ChunkRecord,
    FileRecord,
    Outline,
    PackedFile,
    PostingRun,
    RetiredChunk,
    SkippedRecord,
    SymbolRecord,
)
from satchel.types import FileEntry, Reference, Symbol

if TYPE_CHECKING:
    from satchel.storage.cross_uses import CrossUses

LAST_LINE = 2**31  # beyond the end of any file
LOCK_WAIT_SECONDS = 20.0  # longer than almost every refresh; a first index of a huge tree says busy
KEEP_ELSEWHERE = "or keep the index elsewhere: --index-dir DIR, or the environment variable SATCHEL_HOME"

_moment: ContextVar[dict[object, object] | None] = ContextVar("moment", default=None)


@contextmanager
def at_one_moment() -> Iterator[None]:
    """Let whoever opens the snapshots of many stores inside look at the newest generations once: stores in
    the same database ask it for all of them together."""
    token = _moment.set({})
    try:
        yield
    finally:
        _moment.reset(token)


def seen_at_this_moment() -> dict[object, object] | None:
    """Return what was seen since `at_one_moment` was entered, for a store to add to; None outside of it."""
    return _moment.get()


ContentName = tuple[str, str]
"""The hash of a content and its language."""

KnownParses = Callable[[Sequence[ContentName]], Mapping[ContentName, Parsed]]
"""Returns what parsing gave for those of some contents that it knows, by one trip to the store."""

EnoughSymbols = Callable[[str, Sequence[SymbolRecord]], bool]
"""Returns whether the caller needs no further symbols of a name than these."""

TermRows = Sequence[tuple[int, bytes]]
"""The rows of one term: the number of each posting run that holds it, ascending, and the packed postings."""


class Extent(msgspec.Struct, frozen=True):
    """The files that were read, indexed or not: how many, the latest time among them, their bytes."""

    file_count: int
    latest_mtime_ns: int
    total_bytes: int


class Snapshot(Protocol):
    """One complete generation, read only.

    It stays readable while others write, until it is closed. Threads may not share one. What a method returns
    is the caller's: changing it changes no other answer.
    """

    @property
    def generation(self) -> int:
        """Return the number of this generation, from 1."""

    @property
    def version(self) -> str:
        """Return a text that only this generation of this index has: `INDEX:GENERATION…`.

        Of two snapshots with equal versions nothing differs, also if they were opened by two processes. The
        part before the colon is the same for all generations of one index.
        """

    def meta(self) -> dict[str, str]:
        """Return the values that writers set for the index as a whole."""

    def files(self, known: Sequence[FileRecord] = ()) -> Sequence[FileRecord]:
        """Return the records of all files, by path. Records of an earlier generation may be given as `known`:
        one that still holds may be returned as the same object. A `PackedFiles` makes its records late."""

    def forget_files(self) -> None:
        """Drop what is kept of files and of what their edges rest on; what is asked for again is read
        again."""

    def file_languages(self) -> dict[str, str]:
        """Return the language of each file, by path. It costs a fraction of `files`, which notices damage."""

    def file(self, path: str) -> FileRecord | None:
        """Return the record of a path, or None if the index does not hold it."""

    def file_with_content(self, file_hash: str, language: str) -> FileRecord | None:
        """Return the first file, by path, of this content and language, or None."""

    def text(self, path: str) -> str:
        """Return the text of a file as it was indexed. `KeyError` if the index does not hold it."""

    def encoded_text(self, path: str) -> bytes:
        """Return the text of a file as UTF-8, with lone surrogates as they are. `KeyError` as for `text`."""

    def chunks(self, path: str, first_line: int = 1, last_line: int = LAST_LINE) -> list[ChunkRecord]:
        """Return the chunks of a file that share a line with the range, by line; none for an unknown path."""

    def chunks_by_number(self, numbers: Sequence[int]) -> list[ChunkRecord]:
        """Return the chunks of these numbers in the order given, without those that are gone."""

    def chunks_by_digest(self, digest: str) -> list[ChunkRecord]:
        """Return the chunks whose digest starts so, by path and line."""

    def parsed(self, path: str) -> Parsed:
        """Return what parsing the file gave when it was indexed."""

    def outlines(self, paths: Sequence[str]) -> list[tuple[Outline, bytes]]:
        """Return the outline of each file with the vectors of its units, in the order given."""

    def living(self, first_units: Sequence[int]) -> set[int]:
        """Return those of the numbers that are the first unit of a file of this generation."""

    def references(self, path: str) -> tuple[Reference, ...]:
        """Return the references of a file as they were parsed."""

    def facts(self, path: str) -> FileFacts:
        """Return the facts of a file as they were parsed. `KeyError` if the index does not hold it."""

    def edges(self, paths: Sequence[str]) -> list[FileEdges]:
        """Return the edges of each file, in the order given; empty ones where none were put since the file
        was. One call is one trip to the store. `KeyError` if the index does not hold a path."""

    def cross_uses(self) -> CrossUses:
        """Return which definitions of other files each file uses. One call is one trip to the store."""

    def edges_mark(self, path: str) -> int:
        """Return a number that is the same in two generations if the edges of an unchanged file are.
        `KeyError` if the index does not hold the path."""

    def consulting(self, keys: Collection[str]) -> list[str]:
        """Return the paths, sorted, of the files whose edges rest on one of some keys: paths, which need not
        be in the index, or whatever else was noted as consulted.

        None is left out. One too many may be among them: keys are kept as hashes, and two may share one.
        """

    def scip_documents(self) -> dict[str, str]:
        """Return the path of every SCIP document with the hash of the content that it is bound to, which is
        empty for a document that fitted no content."""

    def scip_uses(self, path: str) -> ScipUses:
        """Return what the SCIP document of a path says. `KeyError` if there is none."""

    def symbols(self, path: str) -> list[Symbol]:
        """Return the symbols of a file in the order they were parsed; none for an unknown path."""

    def symbols_named(self, name: str) -> list[SymbolRecord]:
        """Return the symbols of a name by path and position, whatever the case of its ASCII letters."""

    def symbols_named_many(
        self, names: Sequence[str], enough: EnoughSymbols | None = None
    ) -> Mapping[str, Sequence[SymbolRecord]]:
        """Return the symbols of each name as `symbols_named` does. One call is one trip to the store. Further
        symbols of a name may be left out as soon as those that were found are `enough`."""

    def symbol_names(self, prefix: str, limit: int) -> list[str]:
        """Return the first names that start so, whatever the case of ASCII letters, each once, sorted."""

    def symbol_count(self) -> int:
        """Return how many symbols there are."""

    def kind_counts(self) -> dict[str, int]:
        """Return how many chunks there are of each kind, by kind."""

    def all_symbols(self) -> Iterable[SymbolRecord]:
        """Yield every symbol, by path and position."""

    def run_sizes(self) -> dict[int, int]:
        """Return the count of units of each posting run, by number."""

    def posting_runs(self) -> Sequence[PostingRun]:
        """Return all posting runs, by number."""

    def posting_run(self, number: int) -> PostingRun:
        """Return one posting run."""

    def postings_many(self, terms: Sequence[str]) -> Mapping[str, TermRows]:
        """Return the postings of each term in all runs. One call is one trip to the store."""

    def run_terms(self, run: int) -> Iterable[tuple[str, bytes]]:
        """Yield each term of a posting run with its packed postings, by term."""

    def terms(self, prefix: str, limit: int) -> list[str]:
        """Return the first terms that start so, sorted, over all posting runs."""

    def skipped(self, paths: Sequence[str] | None = None) -> list[SkippedRecord]:
        """Return what was left out, by path: everything, or what is among `paths`."""

    def extent(self) -> Extent:
        """Return the extent of the files that were read."""

    def retired(self, digest: str) -> list[RetiredChunk]:
        """Return the ended ids whose digest starts so, in the order they ended."""

    def history(self) -> bytes:
        """Return the packed past commits, empty where there are none."""

    def close(self) -> None:
        """Release the generation. A snapshot that nobody holds any more closes itself."""


class Writer(Protocol):
    """One transaction towards the next generation."""

    @property
    def snapshot(self) -> Snapshot:
        """Return a view of everything written so far."""

    def next_run(self) -> int:
        """Return a number for a posting run that no other ever had."""

    def put_file(self, record: FileRecord, packed: PackedFile) -> int:
        """Add a file, in place of the one of its path, and return the number of its first unit. It has no
        edges until they are put."""

    def touch_file(self, entry: FileEntry, settled: bool) -> None:
        """Note another time of a file whose content is the same."""

    def drop_file(self, path: str) -> None:
        """Remove a file with all that belongs to it; an unknown path is no error. Edges of other files stay,
        also those that rest on it."""

    def put_edges(self, path: str, edges: FileEdges, consulted: Collection[str]) -> None:
        """Keep the edges of a file and the paths that they rest on, in place of what was known of both. They
        end when the file is put anew or dropped, not when it is touched. `KeyError` for an unknown path."""

    def put_scip(self, path: str, file_hash: str, uses: ScipUses) -> None:
        """Keep the SCIP document of a path, in place of the one before. The index need not hold the path."""

    def drop_scip(self) -> None:
        """Forget all SCIP documents."""

    def put_run(self, run: PostingRun, rows: Iterable[tuple[str, bytes]]) -> None:
        """Add a posting run with its rows, which come by term."""

    def drop_run(self, number: int) -> None:
        """Remove a posting run with its rows."""

    def retire(self, chunks: Sequence[RetiredChunk]) -> None:
        """Remember ended ids; of more than `records.RETIRED_LIMIT` the oldest are forgotten."""

    def put_skipped(self, skipped: Sequence[SkippedRecord]) -> None:
        """Note what was left out, each in place of what was known of its path."""

    def drop_skipped(self, paths: Sequence[str]) -> None:
        """Forget what was left out of these paths."""

    def put_history(self, data: bytes) -> None:
        """Keep the packed past commits in place of those before."""

    def set_meta(self, values: dict[str, str]) -> None:
        """Set values of the index as a whole; other values stay."""

    def clear(self) -> None:
        """Drop everything but the count of generations and of numbers, and the SCIP documents, which hold for
        the same content again. The ids that end are retired."""


class Siblings(Protocol):
    """Further indexes of the same segment, one for each name: the root at other commits.

    They are stores of the same kind as the one they belong to. How many are kept is decided above.
    """

    def open(self, name: str) -> Store:
        """Return the store of a name, whether it holds an index yet or not."""

    def names(self) -> list[str]:
        """Return the names that hold an index, the last used first."""

    def mark_used(self, name: str) -> None:
        """Note that an index is used now; what killed writers left behind may be removed. `OSError` or a
        typed error says that nothing can be noted."""

    def remove(self, name: str) -> None:
        """Remove an index, unless it is being written or somebody still reads it."""


class Store(Protocol):
    """Where the index of one segment lives. Any number may read, one may write at a time."""

    @property
    def location(self) -> str:
        """Return where the index is, as people are told: a path or a URL, never with a password in it."""

    @property
    def scratch(self) -> Path | None:
        """Return a folder of this machine that is the store's own, or None if it has none.

        Files about the index are kept in it: what a walk rested on, the log of questions, a watcher's marks.
        It may not exist yet. Siblings share the folder.
        """

    @property
    def file(self) -> Path | None:
        """Return the file that changes with every write, for whoever watches for that; None if none does."""

    def exists(self) -> bool:
        """Return whether there is an index. It may still turn out to be unreadable."""

    def last_written(self) -> float | None:
        """Return the time of the last write in seconds since 1970, or None if it is not known."""

    def size_bytes(self) -> int:
        """Return how much room the index takes; 0 where that is not known."""

    def is_locked(self) -> bool:
        """Return whether somebody writes now. False where that can only be found out by taking the lock."""

    def snapshot(self, known: Snapshot | None = None) -> Snapshot:
        """Open the last complete generation. `IndexMissing`, `IndexCorrupt`, `IndexIncompatible` and
        `IndexStale` (only a writer can use it) say why there is none. A store that can tell that `known` is
        still that generation may return it, and opens nothing."""

    def write(self, seed: Snapshot | None = None) -> AbstractContextManager[Writer]:
        """Open a transaction: a clean exit commits all of it as the next generation, an error none of it.

        A writer that is killed leaves the last complete generation. `IndexBusy` is raised if another writer
        has not finished within the store's waiting time. A first generation starts as a copy of `seed`, if
        that is a snapshot that this kind of store can copy, and otherwise empty.
        """

    def set_aside(self) -> str:
        """Move an index that cannot be used out of the way, and return the name it has there."""

    def known_parses(self, signature: str) -> KnownParses | None:
        """Return what knows the contents of all indexes of this place that have a signature; None where an
        index is alone. It crosses process boundaries."""

    def remove(self) -> None:
        """Remove the index, unless it is being written or somebody still reads it."""

    def siblings(self) -> Siblings:
        """Return the indexes of the same segment at other commits."""

    def beside(self, name: str) -> Store:
        """Return a further store of the same kind, for another use of the same segment."""

    def close(self) -> None:
        """Release what the store itself holds; snapshots stay readable."""


class StoreScheme(msgspec.Struct, frozen=True):
    """A kind of store, as its file in `storage/` registers it: `STORE = StoreScheme(NAME, open)`.

    `name` is the name of the file and the scheme of its URLs. `open` takes what follows the scheme and its
    colon, and how many seconds a writer waits for another one; it neither reads nor writes anything. It
    raises `ConfigError` for a URL that names no place. With `is_shared`, another opening of the same URL,
    also by another process, is the same index. Where a URL may name a place of many indexes, `within` takes
    what follows the colon and the name of a root, and returns the place of that root's index.
    """

    name: str
    open: Callable[[str, float], Store]
    is_shared: bool = True
    within: Callable[[str, str], str] | None = None
