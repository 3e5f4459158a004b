"""The full text of one generation of a SQLite index: posting runs, their terms and postings.

The rows of a run lie in blocks of consecutive terms. A directory for each run has the first term of every
block, so a term is in one block or nowhere (see `storage.term_blocks`).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import msgspec

from satchel.storage import sqlite_rows, term_blocks
from satchel.storage.checks import blob_check, damaged, row_check, sum_checks
from satchel.storage.protocol import TermRows
from satchel.storage.records import PostingRun
from satchel.storage.sqlite_connection import SqliteTables
from satchel.storage.sqlite_rows import RUN_COLUMNS


class _Directory(NamedTuple):
    """The blocks of a posting run: the number of the first, and the first term of each."""

    first_block: int
    first_terms: list[str]

    def block_of(self, term: str) -> int | None:
        """Return the number of the only block that may hold a term; None if it comes before all of them."""
        at = bisect_right(self.first_terms, term) - 1
        return self.first_block + at if at >= 0 else None


class SqlitePostings:
    """The posting runs behind one connection. `total` is the sum of the checks of all runs, as it is known
    from elsewhere."""

    def __init__(self, tables: SqliteTables) -> None:
        self._tables = tables
        self._directories: dict[int, _Directory] = {}

    def run_sizes(self, total: int) -> dict[int, int]:
        """Return the count of units of each run, by number."""
        rows = self._tables.rows(
            "SELECT number, length(lengths) / 4, row_check FROM segments ORDER BY number"
        )
        sized = all(type(row[1]) is int for row in rows)
        if not sized or sum_checks(row[2] for row in rows) != total:
            raise damaged("the list of posting runs")
        return {number: size for number, size, _ in rows}

    def runs(self, total: int) -> list[PostingRun]:
        """Return all runs, by number."""
        rows = self._tables.rows(f"SELECT {RUN_COLUMNS} FROM segments ORDER BY number")
        if sum_checks(row[5] for row in rows) != total:
            raise damaged("the list of posting runs")
        return [sqlite_rows.posting_run(row) for row in rows]

    def run(self, number: int) -> PostingRun:
        """Return one run."""
        row = self._tables.one(f"SELECT {RUN_COLUMNS} FROM segments WHERE number = ?", number)
        if row is None:
            raise damaged("the list of posting runs")
        return sqlite_rows.posting_run(row)

    def postings_many(self, runs: Iterable[int], terms: Sequence[str]) -> Mapping[str, TermRows]:
        """Return the postings of each term in these runs; the blocks of all are read by one statement."""
        found: dict[str, list[tuple[int, bytes]]] = {term: [] for term in terms}
        wanted = [
            (number, block, term)
            for number in runs
            for term in found
            if (block := self._directory(number).block_of(term)) is not None
        ]
        run_of = {block: number for number, block, _ in wanted}
        blocks = dict(self._blocks(run_of))
        for number, block, term in wanted:
            if data := term_blocks.find(blocks[block], term):
                found[term].append((number, data))
        return found

    def run_terms(self, number: int) -> Iterator[tuple[str, bytes]]:
        """Yield each term of a run with its postings, by term."""
        first, count = self.block_range(number)
        for block in range(first, first + count):
            yield from term_blocks.items(self._block(number, block))

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
        found = self._directories.get(number)
        if found is None:
            row = self._tables.one("SELECT data, row_check FROM directories WHERE segment = ?", number)
            if row is None or blob_check(row[0], start=number) != row[1]:
                raise damaged("the list of terms")
            found = self._directories[number] = msgspec.msgpack.decode(row[0], type=_Directory)
        return found

    def _block(self, run: int, number: int) -> bytes:
        return dict(self._blocks({number: run}))[number]

    def _blocks(self, run_of: dict[int, int]) -> Iterator[tuple[int, bytes]]:
        """Yield the blocks of these numbers, each checked together with the number of its run."""
        statement = "SELECT number, data, row_check FROM blocks WHERE number IN ({})"
        count = 0
        for number, data, check in self._tables.rows_of(statement, list(run_of)):
            if blob_check(data, start=row_check(run_of[number], number)) != check:
                raise damaged("a run of the full-text index")
            count += 1
            yield number, data
        if count != len(run_of):
            raise damaged("a run of the full-text index")
