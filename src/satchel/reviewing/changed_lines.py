"""Which lines of a changed file does a reviewer read?

Of the new file the changed definitions, whole where they are short enough, and elsewhere the lines around the
change. Of the old file the lines that are gone.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from satchel.lines import split_lines
from satchel.parsed import Parsed
from satchel.retrieval.corpus import Corpus
from satchel.storage.records import ChunkRecord
from satchel.types import Chunk, ChunkKind, LineRange, Source, Symbol
from satchel.walking.change_set import ChangedFile, Status
from satchel.walking.git_diff import Hunk, clip_range

_AROUND = 3  # lines before and after a change that is not shown with its whole definition
_BETWEEN = 4  # lines between two changes that are shown rather than left out: a citation takes as much
_SMALL_LINES = 12  # a chunk of a document or a settings file of so many lines is shown whole
_NO_DEFINITIONS = frozenset(
    {ChunkKind.MODULE, ChunkKind.SECTION, ChunkKind.CONFIG, ChunkKind.TEXT, ChunkKind.FILE}
)

_TOGETHER = 3  # kept lines between two removed ones that are shown with them: a citation takes as much
_MOST_REMOVED = 40  # removed lines in one passage

RemovedFrom = Callable[[Hunk, ChunkRecord], bool]


class ChangedPassage(NamedTuple):
    """Lines of the new file to show, the chunk that they are of, and the ranges in them that were changed."""

    start: int
    end: int
    chunk: ChunkRecord
    changed: tuple[LineRange, ...]

    @property
    def whole(self) -> bool:
        """Return whether the lines are the whole chunk."""
        return (self.start, self.end) == (self.chunk.start_line, self.chunk.end_line)


def is_definition(chunk: ChunkRecord) -> bool:
    """Return whether a chunk defines something by name."""
    return bool(chunk.title_path) and chunk.kind not in _NO_DEFINITIONS


class ChunkChanges(NamedTuple):
    """A chunk and its changed ranges. A chunk that is a `part` has neighbours of the same long definition."""

    chunk: ChunkRecord
    ranges: list[LineRange]
    part: bool


def changed_chunks(corpus: Corpus, file: ChangedFile, removed_from: RemovedFrom) -> list[ChunkChanges]:
    """Return the chunks of a file that a change touches. Where lines were only removed, a chunk counts if
    they were removed from it (`removed_from`), not if it is merely next to them."""
    chunks = corpus.snapshot.chunks(file.path)
    symbols = corpus.snapshot.symbols(file.path)
    ends = [chunk.end_line for chunk in chunks]
    found: dict[int, ChunkChanges] = {}
    for hunk in file.hunks:
        first, last = clip_range(hunk.new_range, file.line_count)
        at = bisect_left(ends, first)
        while at < len(chunks) and chunks[at].start_line <= last:
            chunk = chunks[at]
            if hunk.new_count or removed_from(hunk, chunk):
                own = max(first, chunk.start_line), min(last, chunk.end_line)
                found.setdefault(at, ChunkChanges(chunk, [], _is_part(chunks, at, symbols))).ranges.append(
                    own
                )
            at += 1
    return [found[at] for at in sorted(found)]


def _is_part(chunks: Sequence[ChunkRecord], at: int, symbols: Sequence[Symbol]) -> bool:
    """Return whether a chunk is a part of a longer definition. A neighbour of the same name is another part
    of it, unless it is an overload, which is a definition of its own."""
    chunk = chunks[at]
    near = (*chunks[max(0, at - 1) : at], *chunks[at + 1 : at + 2])
    if not is_definition(chunk) or all(other.title_path != chunk.title_path for other in near):
        return False
    return not any(
        symbol.name == chunk.title_path[-1]
        and chunk.start_line <= symbol.start_line
        and symbol.end_line <= chunk.end_line
        for symbol in symbols
    )


def changed_passages(
    touched: Sequence[ChunkChanges], lines: Sequence[str], most_chars: int
) -> Iterator[ChangedPassage]:
    """Yield the passages to show of changed chunks, none of more than `most_chars` characters."""
    for chunk, ranges, part in touched:
        size = sum(map(len, lines[chunk.start_line - 1 : chunk.end_line]))
        small = (is_definition(chunk) and not part) or chunk.end_line - chunk.start_line < _SMALL_LINES
        shown = (
            [(chunk.start_line, chunk.end_line)] if small and size <= most_chars else _windows(chunk, ranges)
        )
        for start, end in shown:
            for first, last in _cut_range(start, end, lines, most_chars):
                own = tuple(
                    (max(first, start), min(last, end))
                    for start, end in ranges
                    if start <= last and first <= end
                )
                if own:  # a part of a long definition in which nothing changed is not shown
                    yield ChangedPassage(first, last, chunk, own)


def _windows(chunk: ChunkRecord, ranges: Sequence[LineRange]) -> list[LineRange]:
    """Return the changed ranges of a chunk with some lines around them; close ones are joined."""
    found: list[LineRange] = []
    for first, last in ranges:
        start, end = max(chunk.start_line, first - _AROUND), min(chunk.end_line, last + _AROUND)
        if found and start - found[-1][1] <= _BETWEEN:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((start, end))
    return found


def _cut_range(start: int, end: int, lines: Sequence[str], most_chars: int) -> Iterator[LineRange]:
    """Yield a range without the blank lines at its ends, cut where it becomes too long; a line is never
    cut."""
    while start < end and not lines[start - 1].strip():
        start += 1
    while end > start and not lines[end - 1].strip():
        end -= 1
    first, size = start, 0
    for number in range(start, end + 1):
        length = len(lines[number - 1])
        if size and size + length > most_chars:
            yield first, number - 1
            first, size = number, 0
        size += length
    if any(line.strip() for line in lines[first - 1 : end]):
        yield first, end


def added_lines(file: ChangedFile, first: int, last: int) -> tuple[LineRange, ...]:
    """Return the lines between two of the new file that the change added; none if git does not tell them
    exactly."""
    ranges = ((hunk.new_line, hunk.new_line + hunk.new_count - 1) for hunk in file.hunks if hunk.new_count)
    return _inside(ranges, first, last) if file.exact else ()


def removed_lines(file: ChangedFile, first: int, last: int) -> tuple[LineRange, ...]:
    """Return the lines between two of the old file that the change removed."""
    ranges = ((hunk.old_line, hunk.old_line + hunk.old_count - 1) for hunk in file.hunks if hunk.old_count)
    return _inside(ranges, first, last)


def _inside(ranges: Iterable[LineRange], first: int, last: int) -> tuple[LineRange, ...]:
    return tuple(
        (max(first, start), min(last, end)) for start, end in ranges if start <= last and first <= end
    )


class RemovedLines(NamedTuple):
    """Lines of the old file that are gone; `at` is the line of the new file where they would be."""

    first: int
    last: int
    at: int
    chunk: Chunk | None


class OldFile:
    """A file as it was before the change."""

    def __init__(self, source: Source, parsed: Parsed) -> None:
        self.source = source
        self.parsed = parsed
        self.lines = split_lines(source.text)

    def chunk_at(self, line: int) -> Chunk | None:
        """Return the chunk that holds a line."""
        return next((one for one in self.parsed.chunks if one.start_line <= line <= one.end_line), None)

    def took_from(self, hunk: Hunk, title_path: tuple[str, ...]) -> bool:
        """Return whether a hunk removed lines from a chunk of that title path."""
        last = hunk.old_line + hunk.old_count - 1
        return any(
            chunk.title_path == title_path and chunk.start_line <= last and hunk.old_line <= chunk.end_line
            for chunk in self.parsed.chunks
        )

    def removed(self, file: ChangedFile, new_lines: Sequence[str]) -> Iterator[RemovedLines]:
        """Yield the removed lines; ranges that are close together are one. Where git does not tell the
        changed lines exactly, nothing is known to be removed."""
        if not file.exact and file.status is not Status.DELETED:
            return
        pending: RemovedLines | None = None
        for hunk in file.hunks:
            if not self._is_gone(hunk, new_lines):
                continue
            one = self._removed_lines(hunk)
            if pending is not None and one.first - pending.last - 1 <= _TOGETHER:
                pending = pending._replace(last=one.last)
            else:
                if pending is not None:
                    yield _limited(pending)
                pending = one
        if pending is not None:
            yield _limited(pending)

    def gone_names(self, file: ChangedFile) -> list[str]:
        """Return the names whose definitions were on removed lines."""
        ranges = [
            (hunk.old_line, hunk.old_line + hunk.old_count - 1) for hunk in file.hunks if hunk.old_count
        ]
        names = [
            symbol.name
            for symbol in self.parsed.symbols
            if any(first <= symbol.start_line <= last for first, last in ranges)
        ]
        return list(dict.fromkeys(names))

    def _is_gone(self, hunk: Hunk, new_lines: Sequence[str]) -> bool:
        """Return whether a hunk removes a line for good: a line that was only indented differently is in the
        new lines."""
        old = self.lines[hunk.old_line - 1 : hunk.old_line - 1 + hunk.old_count] if hunk.old_count else []
        new = new_lines[hunk.new_line - 1 : hunk.new_line - 1 + hunk.new_count] if hunk.new_count else []
        kept = {" ".join(line.split()) for line in new}
        return any(line.strip() and " ".join(line.split()) not in kept for line in old)

    def _removed_lines(self, hunk: Hunk) -> RemovedLines:
        """Return the lines that a hunk removes, without blank ones at either end."""
        first, last = hunk.old_line, min(hunk.old_line + hunk.old_count - 1, len(self.lines))
        while first < last and not self.lines[first - 1].strip():
            first += 1
        while last > first and not self.lines[last - 1].strip():
            last -= 1
        return RemovedLines(first, last, hunk.new_line, self.chunk_at(first))


def _limited(one: RemovedLines) -> RemovedLines:
    """Return the first of many removed lines."""
    return one._replace(last=min(one.last, one.first + _MOST_REMOVED - 1))
