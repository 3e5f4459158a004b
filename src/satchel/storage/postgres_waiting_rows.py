"""What waits to be written to a segment in PostgreSQL, and in which order is it written?

Rows of files, contents, names and edges wait in memory until there are many of them or somebody asks for
their table, and then go by binary COPY: a statement for each file would take longer than parsing it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from typing import Any

from satchel.storage.checked_rows import edges_check
from satchel.storage.checks import Totals, blob_check, damaged
from satchel.storage.postgres_contents import Content
from satchel.storage.postgres_tables import WriterTables

WAITING_BYTES = 8 * 1024 * 1024  # of contents and edges, or of blocks, that wait in memory


class WaitingRows:
    """The rows of one transaction that are not written yet. Those of new files have their empty edges here
    until they get others."""

    def __init__(self, tables: WriterTables, *, counts_names_anew: bool) -> None:
        self.files: dict[int, tuple[Any, ...]] = {}
        self.touched: dict[int, tuple[int, bytes]] = {}
        self.contents: dict[bytes, Content] = {}
        self.names: list[tuple[Any, ...]] = []
        self.name_counts: Counter[int] = Counter()  # how many rows more, or less, a name has
        self.edges: dict[int, tuple[Any, ...]] = {}
        self.without_edges: set[int] = set()  # new files that have no row of edges yet
        self.dropped_files: list[int] = []
        self.dropped_names: list[tuple[bytes, int]] = []
        self._tables = tables
        self._counts_names_anew = counts_names_anew
        self._bytes = 0

    def add_bytes(self, count: int) -> bool:
        """Count bytes that wait, and return whether they are many."""
        self._bytes += count
        return self._bytes > WAITING_BYTES

    def hides(self, table: str, keys: Collection[Any] | None) -> bool:
        """Return whether a reader of a table, or of some keys of it, could miss what waits."""
        waiting: dict[str, Collection[Any]] = {
            "files": {*self.files, *self.touched, *self.dropped_files},
            "contents": self.contents,
            "edges": {*self.edges, *self.dropped_files},
            "names": [*self.names, *self.dropped_names],
        }
        found = waiting.get(table, ())
        return bool(found) and (keys is None or any(key in found for key in keys))

    def count_names_anew(self) -> None:
        """Forget how many rows names had: all of them are gone."""
        self.name_counts.clear()
        self._counts_names_anew = True

    def write(self, totals: Totals, *, all_edges: bool = True) -> None:
        """Write what waits, and count it in the totals. Most new files get other edges soon, so empty ones
        may wait longer."""
        self._write_dropped(totals)
        self._tables.put_contents(self.contents)
        for table, rows in (("files", self.files.values()), ("names", self.names)):
            if rows:
                self._tables.copy(table, rows)
        self._write_touched()
        self._write_edges(totals, all_edges=all_edges)
        for waiting in (self.contents, self.files, self.names, self.touched):
            waiting.clear()
        self._bytes = 0

    def _write_dropped(self, totals: Totals) -> None:
        if not self.dropped_files:
            return
        with_edges = set(self.dropped_files) - self.without_edges
        self._remove_edges(totals, with_edges)
        self.without_edges.difference_update(self.dropped_files)
        self._tables.remove("files", "number", self.dropped_files)
        folded, numbers = zip(*self.dropped_names, strict=True) if self.dropped_names else ((), ())
        self._tables.execute(
            "DELETE FROM {names} AS names USING unnest(%s::bytea[], %s::integer[]) AS gone (folded, file)"
            " WHERE segment = %s AND names.folded = gone.folded AND names.file = gone.file",
            list(folded),
            list(numbers),
            self._tables.number,
        )
        self.dropped_files.clear()
        self.dropped_names.clear()

    def _write_touched(self) -> None:
        if not self.touched:
            return
        checks, data = zip(*self.touched.values(), strict=True)
        self._tables.execute(
            "UPDATE {files} AS files SET row_check = now.row_check, data = now.data"
            " FROM unnest(%s::integer[], %s::bigint[], %s::bytea[]) AS now (number, row_check, data)"
            " WHERE segment = %s AND files.number = now.number",
            list(self.touched),
            list(checks),
            list(data),
            self._tables.number,
        )

    def _write_edges(self, totals: Totals, *, all_edges: bool) -> None:
        rows = {
            number: row
            for number, row in self.edges.items()
            if all_edges or row[3] or row[4] or number not in self.without_edges
        }
        self._remove_edges(totals, rows.keys() - self.without_edges)
        if rows:
            self._tables.copy("edges", rows.values())
        totals.edges += sum(row[1] for row in rows.values())
        self.without_edges.difference_update(rows)
        for number in rows:
            del self.edges[number]

    def _remove_edges(self, totals: Totals, numbers: Collection[int]) -> None:
        checks = self._tables.remove("edges", "file", numbers)
        if len(checks) != len(numbers):
            raise damaged("a row of edges")
        totals.edges -= sum(checks)

    def write_name_counts(self) -> None:
        """Write how many rows each name has, which shows later that none is missing."""
        rows = sorted((hashed, change) for hashed, change in self.name_counts.items() if change)
        if self._counts_names_anew:
            self._tables.copy("name_counts", rows)
            return
        hashes, changes = [row[0] for row in rows], [row[1] for row in rows]
        self._tables.execute(
            "INSERT INTO {name_counts} AS known SELECT %s, hash, change"
            " FROM unnest(%s::bigint[], %s::integer[]) AS changes (hash, change)"
            " ON CONFLICT (segment, hash) DO UPDATE SET count = known.count + excluded.count",
            self._tables.number,
            hashes,
            changes,
        )
        self._tables.execute(
            "DELETE FROM {name_counts} WHERE segment = %s AND hash = ANY(%s) AND count = 0",
            self._tables.number,
            [hashed for hashed, change in rows if change < 0],
        )


def edges_row(number: int, consulted: bytes, data: bytes) -> tuple[Any, ...]:
    """Return the row of the edges of a file, with its checks."""
    data_check = blob_check(data, start=number)
    return number, edges_check(number, data_check, consulted), data_check, consulted, data
