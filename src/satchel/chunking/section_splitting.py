"""The headings and sections of a document, and how a section that is too long for one chunk is cut.

It is cut at blank lines outside fences. A paragraph that is too long alone is cut at lines outside fences,
and a fence only if it is too long alone. Lines are counted from 1; ranges include both ends.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from satchel.types import LineRange

MAX_CHARS = 6000  # a longer section is cut into parts
INTRO = "INTRO"  # the title of the text before the first heading
TITLE_SEPARATOR = " > "  # between the titles of a qualified name


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading on lines `line` to `end_line`, counted from 1. A setext heading ends with its underline.

    `title` is the inline text as written; that of a setext heading may contain line ends.
    """

    line: int
    end_line: int
    level: int
    title: str
    title_path: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class DocumentLines:
    """The lines of a document. `offsets[n]` is the position at which line n ends; `fences` maps the first
    line of a fence to its last."""

    lines: Sequence[str]
    offsets: Sequence[int]
    fences: Mapping[int, int]

    def size(self, first: int, last: int) -> int:
        """Return the number of characters of a range of lines."""
        return self.offsets[last] - self.offsets[first - 1]

    def text(self, source: str, first: int, last: int) -> str:
        """Return the exact text of a range of lines."""
        return source[self.offsets[first - 1] : self.offsets[last]]

    def blank(self, number: int) -> bool:
        """Return whether a line holds nothing but white space."""
        return not self.lines[number - 1].strip()

    def trim_end(self, first: int, last: int) -> int:
        """Return the last line of a range that is not blank, at least `first`."""
        while last > first and self.blank(last):
            last -= 1
        return last


def split_section(
    document: DocumentLines, first: int, heading_end: int, last: int, limit: int
) -> list[LineRange]:
    """Return the lines of a section in parts of at most `limit` characters where that is possible.

    `heading_end` is the last line of the heading, which is never cut, or `first - 1` if there is none.
    """
    if document.size(first, last) <= limit:
        return [(first, last)]
    parts: list[LineRange] = [(first, heading_end)] if heading_end >= first else []
    for paragraph in _paragraphs(document, heading_end + 1, last):
        if document.size(*paragraph) <= limit:
            _join_parts(parts, [paragraph], document, limit)
            continue
        parts_of_paragraph = list(_paragraph_parts(document, paragraph, limit))
        if parts and parts[-1][1] > heading_end:
            # A paragraph that is too long starts a part of its own, unless it follows its heading.
            parts.append(parts_of_paragraph.pop(0))
        _join_parts(parts, parts_of_paragraph, document, limit)
    return [(begin, document.trim_end(begin, end)) for begin, end in parts]


def _join_parts(
    parts: list[LineRange], parts_of_paragraph: Sequence[LineRange], document: DocumentLines, limit: int
) -> None:
    """Append ranges to the parts; a range that fits the last part is joined with it."""
    for first, last in parts_of_paragraph:
        if parts and document.size(parts[-1][0], last) <= limit:
            parts[-1] = (parts[-1][0], last)
        else:
            parts.append((first, last))


def _paragraphs(document: DocumentLines, first: int, last: int) -> Iterator[LineRange]:
    """Yield the runs of lines without a blank line outside fences."""
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


def _paragraph_parts(document: DocumentLines, paragraph: LineRange, limit: int) -> Iterator[LineRange]:
    """Yield the lines of a paragraph one by one, but a fence that fits as a whole. Blank lines are left
    out."""
    number, last = paragraph
    while number <= last:
        end = document.trim_end(number, min(document.fences.get(number, number), last))
        if document.size(number, end) > limit:
            end = number
        if not document.blank(number):
            yield number, end
        number = end + 1
