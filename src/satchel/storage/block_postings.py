"""The full text of one generation in blocks: posting runs, their terms and postings, for any kind of rows.

The rows of a run lie in blocks of consecutive terms. A directory for each run has the first term of every
block, so a term is in one block or nowhere (see `storage.term_blocks`).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import msgspec

from satchel.storage import checked_rows, term_blocks
from satchel.storage.checks import Totals, blob_check, damaged, row_check, sum_checks
from satchel.storage.protocol import TermRows
from satchel.storage.records import PostingRun

Rows = Iterable[Sequence[Any]]
_BLOCKS_AT_ONCE = 250  # a megabyte: a merge goes through all terms of a run


class PostingRows(Protocol):
    """The rows of the posting runs, as a store reads them."""

    def run_sizes(self) -> Sequence[Sequence[Any]]:
        """Return the number, count of units and check of each run, by number."""

    def runs(self, number: int | None = None) -> Sequence[Sequence[Any]]:
        """Return the run columns of one run, or of all of them by number."""

    def directories(self, numbers: Sequence[int]) -> Rows:
        """Return the number, data and check of the directories of some runs."""

    def blocks(self, numbers: Sequence[int]) -> Rows:
        """Return the number, data and check of some blocks, by one statement."""


class _Directory(NamedTuple):
    """The blocks of a posting run: the number of the first, and the first term of each."""

    first_block: int
    first_terms: tuple[str, ...]  # a tuple: the collector of cycles looks at each entry of a list

    def block_of(self, term: str) -> int | None:
        """Return the number of the only block that may hold a term; None if it comes before all of them."""
        at = bisect_right(self.first_terms, term) - 1
        return self.first_block + at if at >= 0 else None


def pack_directory(first_block: int, first_terms: Sequence[str]) -> bytes:
    """Return the bytes of the directory of a run."""
    return msgspec.msgpack.encode((first_block, first_terms))


def block_check(run: int, number: int, data: bytes) -> int:
    """Return the check of a block, which covers the run that it belongs to."""
    return blob_check(data, start=row_check(run, number))


class BlockPostings:
    """The posting runs of one snapshot. `total` is the sum of the checks of all runs, as it is known from
    elsewhere."""

    def __init__(self, rows: PostingRows) -> None:
        self._rows = rows
        self._directories: dict[int, _Directory] = {}

    def run_sizes(self, total: int) -> dict[int, int]:
        """Return the count of units of each run, by number."""
        rows = self._rows.run_sizes()
        sized = all(type(row[1]) is int for row in rows)
        if not sized or sum_checks(row[2] for row in rows) != total:
            raise damaged("the list of posting runs")
        return {number: size for number, size, _ in rows}

    def runs(self, total: int) -> list[PostingRun]:
        """Return all runs, by number."""
        rows = self._rows.runs()
        if sum_checks(row[5] for row in rows) != total:
            raise damaged("the list of posting runs")
        return [checked_rows.posting_run(row) for row in rows]

    def run(self, number: int) -> PostingRun:
        """Return one run."""
        rows = self._rows.runs(number)
        if not rows:
            raise damaged("the list of posting runs")
        return checked_rows.posting_run(rows[0])

    def postings_many(self, runs: Iterable[int], terms: Sequence[str]) -> Mapping[str, TermRows]:
        """Return the postings of each term in these runs; the blocks of all are read by one statement."""
        found: dict[str, list[tuple[int, bytes]]] = {term: [] for term in terms}
        if not found:
            return found
        directories = self._read_directories(tuple(runs))
        wanted = [
            (number, block, term)
            for number, directory in directories
            for term in found
            if (block := directory.block_of(term)) is not None
        ]
        blocks = dict(self._blocks({block: number for number, block, _ in wanted}))
        for number, block, term in wanted:
            if data := term_blocks.find(blocks[block], term):
                found[term].append((number, data))
        return found

    def run_terms(self, number: int) -> Iterator[tuple[str, bytes]]:
        """Yield each term of a run with its postings, by term."""
        first, count = self.block_range(number)
        for start in range(first, first + count, _BLOCKS_AT_ONCE):
            some = range(start, min(start + _BLOCKS_AT_ONCE, first + count))
            blocks = dict(self._blocks(dict.fromkeys(some, number)))
            for block in some:
                yield from term_blocks.items(blocks[block])

    def terms_from(self, number: int, prefix: str, limit: int) -> list[str]:
        """Return the first terms of a run that start so."""
        directory = self._directory(number)
        start = max(bisect_right(directory.first_terms, prefix) - 1, 0)
        found: list[str] = []
        for at in range(start, len(directory.first_terms)):
            names = [term for term, _ in term_blocks.items(self._block(number, directory.first_block + at))]
            found += [term for term in names if term.startswith(prefix)]
            beyond = names[-1] > prefix and not names[-1].startswith(prefix)
            if beyond or len(found) >= limit:
                break
        return found[:limit]

    def block_range(self, number: int) -> tuple[int, int]:
        """Return the number of a run's first block and the count of its blocks."""
        directory = self._directory(number)
        return directory.first_block, len(directory.first_terms)

    def _directory(self, number: int) -> _Directory:
        return self._read_directories((number,))[0][1]

    def _read_directories(self, numbers: Sequence[int]) -> list[tuple[int, _Directory]]:
        missing = [number for number in numbers if number not in self._directories]
        for number, data, check in self._rows.directories(missing) if missing else ():
            if blob_check(data, start=number) != check:
                raise damaged("the list of terms")
            self._directories[number] = msgspec.msgpack.decode(data, type=_Directory)
        if not self._directories.keys() >= set(missing):
            raise damaged("the list of terms")
        return [(number, self._directories[number]) for number in numbers]

    def _block(self, run: int, number: int) -> bytes:
        return dict(self._blocks({number: run}))[number]

    def _blocks(self, run_of: dict[int, int]) -> Iterator[tuple[int, bytes]]:
        """Yield the blocks of these numbers, each checked together with the number of its run."""
        count = 0
        for number, data, check in self._rows.blocks(list(run_of)):
            if block_check(run_of[number], number, data) != check:
                raise damaged("a run of the full-text index")
            count += 1
            yield number, data
        if count != len(run_of):
            raise damaged("a run of the full-text index")


