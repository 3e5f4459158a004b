"""Bring an index up to date with a tree: compute what is new, keep what is known, drop what is gone.

Content that was seen before, under whatever path, is never parsed again. Everything becomes
visible at once, as the next generation.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import closing

import numpy as np
from msgspec.structs import replace

from satchel.indexing.analyse import AnalysedFile, Stages, TermCollector, analyse_source
from satchel.indexing.plan import Plan, Refresh, all_skipped, make_plan, unchanged
from satchel.indexing.segment_builder import SegmentBuilder, TermBatch
from satchel.indexing.workers import analyse_all
from satchel.storage import postings
from satchel.storage.protocol import Store, Writer
from satchel.storage.records import FileRecord, RetiredChunk, SkippedRecord
from satchel.types import FileEntry, Skipped, Walk

_SEGMENT_POSTINGS = 3_000_000  # postings held in memory before a segment is written; about 90 MB
_MANY_SEGMENTS = 10  # above this the small ones are merged
_SMALL_SEGMENT = 4_096  # chunks; merging larger ones would make one edit slow
_RACY_NS = 2_000_000_000  # a file written this close to its reading may change again unseen: look twice

Progress = Callable[[int, int], None]


def refresh(
    store: Store,
    walk: Walk,
    stages: Stages,
    meta: dict[str, str],
    *,
    workers: int = 1,
    force: bool = False,
    progress: Progress | None = None,
) -> Refresh:
    """Refresh an index. `meta` is kept with it and holds its signature; `progress` hears
    (files done, files to do)."""
    if store.exists() and not force:
        with closing(store.snapshot()) as snapshot:
            nothing_to_do = unchanged(snapshot, walk, meta)
        if nothing_to_do is not None:
            return nothing_to_do
    with store.write() as writer:
        return _Run(writer, walk, stages, meta, workers, progress).run(force)


class _Run:
    """One refresh inside one transaction."""

    def __init__(
        self,
        writer: Writer,
        walk: Walk,
        stages: Stages,
        meta: dict[str, str],
        workers: int,
        progress: Progress | None,
    ) -> None:
        self.writer = writer
        self.walk = walk
        self.stages = stages
        self.meta = meta
        self.workers = workers
        self.progress = progress or (lambda done, total: None)
        self.known: dict[str, FileRecord] = {}
        self.builder = SegmentBuilder()
        self.parsed = self.moved = self.touched = 0
        self.now_ns = time.time_ns()

    def run(self, force: bool) -> Refresh:
        stored = self.writer.snapshot.meta()
        rebuilt = bool(stored) and (force or stored.get("signature") != self.meta["signature"])
        if rebuilt:
            self.writer.clear()
        snapshot = self.writer.snapshot
        files = snapshot.files()
        self.known = {record.path: record for record in files}
        plan = make_plan(self.walk.files, files, snapshot.skipped())
        skipped = all_skipped(plan, self.walk.skipped)
        to_parse = self.reuse(plan.changed, files, skipped)
        self.parse(to_parse, skipped)
        self.flush()
        self.drop([*plan.dropped, *self.now_skipped(plan, skipped)])
        self.merge_segments()
        self.writer.set_skipped(skipped)
        self.writer.set_meta(self.meta)
        return Refresh(
            generation=snapshot.generation + 1,
            parsed=self.parsed,
            moved=self.moved,
            touched=self.touched,
            dropped=len(plan.dropped),
            kept=plan.kept,
            skipped=len(skipped),
            rebuilt=rebuilt,
        )

    def reuse(
        self, changed: Sequence[FileEntry], files: Sequence[FileRecord], skipped: list[SkippedRecord]
    ) -> list[FileEntry]:
        """Settle the changed files whose content is already known; the rest is to be parsed."""
        if not files:
            return list(changed)
        by_content = {(record.file_hash, record.language): record for record in reversed(files)}
        rest = []
        collector = TermCollector()
        moved: list[AnalysedFile] = []
        for entry, source in self.stages.read(changed):
            if isinstance(source, Skipped):
                skipped.append(self.skip(entry, source))
                continue
            known = self.known.get(entry.path)
            if known is not None and known.file_hash == source.file_hash:
                self.writer.touch_file(entry.path, entry.mtime_ns, self.settled(entry.mtime_ns))
                self.touched += 1
            elif (twin := by_content.get((source.file_hash, source.language))) is not None:
                parsed = self.writer.snapshot.parsed(twin.path)
                moved.append(analyse_source(source, entry.mtime_ns, parsed, collector))
            else:
                rest.append(entry)
        self.moved += len(moved)
        self.put(moved, collector.batch())
        return rest

    def parse(self, entries: Sequence[FileEntry], skipped: list[SkippedRecord]) -> None:
        done = 0
        self.progress(done, len(entries))
        for batch in analyse_all(self.stages, entries, self.workers):
            assert batch.terms is not None
            self.put(batch.files, batch.terms)
            for entry, reason in batch.skipped:
                skipped.append(self.skip(entry, reason))
            self.parsed += len(batch.files)
            done += len(batch.files) + len(batch.skipped)
            self.progress(done, len(entries))

    def put(self, files: Sequence[AnalysedFile], batch: TermBatch) -> None:
        numbers: list[int] = []
        for file in files:
            record = replace(file.record, settled=self.settled(file.record.mtime_ns))
            self.retire(record.path, {row[-1] for row in file.packed.chunks})
            first = self.writer.put_file(record, file.packed)
            numbers.extend(range(first, first + len(file.packed.chunks)))
        self.builder.add(batch, numbers)
        if self.builder.posting_count >= _SEGMENT_POSTINGS:
            self.flush()

    def flush(self) -> None:
        segment = self.builder.segment(self.writer.next_segment())
        if segment.chunk_numbers:
            self.writer.put_segment(segment, self.builder.rows())
        self.builder = SegmentBuilder()

    def now_skipped(self, plan: Plan, skipped: list[SkippedRecord]) -> list[str]:
        """Files that were indexed and are now left out: they must not stay in the index."""
        skipped.sort(key=lambda record: record.skipped.path)
        left_out = {record.skipped.path for record in skipped}
        return [entry.path for entry in plan.changed if entry.path in left_out]

    def drop(self, paths: Sequence[str]) -> None:
        for path in paths:
            self.retire(path, set())
            self.writer.drop_file(path)

    def retire(self, path: str, still_there: set[str]) -> None:
        """Remember the ids that end here, so that a stale one can be answered."""
        record = self.known.get(path)
        if record is None:
            return
        ended = [chunk for chunk in self.writer.snapshot.chunks(path) if chunk.digest not in still_there]
        self.writer.retire(
            [RetiredChunk(item.digest, path, item.title_path, record.file_hash) for item in ended]
        )

    def settled(self, mtime_ns: int) -> bool:
        """Whether an equal size and time will mean an equal file next time."""
        return mtime_ns < self.now_ns - _RACY_NS

    def skip(self, entry: FileEntry, skipped: Skipped) -> SkippedRecord:
        return SkippedRecord(skipped, entry.size, entry.mtime_ns if self.settled(entry.mtime_ns) else -1)

    def merge_segments(self) -> None:
        """Drop empty segments; merge small ones when there are many."""
        snapshot = self.writer.snapshot
        segments = snapshot.segments()
        if len(segments) <= 1 and not self.touched:
            return
        small = [item for item in segments if len(item.chunk_numbers) // 4 <= _SMALL_SEGMENT]
        if len(segments) <= _MANY_SEGMENTS or len(small) < 2:
            return
        highest = max(int(np.frombuffer(item.chunk_numbers, "<u4").max()) for item in segments)
        alive = np.zeros(highest + 1, bool)
        for record in snapshot.files():
            alive[record.first_chunk : record.first_chunk + record.chunk_count] = True
        merged = postings.merge(
            self.writer.next_segment(),
            [(item, list(snapshot.segment_terms(item.number))) for item in small],
            alive,
        )
        for item in small:
            self.writer.drop_segment(item.number)
        if merged.segment.chunk_numbers:
            self.writer.put_segment(merged.segment, merged.rows)
