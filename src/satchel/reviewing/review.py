"""One change → the pack for its review: the changed lines, the lines they replaced, the code that depends on
them, and their tests.

Changed definitions come first, whole where they are short enough; beside each the lines that it lost, cited
at the commit that still has them; then the code that calls, uses or tests them. Hints say what is not shown.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property

import msgspec

from satchel.chunking import parse_source
from satchel.packing.budget import Gauge, make_within
from satchel.packing.pack import Counts, Pack
from satchel.packing.sections import Section, section_of_file
from satchel.retrieval.corpus import Corpus
from satchel.retrieval.dependants import DependencyTarget, dependency_target
from satchel.retrieval.filters import Filters
from satchel.reviewing.changed_lines import (
    ChunkChanges,
    OldFile,
    added_lines,
    changed_chunks,
    changed_passages,
    is_definition,
    removed_lines,
)
from satchel.reviewing.filling import ReviewNotes, ReviewPackFiller
from satchel.reviewing.passages import (
    ChangeItemBuilder,
    ReviewOrder,
    ReviewPassage,
    ReviewQuery,
    Tier,
    WordEdit,
    assign_turns,
    edit_of,
    find_sweeps,
    is_aside,
    order_passages,
    tier_of,
)
from satchel.reviewing.related_code import RelatedCode, RelatedCodeFinder
from satchel.storage.records import ChunkRecord, FileRecord
from satchel.tokenizers import CharsPerToken
from satchel.types import LineRange, Skipped, Source
from satchel.walking.change_set import ChangedFile, ChangeSet, Status
from satchel.walking.git_diff import Hunk

MODE = "review"
_FEW = 10  # changed definitions
# Characters of a changed definition that is shown whole: at least, for few and for many of them, and at most.
_WHOLE_OF_FEW, _WHOLE_OF_MANY, _MOST_WHOLE = 3_200, 1_600, 12_000
_WHOLE_SHARE = 0.6  # of the room that all changed definitions together may take
_REWRITTEN = 300  # changed lines; a file with more comes after those with smaller changes
_GENERATED_PASSAGES = 3  # that are shown of a file which a program writes
_IGNORED = "ignored"  # why a file is not indexed that the walk did not even meet

ReadOld = Callable[[str], Source | Skipped]


class Review:
    """A change and the index of the tree that it leads to; `query` is what the reviewer wants to know, empty
    if nothing in particular."""

    def __init__(
        self, changes: ChangeSet, corpus: Corpus, read_old: ReadOld, filters: Filters, query: str = ""
    ) -> None:
        self.changes = changes
        self.corpus = corpus
        self.read_old = read_old
        self.filters = filters
        self.query = query
        self.items = ChangeItemBuilder(corpus, changes.old, changes.new)
        self._old: dict[str, OldFile | Skipped] = {}

    def pack(self, gauge: Gauge, title: str, model_id: str, profile: str) -> Pack:
        """Return the pack with as much of the review as fits."""
        return make_within(gauge, lambda gauge: self._pack(gauge, title, model_id, profile))

    def _pack(self, gauge: Gauge, title: str, model_id: str, profile: str) -> Pack:
        frame = Pack(
            query=title,
            ref=self.changes.new,
            mode=MODE,
            model_id=model_id,
            profile=profile,
            items=(),
            budget=gauge.budget(),
            counts=Counts(),
        )
        gauge.check(frame)
        room = gauge.room()
        chars = min(filter(None, (int(room.tokens * CharsPerToken.CITED_CODE), room.chars)), default=0)
        changed, capped = self._changed(chars)
        related = self._related(changed)
        ordered = [*order_passages(changed, related.dependants, chars), *related.used]
        if self.query:
            ordered = ReviewQuery(self.corpus, self.query).first(ordered)
        return ReviewPackFiller(
            frame, gauge, self.corpus, ordered, capped, self._notes(related, capped)
        ).pack()

    @cached_property
    def files(self) -> list[ChangedFile]:
        """Return the changed files that pass the filters."""
        return [file for file in self.changes.files if self._accepts(file)]

    def _accepts(self, file: ChangedFile) -> bool:
        return self.filters.accepts_file(self._record(file))

    def _record(self, file: ChangedFile) -> FileRecord:
        """Return a changed file as filters know it: as it is indexed, or as it was if it is gone."""
        at = self.corpus.position_of.get(file.path)
        if at is not None:
            return self.corpus.files[at]
        old = self._old_file(file)
        language, tags = (old.source.language, old.source.tags) if isinstance(old, OldFile) else ("", ())
        return FileRecord(file.path, 0, 0, "", language, "", 0, tags=tags)

    def _old_file(self, file: ChangedFile) -> OldFile | Skipped | None:
        """Return a file as it was, read and parsed once; None if it is new or nothing was removed from it."""
        if not file.old_path or not any(hunk.old_count for hunk in file.hunks):
            return None
        if file.old_path not in self._old:
            read = self.read_old(file.old_path)
            self._old[file.old_path] = (
                read if isinstance(read, Skipped) else OldFile(read, parse_source(read.text, read.language))
            )
        return self._old[file.old_path]

    def _is_there(self, file: ChangedFile) -> bool:
        return file.status is not Status.DELETED and file.path in self.corpus.position_of

    def _is_test(self, file: ChangedFile) -> bool:
        return self._is_there(file) and "test" in self.items.record(file.path).tags

    def _new_lines(self, file: ChangedFile) -> Sequence[str]:
        return self.corpus.lines(file.path) if self._is_there(file) else ()

    def _changed(self, room_chars: int) -> tuple[list[ReviewPassage], list[ReviewPassage]]:
        """Return the passages of changed and removed lines of all files, and those that are over the limit
        for a file which a program writes."""
        found = [(file, self._touched(file)) for file in self.files]
        count = sum(is_definition(one.chunk) for file, own in found for one in own if not self._is_test(file))
        least = _WHOLE_OF_FEW if count <= _FEW else _WHOLE_OF_MANY
        most = min(_MOST_WHOLE, max(least, int(_WHOLE_SHARE * room_chars / max(1, count))))
        changed: list[ReviewPassage] = []
        capped: list[ReviewPassage] = []
        for file, own in found:
            passages = assign_turns([*self._new_passages(file, own, most), *self._removed(file)])
            generated = bool(passages) and passages[0].order.tier is Tier.GENERATED
            changed += passages[:_GENERATED_PASSAGES] if generated else passages
            capped += passages[_GENERATED_PASSAGES:] if generated else []
        return changed, capped

    def _touched(self, file: ChangedFile) -> list[ChunkChanges]:
        if not self._is_there(file):
            return []
        old = self._old_file(file)

        def removed_from(hunk: Hunk, chunk: ChunkRecord) -> bool:
            return not isinstance(old, OldFile) or old.took_from(hunk, chunk.title_path)

        found = changed_chunks(self.corpus, file, removed_from)
        if not self.filters.by_kind:
            return found
        record = self._record(file)
        return [one for one in found if self.filters.accepts_chunk(record, one.chunk.kind)]

    def _new_passages(
        self, file: ChangedFile, own: Sequence[ChunkChanges], most: int
    ) -> Iterator[ReviewPassage]:
        for passage in changed_passages(own, self._new_lines(file), most):
            item = self.items.of_new(
                passage.start, passage.end, passage.chunk, ("changed", file.status.value)
            )
            item = msgspec.structs.replace(item, changed=added_lines(file, passage.start, passage.end))
            group = _group(file, is_definition(passage.chunk))
            tier = tier_of(file.path, item.section)
            order = ReviewOrder(tier, file.path in self._sweeps, group, 0, file.path, passage.start, False)
            yield ReviewPassage(item, order, file.path, passage.changed)

    def _removed(self, file: ChangedFile) -> Iterator[ReviewPassage]:
        """Yield the lines that the change removed or replaced, cited at the commit that has them."""
        old = self._old_file(file)
        if not isinstance(old, OldFile):
            return
        record = self._record(file)
        for one in old.removed(file, self._new_lines(file)):
            kind = "" if one.chunk is None else one.chunk.kind
            if self.filters.by_kind and not self.filters.accepts_chunk(record, kind):
                continue
            item = self.items.of_old(old, one)
            item = msgspec.structs.replace(item, changed=removed_lines(file, one.first, one.last))
            named = bool(item.symbol) and item.section is Section.DEFINITIONS
            group = _group(file, named)
            tier = tier_of(file.path, item.section)
            order = ReviewOrder(tier, file.path in self._sweeps, group, 0, file.path, one.at, True)
            yield ReviewPassage(item, order, file.path)

    @cached_property
    def _sweeps(self) -> set[str]:
        return find_sweeps({file.path: list(self._edits(file)) for file in self.files})

    def _edits(self, file: ChangedFile) -> Iterator[WordEdit]:
        old = self._old_file(file)
        before = old.lines if isinstance(old, OldFile) else ()
        after = self._new_lines(file)
        for hunk in file.hunks if file.old_path and after else ():
            yield edit_of(
                before[hunk.old_line - 1 : hunk.old_line - 1 + hunk.old_count] if hunk.old_count else (),
                after[hunk.new_line - 1 : hunk.new_line - 1 + hunk.new_count] if hunk.new_count else (),
            )

    def _related(self, changed: Sequence[ReviewPassage]) -> RelatedCode:
        """Return the code that calls, uses, extends or tests the changed definitions, and the definitions
        that the changed lines use."""
        now = [one for one in sorted(changed, key=lambda passage: passage.order) if not one.order.old]
        shown: dict[str, list[LineRange]] = defaultdict(list)
        edited: dict[str, list[LineRange]] = defaultdict(list)
        for one in now:
            shown[one.item.path].append((one.item.start_line, one.item.end_line))
            edited[one.item.path] += one.changed
        return RelatedCodeFinder(self.corpus, self.filters, self.items, shown).find(
            list(dict.fromkeys(self._names(now))),
            self._gone_names(),
            edited,
            {one.item.path: one.order.tier for one in now},
        )

    def _names(self, changed: Sequence[ReviewPassage]) -> Iterator[DependencyTarget]:
        for one in changed:
            if one.order.tier is Tier.CODE:
                first, last = one.item.start_line, one.item.end_line
                for chunk in self.corpus.snapshot.chunks(one.item.path, first, last)[:1]:
                    name = dependency_target(chunk)
                    if name is not None and is_definition(chunk):
                        yield name

    def _gone_names(self) -> list[str]:
        """Return the names that no file defines any more after the change; those of tests come last."""
        names: dict[Section, dict[str, None]] = {Section.DEFINITIONS: {}, Section.TESTS: {}}
        for file in self.files:
            old = self._old_file(file)
            if isinstance(old, OldFile):
                section = section_of_file(old.source.language, old.source.tags)
                names.get(section, {}).update(dict.fromkeys(old.gone_names(file)))
        defined = self.corpus.symbols_named
        return [
            name
            for name in dict.fromkeys(name for own in names.values() for name in own)
            if not any(record.symbol.name == name for record in defined(name))
        ]

    def _notes(self, related: RelatedCode, capped: Sequence[ReviewPassage]) -> ReviewNotes:
        return ReviewNotes(
            files=self.files,
            outside=dict(self._outside()),
            no_files=self.changes.non_files,
            filtered=len(self.changes.files) - len(self.files),
            left_names=related.left_names,
            untested=related.untested,
            generated=list(dict.fromkeys(one.file for one in capped)),
            sweeping=len(self._sweeps),
        )

    def _outside(self) -> Iterator[tuple[str, str]]:
        """Yield the changed files that are not indexed, with the reason."""
        skipped = {record.skipped.path: record.skipped for record in self.corpus.snapshot.skipped()}
        for file in self.files:
            old = self._old_file(file) if file.status is Status.DELETED else None
            if isinstance(old, Skipped):
                yield file.path, old.reason.value
            elif file.status is not Status.DELETED and file.path not in self.corpus.position_of:
                yield file.path, skipped[file.path].reason.value if file.path in skipped else _IGNORED


def _group(file: ChangedFile, named: bool) -> int:
    """Return the group of a passage in its tier: 0 for named definitions, 1 for other lines, 2 for files that
    were rewritten or deleted or are not the product."""
    rewritten = file.status is not Status.ADDED and sum(map(_size, file.hunks)) > _REWRITTEN
    if rewritten or file.status is Status.DELETED or is_aside(file.path):
        return 2
    return 0 if named else 1


def _size(hunk: Hunk) -> int:
    return hunk.old_count + hunk.new_count
