"""Which lines make which chunk: a tree of definitions laid over the lines of a file.

Every non-blank line ends up in exactly one chunk. A long type gives a header and its members;
short neighbours of one kind (constants, settings) are grouped; what no definition claims is
module code; a chunk over the limit is cut at blank lines, then at lines.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import accumulate

from satchel.types import Chunk, ChunkKind

MAX_CHARS = 6000  # a chunk over this is cut into parts
WHOLE_TYPE_CHARS = 1600  # a type up to this stays one chunk; about 400 tokens
HEADER_CHARS = 120  # a shorter head of an impl or namespace is shown with its first member
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


@dataclass(slots=True)
class Definition:
    """A definition with the lines it claims, and the definitions inside it."""

    kind: ChunkKind
    title_path: tuple[str, ...]
    first: int
    last: int
    always_split: bool = False  # a namespace or an impl is never one chunk with what it holds
    children: list[Definition] = field(default_factory=list)


@dataclass(slots=True)
class _Span:
    kind: ChunkKind
    title_path: tuple[str, ...]
    first: int
    last: int
    gap: bool
    container: bool = False  # holds definitions, defines nothing itself


class _Layout:
    def __init__(self, lines: Sequence[str]) -> None:
        self.lines = lines
        self.offsets = [0, *accumulate(map(len, lines))]
        self.spans: list[_Span] = []

    def chars(self, first: int, last: int) -> int:
        """How long lines first..last are together; nothing for no lines."""
        return self.offsets[last] - self.offsets[first - 1]

    def fill(self, first: int, last: int, children: Iterable[Definition], owner: _Span) -> None:
        """Lay out lines first..last: the children where they are, the owner's own code between them."""
        cursor = first
        for child in children:
            if child.first < cursor:  # shares a line with what came before: they are one chunk
                if self.spans and child.last >= cursor:
                    self.spans[-1].last = child.last
                    cursor = child.last + 1
                continue
            if cursor == first and owner.container and self.chars(cursor, child.first - 1) <= HEADER_CHARS:
                child.first = cursor  # `impl Address {` alone is no chunk: it opens the first member's
            self.add(owner.kind, owner.title_path, cursor, child.first - 1, gap=True)
            if self.splits(child):
                inner = _Span(child.kind, child.title_path, child.first, child.last, True, child.always_split)
                self.fill(child.first, child.last, child.children, inner)
            else:
                self.add(child.kind, child.title_path, child.first, child.last, gap=False)
            taken = self.spans[-1].last if self.spans else 0  # what is inside may end after what it is in
            cursor = max(cursor, child.last + 1, taken + 1)
        self.add(owner.kind, owner.title_path, cursor, last, gap=True)

    def splits(self, block: Definition) -> bool:
        if not block.children or block.kind not in _CONTAINERS:
            return False
        return block.always_split or self.chars(block.first, block.last) > WHOLE_TYPE_CHARS

    def add(self, kind: ChunkKind, title_path: tuple[str, ...], first: int, last: int, *, gap: bool) -> None:
        """Add a span without its outer blank lines; nothing at all if it is blank."""
        lines = self.lines
        while first <= last and not lines[first - 1].strip():
            first += 1
        while last >= first and not lines[last - 1].strip():
            last -= 1
        if first > last:
            return
        previous = self.spans[-1] if self.spans else None
        while gap and previous and first <= last and _CLOSING.fullmatch(lines[first - 1]):
            if lines[first - 1].strip():
                previous.last = first  # a closing brace belongs to what it closes
            first += 1
        if first > last:
            return
        if previous is not None and self.joins(previous, kind, title_path, last, gap):
            previous.last = last
            return
        self.spans.append(_Span(kind, title_path, first, last, gap))

    def joins(
        self, previous: _Span, kind: ChunkKind, title_path: tuple[str, ...], last: int, gap: bool
    ) -> bool:
        """Whether a span continues the group before it."""
        return (
            not gap
            and kind in _GROUPED
            and previous.kind is kind
            and not previous.gap
            and previous.title_path[:-1] == title_path[:-1]
            and self.chars(previous.first, last) <= GROUP_CHARS
        )


def lay_out_chunks(lines: Sequence[str], blocks: Iterable[Definition], kind: ChunkKind) -> list[Chunk]:
    """The chunks of a file whose definitions are `blocks`; `kind` is that of the code between them."""
    layout = _Layout(lines)
    layout.fill(1, len(lines), blocks, _Span(kind, (), 1, len(lines), gap=True))
    chunks = []
    for span in layout.spans:
        whole = layout.chars(span.first, span.last) <= MAX_CHARS
        for first, last in [(span.first, span.last)] if whole else cut(lines, span.first, span.last):
            text = "".join(lines[first - 1 : last])
            chunks.append(Chunk(span.kind, span.title_path, first, last, text))
    return chunks


def cut(lines: Sequence[str], first: int, last: int, limit: int = MAX_CHARS) -> list[tuple[int, int]]:
    """Lines first..last in parts of at most `limit` characters, at the last blank line that fits,
    else at the last line; a single longer line stays whole. No part starts or ends blank."""
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
    while first <= last and not lines[first - 1].strip():
        first += 1
    while last >= first and not lines[last - 1].strip():
        last -= 1
    return first, last
