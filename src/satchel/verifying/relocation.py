"""Where does a cited text stand now? In its file, in another file, or under its name with other words."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from satchel import ids
from satchel.lines import split_lines
from satchel.storage.protocol import Snapshot
from satchel.storage.records import ChunkRecord
from satchel.types import Skipped, Source
from satchel.verifying.alignment import Alignment, starts_anew
from satchel.verifying.saved_pack import Citation
from satchel.verifying.validation import ReadSource

_TELLING_CHARS = 20  # a shorter text stands in other files by chance: `return None`, `</div>`
_MOST_CHARS = (
    20_000_000  # compared or hashed in a file at most: lines that repeat give a place at each of them
)
# Of an item: more was not written into it, but between its parts.
_MOST_GROWTH = 3  # times its lines
_FREE_GROWTH = 40  # lines
_PARTS = frozenset({"part", "map"})  # reasons of items that never were a whole chunk


class Location(NamedTuple):
    """Lines of a file."""

    path: str
    start_line: int
    end_line: int

    def __str__(self) -> str:
        return f"{self.path}:{self.start_line}-{self.end_line}"


class CitedTree:
    """The files that citations are checked against, each read once. `index` is asked only when something is
    not where it was cited; `show` is what the pack's format makes of a text."""

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
        """A file as read, or why it cannot be."""
        if path not in self._sources:
            self._sources[path] = self._read(path)
        return self._sources[path]

    def lines(self, path: str) -> Sequence[str]:
        """The lines of a file, none if it cannot be read."""
        if path not in self._lines:
            source = self.source(path)
            self._lines[path] = [] if isinstance(source, Skipped) else split_lines(source.text)
        return self._lines[path]

    def rows(self, path: str) -> list[str]:
        """The lines of a file as the pack would show them, to compare."""
        if path not in self._rows:
            self._rows[path] = as_rows(self._show("".join(self.lines(path))))
        return self._rows[path]

    def text(self, place: Location) -> str:
        """The exact lines of a place."""
        return "".join(self.lines(place.path)[place.start_line - 1 : place.end_line])


def as_rows(text: str) -> list[str]:
    """Shown lines to compare: an editor may have taken the spaces at their ends."""
    return [line.rstrip() for line in text.split("\n")]


def is_at(citation: Citation, tree: CitedTree, place: Location) -> bool:
    """Whether the cited text stands there, byte for byte."""
    if place.end_line > len(tree.lines(place.path)):
        return False
    return ids.hash_text(tree.text(place)).startswith(citation.content_hash)


def in_file(citation: Citation, tree: CitedTree, path: str) -> Location | None:
    """Where in a file the cited text stands, the place nearest to the cited one."""
    height = _height(citation)
    if citation.shown is None:
        starts: Iterable[int] = _all_starts(tree.lines(path), height)
    else:
        starts = _alike(as_rows(citation.shown), tree.rows(path))
    for start in sorted(starts, key=lambda start: abs(start - citation.start_line)):
        place = Location(path, start, start + height - 1)
        if is_at(citation, tree, place):
            return place
    return None


def _height(citation: Citation) -> int:
    """How many lines the text has: those that are shown, which no edited line number changes."""
    if citation.shown is None:
        return citation.end_line - citation.start_line + 1
    return citation.shown.count("\n") + 1


def _alike(wanted: list[str], rows: list[str]) -> Iterator[int]:
    """Where rows look like the wanted ones, which is found far more cheaply than by hashing every window."""
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
    mean = sum(map(len, lines)) // max(1, len(lines)) + 1
    return range(1, min(len(lines) - height + 2, _MOST_CHARS // (mean * height)))


def elsewhere(citations: Iterable[Citation], tree: CitedTree) -> dict[Citation, Location]:
    """Where in other files the texts stand: one pass over the index for all of them, and a look into the tree
    only where a telling line occurs. A file of the same name is believed first, one with another suffix
    never: it only quotes the text, as a saved pack does."""
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
            if (place := in_file(citation, tree, path)) is not None:
                found[citation] = place
                break
    return found


def _telling_line(citation: Citation) -> str:
    """The longest line that is shown as it is in its file (an escape may stand for something else); empty if
    the text is too short to be known by."""
    rows = [row.strip() for row in (citation.shown or "").split("\n")]
    if sum(map(len, rows)) < _TELLING_CHARS:
        return ""
    return max((row for row in rows if "\\" not in row), key=len, default="")


def _name(path: str) -> str:
    return path.rpartition("/")[2]


def _suffix(path: str) -> str:
    return _name(path).rpartition(".")[2]


def namesake(citation: Citation, chunks: Iterable[ChunkRecord]) -> ChunkRecord | None:
    """The chunk of the cited file that has the cited name, the nearest if there are several."""
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
    """The lines that a rewritten text has become: its chunk, if it was one; else all of its lines, and the
    chunk of its name with them if it is there. An item may be several chunks, and may be a part of one."""
    chunk = None if named is None else location_of(named)
    span = None if aligned is None else _span(citation, aligned, chunks)
    if span is None or chunk is None:
        return span or chunk
    apart = chunk.start_line > span.end_line + 1 or span.start_line > chunk.end_line + 1
    inside = chunk.start_line <= span.start_line and span.end_line <= chunk.end_line
    if apart or (inside and _PARTS.intersection(citation.reasons)):
        return span
    first, last = min(chunk.start_line, span.start_line), max(chunk.end_line, span.end_line)
    return Location(citation.path, first, last)


def _span(citation: Citation, aligned: Alignment, chunks: Sequence[ChunkRecord]) -> Location | None:
    """The lines of an aligned text; where its first or last row was changed, up to the edge of the chunk that
    the change is in. None if they have come too far apart to be one item."""
    first, last, height = aligned.first, aligned.last, _height(citation)
    top, bottom = (_holder(chunks, line) for line in (aligned.first_met, aligned.last_met))
    if not aligned.starts_alike and top is not None and first - top.start_line <= height:
        first = min(first, top.start_line)
    if aligned.rest and bottom is not None and bottom.end_line - last <= height:
        edge = (citation.shown or "").split("\n")[0]
        last = max(last, bottom.end_line) if starts_anew(aligned.rest, edge) else bottom.end_line
    if last - first + 1 > _MOST_GROWTH * height + _FREE_GROWTH:
        return None
    return Location(citation.path, first, last)


def _holder(chunks: Sequence[ChunkRecord], line: int) -> ChunkRecord | None:
    return next((chunk for chunk in chunks if chunk.start_line <= line <= chunk.end_line), None)


def location_of(chunk: ChunkRecord) -> Location:
    return Location(chunk.path, chunk.start_line, chunk.end_line)


def _plain(name: str) -> str:
    return ids.normalize_title_path([name])
