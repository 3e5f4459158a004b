"""Where does a Markdown block without children end: paragraph, heading, code, fence, HTML, definition?

`LeafReader` holds the lines as the innermost container sees them; the containers themselves are
read by its subclass in `markdown_blocks`.
"""

from __future__ import annotations

from dataclasses import dataclass

from satchel.chunking.markdown_patterns import (
    ATX,
    FENCE,
    HTML_CLOSINGS,
    LIST_MARKER,
    LONE_TAG_KIND,
    MARKDOWN_SPACE,
    THEMATIC_BREAK,
    UNDERLINE,
    columns,
    definition_length,
    html_kind,
)

CODE_INDENT = 4  # columns that make a line indented code
LAZY = -1  # the indent of a line that a quote holds only as lazy continuation of its paragraph
OPENERS = frozenset("`~>*-_+#<0123456789")  # the first character of all that may interrupt a paragraph


@dataclass(frozen=True, slots=True)
class RawHeading:
    """A heading by line index: `line` is its first line, `end` the line after its last."""

    line: int
    end: int
    level: int
    title: str


class LeafReader:
    """Every method takes the index of a block's first line and gives the index after its last.

    `rest` is a line from its first non-space character on, `indent` the columns before it. Containers
    rewrite both for the lines they own and put them back. `base` is the column where the content of
    the innermost list item starts.
    """

    __slots__ = ("base", "depth", "fences", "headings", "indent", "lines", "list_base", "origin", "rest")

    def __init__(self, text: str) -> None:
        self.lines = text.split("\n")
        self.lines.append("")  # an empty list item looks one line ahead
        self.rest = [line.lstrip(" \t") for line in self.lines]
        self.indent = [len(line) - len(rest) for line, rest in zip(self.lines, self.rest, strict=True)]
        if "\t" in text:
            for number, line in enumerate(self.lines):
                if "\t" in line:
                    self.indent[number] = columns(line, 0)
        self.origin = [0] * len(self.lines)  # the column where the innermost quote's content starts
        self.base = 0
        self.list_base = -1  # the column of the innermost list itself, -1 outside lists
        self.depth = 0  # open containers
        self.headings: list[RawHeading] = []
        self.fences: list[tuple[int, int]] = []

    def interrupts(self, line: int, paragraph: bool) -> bool:
        """Whether a block starts here although text is open; `paragraph` adds the limits for lists."""
        rest = self.rest[line]
        first = rest[0]
        if first not in OPENERS or self.indent[line] - self.base >= CODE_INDENT:
            return False
        if first == ">":
            return True
        if first == "#":
            return ATX.match(rest) is not None
        if first == "<":
            return 0 < html_kind(rest) < LONE_TAG_KIND
        if FENCE.match(rest) or THEMATIC_BREAK.match(rest):
            return True
        return self.list_marker(line, paragraph) != ""

    def list_marker(self, line: int, paragraph: bool = False) -> str:
        """The list marker that the line starts with, empty for none."""
        indent, rest = self.indent[line], self.rest[line]
        if 0 <= self.list_base <= indent - CODE_INDENT and indent < self.base:
            return ""
        found = LIST_MARKER.match(rest)
        if not found:
            return ""
        marker = found[0]
        if paragraph and indent >= self.base:
            if len(marker) > 1 and int(marker[:-1]) != 1:
                return ""
            if not rest[len(marker) :].strip(" \t"):
                return ""
        return marker

    def atx(self, line: int, level: int) -> int:
        """A `#` heading; its closing run of `#` goes only when white space stands before it."""
        if not self.depth:
            text = self.rest[line][level:].rstrip(" \t")
            bare = text.rstrip("#")
            title = bare if bare.endswith((" ", "\t")) else text
            self.headings.append(RawHeading(line, line + 1, level, title.strip(MARKDOWN_SPACE)))
        return line + 1

    def paragraph(self, line: int, end: int) -> int:
        """A paragraph, or the setext heading that it turns out to be."""
        rest, indent, base = self.rest, self.indent, self.base
        following = line + 1
        while following < end and rest[following]:
            if indent[following] - base < CODE_INDENT:
                if (
                    rest[following][0] in "=-"
                    and indent[following] >= base
                    and UNDERLINE.match(rest[following])
                ):
                    return self._setext(line, following)
                if indent[following] != LAZY and self.interrupts(following, True):
                    break
            following += 1
        return following

    def _setext(self, line: int, underline: int) -> int:
        if not self.depth:
            level = 1 if self.rest[underline][0] == "=" else 2
            title = "\n".join(self.lines[line:underline]).strip(MARKDOWN_SPACE)
            self.headings.append(RawHeading(line, underline + 1, level, title))
        return underline + 1

    def definitions(self, line: int, end: int) -> int:
        """The link reference definitions that start here, 0 if there is none."""
        following = line + 1
        while following < end and self.rest[following] and not self._ends_definitions(following):
            following += 1
        text = "\n".join(self.rest[line:following])
        position, after = 0, line
        while length := definition_length(text, position):
            after += text.count("\n", position, position + length) + (position + length == len(text))
            position += length
            if not 0 <= self.indent[after] - self.base < CODE_INDENT:
                break  # only the lines inside one definition may be lazy
        return after if position else 0

    def _ends_definitions(self, line: int) -> bool:
        return self.indent[line] != LAZY and self.interrupts(line, False)

    def indented_code(self, line: int, end: int) -> int:
        """Lines of at least four columns, blank lines between them included."""
        after = following = line + 1
        while following < end:
            if self.rest[following]:
                if self.indent[following] - self.base < CODE_INDENT:
                    break
                after = following + 1
            following += 1
        return after

    def fence(self, line: int, end: int, opening: str) -> int:
        """A fence to its closing line, or to the end of its container."""
        rest, indent, base = self.rest, self.indent, self.base
        after = line + 1
        while after < end and (indent[after] >= base or not rest[after]):
            text = rest[after]
            after += 1
            if text.startswith(opening) and indent[after - 1] - base < CODE_INDENT and _closes(text, opening):
                break
        self.fences.append((line, after))
        return after

    def html(self, line: int, end: int, kind: int) -> int:
        """Kinds 1 to 5 end with their closing text, 6 and 7 before a blank line, all with their container."""
        rest, indent, base = self.rest, self.indent, self.base
        closing = HTML_CLOSINGS.get(kind)
        if closing and closing.search(rest[line]):
            return line + 1
        line += 1
        while line < end:
            if not rest[line]:
                if not closing:
                    break
            elif indent[line] < base:
                break
            elif closing and closing.search(rest[line]):
                return line + 1
            line += 1
        return line


def _closes(text: str, opening: str) -> bool:
    return not text.lstrip(opening[0]).strip(" \t")
