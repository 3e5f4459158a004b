"""Divide the lines of a file into chunks, given the tree of its definitions.

Every non-blank line ends up in exactly one chunk. A long type yields a header chunk and its members; short
neighbours of one kind (constants, settings) are grouped; lines outside of all definitions are module code; a
chunk over the limit is cut at blank lines, then at any line.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import accumulate

import msgspec

from satchel.types import Chunk, ChunkKind

MAX_CHARS = 6000  # a chunk over this is cut into parts
WHOLE_TYPE_CHARS = 1600  # a type up to this stays one chunk; about 400 tokens
HEADER_CHARS = 120  # a shorter header of an impl or namespace joins its first member
GROUP_CHARS = 1600  # neighbouring constants are grouped up to this
_GROUPED = frozenset({ChunkKind.CONST, ChunkKind.CONFIG})
_CONTAINERS = frozenset(
    {
        ChunkKind.CLASS,
        ChunkKind.STRUCT,
        ChunkKind.ENUM,
        ChunkKind.INTERFACE,
        ChunkKind.TRAIT,
        ChunkKind.IMPL,
        ChunkKind.MODULE,
        ChunkKind.CONFIG,
        ChunkKind.SECTION,
    }
)
_CLOSING = re.compile(r"[\s)\]};,_]*(?:(?:end|#endif|endif|fi|done|esac)\b[\s)\]};,]*)*")


class DefinitionLines(msgspec.Struct, gc=False):
    """A definition with the lines that it claims, and the definitions inside it."""

    kind: ChunkKind
    title_path: tuple[str, ...]
    first: int
    last: int
    always_split: bool = False  # a namespace or an impl is never one chunk with its members
    children: list[DefinitionLines] = []


class _ChunkLines(msgspec.Struct, gc=False):
    """The lines of a future chunk. `gap` marks lines between definitions."""

    kind: ChunkKind
    title_path: tuple[str, ...]
    first: int
    last: int
    gap: bool
    container: bool = False  # contains definitions and defines nothing itself


class _Layout:
    """Collects the lines of the chunks of one file, in order."""

    def __init__(self, lines: Sequence[str]) -> None:
        self.lines = lines
        self.offsets = [0, *accumulate(map(len, lines))]
        self.chunks_so_far: list[_ChunkLines] = []

    def chars(self, first: int, last: int) -> int:
        """Return the number of characters of lines `first` to `last`; 0 for an empty range."""
        return self.offsets[last] - self.offsets[first - 1]

    def fill(self, first: int, last: int, children: Iterable[DefinitionLines], owner: _ChunkLines) -> None:
        """Divide lines `first` to `last`: the children where they are, and the owner's own code between
        them."""
        cursor = first
        for child in children:
            # The child shares a line with the lines before it, so both are one chunk.
            if child.first < cursor:
                if self.chunks_so_far and child.last >= cursor:
                    self.chunks_so_far[-1].last = child.last
                    cursor = child.last + 1
                continue
            if cursor == first and owner.container and self.chars(cursor, child.first - 1) <= HEADER_CHARS:
                # `impl Address {` alone would be a useless chunk, so it joins that of the first member.
                child.first = cursor
            self.add(owner.kind, owner.title_path, cursor, child.first - 1, gap=True)
            if self.splits(child):
                inner = _ChunkLines(
                    child.kind, child.title_path, child.first, child.last, True, child.always_split
                )
                self.fill(child.first, child.last, child.children, inner)
            else:
                self.add(child.kind, child.title_path, child.first, child.last, gap=False)
            # A member may end after the definition that contains it.
            taken = self.chunks_so_far[-1].last if self.chunks_so_far else 0
            cursor = max(cursor, child.last + 1, taken + 1)
        self.add(owner.kind, owner.title_path, cursor, last, gap=True)

    def splits(self, definition: DefinitionLines) -> bool:
        """Return whether a definition yields a chunk for each of its members."""
        if not definition.children or definition.kind not in _CONTAINERS:
            return False
        return definition.always_split or self.chars(definition.first, definition.last) > WHOLE_TYPE_CHARS

    def add(self, kind: ChunkKind, title_path: tuple[str, ...], first: int, last: int, *, gap: bool) -> None:
        """Add lines without blank lines at either end; add nothing if all of them are blank."""
        lines = self.lines
        while first <= last and not lines[first - 1].strip():
            first += 1
        while last >= first and not lines[last - 1].strip():
            last -= 1
        if first > last:
            return
        previous = self.chunks_so_far[-1] if self.chunks_so_far else None
        while gap and previous and first <= last and _CLOSING.fullmatch(lines[first - 1]):
            if lines[first - 1].strip():
                previous.last = first  # a closing brace belongs to what it closes
            first += 1
        if first > last:
            return
        if previous is not None and self.joins(previous, kind, title_path, last, gap):
            previous.last = last
            return
        self.chunks_so_far.append(_ChunkLines(kind, title_path, first, last, gap))

    def joins(
        self, previous: _ChunkLines, kind: ChunkKind, title_path: tuple[str, ...], last: int, gap: bool
    ) -> bool:
        """Return whether lines continue the group of the chunk before them."""
        return (
            not gap
            and kind in _GROUPED
            and previous.kind is kind
            and not previous.gap
            and previous.title_path[:-1] == title_path[:-1]
            and self.chars(previous.first, last) <= GROUP_CHARS
        )


def lay_out_chunks(
    lines: Sequence[str], definitions: Iterable[DefinitionLines], kind: ChunkKind
) -> list[Chunk]:
    """Return the chunks of a file with these definitions. `kind` is the kind of the code between them."""
    layout = _Layout(lines)
    layout.fill(1, len(lines), definitions, _ChunkLines(kind, (), 1, len(lines), gap=True))
    chunks = []
    for span in layout.chunks_so_far:
        whole = layout.chars(span.first, span.last) <= MAX_CHARS
        for first, last in (
            [(span.first, span.last)] if whole else cut_at_blank_lines(lines, span.first, span.last)
        ):
            text = "".join(lines[first - 1 : last])
            chunks.append(Chunk(span.kind, span.title_path, first, last, text))
    return chunks


def cut_at_blank_lines(
    lines: Sequence[str], first: int, last: int, limit: int = MAX_CHARS
) -> list[tuple[int, int]]:
    """Return lines `first` to `last` in parts of at most `limit` characters. A part ends at the last blank
    line that fits, otherwise at the last line that fits; a single line over the limit stays whole. No part
    starts or ends with a blank line."""
    parts = []
    start = first
    size = 0
    blank = 0  # the last blank line inside the part so far
    for number in range(first, last + 1):
        line = lines[number - 1]
        while size and size + len(line) > limit:
            end = blank if blank > start else number - 1
            parts.append((start, end))
            start = end + 1
            size = sum(len(lines[index - 1]) for index in range(start, number))
            blank = 0
        if not line.strip():
            blank = number
        size += len(line)
    parts.append((start, last))
    return [part for part in (_trim(lines, *part) for part in parts) if part[0] <= part[1]]


def _trim(lines: Sequence[str], first: int, last: int) -> tuple[int, int]:
    """Return a range without blank lines at either end."""
    while first <= last and not lines[first - 1].strip():
        first += 1
    while last >= first and not lines[last - 1].strip():
        last -= 1
    return first, last
