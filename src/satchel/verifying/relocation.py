"""Where is a cited text now? In its file, in another file, or rewritten under its old name.

Old rows are aligned with the new ones by the rows that occur exactly once in both, as patience diff does.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from satchel import ids
from satchel.lines import split_lines
from satchel.storage.protocol import Snapshot
from satchel.storage.records import ChunkRecord
from satchel.types import Skipped, Source
from satchel.verifying.saved_pack import Citation
from satchel.verifying.validation import ReadSource

_TELLING = re.compile(r"(?:\W*\w){3}")  # a shorter row, such as `}` or `--`, occurs anywhere by chance
_CLOSERS = ("}", ")", "]", "end")  # rows that start so end the definition above them
_TELLING_CHARS = 20  # a shorter text occurs in other files by chance: `return None`, `</div>`
# Characters of a file that are compared or hashed at most: a file of repeated lines has a candidate at each.
_MOST_CHARS = 20_000_000
# A rewritten item may have grown to so many times its lines, and so many lines more. A longer range means
# that its parts have been moved apart and other code stands between them.
_MOST_GROWTH = 3
_FREE_GROWTH = 40
_PARTS = frozenset({"part", "map"})  # reasons of items that never were a whole chunk


class Alignment(NamedTuple):
    """The lines that an old text has become, as line numbers of the new text.

    `first` and `last` are the outer lines; where the outermost old rows were changed, as many lines are
    counted there as there were rows.
    """

    first: int
    last: int
    first_shared: int  # the outer lines whose rows are in both texts
    last_shared: int
    same_start: bool  # whether the first old row is one of the shared ones
    rest: tuple[str, ...]  # the old rows below the last shared one
    shared: tuple[int, ...]  # all lines whose rows are in both texts, in whatever order


def align(old: Sequence[str], new: Sequence[str]) -> Alignment | None:
    """Align the old rows with the new ones; return None if they share no telling row."""
    places = _unique_rows(new)
    pairs = [(place, places[row]) for row, place in _unique_rows(old).items() if row in places]
    path = _longest_ascending(sorted(pairs))
    if not path:
        return None
    (top_old, top_new), (end_old, end_new) = path[0], path[-1]
    while top_old and top_new and old[top_old - 1] == new[top_new - 1]:
        top_old, top_new = top_old - 1, top_new - 1
    while end_old + 1 < len(old) and end_new + 1 < len(new) and old[end_old + 1] == new[end_new + 1]:
        end_old, end_new = end_old + 1, end_new + 1
    rest = tuple(old[end_old + 1 :])
    return Alignment(
        first=max(0, top_new - top_old) + 1,
        last=min(len(new) - 1, end_new + len(rest)) + 1,
        first_shared=top_new + 1,
        last_shared=end_new + 1,
        same_start=top_old == 0,
        rest=rest,
        shared=tuple(sorted(place + 1 for _, place in pairs)),
    )


def starts_definition(rows: Sequence[str], edge: str) -> bool:
    """Return whether another definition begins in these rows: a row that is indented no more than `edge` and
    does not close a bracket or block."""
    limit = _indentation(edge)
    return any(
        row.strip() and _indentation(row) <= limit and not row.lstrip().startswith(_CLOSERS) for row in rows
    )


def _unique_rows(rows: Sequence[str]) -> dict[str, int]:
    """Return the telling rows that occur once, each with its position."""
    counts = Counter(rows)
    return {row: place for place, row in enumerate(rows) if counts[row] == 1 and _TELLING.match(row)}


def _longest_ascending(pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the longest subsequence of pairs whose second numbers ascend as the first do; rows that were
    moved past others are not in it."""
    # Patience sorting: of each length of subsequence, the smallest second number that ends it and the pair
    # that this number is of; and of each pair, the pair before it in its subsequence.
    ends: list[int] = []
    last: list[int] = []
    before: list[int] = []
    for number, (_, place) in enumerate(pairs):
        length = bisect_left(ends, place)
        before.append(last[length - 1] if length else -1)
        ends[length : length + 1] = [place]
        last[length : length + 1] = [number]
    path: list[tuple[int, int]] = []
    number = last[-1] if last else -1
    while number >= 0:
        path.append(pairs[number])
        number = before[number]
    return path[::-1]


def _indentation(row: str) -> int:
    return len(row) - len(row.lstrip())


