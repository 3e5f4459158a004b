"""Refresh an index: compute what is new, keep what is known, drop what is gone.

Content that is known already, under whatever path, is not parsed again. All changes become visible at once,
as the next generation.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from itertools import pairwise

from msgspec.structs import replace

from satchel import ids
from satchel.cancellation import CancelToken
from satchel.errors import IndexStale
from satchel.indexing.analysis import AnalysedFile, Stages, analyse_source, with_vectors
from satchel.indexing.plan import HISTORY_HEAD, Refresh, RefreshPlan, plan_all, plan_paths, unchanged
from satchel.indexing.posting_run_builder import PostingRunBuilder, TermBatch
from satchel.indexing.term_collector import TermCollector
from satchel.indexing.workers import Analyse, analyse_all
from satchel.parsed import Parsed
from satchel.storage import postings
from satchel.storage.protocol import Snapshot, Store, Writer
from satchel.storage.records import (
    ChunkRecord,
    FileRecord,
    PackedFile,
    RetiredChunk,
    SkippedRecord,
    by_lines,
    split_title,
)
from satchel.storage.ref_indexes import Sources
from satchel.types import FileEntry, Skipped, Source, Walk

_RUN_POSTINGS = 3_000_000  # postings held in memory before a run is written; about 90 MB
_MANY_RUNS = 10  # runs of one size class; more are merged
_RUN_SIZES = (128, 1_024, 8_192)  # units; merging larger ones would make one edit slow
_RACY_NS = 2_000_000_000  # a file written so shortly before it was read may change again without a new time
_FINE_RACY_NS = 40_000_000  # the same for a change time of a fine clock, whose ticks take 16 ms at most
_COARSE_NS = 10_000_000  # clocks of 10 ms, 1 s and 2 s give only multiples of this

Progress = Callable[[int, int], None]
FinalMeta = Callable[[Snapshot], dict[str, str]]
Hashes = Callable[[Sequence[FileEntry]], Iterable[tuple[FileEntry, str]]]
_TitledDigest = tuple[str, tuple[str, ...]]  # a digest and the title path of its chunk


class Overtaken(Exception):
    """Another process wrote a generation after the walk, so that generation may be newer than the walk."""


@dataclass(frozen=True, slots=True)
class RefreshRequest:
    """What a refresh needs to know of the tree and its neighbours."""

    walk: Walk  # of the whole tree, or of `paths` alone
    stages: Stages
    # Stored with the index. The value of "signature" is what the index depends on beside the files.
    meta: dict[str, str]
    paths: Sequence[str] | None = None
    workers: int = 1
    # Takes the place of the local pool of `workers`, if it is given.
    analyse: Analyse | None = None
    force: bool = False
    # Whether the graph stage has something to do even if no file changed.
    always: bool = False
    # Called with the number of files done and the number of files to do.
    progress: Progress = lambda done, total: None
    # Polled between two batches of files. Work that it ends leaves the index as it was.
    token: CancelToken = field(default_factory=CancelToken)
    # Returns the packed history of the commit in `meta`. Called only if the index has another history.
    history: Callable[[], bytes] | None = None
    # Returns the present hashes of files.
    hashes: Hashes | None = None
    # Indexes with the same signature whose content is reused.
    sources: Sources = field(default_factory=Sources)
    # The generation before the walk. If another one was written since, `Overtaken` is raised.
    base: int | None = None
    # Returns further values to store, computed from the new generation.
    final_meta: FinalMeta | None = None


def refresh(store: Store, request: RefreshRequest) -> Refresh:
    """Bring an index up to date and return what was done."""
    plans: dict[str, RefreshPlan] = {}  # by the version of the index that the plan starts from
    if request.paths is None and not request.force and not request.always and store.exists():
        nothing_to_do = None
        # An index with an older schema is migrated by its next writer.
        with suppress(IndexStale), closing(store.snapshot()) as snapshot:
            plan = plans[snapshot.version] = plan_all(snapshot, request.walk)
            nothing_to_do = unchanged(snapshot, plan, request.meta)
        if nothing_to_do is not None:
            return nothing_to_do
    base, seed = request.base, request.sources.seed
    if base is not None and seed is not None and not store.exists():
        base = seed.generation  # a copy has the generation of what it was copied from
    with store.write(seed) as writer:
        # A store that cannot copy the seed starts empty.
        if base is not None and writer.snapshot.generation not in (base, request.base):
            raise Overtaken
        known = writer.snapshot.meta().get(HISTORY_HEAD, "")
        report = _RefreshRun(writer, request, plans).run()
        if request.history is not None and (report.rebuilt or known != request.meta.get(HISTORY_HEAD, "")):
            writer.put_history(request.history())
        if request.final_meta is not None:
            writer.set_meta(request.final_meta(writer.snapshot))
        return report


class _RefreshRun:
    """One refresh inside one transaction. `plans` holds plans that were made already, by index version."""

    def __init__(self, writer: Writer, request: RefreshRequest, plans: Mapping[str, RefreshPlan]) -> None:
        self.writer = writer
        self.request = request
        self.plans = plans
        self.stages = request.stages
        self.others = request.sources.snapshots
        self.builder = PostingRunBuilder()
        self.graph = request.stages.graph() if request.stages.graph is not None else None
        self.first = False  # nothing is indexed yet, so there is nothing to keep or to retire
        self.skipped: list[SkippedRecord] = []
        self.parsed = self.known = self.moved = self.touched = 0
        self.now_ns = time.time_ns()

    def run(self) -> Refresh:
        """Apply the plan and return what was done."""
        walk, meta, paths = self.request.walk, self.request.meta, self.request.paths
        stored = self.writer.snapshot.meta()
        rebuilt = bool(stored) and (self.request.force or stored.get("signature") != meta["signature"])
        if rebuilt:
            self.writer.clear()
        snapshot = self.writer.snapshot
        plan = None if rebuilt else self.plans.get(snapshot.version)
        if plan is None:
            plan = plan_all(snapshot, walk) if paths is None else plan_paths(snapshot, walk, paths)
        self.skipped = list(plan.skipped)
        self.first = not snapshot.run_sizes()
        changed = plan.changed if self.first else self.touch(plan.changed)
        to_parse = list(changed) if self.first and not self.others else self.reuse(changed)
        self.parse(to_parse)
        self.flush()
        dropped = [*plan.dropped, *self.now_skipped(plan)]
        self.drop(dropped)
        self.resolve()
        self.merge_runs()
        self.keep_skipped(plan)
        self.writer.set_meta(meta)
        return Refresh(
            generation=snapshot.generation + 1,
            parsed=self.parsed,
            moved=self.moved,
            touched=self.touched,
            dropped=len(dropped),
            kept=plan.kept,
            skipped=len(self.skipped),
            rebuilt=rebuilt,
            known=self.known,
        )

    def touch(self, changed: Sequence[FileEntry]) -> Sequence[FileEntry]:
        """Settle the changed files that have another time and the same bytes; return the rest."""
        if self.request.hashes is None:
            return changed
        snapshot = self.writer.snapshot
        records = {entry.path: snapshot.file(entry.path) for entry in changed}
        alike = {
            entry: record.file_hash
            for entry in changed
            if (record := records[entry.path]) is not None and record.size == entry.size
        }
        equal = {entry for entry, found in self.request.hashes(list(alike)) if found == alike[entry]}
        for entry in changed:
            if entry in equal:
                self.writer.touch_file(entry, self.settled(entry))
        self.touched += len(equal)
        return [entry for entry in changed if entry not in equal]

    def reuse(self, changed: Sequence[FileEntry]) -> list[FileEntry]:
        """Settle the changed files whose content is known already; return the files that have to be
        parsed."""
        rest = []
        collector = TermCollector()
        moved: list[AnalysedFile] = []
        snapshot = self.writer.snapshot
        for entry, source in self.stages.read(changed):
            if isinstance(source, Skipped):
                self.skip(entry, source)
                continue
            known = snapshot.file(entry.path)
            if known is not None and known.file_hash == source.file_hash:
                self.writer.touch_file(entry, self.settled(entry))
                self.touched += 1
            elif (parsed := self.parsed_before(source)) is not None:
                moved.append(analyse_source(source, entry, parsed, collector))
            else:
                rest.append(entry)
        self.moved += len(moved)
        batch = collector.batch()
        self.put(with_vectors(moved, batch, self.stages.words()), batch)
        return rest

    def parsed_before(self, source: Source) -> Parsed | None:
        """Return what parsing returned for the same content, under any path and in any index; None if it is
        new."""
        for snapshot in (self.writer.snapshot, *self.others):
            twin = snapshot.file_with_content(source.file_hash, source.language)
            if twin is not None:
                return replace(snapshot.parsed(twin.path), by_lines=by_lines(twin.tags))
        return None

    def parse(self, entries: Sequence[FileEntry]) -> None:
        """Parse files and store them."""
        done = 0

        def report() -> None:
            # When all files are done, ending would only throw the work away.
            if done < len(entries):
                self.request.token.check()
            self.request.progress(done, len(entries))

        report()
        workers = self.request.workers
        analyse = self.request.analyse or (lambda *work: analyse_all(*work, workers=workers))
        for batch in analyse(self.stages, entries, report):
            assert batch.terms is not None
            self.put(batch.files, batch.terms)
            for entry, reason in batch.skipped:
                self.skip(entry, reason)
            self.parsed += len(batch.files)
            self.known += batch.known
            done += len(batch.files) + len(batch.skipped)
            report()

    def put(self, files: Sequence[AnalysedFile], batch: TermBatch) -> None:
        """Store files and collect their postings."""
        covered: list[tuple[int, int]] = []
        vectors: list[bytes] = []
        for file in files:
            record = replace(file.record, settled=self.settled(file.record))
            self.retire(record.path, file.packed)
            self.note(record.path)
            first_unit = self.writer.put_file(record, file.packed)
            if self.graph is not None and self.first:
                self.graph.keep(record, file.packed)
            if file.packed.unit_count:
                covered.append((first_unit, file.packed.unit_count))
                vectors.append(file.vector)
        self.builder.add(batch, covered, vectors)
        if self.builder.posting_count >= _RUN_POSTINGS:
            self.flush()

    def resolve(self) -> None:
        """Put the edges that the changes touch."""
        if self.graph is not None:
            self.graph.resolve(self.writer, everything=self.first, check=self.request.token.check)

    def note(self, path: str) -> None:
        """Let the graph remember what a file shows before it changes."""
        if self.graph is not None and not self.first:
            self.graph.note(self.writer.snapshot, path)

    def flush(self) -> None:
        """Write the collected postings as one run."""
        run = self.builder.build(self.writer.next_run())
        if run.files:
            self.writer.put_run(run, self.builder.rows())
        self.builder = PostingRunBuilder()

    def now_skipped(self, plan: RefreshPlan) -> list[str]:
        """Return the paths of files that were indexed and are now left out: they must be dropped from the
        index."""
        left_out = {record.skipped.path for record in self.skipped}
        changed = [entry.path for entry in plan.changed if entry.path in left_out]
        return [path for path in changed if self.writer.snapshot.file(path) is not None]

    def keep_skipped(self, plan: RefreshPlan) -> None:
        """Store which files are left out."""
        now = {record.skipped.path for record in self.skipped}
        before = set(plan.skipped_before)
        self.writer.drop_skipped([path for path in (item.skipped.path for item in before) if path not in now])
        self.writer.put_skipped([record for record in self.skipped if record not in before])

    def drop(self, paths: Sequence[str]) -> None:
        """Drop files and retire their ids."""
        for path in paths:
            self.retire(path)
            self.note(path)
            self.writer.drop_file(path)

    def retire(self, path: str, packed: PackedFile | None = None) -> None:
        """Store the ids that end with the old version of a file, so that a stale id can be answered."""
        if self.first:
            return
        snapshot = self.writer.snapshot
        record = snapshot.file(path)
        if record is None:
            return
        after = [(row[-1], split_title(row[1])) for row in packed.chunks] if packed is not None else []
        self.writer.retire(retired_chunks(snapshot.chunks(path), record.file_hash, after))

    def settled(self, file: FileEntry | FileRecord) -> bool:
        """Return whether an equal stamp will prove an equal file next time. The change time is set by the
        system; if it shows a fine clock, a later change soon has another one."""
        fine = file.ctime_ns % _COARSE_NS
        changed_before = self.now_ns - (_FINE_RACY_NS if fine else _RACY_NS)
        return file.mtime_ns < self.now_ns - _RACY_NS and file.ctime_ns < changed_before

    def skip(self, entry: FileEntry, skipped: Skipped) -> None:
        """Note that a file is left out."""
        mtime_ns = entry.mtime_ns if self.settled(entry) else -1
        self.skipped.append(SkippedRecord(skipped, entry.size, mtime_ns, entry.ctime_ns, entry.inode))

    def merge_runs(self) -> None:
        """Merge posting runs of a size when there are many: each edit adds one, each search reads them all.
        Sizes are kept apart, so that an edit never pays for moving what was merged before."""
        sizes = self.writer.snapshot.run_sizes()
        for least, most in pairwise((0, *_RUN_SIZES)):
            alike = [number for number, size in sizes.items() if least < size <= most]
            if len(alike) > _MANY_RUNS:
                self.merge(alike)

    def merge(self, numbers: Sequence[int]) -> None:
        """Replace some posting runs by one."""
        snapshot = self.writer.snapshot
        merged = postings.merge(
            self.writer.next_run(),
            [(snapshot.posting_run(number), list(snapshot.run_terms(number))) for number in numbers],
            snapshot.living,
        )
        for number in numbers:
            self.writer.drop_run(number)
        if merged.run.files:
            self.writer.put_run(merged.run, merged.rows)


def retired_chunks(
    before: Sequence[ChunkRecord], file_hash: str, after: Sequence[_TitledDigest]
) -> list[RetiredChunk]:
    """Return the chunks of a file whose ids end when the file has the chunks `after`, in their order.

    Chunks may share a title: sections of the same name, the parts of a long one, code between definitions.
    What stayed is told from what changed here, where both versions of the file are known.
    """
    digests_after = _digests_by_title(after)
    places: dict[str, int] = {}
    successors: dict[str, str] = {}
    for title, digests in _digests_by_title((chunk.digest, chunk.title_path) for chunk in before).items():
        successors.update(_pair_successors(digests, digests_after.get(title, [])))
        if len(digests) > 1:
            places.update((digest, place) for place, digest in enumerate(digests, 1))
    still_there = {digest for digest, _ in after}
    return [
        RetiredChunk(
            chunk.digest,
            chunk.path,
            chunk.title_path,
            file_hash,
            places.get(chunk.digest, 0),
            successors.get(chunk.digest, ""),
        )
        for chunk in before
        if chunk.digest not in still_there
    ]


def _digests_by_title(chunks: Iterable[_TitledDigest]) -> dict[str, list[str]]:
    """Return the digests of chunks in order, by their normalised title path."""
    found: dict[str, list[str]] = {}
    for digest, title_path in chunks:
        found.setdefault(ids.normalize_title_path(title_path), []).append(digest)
    return found


def _pair_successors(before: list[str], after: list[str]) -> Iterator[tuple[str, str]]:
    """Yield (ended id, its successor). A run of ended ids is paired one by one with the new ids between the
    same neighbours. If their numbers differ, it cannot be told which is which, and none is paired."""
    matcher = SequenceMatcher(None, before, after, autojunk=False)
    for change, first, last, new_first, new_last in matcher.get_opcodes():
        if change == "replace" and last - first == new_last - new_first:
            yield from zip(before[first:last], after[new_first:new_last], strict=True)
