"""Where is a section cut that is too long for one chunk?

At blank lines outside fences; inside a paragraph that is too long alone, at lines but not inside a
fence; inside a fence only if the fence alone is too long. Lines are numbered from 1, ranges inclusive.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from satchel.types import LineRange

MAX_CHARS = 6000  # a longer section is cut into parts
INTRO = "INTRO"  # the title of what stands before the first heading
TITLE_SEPARATOR = " > "  # between the titles of a qualified name


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading at lines `line` to `end_line`, from 1 (a setext heading ends with its underline).

    `title` is the inline text as written; that of a setext heading may hold line ends.
    """

    line: int
    end_line: int
    level: int
    title: str
    title_path: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class DocumentLines:
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


def split_section(
    document: DocumentLines, first: int, heading_last: int, last: int, limit: int
) -> list[LineRange]:
    """The section's lines in parts of at most `limit` characters where that is possible.

    `heading_last` is the last line of the heading, which is never cut, or `first - 1` without one.
    """
    if document.size(first, last) <= limit:
        return [(first, last)]
    parts: list[LineRange] = [(first, heading_last)] if heading_last >= first else []
    for paragraph in _paragraphs(document, heading_last + 1, last):
        if document.size(*paragraph) <= limit:
            _append(parts, [paragraph], document, limit)
            continue
        pieces = list(_pieces(document, paragraph, limit))
        if parts and parts[-1][1] > heading_last:
            parts.append(pieces.pop(0))  # what is too long starts its own part, but not without its heading
        _append(parts, pieces, document, limit)
    return [(begin, document.trim_end(begin, end)) for begin, end in parts]


def _append(parts: list[LineRange], pieces: Sequence[LineRange], document: DocumentLines, limit: int) -> None:
    for first, last in pieces:
        if parts and document.size(parts[-1][0], last) <= limit:
            parts[-1] = (parts[-1][0], last)
        else:
            parts.append((first, last))


def _paragraphs(document: DocumentLines, first: int, last: int) -> Iterator[LineRange]:
    """Runs of lines without a blank line outside fences."""
    begin = 0
    number = first
    while number <= last:
        if number not in document.fences and document.blank(number):
            if begin:
                yield begin, number - 1
            begin = 0
        else:
            begin = begin or number
            number = min(document.fences.get(number, number), last)
        number += 1
    if begin:
        yield begin, last


def _pieces(document: DocumentLines, paragraph: LineRange, limit: int) -> Iterator[LineRange]:
    """Lines, and fences that fit whole; a blank line only ever stands between two pieces."""
    number, last = paragraph
    while number <= last:
        end = document.trim_end(number, min(document.fences.get(number, number), last))
        if document.size(number, end) > limit:
            end = number
        if not document.blank(number):
            yield number, end
        number = end + 1
