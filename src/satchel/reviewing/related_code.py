"""The code around a change: uses of removed names, uses and tests of changed definitions, and definitions
that the changed lines use."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import msgspec

from satchel.packing.pack import Role
from satchel.packing.sections import Section
from satchel.retrieval.corpus import Corpus
from satchel.retrieval.dependants import (
    DependencyTarget,
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

_MOST_TOUCHED = 24  # changed definitions whose uses are looked for
_MOST_GONE = 80  # removed names whose uses are looked for; most are used nowhere
_USERS, _TESTS, _LEFT = 4, 3, 3  # passages for each name: uses of it, tests of it, uses of a removed one
_MOST_USED = 8  # definitions that changed lines use
_WHOLE_CHARS = 1_200  # of a longer chunk only the lines around the use are shown
_AROUND = 4  # lines before and after
_WORTH = 0.5  # the score of related code, where that of the change itself is 1


class RelatedCode(NamedTuple):
    """Passages that belong to a change, and names that a reviewer should hear of."""

    dependants: list[ReviewPassage]
    used: list[ReviewPassage]
    left_names: list[str]  # names that were removed but are still used
    untested: list[str]  # changed names that no test mentions


class _UseLines(NamedTuple):
    """A use and the lines to show of it."""

    use: Edge
    first: int
    last: int


class RelatedCodeFinder:
    """Finds the code that belongs to a change. No line is given twice, and none of `shown`, the ranges of
    each file that the review shows already."""

    def __init__(
        self,
        corpus: Corpus,
        filters: Filters,
        items: ChangeItemBuilder,
        shown: Mapping[str, Sequence[LineRange]],
    ) -> None:
        self.corpus = corpus
        self.filters = filters
        self.items = items
        self._taken: dict[str, list[LineRange]] = defaultdict(list)
        for path, ranges in shown.items():
            self._taken[path] = list(ranges)

    def find(
        self,
        names: Sequence[DependencyTarget],
        gone: Sequence[str],
        edited: Mapping[str, Sequence[LineRange]],
        tiers: Mapping[str, Tier],
    ) -> RelatedCode:
        """Return the code that belongs to the changed names and to the removed ones (`gone`), one passage for
        each name in turn. `edited` has the changed ranges of each file, `tiers` the tier of each file."""
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
            self._passage(lines) for lines in self._free(_in_turn([*left.values(), *known.values()]))
        ]
        code = [(path, ranges) for path, ranges in edited.items() if tiers[path] is Tier.CODE]
        callees = (use for path, ranges in code for use in used_definitions(self.corpus, path, ranges))
        needed = [self._passage(lines, needed=True) for lines in self._free(callees)][:_MOST_USED]
        return RelatedCode(dependants, needed, [name for name, uses in left.items() if uses], untested)

    def _left(self, name: str, edited: Mapping[str, Sequence[LineRange]]) -> list[Edge]:
        """Return uses of a removed name. Lines that the change itself added mean something else by it."""
        found = [
            use
            for use in find_leftover_uses(self.corpus, name)
            if not any(first <= use.line <= last for first, last in edited.get(use.chunk.path, ()))
        ]
        return found[:_LEFT]

    def _users_and_tests(self, one: DependencyTarget) -> list[Edge]:
        """Return the first uses and tests of a changed definition, in turn."""
        found = find_users(self.corpus, one)
        using = [use for use in found if use.label is not Label.TESTED_BY]
        tests = [use for use in found if use.label is Label.TESTED_BY]
        known = {use.chunk.number for use in tests}
        tests += [use for use in find_tests(self.corpus, one) if use.chunk.number not in known]
        return list(_in_turn([using[:_USERS], tests[:_TESTS]]))

    def _free(self, uses: Iterator[Edge]) -> Iterator[_UseLines]:
        """Yield the lines of the uses that pass the filters and are not shown yet; from then on they are."""
        for use in uses:
            first, last = self._lines(use)
            ranges = self._taken[use.chunk.path]
            overlaps = any(start <= last and first <= end for start, end in ranges)
            record = self.items.record(use.chunk.path)
            accepted = self.filters.accepts_file(record) and self.filters.accepts_chunk(
                record, use.chunk.kind
            )
            if accepted and not overlaps:
                ranges.append((first, last))
                yield _UseLines(use, first, last)

    def _lines(self, use: Edge) -> LineRange:
        """Return the lines to show of a use: its chunk, or the lines around it in a long chunk."""
        chunk = use.chunk
        lines = self.corpus.lines(chunk.path)
        if sum(map(len, lines[chunk.start_line - 1 : chunk.end_line])) <= _WHOLE_CHARS:
            return chunk.start_line, chunk.end_line
        return max(chunk.start_line, use.line - _AROUND), min(chunk.end_line, use.line + _AROUND)

    def _passage(self, lines: _UseLines, *, needed: bool = False) -> ReviewPassage:
        """Return the passage of a use; `needed` says that the change uses it, not the other way round."""
        use = lines.use
        label = use.label.value
        item = self.items.of_new(lines.first, lines.last, use.chunk, (label, use.name))
        section = item.section
        if use.label is Label.TESTED_BY or is_test(self.items.record(use.chunk.path), use.chunk):
            section = Section.TESTS
        found_in = Section.DEPENDENCIES if needed else Section.KEY_USAGES
        item = msgspec.structs.replace(
            item,
            section=found_in if section is Section.DEFINITIONS else section,
            role=Role.RELATED,
            score=round(_WORTH * use.confidence, 4),
            relationship=(label,),
            distance=1,
        )
        return ReviewPassage(item, ReviewOrder(Tier.CODE, False, 0, 0, item.path, lines.first, False))


def _in_turn(lists: Sequence[Sequence[Edge]]) -> Iterator[Edge]:
    """Yield the first of each list, then the second of each, and so on."""
    for turn in range(max(map(len, lists), default=0)):
        for own in lists:
            if turn < len(own):
                yield own[turn]
