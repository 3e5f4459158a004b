"""One pass over a pack's text: section, citation line, quoted text, and at the end what is missing and next.

What stands in a quotation is stepped over, never looked at; a line outside of them that no format writes
makes the pack an edited one. So no content can add a citation, and none can be lost unnoticed.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from satchel.rendering.packs.text_lines import SECTIONS, Headline, cut, line_start, not_ours, read_next
from satchel.types import Suggestion
from satchel.verifying.saved_pack import Citation, CitedPack

QUOTE = "> "
_SECTION = "## "


class TextGrammar(msgspec.Struct, frozen=True):
    """How a format writes what is not quoted. `citation` takes a line, the path before it, the pack's ref and
    the section; `plain` takes back what the format did to a hint."""

    format: str
    citation: Callable[[str, str, str, str], Citation | None]
    missing: str
    next: str
    plain: Callable[[str], str] = str


class TextReader:
    """Reads the lines of a pack from a place on."""

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
        """What was read."""
        pack = self._head.cited(self._grammar.format, self._grammar.plain(query.strip()), self._citations)
        return msgspec.structs.replace(pack, hints=tuple(self._hints), next_queries=tuple(self._next))

    def _step(self, place: int) -> int:
        """Read what starts at a line; the place after it."""
        line = self._lines[place]
        grammar = self._grammar
        if line.startswith(grammar.missing):
            self._hints.append(grammar.plain(line.removeprefix(grammar.missing)))
        elif line.startswith(grammar.next):
            self._next.append(read_next(grammar.plain(line.removeprefix(grammar.next))))
        elif line.startswith(_SECTION) and line.removeprefix(_SECTION) in SECTIONS:
            self._section = line.removeprefix(_SECTION)
        elif line:
            return self._cited(place, line)
        return place + 1

    def _cited(self, place: int, line: str) -> int:
        before = self._citations[-1].path if self._citations else ""
        citation = self._grammar.citation(line, before, self._head.ref, self._section)
        if citation is None:
            raise not_ours(f"line {place + 1} is not part of it: {line_start(line)}")
        text, after = self._quotation(place + 1, citation.locator)
        self._citations.append(msgspec.structs.replace(citation, shown=text))
        return after

    def _quotation(self, place: int, locator: str) -> tuple[str, int]:
        opening = self._lines[place] if place < len(self._lines) else ""
        if opening.startswith(QUOTE.strip()):  # an editor may have taken the space of an empty line
            return opening.removeprefix(QUOTE.strip()).removeprefix(" "), place + 1
        fence = opening[: len(opening) - len(opening.lstrip("`"))]
        if len(fence) < 3:
            raise cut(f"the text of {locator} is not there")
        try:
            end = self._lines.index(fence, place + 1)
        except ValueError:
            raise cut(f"the pack ends inside the text of {locator}") from None
        return "\n".join(self._lines[place + 1 : end]), end + 1
