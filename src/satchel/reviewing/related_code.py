"""What stands around a change: who still uses what is gone, who uses and tests what was touched, and which
definitions the changed lines use."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import msgspec

from satchel.packing.pack import Role, Section
from satchel.retrieval.corpus import Corpus
from satchel.retrieval.dependants import (
    Definition,
    find_leftover_uses,
    find_tests,
    find_users,
    is_test,
    test_files,
)
from satchel.retrieval.dependencies import used_definitions
from satchel.retrieval.filters import Filters
from satchel.retrieval.references import Edge
from satchel.reviewing.passages import ChangeItemBuilder, ReviewOrder, ReviewPassage, Tier
from satchel.types import Label, LineRange

_MOST_TOUCHED = 24  # definitions whose dependants are looked for
_MOST_GONE = 80  # names that are looked for although nothing defines them; most are used nowhere
_USERS, _TESTS, _LEFT = 4, 3, 3  # pieces for each definition: who uses it, tests, uses of what is gone
_MOST_USED = 8  # definitions that changed lines use
_WHOLE_CHARS = 1_200  # of a longer piece the lines around the use are shown
_AROUND = 4  # lines before and after
_WORTH = 0.5  # of what belongs to a change, beside the change itself
_SECTIONS = {True: Section.DEPENDENCIES, False: Section.KEY_USAGES}


class RelatedCode(NamedTuple):
    """Pieces that belong to a change, and names that a reviewer should hear of."""

    dependants: list[ReviewPassage]
    used: list[ReviewPassage]
    left_names: list[str]  # removed, but still used
    untested: list[str]


class _UseLines(NamedTuple):
    use: Edge
    first: int
    last: int


class RelatedCodeFinder:
    """Looks around a change; no line is given twice, and none that is `shown` already."""

    def __init__(
        self,
        corpus: Corpus,
        filters: Filters,
        maker: ChangeItemBuilder,
        shown: Mapping[str, Sequence[LineRange]],
    ) -> None:
        self.corpus = corpus
        self.filters = filters
        self.maker = maker
        self._taken: dict[str, list[LineRange]] = defaultdict(list)
        for path, spans in shown.items():
            self._taken[path] = list(spans)

    def look(
        self,
        names: Sequence[Definition],
        gone: Sequence[str],
        edited: Mapping[str, Sequence[LineRange]],
        tiers: Mapping[str, Tier],
    ) -> RelatedCode:
        """What belongs to the touched and to the removed names, one for each in turn."""
        left = {name: self._left(name, edited) for name in gone[:_MOST_GONE]}
        tests = {path for path, tier in tiers.items() if tier is Tier.TESTS}
        known = {one: self._users_and_tests(one) for one in names[:_MOST_TOUCHED]}
        untested = [
            f"{one.owner}.{one.name}" if one.owner else one.name
            for one, uses in known.items()
            if one.tested
            and not any(use.label is Label.TESTED_BY for use in uses)
            and tests.isdisjoint(test_files(self.corpus, one.path))
        ]
        dependants = [
            self._candidate(place) for place in self._free(_in_turn([*left.values(), *known.values()]))
        ]
        code = [(path, spans) for path, spans in edited.items() if tiers[path] is Tier.CODE]
        callees = (use for path, spans in code for use in used_definitions(self.corpus, path, spans))
        needed = [self._candidate(place, needed=True) for place in self._free(callees)][:_MOST_USED]
        return RelatedCode(dependants, needed, [name for name, uses in left.items() if uses], untested)

    def _left(self, name: str, edited: Mapping[str, Sequence[LineRange]]) -> list[Edge]:
        """Who still uses a removed name. What the change itself put there means something else by it."""
        found = [
            use
            for use in find_leftover_uses(self.corpus, name)
            if not any(first <= use.line <= last for first, last in edited.get(use.chunk.path, ()))
        ]
        return found[:_LEFT]

    def _users_and_tests(self, one: Definition) -> list[Edge]:
        found = find_users(self.corpus, one)
        using = [use for use in found if use.label is not Label.TESTED_BY]
        tests = [use for use in found if use.label is Label.TESTED_BY]
        known = {use.chunk.number for use in tests}
        tests += [use for use in find_tests(self.corpus, one) if use.chunk.number not in known]
        return list(_in_turn([using[:_USERS], tests[:_TESTS]]))

    def _free(self, uses: Iterator[Edge]) -> Iterator[_UseLines]:
        """The lines of those that pass the filters and are not taken; then they are."""
        for use in uses:
            first, last = self._lines(use)
            spans = self._taken[use.chunk.path]
            overlaps = any(start <= last and first <= end for start, end in spans)
            record = self.maker.record(use.chunk.path)
            accepted = self.filters.accepts_file(record) and self.filters.accepts_chunk(
                record, use.chunk.kind
            )
            if accepted and not overlaps:
                spans.append((first, last))
                yield _UseLines(use, first, last)

    def _lines(self, use: Edge) -> LineRange:
        chunk = use.chunk
        lines = self.corpus.lines(chunk.path)
        if sum(map(len, lines[chunk.start_line - 1 : chunk.end_line])) <= _WHOLE_CHARS:
            return chunk.start_line, chunk.end_line
        return max(chunk.start_line, use.line - _AROUND), min(chunk.end_line, use.line + _AROUND)

    def _candidate(self, place: _UseLines, *, needed: bool = False) -> ReviewPassage:
        use = place.use
        label = use.label.value
        item = self.maker.of_new(place.first, place.last, use.chunk, (label, use.name))
        section = item.section
        if use.label is Label.TESTED_BY or is_test(self.maker.record(use.chunk.path), use.chunk):
            section = Section.TESTS
        item = msgspec.structs.replace(
            item,
            section=_SECTIONS[needed] if section is Section.DEFINITIONS else section,
            role=Role.RELATED,
            score=round(_WORTH * use.confidence, 4),
            relationship=(label,),
            distance=1,
        )
        return ReviewPassage(item, ReviewOrder(Tier.CODE, False, 0, 0, item.path, place.first, False))


def _in_turn(lists: Sequence[Sequence[Edge]]) -> Iterator[Edge]:
    for turn in range(max(map(len, lists), default=0)):
        for own in lists:
            if turn < len(own):
                yield own[turn]
