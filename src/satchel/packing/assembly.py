"""Passages → a pack: no near-copies, sections, selection inside a budget, exact spans, counts that add up."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property

import msgspec

from satchel.packing.budget import CHARS_PER_TOKEN, Gauge, Size
from satchel.packing.guidance import all_hints
from satchel.packing.items import ItemBuilder, PackPlan
from satchel.packing.pack import Counts, DropReason, Item, Pack, Section
from satchel.packing.sections import section_of
from satchel.packing.selection import (
    PassageReader,
    PassageSelection,
    SelectedPassage,
    is_weak,
    without_copies,
)
from satchel.types import Passage, Suggestion

_TRIES = 2  # of filling what neighbours that became one item left free
_OF_MAP = 5  # the share of the room that the map may take is one in so many
_MOST_PER_TOKEN = 8  # characters; no text that is read is so sparse, so what is longer need not be counted


Queries = Callable[[], Sequence[Suggestion]]


class FilledPack(msgspec.Struct, frozen=True):
    """A pack that fits, and the sizes of what did not fit into it, in characters."""

    pack: Pack
    size: Size
    left_out: Sequence[int]  # the characters of each piece that did not fit, or not whole


class Assembly:
    """One pack in the making. `frame` is the pack without items: it states the question and the budget."""

    def __init__(self, frame: Pack, gauge: Gauge, reading: PassageReader, plan: PackPlan) -> None:
        self.frame = frame
        self.gauge = gauge
        self.reading = reading
        self.plan = plan
        self._items = ItemBuilder(frame.ref, reading, 1.0, plan)
        self._costs: dict[tuple[str, int, int], Size] = {}
        self._left = Size()
        self._empty = frame  # what is known to fit when nothing else does

    def fill(self, passages: Sequence[Passage], queries: Queries = tuple) -> FilledPack:
        """The pack with the passages that fit. `queries` are those that may be proposed in it later."""
        kept, copies = without_copies(passages, self.reading)
        best = max((passage.promise for passage in kept), default=1.0)
        self._items = ItemBuilder(self.frame.ref, self.reading, best, self.plan)
        sections = [section_of(passage) for passage in kept]
        empty = pack = msgspec.structs.replace(self.frame, counts=_nothing_fits(sections, copies))
        self.gauge.prepare(self._all(empty, kept, sections, queries))
        self.gauge.check(empty)
        self._empty = empty
        selection = PassageSelection(
            kept, sections, self.plan.caps, self._take, self.reading.part, self._room
        )
        size = self.gauge.size(empty)
        for attempt in range(_TRIES):
            kept_free = Size() if self.plan.flat else self.gauge.kept_for_guidance()
            self._left = self.gauge.left(size).without(kept_free)
            if attempt and not self._left.holds(self.gauge.smallest_item()):
                break
            before = list(selection.picks.values())
            if attempt == 0:
                self._map(selection)
            selection.fill(self.plan.limit)
            if list(selection.picks.values()) == before:
                break
            pack = self._packed(selection, copies)
            while not self.gauge.fits(size := self.gauge.size(pack)) and selection.picks:
                selection.undo()
                pack = self._packed(selection, copies)
        if not pack.items:  # the reasons are said if there is room for them
            pack = self._packed(selection, copies)
            pack = pack if self.gauge.fits(self.gauge.size(pack)) else empty
            size = self.gauge.size(pack)
        unfitting = [number for number, reason in selection.dropped.items() if reason is DropReason.BUDGET]
        cut = [pick.passage.size for pick in selection.cut()]
        return FilledPack(pack, size, [*(kept[number].size for number in unfitting), *cut])

    def add(self, filled: FilledPack, items: Sequence[Item]) -> FilledPack:
        """The pack with as many of some further items as fit, in their order; the rest counts as dropped."""
        if not items:
            return filled
        self.gauge.prepare([msgspec.structs.replace(self.frame, items=tuple(items))])
        left = self.gauge.left(filled.size)
        taken: list[Item] = []
        for item in items:
            cost = self.cost(msgspec.structs.replace(self.frame, items=(item,)))
            if left.holds(cost):
                left = left.without(cost)
                taken.append(item)
        while True:
            pack = _with(filled.pack, taken, items)
            if self.gauge.fits(size := self.gauge.size(pack)):
                left_out = (len(item.content) for item in _others(items, taken))
                return FilledPack(pack, size, [*filled.left_out, *left_out])
            if not taken:
                return filled
            taken.pop()

    def seal(self, pack: Pack, size: Size | None = None) -> Pack:
        """The pack with its size written into it. A tokenizer may count that number as more than its place
        was counted, so the last word is said here: guidance goes first, then the last items."""
        while True:
            sealed = self.gauge.sealed(pack, size)
            size = None
            used = Size(sealed.budget.used_tokens, sealed.budget.used_chars)
            if self.gauge.fits(used) or pack is self._empty:
                return sealed
            if pack.next_queries or pack.hints != self.frame.hints:
                pack = msgspec.structs.replace(pack, hints=self.frame.hints, next_queries=())
            else:
                pack = _without_last(pack) if len(pack.items) > 1 else self._empty

    def cost(self, pack: Pack) -> Size:
        """By how much a pack is larger than its frame."""
        return self.gauge.size(pack).without(self._frame_size)

    @cached_property
    def _frame_size(self) -> Size:
        return self.gauge.size(self.frame)

    def _all(
        self, empty: Pack, kept: Sequence[Passage], sections: Sequence[Section], queries: Queries
    ) -> Iterator[Pack]:
        """All that may be counted, nearly as it may stand together."""
        whole = [
            SelectedPassage(passage, section, passage.start_line, passage.end_line)
            for passage, section in zip(kept, sections, strict=True)
        ]
        heads = dict.fromkeys(
            msgspec.structs.replace(pick, end_line=pick.passage.head[0], start_line=pick.passage.head[0])
            for pick in whole
            if pick.passage.rank < self.plan.map_files
        )
        best = max((passage.promise for passage in kept), default=0.0)
        whole = [pick for pick in whole if not is_weak(pick.passage, best)]
        apart = tuple(item for pick in (*whole, *heads) for item in self._items.make([pick]))
        full = msgspec.structs.replace(empty, items=apart)
        told = all_hints(full, [passage.size for passage in kept])
        yield from (self.frame, empty)  # what has no items may be written otherwise
        yield msgspec.structs.replace(full, hints=told, next_queries=tuple(queries()))

    def _map(self, selection: PassageSelection) -> None:
        """Name the first files, in a part of the room: in some formats a line takes as much as a function."""
        room = self._left
        share = self._left = Size(room.tokens // _OF_MAP, room.chars // _OF_MAP)
        selection.map(self.plan.map_files)
        self._left = room.without(share.without(self._left))

    def _take(self, pick: SelectedPassage) -> bool:
        """Whether a pick fits into what is left; its cost is then set aside."""
        if self._chars(pick) > min(self._left.chars, _MOST_PER_TOKEN * self._left.tokens):
            return False
        key = pick.passage.path, pick.start_line, pick.end_line
        if key not in self._costs:
            alone = msgspec.structs.replace(self.frame, items=tuple(self._items.make([pick])))
            self._costs[key] = self.cost(alone)
        fits = self._left.holds(self._costs[key])
        if fits:
            self._left = self._left.without(self._costs[key])
        return fits

    def _room(self) -> int:
        return min(self._left.chars, CHARS_PER_TOKEN * self._left.tokens)

    def _chars(self, pick: SelectedPassage) -> int:
        if pick.whole:
            return pick.passage.size
        lines = self.reading.lines(pick.passage.path)
        return sum(map(len, lines[pick.start_line - 1 : pick.end_line]))

    def _packed(self, selection: PassageSelection, copies: int) -> Pack:
        picks = list(selection.picks.values())
        items = self._items.make(picks)
        heads = self._items.added_heads
        dropped = Counter(reason.value for reason in selection.dropped.values())
        by_section = Counter(selection.sections[number].value for number in selection.dropped)
        counts = Counts(
            candidates=len(selection.passages) + copies + heads,
            selected=len(items),
            cut=len(selection.cut()),
            duplicates=copies + len(picks) + heads - len(items),
            dropped=dict(sorted(dropped.items())),
            dropped_by_section={name: by_section[name] for name in Section if by_section[name]},
        )
        return msgspec.structs.replace(self.frame, items=tuple(items), counts=counts)


def _with(pack: Pack, taken: Sequence[Item], items: Sequence[Item]) -> Pack:
    """A pack with those of some further items that were taken."""
    counts = msgspec.structs.replace(
        pack.counts,
        candidates=pack.counts.candidates + len(items),
        selected=pack.counts.selected + len(taken),
    )
    left_out = _others(items, taken)
    return msgspec.structs.replace(
        pack, items=(*pack.items, *taken), counts=_without_room_for(counts, left_out)
    )


def _others(items: Sequence[Item], taken: Sequence[Item]) -> list[Item]:
    return [item for item in items if not any(item is other for other in taken)]


def _without_last(pack: Pack) -> Pack:
    counts = msgspec.structs.replace(pack.counts, selected=pack.counts.selected - 1)
    return msgspec.structs.replace(
        pack, items=pack.items[:-1], counts=_without_room_for(counts, pack.items[-1:])
    )


def _without_room_for(counts: Counts, items: Sequence[Item]) -> Counts:
    """The counts with some items dropped for want of room."""
    dropped = Counter(counts.dropped) + Counter({DropReason.BUDGET.value: len(items)})
    by_section = Counter(counts.dropped_by_section) + Counter(item.section.value for item in items)
    return msgspec.structs.replace(
        counts,
        dropped=dict(sorted(dropped.items())),
        dropped_by_section={name.value: by_section[name] for name in Section if by_section[name]},
    )


def _nothing_fits(sections: Sequence[Section], copies: int) -> Counts:
    by_section = Counter(sections)
    return Counts(
        candidates=len(sections) + copies,
        duplicates=copies,
        dropped={DropReason.BUDGET.value: len(sections)} if sections else {},
        dropped_by_section={name.value: by_section[name] for name in Section if by_section[name]},
    )
