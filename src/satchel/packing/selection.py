"""Which pieces to take, in which order: the most relevance for the room it takes.

First a map: the line that names the best piece of each of the first files, so that every file that may matter
is at least mentioned. Then whole pieces: the most promising one, and after it those first that promise most
of the answer for their size. A section that has its share waits until the others had theirs. Of a promising
piece that does not fit, the best part is taken; what does not fit either is passed over, and a smaller piece
may still fit.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from math import ceil
from typing import Protocol

import msgspec

from satchel.packing.pack import DropReason, Section
from satchel.storage.records import FileRecord
from satchel.types import Passage

_FIXED_CHARS = 120  # of a piece, however short: its citation
_WORTH_A_PART = 0.1  # of the best promise; what is below is left out when it does not fit whole
_LEAST_PART = 300  # characters; what is shorter says nothing
_PARTS = (0.8, 0.55, 0.35)  # of the room that is left, whose citation and line numbers take some of it
_FAINT = 0.05  # of the best promise; what is below waits for the rest of every section
_WEAK = 0.002  # of the best promise


class PassageReader(Protocol):
    """Where the text of items comes from."""

    def lines(self, path: str) -> Sequence[str]: ...
    def record(self, path: str) -> FileRecord: ...
    def imports(self, path: str, content: str) -> tuple[str, ...]: ...
    def part(self, passage: Passage, chars: int) -> tuple[int, int]: ...  # the lines that fit best


class SelectedPassage(msgspec.Struct, frozen=True):
    """A piece that was taken: whole, or only the lines of its signature."""

    passage: Passage
    section: Section
    start_line: int
    end_line: int

    @property
    def whole(self) -> bool:
        return (self.start_line, self.end_line) == (self.passage.start_line, self.passage.end_line)

    @property
    def is_signature(self) -> bool:
        """Whether it only names what it is of."""
        return not self.whole and self.end_line <= self.passage.head[1]


def is_weak(passage: Passage, best: float) -> bool:
    """Whether a piece says next to nothing beside the best: it is named at most, never shown whole."""
    return passage.promise < _WEAK * best


class PassageSelection:
    """What was taken so far, and what became of the rest. `take` says whether a pick fits, and keeps it;
    `part` gives the lines of a passage that say most, `room` about how many characters are left."""

    def __init__(
        self,
        passages: Sequence[Passage],
        sections: Sequence[Section],
        caps: Mapping[Section, int],
        take: Callable[[SelectedPassage], bool],
        part: Callable[[Passage, int], tuple[int, int]],
        room: Callable[[], int],
    ) -> None:
        self.passages = passages
        self.sections = sections
        self.caps = caps
        self.take = take
        self.part = part
        self.room = room
        self.picks: dict[int, SelectedPassage] = {}  # by the number of the passage, in the order taken
        self.dropped: dict[int, DropReason] = {}
        self._of_section: Counter[Section] = Counter()
        self._taken: set[int] = set()  # what was taken beyond its signature
        self._best = max((passage.promise for passage in passages), default=0.0)
        for number in range(len(passages)):
            if not caps[sections[number]]:
                self.dropped[number] = DropReason.CAP
            elif self._is_weak(number):
                self.dropped[number] = DropReason.WEAK

    def map(self, files: int) -> None:
        """Name the first files, each by the first line of the signature of its best piece."""
        for number in self._best_of_files(files):
            passage = self.passages[number]
            line = passage.head[0]
            if self.dropped.get(number) is not DropReason.CAP and passage.end_line > passage.start_line:
                pick = SelectedPassage(passage, self.sections[number], line, line)
                if self.take(pick):
                    self.picks[number] = pick
                    self.dropped.pop(number, None)

    def fill(self, limit: int = 0) -> None:
        """Take whole pieces while they fit; `limit` says how many at most, if it is not 0. What did not fit
        before may try again: something else became smaller meanwhile."""
        self.dropped = {
            number: reason for number, reason in self.dropped.items() if reason is not DropReason.BUDGET
        }
        waiting = [
            number
            for number in range(len(self.passages))
            if number not in self.dropped and not self._is_whole(number) and not self._is_weak(number)
        ]
        for number in self._urgent(waiting, limit):
            if limit and len(self._taken) >= limit and number not in self._taken:
                if number not in self.picks:
                    self.dropped[number] = DropReason.LIMIT
            elif not self._take_some(number) and number not in self.picks:
                self.dropped[number] = DropReason.BUDGET

    def _take_some(self, number: int) -> bool:
        """Take the piece, or of a promising one that does not fit the part that says most."""
        passage = self.passages[number]
        for first, last in self._forms(number):
            pick = SelectedPassage(passage, self.sections[number], first, last)
            if self.take(pick):
                self.picks.pop(number, None)
                self.picks[number] = pick
                if number not in self._taken:
                    self._taken.add(number)
                    self._of_section[pick.section] += 1
                return True
        return False

    def _forms(self, number: int) -> Iterator[tuple[int, int]]:
        """The lines of a piece, then those of ever smaller parts, looked for only when they are needed."""
        passage = self.passages[number]
        yield passage.start_line, passage.end_line
        if self._best and passage.promise >= _WORTH_A_PART * self._best and number not in self._taken:
            room = self.room()
            for chars in (int(share * room) for share in _PARTS):
                if _LEAST_PART <= chars < passage.size:
                    yield self.part(passage, chars)

    def cut(self) -> list[SelectedPassage]:
        """What was taken in part, although the whole of it may answer."""
        return [pick for number, pick in self.picks.items() if not (pick.whole or self._is_weak(number))]

    def undo(self) -> None:
        """Give back the pick that was taken last."""
        number, pick = self.picks.popitem()
        self.dropped[number] = DropReason.BUDGET
        if number in self._taken:
            self._taken.remove(number)
            self._of_section[pick.section] -= 1

    def _urgent(self, waiting: Sequence[int], limit: int) -> Iterator[int]:
        """The best number, then the others by what they promise for their size; where only some may be taken,
        the best of them before all others. Those of full sections, and the faint, come when the others are
        done: no section starves another, and none leaves room unused."""
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
        passage = self.passages[number]
        return round(passage.promise / (passage.size + _FIXED_CHARS), 12)

    def _best_of_files(self, files: int) -> list[int]:
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
        return number in self.picks and self.picks[number].whole


_COPY_CHARS = 200  # shorter texts may be alike by chance
_ALIKE = 0.9  # the share of lines that near-copies have in common


def without_copies(passages: Sequence[Passage], reading: PassageReader) -> tuple[list[Passage], int]:
    """The passages without near-copies of more promising ones, in their order, and how many were copies."""
    order = sorted(range(len(passages)), key=lambda number: (-passages[number].promise, number))
    kept: list[int] = []
    holders: dict[str, list[set[str]]] = defaultdict(list)  # texts by each of their first lines
    for number in order:
        passage = passages[number]
        if passage.size >= _COPY_CHARS:
            lines = _telling(reading.lines(passage.path)[passage.start_line - 1 : passage.end_line])
            # texts that share so many lines share one of the first, in whatever order: long ones are rarest
            ordered = sorted(sorted(lines), key=len, reverse=True)
            first = ordered[: len(lines) - ceil(_ALIKE * len(lines)) + 1]
            if any(_are_alike(lines, other) for line in first for other in holders.get(line, ())):
                continue
            for line in first:
                holders[line].append(lines)
        kept.append(number)
    return [passages[number] for number in sorted(kept)], len(passages) - len(kept)


def _telling(lines: Iterable[str]) -> set[str]:
    return {" ".join(line.split()) for line in lines} - {""}


def _are_alike(one: set[str], other: set[str]) -> bool:
    return len(one & other) >= _ALIKE * max(len(one), len(other))
