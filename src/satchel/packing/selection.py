"""Which passages may enter a pack, and which of their lines are shown? Near-copies are left out here.

`passage_order` says in which order passages enter, `assembly` how many of them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from math import ceil
from typing import Protocol

import msgspec

from satchel.packing.sections import Section
from satchel.storage.records import FileRecord
from satchel.types import LineRange, Passage

_WEAK = 0.002  # of the best promise; a passage below it is never shown whole
_COPY_CHARS = 200  # shorter texts may be alike by chance
_ALIKE = 0.9  # the share of lines that near-copies have in common
NO_LINES: LineRange = (1, 0)


class PackPlan(msgspec.Struct, frozen=True):
    """How a pack is to be filled."""

    caps: Mapping[Section, int]
    chars_per_name: int = 0  # how much more is shown before one more file is named; 0 means that none is
    limit: int = 0  # items at most; 0 means as many as fit
    with_imports: bool = False  # whether items carry the import lines that they need
    flat: bool = False  # whether items are ordered by score alone, whatever their section
    apart: bool = False  # whether neighbours stay items of their own


class PassageReader(Protocol):
    """Reads the files that passages are of."""

    def lines(self, path: str) -> Sequence[str]:
        """Return the lines of a file."""

    def record(self, path: str) -> FileRecord:
        """Return what the index knows of a file."""

    def ref(self, path: str) -> str:
        """Return the ref that a citation of a file states."""

    def imports(self, path: str, content: str) -> tuple[str, ...]:
        """Return the import statements of a file that bring in a name which the content uses."""

    def best_definition(self, passage: Passage) -> LineRange:
        """Return the lines of the definition in a passage that holds most of the query; the lines of the
        passage if it is one definition or none."""

    def best_lines(self, path: str, within: LineRange, chars: int) -> LineRange:
        """Return the lines within a range, of about so many characters, that hold most of the query."""

    def signature(self, path: str, line: int) -> LineRange:
        """Return the signature of the innermost definition around a line; the line itself outside of all."""

    def naming_line(self, passage: Passage) -> int:
        """Return the line that names the best definition of a passage."""


class SelectedPassage(msgspec.Struct, frozen=True):
    """A passage that the pack will show: all of its lines or some of them, and beside them the `signature` of
    the definition that they are a part of, if it is not empty."""

    passage: Passage
    section: Section
    start_line: int
    end_line: int
    signature: LineRange = NO_LINES
    is_name: bool = False  # whether the lines only name a file that may matter

    @property
    def whole(self) -> bool:
        """Return whether all lines of the passage are shown."""
        return (self.start_line, self.end_line) == (self.passage.start_line, self.passage.end_line)


def is_weak(passage: Passage, best: float) -> bool:
    """Return whether a passage promises next to nothing beside the best one: it is named at most."""
    return passage.promise < _WEAK * best


def drop_near_copies(passages: Sequence[Passage], reader: PassageReader) -> tuple[list[Passage], int]:
    """Return the passages without near-copies of more promising ones, in their order, and the number of
    near-copies."""
    order = sorted(range(len(passages)), key=lambda number: (-passages[number].promise, number))
    kept: list[int] = []
    holders: dict[str, list[set[str]]] = defaultdict(list)  # kept texts by each of their longest lines
    for number in order:
        passage = passages[number]
        if passage.size >= _COPY_CHARS:
            lines = _plain_lines(reader.lines(passage.path)[passage.start_line - 1 : passage.end_line])
            # Two texts that share this many lines share one of the longest few, which are the rarest; only
            # texts that do are compared.
            ordered = sorted(sorted(lines), key=len, reverse=True)
            longest = ordered[: len(lines) - ceil(_ALIKE * len(lines)) + 1]
            if any(_are_alike(lines, other) for line in longest for other in holders.get(line, ())):
                continue
            for line in longest:
                holders[line].append(lines)
        kept.append(number)
    return [passages[number] for number in sorted(kept)], len(passages) - len(kept)


def _plain_lines(lines: Iterable[str]) -> set[str]:
    """Return the distinct lines with single spaces, without blank ones."""
    return {" ".join(line.split()) for line in lines} - {""}


def _are_alike(lines: set[str], other: set[str]) -> bool:
    return len(lines & other) >= _ALIKE * max(len(lines), len(other))
