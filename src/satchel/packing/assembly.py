"""Passages → a pack: without near-copies, by sections, inside a budget, with counts that add up."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property

import msgspec

from satchel.packing.budget import Gauge, Size
from satchel.packing.filling import Filling, Related, without_room_for
from satchel.packing.guidance import LeftOutPassages, all_hints
from satchel.packing.item_costs import stand_ins
from satchel.packing.items import ItemBuilder
from satchel.packing.pack import Counts, DropReason, Pack
from satchel.packing.sections import Section, section_of
from satchel.packing.selection import (
    PackPlan,
    PassageReader,
    SelectedPassage,
    drop_near_copies,
    is_weak,
)
from satchel.types import Passage, Suggestion

Queries = Callable[[], Sequence[Suggestion]]


class FilledPack(msgspec.Struct, frozen=True):
    """A pack that fits its budget, its size, and what did not fit."""

    pack: Pack
    size: Size
    left_out: LeftOutPassages


class Assembly:
    """Fills one pack. `frame` is the pack without items, which states the query and the budget."""

    def __init__(self, frame: Pack, gauge: Gauge, reader: PassageReader, plan: PackPlan) -> None:
        self.frame = frame
        self.gauge = gauge
        self.reader = reader
        self.plan = plan
        self._empty = frame  # a pack that is known to fit when no other does

    def fill(
        self, passages: Sequence[Passage], queries: Queries = tuple, related: Related | None = None
    ) -> FilledPack:
        """Return the pack with the passages that fit. `queries` returns the next queries that may be added to
        it later; they are only prepared for counting here. `related` returns what belongs to some items."""
        kept, copies = drop_near_copies(passages, self.reader)
        sections = [section_of(passage) for passage in kept]
        builder = ItemBuilder(self.reader, self.plan, kept, sections)
        empty = msgspec.structs.replace(self.frame, counts=_nothing_fits(sections, copies))
        self.gauge.prepare(self._packs_to_count(empty, kept, sections, builder, queries))
        self.gauge.check(empty)
        self._empty = empty
        filling = Filling(empty, self.gauge, builder, kept, sections)
        filling.fill(related)
        pack = filling.pack(copies)
        if not pack.items and not self.gauge.fits(self.gauge.size(pack)):
            pack = empty  # the counts are stated if there is room for them
        return FilledPack(pack, self.gauge.size(pack), filling.left_out())

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
        self,
        empty: Pack,
        kept: Sequence[Passage],
        sections: Sequence[Section],
        builder: ItemBuilder,
        queries: Queries,
    ) -> Iterator[Pack]:
        """Yield packs that hold every text whose tokens may be counted."""
        whole = [
            SelectedPassage(passage, section, passage.start_line, passage.end_line)
            for passage, section in zip(kept, sections, strict=True)
        ]
        signatures = dict.fromkeys(
            SelectedPassage(one.passage, one.section, line, line, is_name=True)
            for one in whole
            for line in one.passage.head[:1]
            if self.plan.chars_per_name
        )
        best = max((passage.promise for passage in kept), default=0.0)
        whole = [one for one in whole if not is_weak(one.passage, best)]
        apart = tuple(item for one in (*whole, *signatures) for item in builder.of_file([one]))
        full = msgspec.structs.replace(empty, items=apart)
        told = all_hints(full, kept)
        yield from (self.frame, empty)  # a format may write a pack without items in another way
        for item in {item.section: item for item in apart}.values():
            yield msgspec.structs.replace(empty, items=stand_ins(item))
        yield msgspec.structs.replace(full, hints=told, next_queries=tuple(queries()))


def _without_last(pack: Pack) -> Pack:
    counts = msgspec.structs.replace(pack.counts, selected=pack.counts.selected - 1)
    return msgspec.structs.replace(
        pack, items=pack.items[:-1], counts=without_room_for(counts, pack.items[-1:])
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
