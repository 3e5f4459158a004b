"""Reads a saved pack in one pass: sections, citation lines, quoted text, and the hints and queries at its
end.

Quoted text is stepped over, never parsed, and a line outside of it that the format does not write is an
error. So no content can add a citation, and no citation can be lost unnoticed.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from satchel.rendering.packs.text_lines import (
    SECTIONS,
    Headline,
    edited_pack,
    line_start,
    read_next,
    truncated_pack,
)
from satchel.types import Suggestion
from satchel.verifying.saved_pack import Citation, CitedPack

QUOTE = "> "
_SECTION = "## "


class TextGrammar(msgspec.Struct, frozen=True):
    """How a format writes the lines that are not quoted text. `citation` reads a citation line; its arguments
    are the line, the path of the item before it, the ref of the pack and the section. `missing` and `next`
    are what hints and next queries start with; `plain` undoes the escapes of a hint."""

    format: str
    citation: Callable[[str, str, str, str], Citation | None]
    missing: str
    next: str
    plain: Callable[[str], str] = str


class TextReader:
    """Reads the lines of a pack, from line number `start` on."""

    def __init__(self, grammar: TextGrammar, lines: list[str], head: Headline, start: int) -> None:
        self._grammar = grammar
        self._lines = lines
        self._head = head
        self._section = ""
        self._citations: list[Citation] = []
        self._hints: list[str] = []
        self._next: list[Suggestion] = []
        while start < len(lines):
            start = self._step(start)

    def cited(self, query: str) -> CitedPack:
        """Return the pack that was read."""
        pack = self._head.cited(self._grammar.format, self._grammar.plain(query.strip()), self._citations)
        return msgspec.structs.replace(pack, hints=tuple(self._hints), next_queries=tuple(self._next))

    def _step(self, number: int) -> int:
        """Read what starts at a line; return the number of the line after it."""
        line = self._lines[number]
        grammar = self._grammar
        if line.startswith(grammar.missing):
            self._hints.append(grammar.plain(line.removeprefix(grammar.missing)))
        elif line.startswith(grammar.next):
            self._next.append(read_next(grammar.plain(line.removeprefix(grammar.next))))
        elif line.startswith(_SECTION) and line.removeprefix(_SECTION) in SECTIONS:
            self._section = line.removeprefix(_SECTION)
        elif line:
            return self._cited(number, line)
        return number + 1

    def _cited(self, number: int, line: str) -> int:
        before = self._citations[-1].path if self._citations else ""
        citation = self._grammar.citation(line, before, self._head.ref, self._section)
        if citation is None:
            raise edited_pack(f"line {number + 1} is not part of it: {line_start(line)}")
        text, after = self._quotation(number + 1, citation.locator)
        self._citations.append(msgspec.structs.replace(citation, shown=text))
        return after

    def _quotation(self, number: int, locator: str) -> tuple[str, int]:
        opening = self._lines[number] if number < len(self._lines) else ""
        if opening.startswith(QUOTE.strip()):  # an editor may have removed the space of an empty line
            return opening.removeprefix(QUOTE.strip()).removeprefix(" "), number + 1
        fence = opening[: len(opening) - len(opening.lstrip("`"))]
        if len(fence) < 3:
            raise truncated_pack(f"the text of {locator} is not there")
        try:
            end = self._lines.index(fence, number + 1)
        except ValueError:
            raise truncated_pack(f"the pack ends inside the text of {locator}") from None
        return "\n".join(self._lines[number + 1 : end]), end + 1