class Location(NamedTuple):
    """A file and a range of its lines."""

    path: str
    start_line: int
    end_line: int

    def __str__(self) -> str:
        return f"{self.path}:{self.start_line}-{self.end_line}"

    def holds(self, line: int) -> bool:
        """Return whether a line number is in the range."""
        return self.start_line <= line <= self.end_line


class CitedTree:
    """The files that citations are checked against, each read once.

    `index` opens the index of the tree; it is called only when a citation is not where it was. `show` writes
    a text as the format of the pack does.
    """

    def __init__(
        self, read: ReadSource, index: Callable[[], Snapshot | None], show: Callable[[str], str]
    ) -> None:
        self.index = index
        self._read = read
        self._show = show
        self._sources: dict[str, Source | Skipped] = {}
        self._lines: dict[str, Sequence[str]] = {}
        self._rows: dict[str, list[str]] = {}

    def source(self, path: str) -> Source | Skipped:
        """Return a file as read, or the reason why it cannot be read."""
        if path not in self._sources:
            self._sources[path] = self._read(path)
        return self._sources[path]

    def lines(self, path: str) -> Sequence[str]:
        """Return the lines of a file; none if it cannot be read."""
        if path not in self._lines:
            source = self.source(path)
            self._lines[path] = [] if isinstance(source, Skipped) else split_lines(source.text)
        return self._lines[path]

    def rows(self, path: str) -> list[str]:
        """Return the lines of a file as the pack would show them, to be compared with shown lines."""
        if path not in self._rows:
            self._rows[path] = as_rows(self._show("".join(self.lines(path))))
        return self._rows[path]

    def text(self, location: Location) -> str:
        """Return the exact text of a location."""
        return "".join(self.lines(location.path)[location.start_line - 1 : location.end_line])


def as_rows(text: str) -> list[str]:
    """Split shown text into lines to compare, without the spaces at their ends, which an editor may have
    removed."""
    return [line.rstrip() for line in text.split("\n")]


def is_text_at(citation: Citation, tree: CitedTree, location: Location) -> bool:
    """Return whether the cited text is at that location, byte for byte."""
    if location.end_line > len(tree.lines(location.path)):
        return False
    return ids.hash_text(tree.text(location)).startswith(citation.content_hash)


def find_in_file(citation: Citation, tree: CitedTree, path: str) -> Location | None:
    """Return the location of the cited text in a file, the one nearest to the cited lines; None if the file
    does not have it."""
    height = _height(citation)
    if citation.shown is None:
        starts: Iterable[int] = _all_starts(tree.lines(path), height)
    else:
        starts = _equal_rows(as_rows(citation.shown), tree.rows(path))
    for start in sorted(starts, key=lambda start: abs(start - citation.start_line)):
        location = Location(path, start, start + height - 1)
        if is_text_at(citation, tree, location):
            return location
    return None


def _height(citation: Citation) -> int:
    """Return the number of lines of the cited text. The shown lines are counted where there are any: an
    edited line number does not change those."""
    if citation.shown is None:
        return citation.end_line - citation.start_line + 1
    return citation.shown.count("\n") + 1


