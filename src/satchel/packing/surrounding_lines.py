"""Which lines to show around lines that a caller fetches: neighbouring chunks, or the whole definition."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence

import msgspec

from satchel.storage.open_files import OpenFile
from satchel.storage.protocol import LAST_LINE
from satchel.storage.records import ChunkRecord
from satchel.types import Symbol

_ATTRIBUTE_MARKS = ("@", "#[")  # a decorator, an annotation or an attribute starts so
_SQUARE_ATTRIBUTES = frozenset(
    {"c", "cpp", "csharp"}
)  # in other languages a line that starts with [ is a list


class FetchedLines(msgspec.Struct, frozen=True):
    """Lines of a file, and the symbol that they define, if one was looked for and found."""

    path: str
    first: int
    last: int
    symbol: Symbol | None = None

    @property
    def locator(self) -> str:
        """Return the lines in short: `path:first:last`, which `get` accepts."""
        return f"{self.path}:{self.first}:{self.last}"


# The function `definitions` with a memory for the files of one request.
Definitions = Callable[[OpenFile], Sequence[FetchedLines]]


def around(file: OpenFile, lines: FetchedLines, count: int) -> FetchedLines:
    """Return the lines, widened to their chunks and up to `count` chunks before and after."""
    if count < 1:
        return lines
    chunks = file.chunks
    first = bisect_left(chunks, lines.first, key=lambda chunk: chunk.end_line)
    # Lines in a gap between chunks have no chunk: then `last` is the chunk before `first`.
    last = bisect_right(chunks, lines.last, key=lambda chunk: chunk.start_line) - 1
    above = chunks[max(0, first - count)]
    below = chunks[min(len(chunks) - 1, last + count)]
    return msgspec.structs.replace(
        lines, first=min(lines.first, above.start_line), last=max(lines.last, below.end_line)
    )


def enclosing(file: OpenFile, definitions: Sequence[FetchedLines], lines: FetchedLines) -> FetchedLines:
    """Return the innermost definition that holds the lines; outside of any, the chunks that they are of."""
    holders = [item for item in definitions if item.first <= lines.first and lines.last <= item.last]
    if holders:
        return min(holders, key=lambda item: (item.last - item.first, -item.first))
    touched = [item for item in file.chunks if item.start_line <= lines.last and lines.first <= item.end_line]
    first = min([lines.first, *(chunk.start_line for chunk in touched)])
    return msgspec.structs.replace(
        lines, first=first, last=max([lines.last, *(chunk.end_line for chunk in touched)])
    )


def whole_type(
    file: OpenFile, definitions: Definitions, lines: FetchedLines, chunk: ChunkRecord
) -> FetchedLines:
    """Return all lines of a type if the fetched chunk is only its head, because its members are chunks of
    their own; else the lines as they are."""
    for symbol in file.symbols:
        if lines.first <= symbol.start_line <= lines.last < symbol.end_line and _owns(symbol, chunk):
            later = _first_from([other.start_line for other in file.symbols], lines.last + 1)
            whole = next(item for item in definitions(file) if item.symbol is symbol)
            return msgspec.structs.replace(whole, symbol=None) if later <= symbol.end_line else lines
    return lines


def definitions(file: OpenFile) -> list[FetchedLines]:
    """Return every definition of a file with its decorators and the comments above it."""
    starts = sorted({symbol.start_line for symbol in file.symbols})
    edges = {line for symbol in file.symbols for line in (symbol.start_line, symbol.end_line)}
    return [
        FetchedLines(
            file.path, _first_line(file, symbol, starts, edges), _last_line(file, symbol, starts), symbol
        )
        for symbol in file.symbols
    ]


def _first_line(file: OpenFile, symbol: Symbol, starts: list[int], edges: set[int]) -> int:
    """Return the first line of a definition. A chunk that was made for it starts with its decorators and
    comments, unless another definition comes first in that chunk."""
    chunk = _chunk_at(file, symbol.start_line)
    owned = chunk is not None and _owns(symbol, chunk)
    if chunk and owned and _first_from(starts, chunk.start_line) == symbol.start_line:
        return chunk.start_line
    return _leading(file, symbol.start_line, edges)


def _last_line(file: OpenFile, symbol: Symbol, starts: list[int]) -> int:
    """Return the last line of a definition. A closing brace or a wrapper may end later than the symbol."""
    chunk = _chunk_at(file, symbol.end_line)
    if chunk is None or not _owns(symbol, chunk):
        return symbol.end_line
    alone = _first_from(starts, symbol.end_line + 1) > chunk.end_line
    return chunk.end_line if alone else symbol.end_line


def _first_from(starts: list[int], line: int) -> int:
    """Return the first of the ascending lines that is not before a line."""
    number = bisect_left(starts, line)
    return starts[number] if number < len(starts) else LAST_LINE


def _leading(file: OpenFile, start: int, edges: set[int]) -> int:
    """Return the line at which the decorators and comments right above a definition begin. Below a decorator
    only decorators and comments can follow, so all lines from the topmost one on belong to the
    definition."""
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


def _chunk_at(file: OpenFile, line: int) -> ChunkRecord | None:
    """Return the chunk that holds a line."""
    number = bisect_left(file.chunks, line, key=lambda chunk: chunk.end_line)
    held = number < len(file.chunks) and file.chunks[number].start_line <= line
    return file.chunks[number] if held else None


def _owns(symbol: Symbol, chunk: ChunkRecord) -> bool:
    """Return whether a chunk was made for this definition. Documents and code join title paths
    differently."""
    return symbol.qualified_name in (".".join(chunk.title_path), " > ".join(chunk.title_path))


def overlapping(ranges: Sequence[FetchedLines]) -> list[list[int]]:
    """Return the numbers of ranges that share lines, grouped, in the order of the first of each group."""
    groups: list[list[int]] = []
    path, last = "", 0
    for number in sorted(range(len(ranges)), key=lambda number: (ranges[number].path, ranges[number].first)):
        lines = ranges[number]
        if groups and lines.path == path and lines.first <= last:
            groups[-1].append(number)
            last = max(last, lines.last)
        else:
            groups.append([number])
            path, last = lines.path, lines.last
    return sorted((sorted(group) for group in groups), key=lambda group: group[0])
