"""In which order do passages enter a pack? It depends on the query and the format, never on the budget.

A pack is a beginning of this order: whole passages, and of the next one as much as fits. So a larger budget
shows whatever a smaller one shows.

The most promising passage leads. If it is no code, the most promising code follows: an agent that asks how
something is done goes on to the code that does it. Then come those that promise more for their size. A
section that is full waits until the others had their turn. Between passages, files that may matter are named
by one line each, more of them the more has been shown. A passage of which one line alone is long waits until
enough is shown: otherwise it would keep all later ones out of a small pack.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec

from satchel.packing.pack import DropReason
from satchel.packing.sections import Section
from satchel.packing.selection import NO_LINES, PackPlan, PassageReader, SelectedPassage, is_weak
from satchel.types import LineRange, Passage

_OF_CODE = frozenset({Section.DEFINITIONS, Section.KEY_USAGES})
_FAINT = 0.05  # of the best promise; a passage below it waits until all others had their turn
_LEAST_PART = 300  # characters; a shorter part of a passage says nothing
_GROWTH = 1.5  # how much longer the next part of a passage is
_LEAST_NAMED, _MOST_NAMED = 10, 40  # files that are named, with enough room
# A file after the first few is named if a passage of it promises this share of the best promise. Of 603 lines
# that named files with less, 2 led to one that the fix changed; of 264 with more 8 (52 fixes, 13
# repositories).
_SURELY_NAMED, _NAMED_PROMISE = 5, 0.01
_OF_NAMES = 5  # naming files may take one part in so many of what is shown
_LONG_LINE, _OF_LINE = 400, 4  # characters that a line may always have; one part in so many of what is shown


class PassageOrder:
    """The order of some passages; `sections` has the section of each. `citation_chars` is what an item takes
    beside its text, in characters."""

    def __init__(
        self,
        passages: Sequence[Passage],
        sections: Sequence[Section],
        plan: PackPlan,
        reader: PassageReader,
        citation_chars: int,
    ) -> None:
        self.passages = passages
        self.sections = sections
        self.plan = plan
        self.reader = reader
        self.citation_chars = citation_chars
        self.most = max((passage.promise for passage in passages), default=0.0)
        self.barred = dict(self._barred())
        self.by_urgency = tuple(self._by_urgency())  # numbers of passages
        self._shown_chars = 0
        self._shown_files: set[str] = set()
        self._named = 0  # files that had their turn to be named
        self._items = 0  # that the steps so far can become
        self._last: set[tuple[str, int]] = set()  # passages after which no further item may follow

    def steps(self) -> Iterator[SelectedPassage]:
        """Yield each passage that may be shown, whole, and each line that names a file, in their order."""
        best = self._best_of_files()
        for number in self._without_long_lines(self.by_urgency):
            yield from self._names_due(best)
            step = self._whole(number)
            if self.plan.limit and self._items == self.plan.limit:
                self.barred[number] = DropReason.LIMIT
                continue
            if self.plan.limit and self._items + _item_count(step) > self.plan.limit:
                step = msgspec.structs.replace(step, signature=NO_LINES)
            self._items += _item_count(step)
            if self._items == self.plan.limit:
                self._last.add((step.passage.path, step.passage.start_line))
            self._note(step, step.passage.size)
            yield step
        self._shown_chars = _MOST_NAMED * max(self.plan.chars_per_name, _OF_NAMES * self.citation_chars)
        yield from self._names_due(best)

    def parts(self, step: SelectedPassage) -> Iterator[SelectedPassage]:
        """Yield parts of the lines of a step, each inside the next: the lines of its best definition that
        hold most of the query, more of that definition, then its neighbours."""
        passage = step.passage
        if step.is_name or passage.start_line == passage.end_line:
            return
        path, lines = passage.path, self.reader.lines(passage.path)
        core = self.reader.best_definition(passage)
        part = self.reader.best_lines(path, core, _LEAST_PART)
        signature = step.signature
        if passage.whole and (path, passage.start_line) not in self._last:
            first, last = self.reader.signature(path, part[0])
            signature = (first, last) if passage.start_line <= first < part[0] else NO_LINES
        size = float(_LEAST_PART)
        while step.start_line < part[0] or part[1] < step.end_line:
            yield msgspec.structs.replace(step, start_line=part[0], end_line=part[1], signature=signature)
            size = _GROWTH * max(size, sum(map(len, lines[part[0] - 1 : part[1]])))
            wider = _grown(part, core, lines, size)
            part = wider if wider != part else _grown(part, (step.start_line, step.end_line), lines, size)

    def _barred(self) -> Iterator[tuple[int, DropReason]]:
        """Yield the passages that are never shown whole, with the reason."""
        best = self.most
        for number, passage in enumerate(self.passages):
            if not self.plan.caps[self.sections[number]]:
                yield number, DropReason.CAP
            elif is_weak(passage, best):
                yield number, DropReason.WEAK

    def _whole(self, number: int) -> SelectedPassage:
        passage = self.passages[number]
        signature = NO_LINES if passage.whole else passage.head
        return SelectedPassage(
            passage, self.sections[number], passage.start_line, passage.end_line, signature
        )

    def _note(self, step: SelectedPassage, chars: int) -> None:
        self._shown_chars += chars + self.citation_chars
        self._shown_files.add(step.passage.path)

    def _by_urgency(self) -> Iterator[int]:
        """Yield the passages that lead, then the others by promise per character; with a limit only so many
        of the most promising. Passages of full sections and faint ones come last: no section starves
        another, and no room stays unused."""
        waiting = [number for number in range(len(self.passages)) if number not in self.barred]
        waiting.sort(key=lambda number: -self.passages[number].promise)
        if self.plan.limit:
            self.barred.update(dict.fromkeys(waiting[self.plan.limit :], DropReason.LIMIT))
            waiting = waiting[: self.plan.limit]
        most = max((self.passages[number].promise for number in waiting), default=0.0)
        leading = self._leading(waiting)
        least = _FAINT * most
        of_section: Counter[Section] = Counter()
        later: list[int] = []
        for number in sorted(
            waiting,
            key=lambda number: (leading.get(number, len(leading)), -self._density(number), number),
        ):
            section = self.sections[number]
            is_faint = self.passages[number].promise < least and number not in leading
            if is_faint or of_section[section] >= self.plan.caps[section]:
                later.append(number)
            else:
                of_section[section] += 1
                yield number
        yield from later

    def _leading(self, waiting: Sequence[int]) -> dict[int, int]:
        """Return the places of the passages that lead, given all with the most promising first."""
        best = [*waiting[:1], *[number for number in waiting if self.sections[number] in _OF_CODE][:1]]
        return {number: place for place, number in enumerate(dict.fromkeys(best))}

    def _without_long_lines(self, numbers: Iterable[int]) -> Iterator[int]:
        """Yield the passages, those with a line that is too long for what is shown so far later."""
        waiting: list[int] = []
        for number in numbers:
            for held in [held for held in waiting if not self._is_too_long(held)]:
                waiting.remove(held)
                yield held
            if self._is_too_long(number):
                waiting.append(number)
            else:
                yield number
        yield from waiting

    def _is_too_long(self, number: int) -> bool:
        passage = self.passages[number]
        most = _LONG_LINE + self._shown_chars // _OF_LINE
        if passage.size <= most:
            return False
        lines = self.reader.lines(passage.path)[passage.start_line - 1 : passage.end_line]
        return max(map(len, lines), default=0) > most

    def _density(self, number: int) -> float:
        """Return the promise of a passage per character."""
        passage = self.passages[number]
        return round(passage.promise / (passage.size + self.citation_chars), 12)

    def _names_due(self, best: Mapping[int, int]) -> Iterator[SelectedPassage]:
        """Yield the lines that name the files which are due, as far as nothing is shown of them."""
        while self._named < self._due():
            number = best.get(self._named)
            self._named += 1
            if number is None or not self._is_worth_naming(number):
                continue
            passage = self.passages[number]
            if passage.path not in self._shown_files and passage.end_line > passage.start_line:
                line = self.reader.naming_line(passage)
                step = SelectedPassage(passage, self.sections[number], line, line, is_name=True)
                self._note(step, len(self.reader.lines(passage.path)[line - 1]))
                yield step

    def _is_worth_naming(self, number: int) -> bool:
        """Return whether a file, of which this is the best passage, is among the first or promises something,
        and its section may be shown."""
        passage = self.passages[number]
        is_likely = passage.rank < _SURELY_NAMED or passage.promise >= _NAMED_PROMISE * self.most
        return is_likely and self.barred.get(number) is not DropReason.CAP

    def _due(self) -> int:
        """Return how many files should be named beside what is shown so far."""
        if not self.plan.chars_per_name:
            return 0
        return min(
            _MOST_NAMED,
            _LEAST_NAMED + self._shown_chars // self.plan.chars_per_name,
            self._shown_chars // (_OF_NAMES * self.citation_chars),
        )

    def _best_of_files(self) -> dict[int, int]:
        """Return the number of the most promising passage of each file, by the rank of the file."""
        best: dict[int, int] = {}
        for number, passage in enumerate(self.passages):
            held = best.setdefault(passage.rank, number)
            if passage.promise > self.passages[held].promise:
                best[passage.rank] = number
        return best


def _item_count(step: SelectedPassage) -> int:
    """Return how many items a step becomes at most."""
    return 1 if step.signature == NO_LINES else 2


def _grown(part: LineRange, within: LineRange, lines: Sequence[str], size: float) -> LineRange:
    """Return a part with lines below and above it in turn, up to some characters and inside a range."""
    first, last = max(part[0], within[0]), min(part[1], within[1])
    if (first, last) != part:
        return part
    chars = sum(map(len, lines[first - 1 : last]))
    while chars < size and (first, last) != within:
        if last < within[1]:
            last += 1
            chars += len(lines[last - 1])
        if first > within[0]:
            first -= 1
            chars += len(lines[first - 1])
    return first, last
