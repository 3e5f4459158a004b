"""Passages → a pack: no near-copies, sections, selection inside a budget, exact spans, counts that add up."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import groupby
from typing import NamedTuple, Protocol

import msgspec

from satchel import ids
from satchel.packing.budget import Gauge, Size
from satchel.packing.guidance import all_hints
from satchel.packing.pack import Counts, DropReason, Item, Pack, Section
from satchel.packing.sections import section_of
from satchel.packing.selection import Pick, Selection
from satchel.storage.records import FileRecord
from satchel.types import ChunkKind, Passage, Suggestion

_COPY_CHARS = 200  # shorter texts may be alike by chance
_ALIKE = 0.9  # the share of lines that near-copies have in common
_TRIES = 3  # of filling what neighbours that became one item left free
_MOST_PER_TOKEN = 8  # characters; no text that is read is so sparse, so what is longer need not be counted
_SECTIONS = {section: number for number, section in enumerate(Section)}


Queries = Callable[[], Sequence[Suggestion]]


class Reading(Protocol):
    """Where the text of items comes from."""

    def lines(self, path: str) -> Sequence[str]: ...
    def record(self, path: str) -> FileRecord: ...
    def imports(self, path: str, content: str) -> tuple[str, ...]: ...
    def part(self, passage: Passage, chars: int) -> tuple[int, int]: ...  # the lines that fit best


class Plan(NamedTuple):
    """How a pack is to be filled."""

    caps: Mapping[Section, int]
    map_files: int = 0  # how many files are at least named
    limit: int = 0  # whole pieces at most; 0 means as many as fit
    with_imports: bool = False  # whether items carry the import lines that they need
    flat: bool = False  # by rank alone, whatever the section
    apart: bool = False  # neighbours stay items of their own


class Filled(NamedTuple):
    """A pack that fits, and the sizes of what did not fit into it, in characters."""

    pack: Pack
    left_out: Sequence[int]


class Assembly:
    """One pack in the making. `frame` is the pack without items: it states the question and the budget."""

    def __init__(self, frame: Pack, gauge: Gauge, reading: Reading, plan: Plan) -> None:
        self.frame = frame
        self.gauge = gauge
        self.reading = reading
        self.plan = plan
        self._items = ItemMaker(frame.ref, reading, 1.0, plan)
        self._costs: dict[tuple[str, int, int], Size] = {}
        self._left = Size()
        self._empty = frame  # what is known to fit when nothing else does

    def fill(self, passages: Sequence[Passage], queries: Queries = tuple) -> Filled:
        """The pack with the passages that fit. `queries` are those that may be proposed in it later."""
        kept, copies = _without_copies(passages, self.reading)
        best = max((_promise(passage) for passage in kept), default=1.0)
        self._items = ItemMaker(self.frame.ref, self.reading, best, self.plan)
        sections = [section_of(passage) for passage in kept]
        empty = pack = msgspec.structs.replace(self.frame, counts=_nothing_fits(sections, copies))
        self.gauge.prepare(self._all(empty, kept, sections, queries))
        self.gauge.check(empty)
        self._empty = empty
        selection = Selection(kept, sections, self.plan.caps, self._take, self.reading.part)
        size = self.gauge.size(empty)
        for attempt in range(_TRIES):
            kept_free = Size() if self.plan.flat else self.gauge.kept_for_guidance()
            self._left = self.gauge.left(size).without(kept_free)
            before = list(selection.picks.values())
            if attempt == 0:
                selection.map(self.plan.map_files)
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
        unfitting = [number for number, reason in selection.dropped.items() if reason is DropReason.BUDGET]
        return Filled(pack, [kept[number].size for number in unfitting])

    def add(self, filled: Filled, items: Sequence[Item]) -> Filled:
        """The pack with as many of some further items as fit, in their order; the rest counts as dropped."""
        left = self.gauge.left(self.gauge.size(filled.pack))
        taken: list[Item] = []
        for item in items:
            cost = self.cost(msgspec.structs.replace(self.frame, items=(item,)))
            if left.holds(cost):
                left = left.without(cost)
                taken.append(item)
        while True:
            pack = _with(filled.pack, taken, items)
            if self.gauge.fits(self.gauge.size(pack)):
                left_out = (len(item.content) for item in _others(items, taken))
                return Filled(pack, [*filled.left_out, *left_out])
            if not taken:
                return filled
            taken.pop()

    def seal(self, pack: Pack) -> Pack:
        """The pack with its size written into it. A tokenizer may count that number as more than its place
        was counted, so the last word is said here: guidance goes first, then the last items."""
        while True:
            sealed = self.gauge.sealed(pack)
            used = Size(sealed.budget.used_tokens, sealed.budget.used_chars)
            if self.gauge.fits(used) or pack is self._empty:
                return sealed
            if pack.hints or pack.next_queries:
                pack = msgspec.structs.replace(pack, hints=(), next_queries=())
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
        """All that may be counted, in the ways it may stand together."""
        whole = [
            Pick(passage, section, passage.start_line, passage.end_line)
            for passage, section in zip(kept, sections, strict=True)
        ]
        heads = [
            pick._replace(end_line=line, start_line=line) for pick in whole for line in pick.passage.head
        ]
        apart = [item for pick in (*whole, *heads) for item in self._items.make([pick])]
        told = all_hints(
            msgspec.structs.replace(empty, items=tuple(apart)), [passage.size for passage in kept]
        )
        proposed = tuple(queries())
        together = (self._items.make(whole), apart, sorted(apart, key=lambda item: item.symbol))
        for at, items in enumerate(together):
            yield msgspec.structs.replace(
                empty, items=tuple(items), hints=told[at:] + told[:at], next_queries=proposed
            )

    def _take(self, pick: Pick) -> bool:
        """Whether a pick fits into what is left; its cost is then set aside."""
        lines = self.reading.lines(pick.passage.path)[pick.start_line - 1 : pick.end_line]
        if sum(map(len, lines)) > min(self._left.chars, _MOST_PER_TOKEN * self._left.tokens):
            return False
        key = pick.passage.path, pick.start_line, pick.end_line
        if key not in self._costs:
            alone = msgspec.structs.replace(self.frame, items=tuple(self._items.make([pick])))
            self._costs[key] = self.cost(alone)
        fits = self._left.holds(self._costs[key])
        if fits:
            self._left = self._left.without(self._costs[key])
        return fits

    def _packed(self, selection: Selection, copies: int) -> Pack:
        picks = list(selection.picks.values())
        items = self._items.make(picks)
        heads = self._items.added_heads
        dropped = Counter(reason.value for reason in selection.dropped.values())
        by_section = Counter(selection.sections[number].value for number in selection.dropped)
        counts = Counts(
            candidates=len(selection.passages) + copies + heads,
            selected=len(items),
            duplicates=copies + len(picks) + heads - len(items),
            dropped=dict(sorted(dropped.items())),
            dropped_by_section={name: by_section[name] for name in Section if by_section[name]},
        )
        return msgspec.structs.replace(self.frame, items=tuple(items), counts=counts)


class ItemMaker:
    """Makes items of picks: neighbours become one exact span, a window gets the signature that names it."""

    def __init__(self, ref: str, reading: Reading, best: float, plan: Plan) -> None:
        self.ref = ref
        self.reading = reading
        self.best = best
        self.plan = plan
        self.added_heads = 0

    def make(self, picks: Sequence[Pick]) -> list[Item]:
        """Items by section, best file first, in the order of lines."""
        heads = list(self._missing_heads(picks))
        if heads and self.plan.limit:  # what was asked for goes before the signatures of it
            heads = heads[: max(0, self.plan.limit - len(self._made(picks)))]
        self.added_heads = len(heads)
        return self._made((*picks, *heads))

    def _made(self, picks: Sequence[Pick]) -> list[Item]:
        ordered = sorted(
            _apart(picks),
            key=lambda pick: (_SECTIONS[pick.section], pick.passage.rank, pick.start_line, pick.end_line),
        )
        items: list[Item] = []
        for _, own in groupby(ordered, key=lambda pick: (pick.section, pick.passage.path)):
            items += [self._item(run) for run in self._runs(list(own))]
        if self.plan.flat:
            items.sort(key=lambda item: -item.score)
        return items

    def _missing_heads(self, picks: Sequence[Pick]) -> Iterator[Pick]:
        """The signatures of long definitions of which only windows are shown."""
        covered = [(pick.passage.path, pick.start_line, pick.end_line) for pick in picks]
        for pick in picks:
            first, last = pick.passage.head
            path = pick.passage.path
            seen = any(known == path and start <= first <= end for known, start, end in covered)
            if not seen and (not pick.passage.whole or (not pick.whole and pick.start_line > first)):
                covered.append((path, first, last))
                yield pick._replace(start_line=first, end_line=last)

    def _runs(self, picks: list[Pick]) -> Iterator[list[Pick]]:
        """Picks that touch or overlap, or have only blank lines between them."""
        run = [picks[0]]
        last = picks[0].end_line
        for pick in picks[1:]:
            between = self.reading.lines(pick.passage.path)[last : pick.start_line - 1]
            if any(line.strip() for line in between) or (self.plan.apart and pick.start_line > last):
                yield run
                run = []
            run.append(pick)
            last = max(last, pick.end_line) if len(run) > 1 else pick.end_line
        yield run

    def _item(self, run: Sequence[Pick]) -> Item:
        leading = max(run, key=lambda pick: (pick.whole, pick.passage.fit, -pick.start_line))
        passage = leading.passage
        first, last = min(pick.start_line for pick in run), max(pick.end_line for pick in run)
        content = "".join(self.reading.lines(passage.path)[first - 1 : last])
        record = self.reading.record(passage.path)
        kind, symbol = _named(leading, first, last)
        is_chunk = passage.whole and (first, last) == (passage.start_line, passage.end_line)
        return Item(
            path=passage.path,
            start_line=first,
            end_line=last,
            content=content,
            content_hash=ids.hash_text(content),
            file_hash=record.file_hash,
            ref=self.ref,
            chunk_id=passage.chunk_id if is_chunk else f"{passage.path}:{first}:{last}",
            kind=kind.value,
            symbol=symbol,
            section=leading.section,
            score=round(_promise(passage) / self.best, 4) if self.best else 0.0,
            language=record.language,
            reasons=_reasons(run),
            imports=self.reading.imports(passage.path, content) if self.plan.with_imports else (),
            redactions=sum(first <= line <= last for line in record.redactions),
        )


def _apart(picks: Sequence[Pick]) -> list[Pick]:
    """The picks, where a signature gives up the lines that another section shows already."""
    kept = [pick for pick in picks if pick.whole]
    for pick in picks:
        if not pick.whole:
            starts = [other.start_line for other in kept if _clash(pick, other)]
            last = min(pick.end_line, min(starts, default=pick.end_line + 1) - 1)
            if pick.start_line <= last:
                kept.append(pick._replace(end_line=last))
    return kept


def _clash(one: Pick, other: Pick) -> bool:
    return (
        one.passage.path == other.passage.path
        and one.section is not other.section
        and one.start_line <= other.end_line
        and other.start_line <= one.end_line
    )


def _named(pick: Pick, first: int, last: int) -> tuple[ChunkKind, str]:
    """What the lines are called: the first definition that starts in them, rather than a constant."""
    passage = pick.passage
    inside = [item for item in passage.names if first <= item[0] <= last]
    if pick.whole or not inside:
        return passage.kind, passage.name
    _, kind, name = next((item for item in inside if item[1] is not ChunkKind.CONST), inside[0])
    return kind, name


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


def _reasons(run: Sequence[Pick]) -> tuple[str, ...]:
    """Why these lines are here; a signature alone names a file that may matter."""
    if all(pick.is_signature for pick in run):
        return ("map",)
    return tuple(dict.fromkeys(reason for pick in run for reason in pick.passage.reasons))


def _promise(passage: Passage) -> float:
    return passage.certainty * passage.fit


def _nothing_fits(sections: Sequence[Section], copies: int) -> Counts:
    by_section = Counter(sections)
    return Counts(
        candidates=len(sections) + copies,
        duplicates=copies,
        dropped={DropReason.BUDGET.value: len(sections)} if sections else {},
        dropped_by_section={name.value: by_section[name] for name in Section if by_section[name]},
    )


def _without_copies(passages: Sequence[Passage], reading: Reading) -> tuple[list[Passage], int]:
    """The passages without near-copies of more promising ones, in their order, and how many were copies."""
    order = sorted(range(len(passages)), key=lambda number: (-_promise(passages[number]), number))
    kept: list[int] = []
    by_count: dict[int, list[set[str]]] = defaultdict(list)  # texts by their number of lines
    for number in order:
        passage = passages[number]
        if passage.size >= _COPY_CHARS:
            lines = _telling(reading.lines(passage.path)[passage.start_line - 1 : passage.end_line])
            near = range(int(len(lines) * _ALIKE), int(len(lines) / _ALIKE) + 2)
            if any(_are_alike(lines, other) for count in near for other in by_count.get(count, ())):
                continue
            by_count[len(lines)].append(lines)
        kept.append(number)
    return [passages[number] for number in sorted(kept)], len(passages) - len(kept)


def _telling(lines: Iterable[str]) -> set[str]:
    return {" ".join(line.split()) for line in lines} - {""}


def _are_alike(one: set[str], other: set[str]) -> bool:
    return len(one & other) >= _ALIKE * max(len(one), len(other))
