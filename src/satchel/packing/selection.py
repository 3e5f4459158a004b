"""Which passages enter a pack, and in which order: those that promise most of the answer for their size.

First a map: one line of the best passage of each of the first files, so that every file that may matter is at
least named. Then whole passages: the most promising one, and after it the others by promise per character. A
section that is full waits until the others had their turn. Of a promising passage that does not fit, the best
lines are taken. A passage that does not fit at all is passed over, and a smaller one may still fit.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from math import ceil
from typing import Protocol

import msgspec

from satchel.packing.pack import DropReason
from satchel.packing.sections import Section
from satchel.storage.records import FileRecord
from satchel.types import LineRange, Passage

_CITATION_CHARS = 120  # that a passage takes beside its text, however short it is
# The following three are shares of the best promise.
_WORTH_A_PART = 0.1  # a passage below it is left out when it does not fit whole
_FAINT = 0.05  # a passage below it waits until all others had their turn
_WEAK = 0.002  # a passage below it is never shown whole
_LEAST_PART = 300  # characters; a shorter part of a passage says nothing
_PARTS = (0.8, 0.55, 0.35)  # of the room that is left; citation and line numbers take some of it
_COPY_CHARS = 200  # shorter texts may be alike by chance
_ALIKE = 0.9  # the share of lines that near-copies have in common


class PassageReader(Protocol):
    """Reads the files that passages are of."""

    def lines(self, path: str) -> Sequence[str]:
        """Return the lines of a file."""

    def record(self, path: str) -> FileRecord:
        """Return what the index knows of a file."""

    def imports(self, path: str, content: str) -> tuple[str, ...]:
        """Return the import statements of a file that bring in a name which the content uses."""

    def best_lines(self, passage: Passage, chars: int) -> LineRange:
        """Return the lines of a passage, of about so many characters, that hold most of the query."""


class SelectedPassage(msgspec.Struct, frozen=True):
    """A passage that the pack will show: all of its lines, its best lines, or only its signature."""

    passage: Passage
    section: Section
    start_line: int
    end_line: int

    @property
    def whole(self) -> bool:
        """Whether all lines of the passage are shown."""
        return (self.start_line, self.end_line) == (self.passage.start_line, self.passage.end_line)

    @property
    def is_signature(self) -> bool:
        """Whether only the signature is shown."""
        return not self.whole and self.end_line <= self.passage.head[1]


def is_weak(passage: Passage, best: float) -> bool:
    """Whether a passage promises next to nothing beside the best one: it is named at most."""
    return passage.promise < _WEAK * best


class PassageSelection:
    """The passages that were taken so far, and the reasons why others were not.

    `take` returns whether a selected passage fits, and then sets its size aside. `best_lines` is that of a
    PassageReader. `room` returns about how many characters are left.
    """

    def __init__(
        self,
        passages: Sequence[Passage],
        sections: Sequence[Section],
        caps: Mapping[Section, int],
        take: Callable[[SelectedPassage], bool],
        best_lines: Callable[[Passage, int], LineRange],
        room: Callable[[], int],
    ) -> None:
        self.passages = passages
        self.sections = sections
        self.caps = caps
        self.take = take
        self.best_lines = best_lines
        self.room = room
        self.selected: dict[int, SelectedPassage] = {}  # by the number of the passage, in the order taken
        self.dropped: dict[int, DropReason] = {}
        self._of_section: Counter[Section] = Counter()
        self._shown: set[int] = set()  # the passages of which more than the signature is taken
        self._best = max((passage.promise for passage in passages), default=0.0)
        for number in range(len(passages)):
            if not caps[sections[number]]:
                self.dropped[number] = DropReason.CAP
            elif self._is_weak(number):
                self.dropped[number] = DropReason.WEAK

    def name_files(self, files: int) -> None:
        """Name the first files, each by the first line of the signature of its best passage."""
        for number in self._best_of_files(files):
            passage = self.passages[number]
            line = passage.head[0]
            if self.dropped.get(number) is not DropReason.CAP and passage.end_line > passage.start_line:
                signature = SelectedPassage(passage, self.sections[number], line, line)
                if self.take(signature):
                    self.selected[number] = signature
                    self.dropped.pop(number, None)

    def fill(self, limit: int = 0) -> None:
        """Take whole passages while they fit, at most `limit` of them if it is not 0. Passages that did not
        fit in an earlier call are tried again: selected ones may have become smaller since."""
        self.dropped = {
            number: reason for number, reason in self.dropped.items() if reason is not DropReason.BUDGET
        }
        waiting = [
            number
            for number in range(len(self.passages))
            if number not in self.dropped and not self._is_whole(number) and not self._is_weak(number)
        ]
        for number in self._by_urgency(waiting, limit):
            if limit and len(self._shown) >= limit and number not in self._shown:
                if number not in self.selected:
                    self.dropped[number] = DropReason.LIMIT
            elif not self._take_lines(number) and number not in self.selected:
                self.dropped[number] = DropReason.BUDGET

    def _take_lines(self, number: int) -> bool:
        """Take a passage whole, or the best lines of a promising one that does not fit; return whether
        anything was taken."""
        passage = self.passages[number]
        for first, last in self._line_choices(number):
            selected = SelectedPassage(passage, self.sections[number], first, last)
            if self.take(selected):
                self.selected.pop(number, None)
                self.selected[number] = selected
                if number not in self._shown:
                    self._shown.add(number)
                    self._of_section[selected.section] += 1
                return True
        return False

    def _line_choices(self, number: int) -> Iterator[LineRange]:
        """Yield all lines of a passage, then its best lines for ever less room. Those are computed only when
        the longer ones did not fit."""
        passage = self.passages[number]
        yield passage.start_line, passage.end_line
        if self._best and passage.promise >= _WORTH_A_PART * self._best and number not in self._shown:
            room = self.room()
            for chars in (int(share * room) for share in _PARTS):
                if _LEAST_PART <= chars < passage.size:
                    yield self.best_lines(passage, chars)

    def cut(self) -> list[SelectedPassage]:
        """Return the selected passages that are not shown whole although they are not weak."""
        return [one for number, one in self.selected.items() if not (one.whole or self._is_weak(number))]

    def undo(self) -> None:
        """Give back the passage that was taken last."""
        number, selected = self.selected.popitem()
        self.dropped[number] = DropReason.BUDGET
        if number in self._shown:
            self._shown.remove(number)
            self._of_section[selected.section] -= 1

    def _by_urgency(self, waiting: Sequence[int], limit: int) -> Iterator[int]:
        """Yield the most promising passage, or the `limit` most promising ones, then the others by promise
        per character. Passages of full sections and faint ones come last: no section starves another, and no
        room stays unused."""
        later: list[int] = []
        best = sorted(waiting, key=lambda number: -self.passages[number].promise)[: limit or 1]
        least = _FAINT * max((self.passages[number].promise for number in waiting), default=0.0)
        for number in sorted(
            waiting, key=lambda number: (number not in best, -self._density(number), number)
        ):
            section = self.sections[number]
            if self._of_section[section] >= self.caps[section] or self.passages[number].promise < least:
                later.append(number)
            else:
                yield number
        yield from later

    def _density(self, number: int) -> float:
        """Return the promise of a passage per character."""
        passage = self.passages[number]
        return round(passage.promise / (passage.size + _CITATION_CHARS), 12)

    def _best_of_files(self, files: int) -> list[int]:
        """Return the most promising passage of each of the first files, by the rank of the file."""
        best: dict[int, int] = {}
        for number, passage in enumerate(self.passages):
            if passage.rank < files:
                held = best.setdefault(passage.rank, number)
                if passage.promise > self.passages[held].promise:
                    best[passage.rank] = number
        return [best[rank] for rank in sorted(best)]

    def _is_weak(self, number: int) -> bool:
        return is_weak(self.passages[number], self._best)

    def _is_whole(self, number: int) -> bool:
        return number in self.selected and self.selected[number].whole


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
