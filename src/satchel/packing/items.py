"""Selected passages → items: exact lines of files, with what is known of them.

Neighbours become one item; a window of a long definition comes with the signature that names it; no line is
in two items.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

import msgspec

from satchel import ids
from satchel.packing.pack import Item
from satchel.packing.sections import Section
from satchel.packing.selection import PassageReader, SelectedPassage
from satchel.types import ChunkKind, LineRange

_SECTIONS = {section: number for number, section in enumerate(Section)}


class PackPlan(msgspec.Struct, frozen=True):
    """How a pack is to be filled."""

    caps: Mapping[Section, int]
    map_files: int = 0  # how many files are at least named
    limit: int = 0  # whole passages at most; 0 means as many as fit
    with_imports: bool = False  # whether items carry the import lines that they need
    flat: bool = False  # whether items are ordered by score alone, whatever their section
    apart: bool = False  # whether neighbours stay items of their own


class ItemBuilder:
    """Makes items of selected passages. Items are remembered, because a pack is put together again and again
    while it is filled. `best` is the highest promise of all passages, which scores are relative to."""

    def __init__(self, ref: str, reader: PassageReader, best: float, plan: PackPlan) -> None:
        self.ref = ref
        self.reader = reader
        self.best = best
        self.plan = plan
        self.added_signatures = 0  # in the last call of `build`
        self._texts: dict[tuple[str, int, int], tuple[str, str]] = {}
        self._items: dict[tuple[object, ...], Item] = {}

    def build(self, selected: Sequence[SelectedPassage]) -> list[Item]:
        """Return the items by section, then by rank of the file, then by line."""
        signatures = list(self._missing_signatures(selected))
        if signatures and self.plan.limit:  # the passages themselves count first against the limit
            signatures = signatures[: max(0, self.plan.limit - len(self._build(selected)))]
        self.added_signatures = len(signatures)
        if len(selected) == 1 and not signatures:
            return [self._known_item(selected)]
        return self._build((*selected, *signatures))

    def _build(self, selected: Sequence[SelectedPassage]) -> list[Item]:
        ordered = sorted(
            _without_shared_lines(selected),
            key=lambda one: (_SECTIONS[one.section], one.passage.rank, one.start_line, one.end_line),
        )
        items: list[Item] = []
        for _, own in groupby(ordered, key=lambda one: (one.section, one.passage.path)):
            items += [self._known_item(run) for run in self._runs(list(own))]
        if self.plan.flat:
            items.sort(key=lambda item: -item.score)
        return items

    def _missing_signatures(self, selected: Sequence[SelectedPassage]) -> Iterator[SelectedPassage]:
        """Yield the signatures of long definitions of which only windows or parts are selected."""
        covered: dict[str, list[LineRange]] = defaultdict(list)
        for one in selected:
            covered[one.passage.path].append((one.start_line, one.end_line))
        for one in selected:
            first, last = _signature_lines(one)
            if not one.passage.whole or (not one.whole and one.start_line > first):
                shown = covered[one.passage.path]
                if not any(start <= first <= end for start, end in shown):
                    shown.append((first, last))
                    yield msgspec.structs.replace(one, start_line=first, end_line=last)

    def _runs(self, selected: list[SelectedPassage]) -> Iterator[list[SelectedPassage]]:
        """Yield groups of passages that touch, overlap, or have only blank lines between them."""
        run = [selected[0]]
        last = selected[0].end_line
        for one in selected[1:]:
            between = self.reader.lines(one.passage.path)[last : one.start_line - 1]
            if any(line.strip() for line in between) or (self.plan.apart and one.start_line > last):
                yield run
                run = []
            run.append(one)
            last = max(last, one.end_line) if len(run) > 1 else one.end_line
        yield run

    def _text(self, path: str, first: int, last: int) -> tuple[str, str]:
        """Return lines of a file and their hash, computed once for each range."""
        found = self._texts.get((path, first, last))
        if found is None:
            content = "".join(self.reader.lines(path)[first - 1 : last])
            found = self._texts[path, first, last] = content, ids.hash_text(content)
        return found

    def _known_item(self, run: Sequence[SelectedPassage]) -> Item:
        """Return the item of a run, made once. Passages share no lines, so their lines identify them."""
        key = tuple(
            (one.passage.path, one.passage.start_line, one.passage.end_line, one.start_line, one.end_line)
            for one in run
        )
        found = self._items.get(key)
        if found is None:
            found = self._items[key] = self._item(run)
        return found

    def _item(self, run: Sequence[SelectedPassage]) -> Item:
        leading = max(run, key=lambda one: (one.whole, one.passage.promise, -one.start_line))
        passage = leading.passage
        first, last = min(one.start_line for one in run), max(one.end_line for one in run)
        content, content_hash = self._text(passage.path, first, last)
        record = self.reader.record(passage.path)
        kind, symbol = _kind_and_name(leading, first, last)
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
            imports=self.reader.imports(passage.path, content) if self.plan.with_imports else (),
            redactions=sum(first <= line <= last for line in record.redactions),
        )


def _without_shared_lines(selected: Sequence[SelectedPassage]) -> list[SelectedPassage]:
    """Return the selected passages, signatures and parts shortened by the lines that another section shows
    already."""
    kept = [one for one in selected if one.whole]
    for one in selected:
        if not one.whole:
            starts = [other.start_line for other in kept if _clash(one, other)]
            last = min(one.end_line, min(starts, default=one.end_line + 1) - 1)
            if one.start_line <= last:
                kept.append(msgspec.structs.replace(one, end_line=last))
    return kept


def _clash(one: SelectedPassage, other: SelectedPassage) -> bool:
    """Whether two passages of different sections share lines."""
    return (
        one.passage.path == other.passage.path
        and one.section is not other.section
        and one.start_line <= other.end_line
        and other.start_line <= one.end_line
    )


def _signature_lines(selected: SelectedPassage) -> LineRange:
    """Return the lines that name what is selected. For a part of several definitions that is the line of the
    last definition which starts before the end of the part."""
    passage = selected.passage
    starts = [line for line, _, _ in passage.names if line <= selected.end_line]
    if selected.whole or not passage.whole or not starts or starts[-1] <= passage.head[1]:
        return passage.head
    return starts[-1], starts[-1]


def _kind_and_name(selected: SelectedPassage, first: int, last: int) -> tuple[ChunkKind, str]:
    """Return the kind and name to cite lines by: those of the first definition that starts in them, rather
    than of a constant."""
    passage = selected.passage
    inside = [item for item in passage.names if first <= item[0] <= last]
    if selected.whole or not inside:
        return passage.kind, passage.name
    _, kind, name = next((item for item in inside if item[1] is not ChunkKind.CONST), inside[0])
    return kind, name


def _reasons(run: Sequence[SelectedPassage]) -> tuple[str, ...]:
    """Return the reasons why lines are in the pack. `map` says that a signature only names a file that may
    matter, `part` that a passage did not fit whole."""
    if all(one.is_signature for one in run):
        return ("map",)
    named = dict.fromkeys(reason for one in run for reason in one.passage.reasons)
    return (*named, "part") if any(not one.whole for one in run) else tuple(named)
