"""Passages → a pack: without near-copies, by sections, inside a budget, with counts that add up."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property

import msgspec

from satchel.packing.budget import Gauge, Size
from satchel.packing.guidance import all_hints
from satchel.packing.items import ItemBuilder, PackPlan
from satchel.packing.pack import Counts, DropReason, Item, Pack
from satchel.packing.sections import Section, section_of
from satchel.packing.selection import (
    PassageReader,
    PassageSelection,
    SelectedPassage,
    drop_near_copies,
    is_weak,
)
from satchel.tokenizers import CharsPerToken
from satchel.types import Passage, Suggestion

_TRIES = 2  # of filling: neighbours that become one item leave room for more
_OF_MAP = 5  # naming files may take one part in so many of the room


Queries = Callable[[], Sequence[Suggestion]]


class FilledPack(msgspec.Struct, frozen=True):
    """A pack that fits its budget, its size, and the sizes of the passages that did not fit."""

    pack: Pack
    size: Size
    left_out: Sequence[int]  # characters of each passage that did not fit, or not whole


class Assembly:
    """Fills one pack. `frame` is the pack without items, which states the query and the budget."""

    def __init__(self, frame: Pack, gauge: Gauge, reader: PassageReader, plan: PackPlan) -> None:
        self.frame = frame
        self.gauge = gauge
        self.reader = reader
        self.plan = plan
        self._items = ItemBuilder(frame.ref, reader, 1.0, plan)
        self._costs: dict[tuple[str, int, int], Size] = {}
        self._left = Size()
        self._empty = frame  # a pack that is known to fit when no other does

    def fill(self, passages: Sequence[Passage], queries: Queries = tuple) -> FilledPack:
        """Return the pack with the passages that fit. `queries` returns the next queries that may be added to
        it later; they are only prepared for counting here."""
        kept, copies = drop_near_copies(passages, self.reader)
        best = max((passage.promise for passage in kept), default=1.0)
        self._items = ItemBuilder(self.frame.ref, self.reader, best, self.plan)
        sections = [section_of(passage) for passage in kept]
        empty = pack = msgspec.structs.replace(self.frame, counts=_nothing_fits(sections, copies))
        self.gauge.prepare(self._packs_to_count(empty, kept, sections, queries))
        self.gauge.check(empty)
        self._empty = empty
        selection = PassageSelection(
            kept, sections, self.plan.caps, self._take, self.reader.best_lines, self._room
        )
        size = self.gauge.size(empty)
        for attempt in range(_TRIES):
            kept_free = Size() if self.plan.flat else self.gauge.kept_for_guidance()
            self._left = self.gauge.left(size).without(kept_free)
            if attempt and not self._left.holds(self.gauge.smallest_item()):
                break
            before = list(selection.selected.values())
            if attempt == 0:
                self._name_files(selection)
            selection.fill(self.plan.limit)
            if list(selection.selected.values()) == before:
                break
            pack = self._packed(selection, copies)
            while not self.gauge.fits(size := self.gauge.size(pack)) and selection.selected:
                selection.undo()
                pack = self._packed(selection, copies)
        if not pack.items:  # the counts are stated if there is room for them
            pack = self._packed(selection, copies)
            pack = pack if self.gauge.fits(self.gauge.size(pack)) else empty
            size = self.gauge.size(pack)
        unfitting = [number for number, reason in selection.dropped.items() if reason is DropReason.BUDGET]
        cut = [one.passage.size for one in selection.cut()]
        return FilledPack(pack, size, [*(kept[number].size for number in unfitting), *cut])

    def add(self, filled: FilledPack, items: Sequence[Item]) -> FilledPack:
        """Return the pack with as many further items as fit, in their order; the rest counts as dropped."""
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
            pack = _with_items(filled.pack, taken, items)
            if self.gauge.fits(size := self.gauge.size(pack)):
                left_out = (len(item.content) for item in _others(items, taken))
                return FilledPack(pack, size, [*filled.left_out, *left_out])
            if not taken:
                return filled
            taken.pop()

    def seal(self, pack: Pack, size: Size | None = None) -> Pack:
        """Return the pack with its size written into it. That number may take more tokens than the one which
        stood there while the pack was filled. If the pack no longer fits, guidance is removed first, then
        items from the end."""
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
        """Return by how much a pack is larger than its frame."""
        return self.gauge.size(pack).without(self._frame_size)

    @cached_property
    def _frame_size(self) -> Size:
        return self.gauge.size(self.frame)

    def _packs_to_count(
        self, empty: Pack, kept: Sequence[Passage], sections: Sequence[Section], queries: Queries
    ) -> Iterator[Pack]:
        """Yield packs that hold every text whose tokens may be counted."""
        whole = [
            SelectedPassage(passage, section, passage.start_line, passage.end_line)
            for passage, section in zip(kept, sections, strict=True)
        ]
        signatures = dict.fromkeys(
            msgspec.structs.replace(one, end_line=one.passage.head[0], start_line=one.passage.head[0])
            for one in whole
            if one.passage.rank < self.plan.map_files
        )
        best = max((passage.promise for passage in kept), default=0.0)
        whole = [one for one in whole if not is_weak(one.passage, best)]
        apart = tuple(item for one in (*whole, *signatures) for item in self._items.build([one]))
        full = msgspec.structs.replace(empty, items=apart)
        told = all_hints(full, [passage.size for passage in kept])
        yield from (self.frame, empty)  # a format may write a pack without items in another way
        yield msgspec.structs.replace(full, hints=told, next_queries=tuple(queries()))

    def _name_files(self, selection: PassageSelection) -> None:
        """Let the selection name the first files, in a part of the room: in some formats an item of one line
        takes as much as a function."""
        room = self._left
        share = self._left = Size(room.tokens // _OF_MAP, room.chars // _OF_MAP)
        selection.name_files(self.plan.map_files)
        self._left = room.without(share.without(self._left))

    def _take(self, selected: SelectedPassage) -> bool:
        """Whether a selected passage fits into the room that is left; if so, its cost is set aside."""
        if self._chars(selected) > min(self._left.chars, CharsPerToken.MOST * self._left.tokens):
            return False
        key = selected.passage.path, selected.start_line, selected.end_line
        if key not in self._costs:
            alone = msgspec.structs.replace(self.frame, items=tuple(self._items.build([selected])))
            self._costs[key] = self.cost(alone)
        fits = self._left.holds(self._costs[key])
        if fits:
            self._left = self._left.without(self._costs[key])
        return fits

    def _room(self) -> int:
        """Return about how many characters are left."""
        return min(self._left.chars, CharsPerToken.USUAL * self._left.tokens)

    def _chars(self, selected: SelectedPassage) -> int:
        if selected.whole:
            return selected.passage.size
        lines = self.reader.lines(selected.passage.path)
        return sum(map(len, lines[selected.start_line - 1 : selected.end_line]))

    def _packed(self, selection: PassageSelection, copies: int) -> Pack:
        """Return the pack with the selected passages as items, and with its counts."""
        selected = list(selection.selected.values())
        items = self._items.build(selected)
        signatures = self._items.added_signatures
        dropped = Counter(reason.value for reason in selection.dropped.values())
        by_section = Counter(selection.sections[number].value for number in selection.dropped)
        counts = Counts(
            candidates=len(selection.passages) + copies + signatures,
            selected=len(items),
            cut=len(selection.cut()),
            duplicates=copies + len(selected) + signatures - len(items),
            dropped=dict(sorted(dropped.items())),
            dropped_by_section={name: by_section[name] for name in Section if by_section[name]},
        )
        return msgspec.structs.replace(self.frame, items=tuple(items), counts=counts)


def _with_items(pack: Pack, taken: Sequence[Item], items: Sequence[Item]) -> Pack:
    """Return the pack with the taken ones of some further items; the others count as dropped."""
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
    """Return the counts with some more items dropped for want of room."""
    dropped = Counter(counts.dropped) + Counter({DropReason.BUDGET.value: len(items)})
    by_section = Counter(counts.dropped_by_section) + Counter(item.section.value for item in items)
    return msgspec.structs.replace(
        counts,
        dropped=dict(sorted(dropped.items())),
        dropped_by_section={name.value: by_section[name] for name in Section if by_section[name]},
    )


def _nothing_fits(sections: Sequence[Section], copies: int) -> Counts:
    """Return the counts of a pack in which no passage fits; `sections` has the section of each."""
    by_section = Counter(sections)
    return Counts(
        candidates=len(sections) + copies,
        duplicates=copies,
        dropped={DropReason.BUDGET.value: len(sections)} if sections else {},
        dropped_by_section={name.value: by_section[name] for name in Section if by_section[name]},
    )
