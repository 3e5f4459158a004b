"""Where is a section cut that is too long for one chunk?

At blank lines outside fences; inside a paragraph that is too long alone, at lines but not inside a
fence; inside a fence only if the fence alone is too long. Lines are numbered from 1, ranges inclusive.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Page:
    """A document as the cutter sees it: `offsets[n]` is where line n ends, `fences` first line → last."""

    lines: Sequence[str]
    offsets: Sequence[int]
    fences: Mapping[int, int]

    def size(self, first: int, last: int) -> int:
        """The characters of a range of lines."""
        return self.offsets[last] - self.offsets[first - 1]

    def text(self, source: str, first: int, last: int) -> str:
        """The exact text of a range of lines."""
        return source[self.offsets[first - 1] : self.offsets[last]]

    def blank(self, number: int) -> bool:
        """Whether a line shows nothing."""
        return not self.lines[number - 1].strip()

    def trim_end(self, first: int, last: int) -> int:
        """The last line that is not blank, at least `first`."""
        while last > first and self.blank(last):
            last -= 1
        return last


def section_parts(page: Page, first: int, heading_last: int, last: int, limit: int) -> list[Span]:
    """The section's lines in parts of at most `limit` characters where that is possible.

    `heading_last` is the last line of the heading, which is never cut, or `first - 1` without one.
    """
    if page.size(first, last) <= limit:
        return [(first, last)]
    parts: list[Span] = [(first, heading_last)] if heading_last >= first else []
    for paragraph in _paragraphs(page, heading_last + 1, last):
        if page.size(*paragraph) <= limit:
            _append(parts, [paragraph], page, limit)
            continue
        pieces = list(_pieces(page, paragraph, limit))
        if parts and parts[-1][1] > heading_last:
            parts.append(pieces.pop(0))  # what is too long starts its own part, but not without its heading
        _append(parts, pieces, page, limit)
    return [(begin, page.trim_end(begin, end)) for begin, end in parts]


def _append(parts: list[Span], pieces: Sequence[Span], page: Page, limit: int) -> None:
    for first, last in pieces:
        if parts and page.size(parts[-1][0], last) <= limit:
            parts[-1] = (parts[-1][0], last)
        else:
            parts.append((first, last))


def _paragraphs(page: Page, first: int, last: int) -> Iterator[Span]:
    """Runs of lines without a blank line outside fences."""
    begin = 0
    number = first
    while number <= last:
        if number not in page.fences and page.blank(number):
            if begin:
                yield begin, number - 1
            begin = 0
        else:
            begin = begin or number
            number = min(page.fences.get(number, number), last)
        number += 1
    if begin:
        yield begin, last


def _pieces(page: Page, paragraph: Span, limit: int) -> Iterator[Span]:
    """Lines, and fences that fit whole; a blank line only ever stands between two pieces."""
    number, last = paragraph
    while number <= last:
        end = page.trim_end(number, min(page.fences.get(number, number), last))
        if page.size(number, end) > limit:
            end = number
        if not page.blank(number):
            yield number, end
        number = end + 1
