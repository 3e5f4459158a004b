"""One change → what its review needs: the changed lines, what they replaced, who depends on them, the tests.

Changed definitions come first, whole where they are short enough; beside each what it lost, cited at the
commit that still has it; then who calls, uses or tests what was touched. What is not shown is said.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property

from satchel.chunking import parse_source
from satchel.packing.budget import Gauge, make_within
from satchel.packing.pack import Counts, Pack, Section
from satchel.packing.sections import section_of_file
from satchel.retrieval.corpus import Corpus
from satchel.retrieval.dependants import Definition, definition_of
from satchel.retrieval.filters import Filters
from satchel.reviewing.changed_lines import ChunkChanges, OldFile, changed_chunks, is_definition, pieces
from satchel.reviewing.filling import Filling, ReviewNotes
from satchel.reviewing.passages import (
    ChangeItemBuilder,
    ReviewOrder,
    ReviewPassage,
    ReviewQuery,
    Tier,
    WordEdit,
    arrange,
    edit_of,
    in_turns,
    is_aside,
    sweeps,
    tier_of,
)
from satchel.reviewing.related_code import RelatedCode, RelatedCodeFinder
from satchel.storage.records import ChunkRecord, FileRecord
from satchel.types import LineRange, Skipped, Source
from satchel.walking.change_set import ChangedFile, ChangeSet, Status
from satchel.walking.git_diff import Hunk

MODE = "review"
_CHARS_PER_TOKEN = 3.3  # of code with its citations, about
_FEW = 10  # changed definitions
_WHOLE_OF_FEW, _WHOLE_OF_MANY, _MOST_WHOLE = 3_200, 1_600, 12_000  # characters of one that is shown whole
_WHOLE_SHARE = 0.6  # of the room that all changed definitions together may take
_REWRITTEN = 300  # changed lines of a file that comes after those with smaller changes
_KEPT_PIECES = 3  # of a file that a program keeps
_IGNORED = "ignored"  # why a file is not indexed that the walk did not even meet

ReadOld = Callable[[str], Source | Skipped]


class Review:
    """A change, seen from the tree that it leads to; `asked` is what the reviewer wants to know."""

    def __init__(
        self, changes: ChangeSet, corpus: Corpus, read_old: ReadOld, filters: Filters, asked: str = ""
    ) -> None:
        self.changes = changes
        self.corpus = corpus
        self.read_old = read_old
        self.filters = filters
        self.asked = asked
        self.maker = ChangeItemBuilder(corpus, changes.old, changes.new)
        self._old: dict[str, OldFile | Skipped] = {}

    def pack(self, gauge: Gauge, title: str, model_id: str, profile: str) -> Pack:
        """As much of it as fits."""
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
        chars = min(filter(None, (int(room.tokens * _CHARS_PER_TOKEN), room.chars)), default=0)
        changed, capped = self._changed(chars)
        around = self._around(changed)
        ordered = [*arrange(changed, around.dependants, chars), *around.used]
        if self.asked:
            ordered = ReviewQuery(self.corpus, self.asked).first(ordered)
        return Filling(frame, gauge, self.corpus, ordered, capped, self._notes(around, capped)).pack()

    @cached_property
    def files(self) -> list[ChangedFile]:
        """The changed files that the filters let through."""
        return [file for file in self.changes.files if self._accepts(file)]

    def _accepts(self, file: ChangedFile) -> bool:
        return self.filters.accepts_file(self._record(file))

    def _record(self, file: ChangedFile) -> FileRecord:
        """A changed file as filters know it: as it is indexed, or as it was if it is gone."""
        at = self.corpus.position_of.get(file.path)
        if at is not None:
            return self.corpus.files[at]
        old = self._old_file(file)
        language, tags = (old.source.language, old.source.tags) if isinstance(old, OldFile) else ("", ())
        return FileRecord(file.path, 0, 0, "", language, "", 0, tags=tags)

    def _old_file(self, file: ChangedFile) -> OldFile | Skipped | None:
        """A file as it was, read and parsed once; None if there was none or nothing was taken out."""
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
        return self._is_there(file) and "test" in self.maker.record(file.path).tags

    def _new_lines(self, file: ChangedFile) -> Sequence[str]:
        return self.corpus.lines(file.path) if self._is_there(file) else ()

    def _changed(self, room_chars: int) -> tuple[list[ReviewPassage], list[ReviewPassage]]:
        """The changed and the removed lines of all files, and those that are too many of one file."""
        found = [(file, self._touched(file)) for file in self.files]
        count = sum(is_definition(one.chunk) for file, own in found for one in own if not self._is_test(file))
        least = _WHOLE_OF_FEW if count <= _FEW else _WHOLE_OF_MANY
        most = min(_MOST_WHOLE, max(least, int(_WHOLE_SHARE * room_chars / max(1, count))))
        changed: list[ReviewPassage] = []
        capped: list[ReviewPassage] = []
        for file, own in found:
            candidates = in_turns([*self._new_pieces(file, own, most), *self._removed(file)])
            kept = bool(candidates) and candidates[0].place.tier is Tier.KEPT
            changed += candidates[:_KEPT_PIECES] if kept else candidates
            capped += candidates[_KEPT_PIECES:] if kept else []
        return changed, capped

    def _touched(self, file: ChangedFile) -> list[ChunkChanges]:
        if not self._is_there(file):
            return []
        old = self._old_file(file)

        def remains(hunk: Hunk, chunk: ChunkRecord) -> bool:
            return not isinstance(old, OldFile) or old.took_from(hunk, chunk.title_path)

        found = changed_chunks(self.corpus, file, remains)
        if not self.filters.by_kind:
            return found
        record = self._record(file)
        return [one for one in found if self.filters.accepts_chunk(record, one.chunk.kind)]

    def _new_pieces(
        self, file: ChangedFile, own: Sequence[ChunkChanges], most: int
    ) -> Iterator[ReviewPassage]:
        for piece in pieces(own, self._new_lines(file), most):
            item = self.maker.of_new(piece.start, piece.end, piece.chunk, ("changed", file.status.value))
            group = _group(file, is_definition(piece.chunk))
            tier = tier_of(file.path, item.section)
            place = ReviewOrder(tier, file.path in self._sweeps, group, 0, file.path, piece.start, False)
            yield ReviewPassage(item, place, file.path, piece.changed)

    def _removed(self, file: ChangedFile) -> Iterator[ReviewPassage]:
        """The lines that the change took out or replaced, at the commit that has them."""
        old = self._old_file(file)
        if not isinstance(old, OldFile):
            return
        record = self._record(file)
        for one in old.removed(file, self._new_lines(file)):
            kind = "" if one.chunk is None else one.chunk.kind
            if self.filters.by_kind and not self.filters.accepts_chunk(record, kind):
                continue
            item = self.maker.of_old(old, one)
            named = bool(item.symbol) and item.section is Section.DEFINITIONS
            group = _group(file, named)
            tier = tier_of(file.path, item.section)
            place = ReviewOrder(tier, file.path in self._sweeps, group, 0, file.path, one.at, True)
            yield ReviewPassage(item, place, file.path)

    @cached_property
    def _sweeps(self) -> set[str]:
        return sweeps({file.path: list(self._edits(file)) for file in self.files})

    def _edits(self, file: ChangedFile) -> Iterator[WordEdit]:
        old = self._old_file(file)
        before = old.lines if isinstance(old, OldFile) else ()
        after = self._new_lines(file)
        for hunk in file.hunks if file.old_path and after else ():
            yield edit_of(
                before[hunk.old_line - 1 : hunk.old_line - 1 + hunk.old_count] if hunk.old_count else (),
                after[hunk.new_line - 1 : hunk.new_line - 1 + hunk.new_count] if hunk.new_count else (),
            )

    def _around(self, changed: Sequence[ReviewPassage]) -> RelatedCode:
        """Who calls, uses, extends or tests what was changed, and what the changed lines use."""
        now = [one for one in sorted(changed, key=lambda candidate: candidate.place) if not one.place.old]
        shown: dict[str, list[LineRange]] = defaultdict(list)
        edited: dict[str, list[LineRange]] = defaultdict(list)
        for one in now:
            shown[one.item.path].append((one.item.start_line, one.item.end_line))
            edited[one.item.path] += one.changed
        return RelatedCodeFinder(self.corpus, self.filters, self.maker, shown).look(
            list(dict.fromkeys(self._names(now))),
            self._gone_names(),
            edited,
            {one.item.path: one.place.tier for one in now},
        )

    def _names(self, changed: Sequence[ReviewPassage]) -> Iterator[Definition]:
        for one in changed:
            if one.place.tier is Tier.CODE:
                first, last = one.item.start_line, one.item.end_line
                for chunk in self.corpus.snapshot.chunks(one.item.path, first, last)[:1]:
                    name = definition_of(chunk)
                    if name is not None and is_definition(chunk):
                        yield name

    def _gone_names(self) -> list[str]:
        """The names that the change took out of the whole tree; those of tests come last."""
        names: dict[Section, dict[str, None]] = {Section.DEFINITIONS: {}, Section.TESTS: {}}
        for file in self.files:
            old = self._old_file(file)
            if isinstance(old, OldFile):
                section = section_of_file(old.source.language, old.source.tags)
                names.get(section, {}).update(dict.fromkeys(old.gone_names(file)))
        defined = self.corpus.snapshot.symbols_named
        return [
            name
            for name in dict.fromkeys(name for own in names.values() for name in own)
            if not any(record.symbol.name == name for record in defined(name))
        ]

    def _notes(self, around: RelatedCode, capped: Sequence[ReviewPassage]) -> ReviewNotes:
        return ReviewNotes(
            files=self.files,
            outside=dict(self._outside()),
            no_files=self.changes.non_files,
            filtered=len(self.changes.files) - len(self.files),
            left_names=around.left_names,
            untested=around.untested,
            kept=list(dict.fromkeys(one.file for one in capped)),
            sweeping=len(self._sweeps),
        )

    def _outside(self) -> Iterator[tuple[str, str]]:
        """The changed files that are not indexed, with the reason."""
        skipped = {record.skipped.path: record.skipped for record in self.corpus.snapshot.skipped()}
        for file in self.files:
            old = self._old_file(file) if file.status is Status.DELETED else None
            if isinstance(old, Skipped):
                yield file.path, old.reason.value
            elif file.status is not Status.DELETED and file.path not in self.corpus.position_of:
                yield file.path, skipped[file.path].reason.value if file.path in skipped else _IGNORED


def _group(file: ChangedFile, named: bool) -> int:
    """What comes first of a tier: named things, then other lines, then what was rewritten or deleted."""
    rewritten = file.status is not Status.ADDED and sum(map(_size, file.hunks)) > _REWRITTEN
    if rewritten or file.status is Status.DELETED or is_aside(file.path):
        return 2
    return 0 if named else 1


def _size(hunk: Hunk) -> int:
    return hunk.old_count + hunk.new_count
