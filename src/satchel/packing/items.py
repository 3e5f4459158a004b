"""Selected passages → items: exact lines of files, with what is known of them.

Neighbours become one item; a window of a long definition comes with the signature that names it; no line is
in two items.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence

from satchel import ids
from satchel.packing.pack import Item
from satchel.packing.sections import Section
from satchel.packing.selection import PackPlan, PassageReader, SelectedPassage
from satchel.types import ChunkKind, Passage

_SECTIONS = {section: number for number, section in enumerate(Section)}


class ItemBuilder:
    """Makes items of selected passages. Items are remembered, because a pack is put together again and again
    while it is filled. `passages` are all that may be selected, `sections` their sections."""

    def __init__(
        self,
        reader: PassageReader,
        plan: PackPlan,
        passages: Sequence[Passage] = (),
        sections: Sequence[Section] = (),
    ) -> None:
        self.reader = reader
        self.plan = plan
        self.best = max((passage.promise for passage in passages), default=1.0)
        self._texts: dict[tuple[str, int, int], tuple[str, str]] = {}
        self._items: dict[tuple[object, ...], Item] = {}
        self._known: dict[str, list[tuple[int, int, Section]]] = defaultdict(list)
        for passage, section in zip(passages, sections, strict=True):
            if plan.caps[section]:
                self._known[passage.path].append((passage.start_line, passage.end_line, section))
        for known in self._known.values():
            known.sort()

    def build(self, selected: Sequence[SelectedPassage]) -> list[Item]:
        """Return the items by section, then by rank of the file, then by line."""
        by_file: dict[str, list[SelectedPassage]] = defaultdict(list)
        for one in selected:
            by_file[one.passage.path].append(one)
        ranks = {path: min(one.passage.rank for one in own) for path, own in by_file.items()}
        items = [item for own in by_file.values() for item in self.of_file(own)]
        if self.plan.flat:
            return sorted(items, key=lambda item: (-item.score, ranks[item.path], item.start_line))
        return sorted(items, key=lambda item: (_SECTIONS[item.section], ranks[item.path], item.start_line))

    def of_file(self, selected: Sequence[SelectedPassage]) -> list[Item]:
        """Return the items of selected passages of one file, by line. A line is in the section of the passage
        that it is of, whichever passage brings it in as a signature."""
        owners: dict[int, tuple[Section, SelectedPassage]] = {}
        for one in selected:
            for line in range(one.start_line, one.end_line + 1):
                owners[line] = one.section, one
        for one in selected:
            for line in range(one.signature[0], one.signature[1] + 1):
                if line not in owners:
                    owners[line] = self._section_at(one, line), one
        return [self._known_item(run, owners) for run in self._runs(owners)]

    def _section_at(self, one: SelectedPassage, line: int) -> Section:
        """Return the section of the passage that holds a line; that of the selected passage if none does."""
        known = self._known[one.passage.path]
        at = bisect_right(known, line, key=lambda item: item[0]) - 1
        return known[at][2] if at >= 0 and line <= known[at][1] else one.section

    def _runs(self, owners: dict[int, tuple[Section, SelectedPassage]]) -> Iterator[tuple[int, int]]:
        """Yield the first and last lines of items: lines of one section with at most blank ones between
        them."""
        ordered = sorted(owners)
        first = last = ordered[0]
        for line in ordered[1:]:
            (section, one), (own_section, other) = owners[last], owners[line]
            between = self.reader.lines(one.passage.path)[last : line - 1] if line > last + 1 else ()
            is_apart = self.plan.apart and one.passage is not other.passage
            if section is not own_section or is_apart or any(text.strip() for text in between):
                yield first, last
                first = line
            last = line
        yield first, last

    def _text(self, path: str, first: int, last: int) -> tuple[str, str]:
        """Return lines of a file and their hash, computed once for each range."""
        found = self._texts.get((path, first, last))
        if found is None:
            content = "".join(self.reader.lines(path)[first - 1 : last])
            found = self._texts[path, first, last] = content, ids.hash_text(content)
        return found

    def _known_item(self, run: tuple[int, int], owners: dict[int, tuple[Section, SelectedPassage]]) -> Item:
        """Return the item of a run, made once for the same passages."""
        inside = [owners[line] for line in range(run[0], run[1] + 1) if line in owners]
        passages = list({id(one): one for _, one in inside}.values())
        key = (
            *run,
            inside[0][0],
            *(
                (one.passage.path, one.passage.start_line, one.start_line, one.end_line, one.is_name)
                for one in passages
            ),
        )
        found = self._items.get(key)
        if found is None:
            found = self._items[key] = self._item(run, inside[0][0], passages)
        return found

    def _item(self, run: tuple[int, int], section: Section, passages: Sequence[SelectedPassage]) -> Item:
        leading = max(passages, key=lambda one: (one.whole, one.passage.promise, -one.start_line))
        passage = leading.passage
        first, last = run
        content, content_hash = self._text(passage.path, first, last)
        record = self.reader.record(passage.path)
        kind, symbol = _kind_and_name(passages, first, last)
        is_chunk = passage.whole and run == (passage.start_line, passage.end_line)
        return Item(
            path=passage.path,
            start_line=first,
            end_line=last,
            content=content,
            content_hash=content_hash,
            file_hash=record.file_hash,
            ref=self.reader.ref(passage.path),
            chunk_id=passage.chunk_id if is_chunk else f"{passage.path}:{first}:{last}",
            kind=kind.value,
            symbol=symbol,
            section=section,
            score=round(passage.promise / self.best, 4) if self.best else 0.0,
            language=record.language,
            reasons=_reasons(passages),
            imports=self.reader.imports(passage.path, content) if self.plan.with_imports else (),
            redactions=sum(first <= line <= last for line in record.redactions),
        )


def _kind_and_name(passages: Sequence[SelectedPassage], first: int, last: int) -> tuple[ChunkKind, str]:
    """Return the kind and name to cite lines by: those of the definition that the lines open with, or that
    they open inside of; else those of the first definition that starts in them, rather than of a constant."""
    opening = passages[0].passage
    named = [item for item in opening.names if item[0] <= first]
    if named:
        return named[-1][1], named[-1][2]
    if first < opening.start_line or not opening.whole:  # a signature or a window of a longer definition
        return opening.kind, opening.name
    inside = [item for one in passages for item in one.passage.names if first <= item[0] <= last]
    _, kind, name = min(
        inside, key=lambda item: (item[1] is ChunkKind.CONST, item), default=(0, opening.kind, opening.name)
    )
    return kind, name


def _reasons(passages: Sequence[SelectedPassage]) -> tuple[str, ...]:
    """Return the reasons why lines are in the pack. `map` says that a line only names a file that may matter,
    `part` that a passage did not fit whole."""
    if all(one.is_name for one in passages):
        return ("map",)
    named = dict.fromkeys(reason for one in passages for reason in one.passage.reasons)
    return (*named, "part") if any(not one.whole for one in passages) else tuple(named)
