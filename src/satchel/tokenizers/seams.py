"""Where can a text be cut so that its parts, each counted alone, have as many tokens as the whole?

Byte-pair tokenizers first split a text by a pattern; what is merged stays inside of one piece. In the
patterns of all our vocabularies white space stands before what it goes with, and after a line end a piece has
nothing but white space and slashes. So a piece ends, whatever stands around it,

- with the last line end before a line that has something on it and does not start with a slash,
- with a letter before a space: in JSON, with the `n` of a line end that is written out.

No piece on either side looks across such a seam. Lines are met again and again while a pack is filled, so
what was counted once is remembered.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

import msgspec

_LINE_END = re.compile(r"\n(?!/)(?=[ \t]*\S)")
_WRITTEN_LINE_END, _INDENT = "\\n", " "
_MOST_CHARACTERS = 4_000_000  # remembered for each kind of seam: 100,000 lines of usual length, about 15 MB


class Parts(msgspec.Struct, frozen=True):
    """A text, cut: those `between` are remembered by `known`, the ends hardly recur."""

    between: list[str]
    known: Remembered
    ends: list[str]

    def texts(self) -> list[str]:
        """All parts as they are counted."""
        return [*self.ends, *map(self.known.text, self.between)]


class Remembered:
    """The counts of parts, each with what stands before and after it at its seams. Threads may share it."""

    def __init__(self, before: str, after: str) -> None:
        self.before = before
        self.after = after
        self._counts: dict[str, int] = {}
        self._characters = 0

    def text(self, part: str) -> str:
        """A part with what stands at its seams."""
        return f"{self.before}{part}{self.after}"

    def total(self, parts: Sequence[str], count: Callable[[list[str]], Iterable[int]]) -> int:
        """The tokens of all parts. `count` is asked for those that are new, all at once."""
        counts = self._counts  # another thread may start anew meanwhile
        try:
            return sum(map(counts.__getitem__, parts))
        except KeyError:
            new = [part for part in dict.fromkeys(parts) if part not in counts]
        counts.update(zip(new, count(list(map(self.text, new))), strict=True))
        self._characters += sum(map(len, new))
        if self._characters > _MOST_CHARACTERS:
            self._counts, self._characters = {}, 0
        return sum(map(counts.__getitem__, parts))


class Seams:
    """Cuts texts, and remembers the parts of both kinds."""

    def __init__(self) -> None:
        self._lines = Remembered("", "\n")
        self._written_lines = Remembered(_INDENT, _WRITTEN_LINE_END)

    def cut(self, text: str) -> Parts:
        """The parts of a text; with a line end in it, it is no compact JSON."""
        if "\n" in text:
            lines = _LINE_END.split(text)
            last = lines.pop()
            if last.endswith("\n"):
                lines.append(last[:-1])
                last = ""
            return Parts(lines, self._lines, [last] if last else [])
        between = text.split(_WRITTEN_LINE_END + _INDENT)
        if len(between) < 2:
            return Parts([], self._written_lines, between)
        ends = [between[0] + _WRITTEN_LINE_END, _INDENT + between[-1]]
        return Parts(between[1:-1], self._written_lines, ends)
