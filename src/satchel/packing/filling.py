"""How much of the order of passages fits into a pack? Every pack is a beginning of that order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence

import msgspec

from satchel.packing.budget import Gauge, Size
from satchel.packing.guidance import LIKELY, LeftOutPassages
from satchel.packing.item_costs import ItemCosts
from satchel.packing.items import ItemBuilder
from satchel.packing.pack import Counts, DropReason, Item, Pack
from satchel.packing.passage_order import PassageOrder
from satchel.packing.sections import Section
from satchel.packing.selection import SelectedPassage, is_weak
from satchel.tokenizers import CharsPerToken
from satchel.types import Passage

_LEAST_CITATION = 120  # characters that an item takes beside its lines in the shortest of the formats
_LONG_RELATED = 1_600  # characters; longer related items come last, so that they keep no other one out

Related = Callable[[Sequence[Item]], Sequence[Item]]


class Filling:
    """The passages that are in a pack so far.

    A pack is the longest beginning of an order that fits: `PassageOrder` gives the passages, which this class
    takes while the sum of their sizes fits, and of the next one the largest part that fits. That makes packs
    monotone: neither the order, nor a part, nor a size depends on the budget (`Gauge.size_in_any`), and the
    room grows with the budget. So whatever fits at one budget fits at a larger one, which takes the same
    passages and then perhaps more. Where the pack turns out larger than the sum of its parts, the order is
    walked back one part at a time; a larger budget starts from no earlier place and walks back no further.
    """

    def __init__(
        self,
        empty: Pack,
        gauge: Gauge,
        builder: ItemBuilder,
        passages: Sequence[Passage],
        sections: Sequence[Section],
    ) -> None:
        self.empty = empty
        self.gauge = gauge
        self.builder = builder
        self.plan = builder.plan
        self.passages = passages
        self.sections = sections
        self.taken: list[SelectedPassage] = []
        self.related: list[Item] = []
        self.all_related: Sequence[Item] = ()
        self._costs = ItemCosts(empty, gauge.size_in_any, flat=self.plan.flat)
        self._files: dict[str, tuple[list[SelectedPassage], Size]] = {}
        self._headings: dict[Section, Size] = {}
        kept_free = Size() if self.plan.flat else gauge.kept_for_guidance()
        self._left = gauge.left(gauge.size_in_any(empty)).without(kept_free)
        self._order = PassageOrder(passages, sections, self.plan, builder.reader, self._citation_chars())

    def fill(self, related: Related | None = None) -> None:
        """Take steps while they fit, and a part of the first one that does not."""
        for step in self._steps(related):
            if isinstance(step, Item):
                if not self._take_related(step):
                    break
            elif not self._take(step):
                self._take_part(step)
                break
        while (self.taken or self.related) and not self._is_within():
            self._step_back()

    def pack(self, copies: int) -> Pack:
        """Return the pack with what was taken, and with its counts; `copies` were left out before."""
        items = self.builder.build(self.taken)
        shown = self._shown()
        dropped = {
            number: self._order.barred.get(number, DropReason.BUDGET)
            for number in range(len(self.passages))
            if number not in shown
        }
        reasons = Counter(reason.value for reason in dropped.values())
        by_section = Counter(self.sections[number].value for number in dropped)
        counts = Counts(
            candidates=len(self.passages) + copies + max(0, len(items) - len(shown)),
            selected=len(items),
            cut=len(self._cut()),
            duplicates=copies + max(0, len(shown) - len(items)),
            dropped=dict(sorted(reasons.items())),
            dropped_by_section={name: by_section[name] for name in Section if by_section[name]},
        )
        pack = msgspec.structs.replace(self.empty, items=tuple(items), counts=counts)
        return _with_items(pack, self.related, self.all_related) if self.all_related else pack

    def left_out(self) -> LeftOutPassages:
        """Return what did not fit, or not whole, in the order in which it would have been shown, and the
        sections that are likely to be missed: those of promising passages, and those that a cap keeps
        empty."""
        shown, cut = self._shown(), set(self._cut())
        passages = [
            self.passages[number]
            for number in self._order.by_urgency
            if (number not in shown and number not in self._order.barred) or self.passages[number] in cut
        ]
        related = (len(item.content) for item in _others(self.all_related, self.related))
        return LeftOutPassages(
            passages,
            [*(passage.size for passage in passages), *related],
            frozenset(section for section in Section if self._is_missed(section)),
        )

    def _is_missed(self, section: Section) -> bool:
        """Return whether a section has a passage that is likely to be needed, or is kept empty by a cap."""
        likely = LIKELY * self.builder.best
        return not self.plan.caps[section] or any(
            own is section and passage.promise >= likely
            for passage, own in zip(self.passages, self.sections, strict=True)
        )

    def _steps(self, related: Related | None) -> Iterator[SelectedPassage | Item]:
        """Yield the steps of the order. Related items follow when half of the passages are taken, each after
        one more passage."""
        if related is None:
            yield from self._order.steps()
            return
        steps = list(self._order.steps())
        found = related(self.builder.build(steps))
        self.all_related = found
        short = [item for item in found if len(item.content) <= _LONG_RELATED]
        waiting = [*short, *_others(found, short)]
        for number, step in enumerate(steps):
            yield step
            if 2 * (number + 1) >= len(steps) and waiting:
                yield waiting.pop(0)
        yield from waiting

    def _take(self, step: SelectedPassage) -> bool:
        """Take a step if it fits; return whether it does."""
        if self._chars(step) > min(self._left.chars, CharsPerToken.MOST * self._left.tokens):
            return False
        path = step.passage.path
        own, before = self._files.get(path, ([], Size()))
        together = [*own, step]
        items = self.builder.of_file(together)
        headings = {
            item.section: self._costs.of_section(item) for item in items if item.section not in self._headings
        }
        size = self._costs.of_file(items)
        more = size.without(before)
        for heading in headings.values():
            more = more.plus(heading)
        if not self._left.holds(more):
            return False
        self._left = self._left.without(more)
        self._files[path] = together, size
        self._headings.update(headings)
        self.taken.append(step)
        return True

    def _take_part(self, step: SelectedPassage) -> None:
        """Take the largest part of a step that fits. Each part takes the place of the one before it."""
        state = self._left, dict(self._files), dict(self._headings)
        count = len(self.taken)
        for part in self._order.parts(step):
            before = self.taken[count:]
            del self.taken[count:]
            self._left, self._files, self._headings = state[0], dict(state[1]), dict(state[2])
            if not self._take(part):
                self.taken += before
                return

    def _take_related(self, item: Item) -> bool:
        cost = self._costs.of_file([item])
        if not self._left.holds(cost):
            return False
        self._left = self._left.without(cost)
        self.related.append(item)
        return True

    def _step_back(self) -> None:
        """Give back the related item that was taken last, or the last part of a passage."""
        if self.related:
            self.related.pop()
            return
        last = self.taken.pop()
        chars = self._chars(last)
        self.taken += [part for part in self._order.parts(last) if self._chars(part) < chars][-1:]

    def _is_within(self) -> bool:
        return self.gauge.fits(self.gauge.size_in_any(self.pack(0)))

    def _shown(self) -> set[int]:
        """Return the numbers of the passages of which anything is shown."""
        places = {(one.passage.path, one.passage.start_line) for one in self.taken}
        return {
            number
            for number, passage in enumerate(self.passages)
            if (passage.path, passage.start_line) in places
        }

    def _cut(self) -> list[Passage]:
        """Return the passages of which something is shown, but not all, although they are not weak."""
        whole = {one.passage for one in self.taken if one.whole}
        best = self.builder.best
        return list(
            dict.fromkeys(
                one.passage
                for one in self.taken
                if one.passage not in whole and not is_weak(one.passage, best)
            )
        )

    def _chars(self, step: SelectedPassage) -> int:
        lines = self.builder.reader.lines(step.passage.path)
        return sum(map(len, lines[step.start_line - 1 : step.end_line]))

    def _citation_chars(self) -> int:
        """Return about how many characters an item takes beside its lines, in this format."""
        if not self.passages:
            return _LEAST_CITATION
        passage, line = self.passages[0], self.passages[0].start_line
        (item,) = self.builder.of_file([SelectedPassage(passage, self.sections[0], line, line)])
        size = self._costs.citation(item)
        return max(_LEAST_CITATION, size.chars, CharsPerToken.USUAL * size.tokens)


def _with_items(pack: Pack, taken: Sequence[Item], items: Sequence[Item]) -> Pack:
    """Return the pack with the taken ones of some further items; the others count as dropped."""
    counts = msgspec.structs.replace(
        pack.counts,
        candidates=pack.counts.candidates + len(items),
        selected=pack.counts.selected + len(taken),
    )
    left_out = _others(items, taken)
    return msgspec.structs.replace(
        pack, items=(*pack.items, *taken), counts=without_room_for(counts, left_out)
    )


def _others(items: Sequence[Item], taken: Sequence[Item]) -> list[Item]:
    return [item for item in items if not any(item is other for other in taken)]


def without_room_for(counts: Counts, items: Sequence[Item]) -> Counts:
    """Return the counts with some more items dropped for want of room."""
    dropped = Counter(counts.dropped) + Counter({DropReason.BUDGET.value: len(items)})
    by_section = Counter(counts.dropped_by_section) + Counter(item.section.value for item in items)
    return msgspec.structs.replace(
        counts,
        dropped=dict(sorted(dropped.items())),
        dropped_by_section={name.value: by_section[name] for name in Section if by_section[name]},
    )