def _equal_rows(wanted: list[str], rows: list[str]) -> Iterator[int]:
    """Yield the lines at which rows equal the wanted ones; a search in the text costs far less than hashing
    every window."""
    text, sought = (f"\n{line}\n" for line in ("\n".join(rows), "\n".join(wanted)))
    line, start = 1, 0
    for _ in range(_MOST_CHARS // len(sought) + 1):
        found = text.find(sought, start)
        if found < 0:
            return
        line += text.count("\n", start, found)
        yield line
        line, start = line + 1, found + 1  # each row begins with the line feed just passed


def _all_starts(lines: Sequence[str], height: int) -> range:
    """Return the lines at which a text of that many lines may start, within the limit of what is hashed."""
    mean = sum(map(len, lines)) // max(1, len(lines)) + 1
    return range(1, min(len(lines) - height + 2, _MOST_CHARS // (mean * height)))


def find_elsewhere(citations: Iterable[Citation], tree: CitedTree) -> dict[Citation, Location]:
    """Return the locations of cited texts in other files than their own.

    One pass over the index finds the files that hold the longest line of each text; only those are read. A
    file of the same name is tried first, one with another suffix never: it only quotes the text, as a saved
    pack does.
    """
    keys = {citation: key for citation in citations if (key := _telling_line(citation))}
    index = tree.index() if keys else None
    if index is None:
        return {}
    holders: dict[Citation, list[str]] = {citation: [] for citation in keys}
    for record in index.files():
        text = index.text(record.path)
        for citation, key in keys.items():
            other = record.path != citation.path and _suffix(record.path) == _suffix(citation.path)
            if other and key in text:
                holders[citation].append(record.path)
    found: dict[Citation, Location] = {}
    for citation, paths in holders.items():
        for path in sorted(paths, key=lambda path: (_name(path) != _name(citation.path), path)):
            if (location := find_in_file(citation, tree, path)) is not None:
                found[citation] = location
                break
    return found


def _telling_line(citation: Citation) -> str:
    """Return the longest shown line without a backslash, which may be an escape that the file does not have;
    an empty text if the citation is too short to be recognised."""
    rows = [row.strip() for row in (citation.shown or "").split("\n")]
    if sum(map(len, rows)) < _TELLING_CHARS:
        return ""
    return max((row for row in rows if "\\" not in row), key=len, default="")


def _name(path: str) -> str:
    return path.rpartition("/")[2]


def _suffix(path: str) -> str:
    return _name(path).rpartition(".")[2]


def chunk_of_name(citation: Citation, chunks: Iterable[ChunkRecord]) -> ChunkRecord | None:
    """Return the chunk of the cited file that has the cited name, the nearest if there are several."""
    if not citation.symbol:
        return None
    wanted = _plain(citation.symbol)
    alike = [
        chunk
        for chunk in chunks
        if chunk.title_path and wanted in {_plain(".".join(chunk.title_path)), _plain(chunk.title_path[-1])}
    ]
    same_kind = [chunk for chunk in alike if chunk.kind.value == citation.kind] or alike
    return min(same_kind, key=lambda chunk: abs(chunk.start_line - citation.start_line), default=None)


def current_location(
    citation: Citation, aligned: Alignment | None, named: ChunkRecord | None, chunks: Sequence[ChunkRecord]
) -> Location | None:
    """Return the location that a rewritten text has now; None if neither its rows nor its name are found.

    It is the range of the rows that are still there, joined with the chunk of the cited name if the two
    touch: an item may be several chunks. An item that was only a part of a chunk stays a part.
    """
    chunk = None if named is None else location_of(named)
    rows = None if aligned is None else _aligned_location(citation, aligned, chunks)
    if rows is None or chunk is None:
        return rows or chunk
    apart = chunk.start_line > rows.end_line + 1 or rows.start_line > chunk.end_line + 1
    inside = chunk.start_line <= rows.start_line and rows.end_line <= chunk.end_line
    if apart or (inside and _PARTS.intersection(citation.reasons)):
        return rows
    first, last = min(chunk.start_line, rows.start_line), max(chunk.end_line, rows.end_line)
    return Location(citation.path, first, last)


def _aligned_location(
    citation: Citation, aligned: Alignment, chunks: Sequence[ChunkRecord]
) -> Location | None:
    """Return the location of an aligned text. Where its first or last row was changed, it reaches to the edge
    of the chunk that the change is in. None if the rows are too far apart to be one item."""
    first, last, height = aligned.first, aligned.last, _height(citation)
    top, bottom = (_chunk_at(chunks, line) for line in (aligned.first_shared, aligned.last_shared))
    if not aligned.same_start and top is not None and first - top.start_line <= height:
        first = min(first, top.start_line)
    if aligned.rest and bottom is not None and bottom.end_line - last <= height:
        edge = (citation.shown or "").split("\n")[0]
        last = max(last, bottom.end_line) if starts_definition(aligned.rest, edge) else bottom.end_line
    if last - first + 1 > _MOST_GROWTH * height + _FREE_GROWTH:
        return None
    return Location(citation.path, first, last)


def _chunk_at(chunks: Sequence[ChunkRecord], line: int) -> ChunkRecord | None:
    return next((chunk for chunk in chunks if chunk.start_line <= line <= chunk.end_line), None)


def location_of(chunk: ChunkRecord) -> Location:
    """Return the location of a chunk."""
    return Location(chunk.path, chunk.start_line, chunk.end_line)


def _plain(name: str) -> str:
    return ids.normalize_title_path([name])
