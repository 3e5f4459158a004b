"""Picks → items: exact spans with what is known of them.

Neighbours become one span; a part of a long definition comes with the signature that names it; no line is in
two items.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

import msgspec

from satchel import ids
from satchel.packing.pack import Item, Section
from satchel.packing.selection import PassageReader, SelectedPassage
from satchel.types import ChunkKind

_SECTIONS = {section: number for number, section in enumerate(Section)}


class PackPlan(msgspec.Struct, frozen=True):
    """How a pack is to be filled."""

    caps: Mapping[Section, int]
    map_files: int = 0  # how many files are at least named
    limit: int = 0  # whole pieces at most; 0 means as many as fit
    with_imports: bool = False  # whether items carry the import lines that they need
    flat: bool = False  # by rank alone, whatever the section
    apart: bool = False  # neighbours stay items of their own


class ItemBuilder:
    """Makes items of picks: neighbours become one exact span, a window gets the signature that names it."""

    def __init__(self, ref: str, reading: PassageReader, best: float, plan: PackPlan) -> None:
        self.ref = ref
        self.reading = reading
        self.best = best
        self.plan = plan
        self.added_heads = 0
        self._texts: dict[tuple[str, int, int], tuple[str, str]] = {}
        self._items: dict[tuple[object, ...], Item] = {}

    def make(self, picks: Sequence[SelectedPassage]) -> list[Item]:
        """Items by section, best file first, in the order of lines."""
        heads = list(self._missing_heads(picks))
        if heads and self.plan.limit:  # what was asked for goes before the signatures of it
            heads = heads[: max(0, self.plan.limit - len(self._made(picks)))]
        self.added_heads = len(heads)
        if len(picks) == 1 and not heads:
            return [self._known_item(picks)]
        return self._made((*picks, *heads))

    def _made(self, picks: Sequence[SelectedPassage]) -> list[Item]:
        ordered = sorted(
            _apart(picks),
            key=lambda pick: (_SECTIONS[pick.section], pick.passage.rank, pick.start_line, pick.end_line),
        )
        items: list[Item] = []
        for _, own in groupby(ordered, key=lambda pick: (pick.section, pick.passage.path)):
            items += [self._known_item(run) for run in self._runs(list(own))]
        if self.plan.flat:
            items.sort(key=lambda item: -item.score)
        return items

    def _missing_heads(self, picks: Sequence[SelectedPassage]) -> Iterator[SelectedPassage]:
        """The signatures of long definitions of which only windows or parts are shown."""
        covered: dict[str, list[tuple[int, int]]] = defaultdict(list)
        for pick in picks:
            covered[pick.passage.path].append((pick.start_line, pick.end_line))
        for pick in picks:
            first, last = _head(pick)
            if not pick.passage.whole or (not pick.whole and pick.start_line > first):
                shown = covered[pick.passage.path]
                if not any(start <= first <= end for start, end in shown):
                    shown.append((first, last))
                    yield msgspec.structs.replace(pick, start_line=first, end_line=last)

    def _runs(self, picks: list[SelectedPassage]) -> Iterator[list[SelectedPassage]]:
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

    def _text(self, path: str, first: int, last: int) -> tuple[str, str]:
        """The lines and their hash, made once for each span."""
        found = self._texts.get((path, first, last))
        if found is None:
            content = "".join(self.reading.lines(path)[first - 1 : last])
            found = self._texts[path, first, last] = content, ids.hash_text(content)
        return found

    def _known_item(self, run: Sequence[SelectedPassage]) -> Item:
        """The item of a run, made once: a pack is put together again and again while it is filled. Passages
        share no lines, so their lines tell them apart."""
        key = tuple(
            (one.passage.path, one.passage.start_line, one.passage.end_line, one.start_line, one.end_line)
            for one in run
        )
        found = self._items.get(key)
        if found is None:
            found = self._items[key] = self._item(run)
        return found

    def _item(self, run: Sequence[SelectedPassage]) -> Item:
        leading = max(run, key=lambda pick: (pick.whole, pick.passage.promise, -pick.start_line))
        passage = leading.passage
        first, last = min(pick.start_line for pick in run), max(pick.end_line for pick in run)
        content, content_hash = self._text(passage.path, first, last)
        record = self.reading.record(passage.path)
        kind, symbol = _named(leading, first, last)
        is_chunk = passage.whole and (first, last) == (passage.start_line, passage.end_line)
        return Item(
            path=passage.path,
            start_line=first,
            end_line=last,
            content=content,
            content_hash=content_hash,
            file_hash=record.file_hash,
            ref=self.ref,
            chunk_id=passage.chunk_id if is_chunk else f"{passage.path}:{first}:{last}",
            kind=kind.value,
            symbol=symbol,
            section=leading.section,
            score=round(passage.promise / self.best, 4) if self.best else 0.0,
            language=record.language,
            reasons=_reasons(run),
            imports=self.reading.imports(passage.path, content) if self.plan.with_imports else (),
            redactions=sum(first <= line <= last for line in record.redactions),
        )


def _apart(picks: Sequence[SelectedPassage]) -> list[SelectedPassage]:
    """The picks, where a signature gives up the lines that another section shows already."""
    kept = [pick for pick in picks if pick.whole]
    for pick in picks:
        if not pick.whole:
            starts = [other.start_line for other in kept if _clash(pick, other)]
            last = min(pick.end_line, min(starts, default=pick.end_line + 1) - 1)
            if pick.start_line <= last:
                kept.append(msgspec.structs.replace(pick, end_line=last))
    return kept


def _clash(one: SelectedPassage, other: SelectedPassage) -> bool:
    return (
        one.passage.path == other.passage.path
        and one.section is not other.section
        and one.start_line <= other.end_line
        and other.start_line <= one.end_line
    )


def _head(pick: SelectedPassage) -> tuple[int, int]:
    """The lines that say what a pick is of; of a part of several definitions, the line of the last one that
    starts before its end."""
    passage = pick.passage
    starts = [line for line, _, _ in passage.names if line <= pick.end_line]
    if pick.whole or not passage.whole or not starts or starts[-1] <= passage.head[1]:
        return passage.head
    return starts[-1], starts[-1]


def _named(pick: SelectedPassage, first: int, last: int) -> tuple[ChunkKind, str]:
    """What the lines are called: the first definition that starts in them, rather than a constant."""
    passage = pick.passage
    inside = [item for item in passage.names if first <= item[0] <= last]
    if pick.whole or not inside:
        return passage.kind, passage.name
    _, kind, name = next((item for item in inside if item[1] is not ChunkKind.CONST), inside[0])
    return kind, name


def _reasons(run: Sequence[SelectedPassage]) -> tuple[str, ...]:
    """Why these lines are here; a signature alone names a file that may matter, a part did not fit whole."""
    if all(pick.is_signature for pick in run):
        return ("map",)
    named = dict.fromkeys(reason for pick in run for reason in pick.passage.reasons)
    return (*named, "part") if any(not pick.whole for pick in run) else tuple(named)