class BlockSnapshot:
    """What a snapshot answers from its meta values, its totals and its blocks of postings, wherever these are
    kept. `changes` says that a writer changes them under its reader, so that nothing is kept."""

    _own = True  # also of a snapshot whose construction failed, which is closed nevertheless

    def __init__(self, rows: PostingRows, meta: dict[str, str], totals: Totals, *, changes: bool) -> None:
        self._full_text = BlockPostings(rows)
        self._runs: tuple[int, ...] | None = None
        self._meta = meta
        self._totals = totals
        self._own = not changes

    @property
    def generation(self) -> int:
        return int(self._meta.get("generation", 0))

    @property
    def version(self) -> str:
        return f"{self._meta.get('identity', '')}:{self.generation}.{self._meta.get('mark', '')}"

    def meta(self) -> dict[str, str]:
        return dict(self._meta)

    def symbol_count(self) -> int:
        return self._totals.symbols

    def kind_counts(self) -> dict[str, int]:
        return {kind: count for kind, count in sorted(self._totals.kinds.items()) if count}

    def run_sizes(self) -> dict[int, int]:
        return self._full_text.run_sizes(self._totals.segments)

    def posting_run(self, number: int) -> PostingRun:
        return self._full_text.run(number)

    def posting_runs(self) -> list[PostingRun]:
        found = self._full_text.runs(self._totals.segments)
        self._runs = tuple(run.number for run in found)
        return found

    def postings_many(self, terms: Sequence[str]) -> Mapping[str, TermRows]:
        if self._runs is None or not self._own:
            self._runs = tuple(self.run_sizes())
        return self._full_text.postings_many(self._runs, terms)

    def run_terms(self, run: int) -> Iterator[tuple[str, bytes]]:
        return self._full_text.run_terms(run)

    def terms(self, prefix: str, limit: int) -> list[str]:
        found: set[str] = set()
        for number in self.run_sizes():
            found.update(self._full_text.terms_from(number, prefix, limit))
        return sorted(found)[:limit]

    def block_range(self, run: int) -> tuple[int, int]:
        """Return the number of a run's first block and the count of its blocks, for the writer that drops
        it."""
        return self._full_text.block_range(run)
