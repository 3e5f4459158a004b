"""Where do the top-level headings and the fences of a Markdown text stand?

CommonMark block structure without inline structure and without a tree: only what decides whether
a line is a heading. Few lines can matter (heading candidates, openers of fences and of HTML that
outlives a blank line); one regex finds these *events* and the rest is jumped over. A blank line
followed by an unindented line closes every list, quote, paragraph and indented block, so reading
resumes at the last such point before an event, with nothing open.
"""

from __future__ import annotations

from satchel.chunking.markdown_leaves import CODE_INDENT, LAZY, OPENERS, LeafReader
from satchel.chunking.markdown_patterns import ATX, FENCE, THEMATIC_BREAK, columns, event_lines, html_kind

_DEEPEST = 40  # containers inside one another; deeper markers are read as text, so recursion stays bounded
_PATIENCE = 20  # lines looked at in vain, per line of text, before quotes stop taking lazy lines


class BlockScanner(LeafReader):
    """One pass over one text (line ends: \\n). Afterwards `headings` holds the top-level headings and
    `fences` every fence at any depth as (first line, line after the last), by line index from 0."""

    __slots__ = ("_patience",)

    def __init__(self, text: str, first: int = 0) -> None:
        super().__init__(text)
        self._patience = _PATIENCE * len(self.lines)
        line, end = first, len(self.lines) - 1
        for event in event_lines(text):
            if event < line:
                continue
            line = self._resume_point(line, event)
            while line <= event:
                line = self._block(line, end) if self.rest[line] else line + 1

    def _resume_point(self, line: int, event: int) -> int:
        rest, indent = self.rest, self.indent
        while event > line and (rest[event - 1] or indent[event] or not rest[event]):
            event -= 1
        return event

    def _blocks(self, line: int, end: int) -> int:
        """The blocks of a container, up to the first line that is not its own."""
        while line < end:
            if not self.rest[line]:
                line += 1
            elif self.indent[line] < self.base:
                break
            else:
                line = self._block(line, end)
        return line

    def _block(self, line: int, end: int) -> int:
        """The one block that starts at a non-blank line."""
        rest = self.rest[line]
        first = rest[0]
        if self.indent[line] - self.base >= CODE_INDENT:
            return self.indented_code(line, end)
        if first == "#":
            heading = ATX.match(rest)
            return self.atx(line, len(heading[1])) if heading else self.paragraph(line, end)
        after = 0
        if first == "[":
            after = self.definitions(line, end)
        elif first in OPENERS:
            after = self._opened(line, end)
        return after or self.paragraph(line, end)

    def _opened(self, line: int, end: int) -> int:
        """A fence, HTML, thematic break, quote or list; 0 if the line opens none of them."""
        rest = self.rest[line]
        if fence := FENCE.match(rest):
            return self.fence(line, end, fence[1] or fence[2])
        if kind := html_kind(rest):
            return self.html(line, end, kind)
        if THEMATIC_BREAK.match(rest):
            return line + 1
        if self.depth < _DEEPEST:
            if rest[0] == ">":
                return self._quote(line, end)
            if marker := self.list_marker(line):
                return self._list(line, end, marker)
        return 0

    def _quote(self, line: int, end: int) -> int:
        """A block quote: its marked lines, and unmarked ones as long as its paragraph takes them."""
        rest, indent, base = self.rest, self.indent, self.base
        saved = [(rest[line], indent[line], self.origin[line])]
        blank = self._strip_quote_marker(line)
        following = line + 1
        while following < end and rest[following]:
            lines_own = rest[following], indent[following], self.origin[following]
            if rest[following][0] == ">" and indent[following] >= base:
                blank = self._strip_quote_marker(following)
            elif blank or self._patience < 0 or self.interrupts(following, False):
                break
            else:
                indent[following] = LAZY
            saved.append(lines_own)
            following += 1
        after = self._inside(line, following, 0, self.list_base)
        self._patience -= following - after  # lazy lines that no paragraph took are read again
        for number, (old_rest, old_indent, old_origin) in enumerate(saved, line):
            rest[number], indent[number], self.origin[number] = old_rest, old_indent, old_origin
        return after

    def _strip_quote_marker(self, line: int) -> bool:
        """Take `>` and one column of white space off a line; whether nothing is left."""
        body = self.rest[line][1:]
        column = self.origin[line] + self.indent[line] + 1
        width = columns(body, column)
        taken = 1 if width else 0
        self.rest[line] = body.lstrip(" \t")
        self.indent[line] = width - taken
        self.origin[line] = column + taken
        return not self.rest[line]

    def _list(self, line: int, end: int, marker: str) -> int:
        """The items of one list: markers of the same kind, none of them a thematic break."""
        kind = marker[-1]
        while marker and marker[-1] == kind:
            line = self._item(line, end, marker)
            if line >= end or not self.rest[line] or not 0 <= self.indent[line] - self.base < CODE_INDENT:
                break
            marker = "" if THEMATIC_BREAK.match(self.rest[line]) else self.list_marker(line)
        return line

    def _item(self, line: int, end: int, marker: str) -> int:
        rest, indent = self.rest[line], self.indent[line]
        after_marker = rest[len(marker) :]
        content = after_marker.lstrip(" \t")
        start = indent + len(marker)
        width = columns(after_marker, self.origin[line] + start)
        if not content and not self.rest[line + 1]:
            return min(line + 2, end)  # an item that starts with two blank lines is empty
        self.rest[line], self.indent[line] = content, start + width
        item_base = start + (width if content and width <= CODE_INDENT else 1)
        after = self._inside(line, end, item_base, self.base)
        self.rest[line], self.indent[line] = rest, indent
        return after

    def _inside(self, line: int, end: int, base: int, list_base: int) -> int:
        outside = self.base, self.list_base
        self.base, self.list_base = base, list_base
        self.depth += 1
        after = self._blocks(line, end)
        self.depth -= 1
        self.base, self.list_base = outside
        return after
