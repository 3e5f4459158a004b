"""Which lines to show around those that were asked for: neighbours, or the definition that they are in."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence

import msgspec

from satchel.storage.open_files import OpenFile
from satchel.storage.protocol import LAST_LINE
from satchel.storage.records import ChunkRecord
from satchel.types import Symbol

_ATTRIBUTE_MARKS = ("@", "#[")  # how a decorator, an annotation or an attribute starts
_SQUARE_ATTRIBUTES = frozenset({"c", "cpp", "csharp"})  # elsewhere a line that starts with [ is a list


class FetchedLines(msgspec.Struct, frozen=True):
    """Lines of a file, and the definition that they are, if it was looked for and found."""

    path: str
    first: int
    last: int
    symbol: Symbol | None = None

    @property
    def locator(self) -> str:
        return f"{self.path}:{self.first}:{self.last}"


# The function `definitions` with a memory for the files of one request.
Definitions = Callable[[OpenFile], Sequence[FetchedLines]]


def around(file: OpenFile, span: FetchedLines, count: int) -> FetchedLines:
    """The lines with the chunks that they are of and up to `count` chunks before and after."""
    if count < 1:
        return span
    chunks = file.chunks
    first = bisect_left(chunks, span.first, key=lambda chunk: chunk.end_line)
    last = bisect_right(chunks, span.last, key=lambda chunk: chunk.start_line) - 1  # before `first` in a gap
    above = chunks[max(0, first - count)]
    below = chunks[min(len(chunks) - 1, last + count)]
    return msgspec.structs.replace(
        span, first=min(span.first, above.start_line), last=max(span.last, below.end_line)
    )


def enclosing(file: OpenFile, definitions: Sequence[FetchedLines], span: FetchedLines) -> FetchedLines:
    """The innermost definition that holds the lines; outside of any, the chunks that they are of."""
    holders = [item for item in definitions if item.first <= span.first and span.last <= item.last]
    if holders:
        return min(holders, key=lambda item: (item.last - item.first, -item.first))
    touched = [item for item in file.chunks if item.start_line <= span.last and span.first <= item.end_line]
    first = min([span.first, *(chunk.start_line for chunk in touched)])
    return msgspec.structs.replace(
        span, first=first, last=max([span.last, *(chunk.end_line for chunk in touched)])
    )


def whole_type(
    file: OpenFile, definitions: Definitions, span: FetchedLines, chunk: ChunkRecord
) -> FetchedLines:
    """A chunk that is only the head of a type → all of the type: its members are chunks of their own."""
    for symbol in file.symbols:
        if span.first <= symbol.start_line <= span.last < symbol.end_line and _owns(symbol, chunk):
            later = _first_from([other.start_line for other in file.symbols], span.last + 1)
            whole = next(item for item in definitions(file) if item.symbol is symbol)
            return msgspec.structs.replace(whole, symbol=None) if later <= symbol.end_line else span
    return span


def definitions(file: OpenFile) -> list[FetchedLines]:
    """Every definition of a file with its decorators and the comments that stand over it."""
    starts = sorted({symbol.start_line for symbol in file.symbols})
    edges = {line for symbol in file.symbols for line in (symbol.start_line, symbol.end_line)}
    return [
        FetchedLines(
            file.path, _first_line(file, symbol, starts, edges), _last_line(file, symbol, starts), symbol
        )
        for symbol in file.symbols
    ]


def _first_line(file: OpenFile, symbol: Symbol, starts: list[int], edges: set[int]) -> int:
    """A chunk of the definition's own starts with what belongs to it, unless it starts with another one."""
    chunk = _chunk_of(file, symbol.start_line)
    owned = chunk is not None and _owns(symbol, chunk)
    if chunk and owned and _first_from(starts, chunk.start_line) == symbol.start_line:
        return chunk.start_line
    return _leading(file, symbol.start_line, edges)


def _last_line(file: OpenFile, symbol: Symbol, starts: list[int]) -> int:
    """A closing brace or a wrapper may end later than the definition itself."""
    chunk = _chunk_of(file, symbol.end_line)
    if chunk is None or not _owns(symbol, chunk):
        return symbol.end_line
    alone = _first_from(starts, symbol.end_line + 1) > chunk.end_line
    return chunk.end_line if alone else symbol.end_line


def _first_from(starts: list[int], line: int) -> int:
    place = bisect_left(starts, line)
    return starts[place] if place < len(starts) else LAST_LINE


def _leading(file: OpenFile, start: int, edges: set[int]) -> int:
    """Where the decorators and comments right above a member begin. Below a decorator only decorators and
    comments can follow, so all lines from the topmost one on belong to the member."""
    marks = (*_ATTRIBUTE_MARKS, "[") if file.record.language in _SQUARE_ATTRIBUTES else _ATTRIBUTE_MARKS
    above = start - 1
    top = start
    while above >= 1 and above not in edges and file.lines[above - 1].strip():
        if file.lines[above - 1].lstrip().startswith(marks):
            top = above
        above -= 1
    while top - 1 > above and top - 1 in file.comment_lines:
        top -= 1
    return top


def _chunk_of(file: OpenFile, line: int) -> ChunkRecord | None:
    place = bisect_left(file.chunks, line, key=lambda chunk: chunk.end_line)
    held = place < len(file.chunks) and file.chunks[place].start_line <= line
    return file.chunks[place] if held else None


def _owns(symbol: Symbol, chunk: ChunkRecord) -> bool:
    """Whether a chunk was made for this definition; sections and code write their paths differently."""
    return symbol.qualified_name in (".".join(chunk.title_path), " > ".join(chunk.title_path))


def overlapping(spans: Sequence[FetchedLines]) -> list[list[int]]:
    """The places of spans that share lines, together; in the order of the first of each group."""
    groups: list[list[int]] = []
    path, last = "", 0
    for place in sorted(range(len(spans)), key=lambda place: (spans[place].path, spans[place].first)):
        span = spans[place]
        if groups and span.path == path and span.first <= last:
            groups[-1].append(place)
            last = max(last, span.last)
        else:
            groups.append([place])
            path, last = span.path, span.last
    return sorted((sorted(group) for group in groups), key=lambda group: group[0])
