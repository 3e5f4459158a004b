"""What a refresh has to do: the walk of now against the manifest of the last generation.

This is all that runs when nothing changed, so it loads nothing that only indexing needs.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from satchel import terms
from satchel.storage.protocol import Snapshot
from satchel.storage.records import FileRecord, SkippedRecord
from satchel.types import FileEntry, Skipped, Walk

INDEX_VERSION = 2  # counts up whenever the same files would give other rows


@dataclass(frozen=True, slots=True)
class Plan:
    """`changed` are new or possibly changed files, `kept` counts the unchanged ones,
    `dropped` are paths that are gone, `skipped` what is known to stay left out."""

    changed: tuple[FileEntry, ...]
    dropped: tuple[str, ...]
    skipped: tuple[SkippedRecord, ...]
    kept: int

    @property
    def empty(self) -> bool:
        return not self.changed and not self.dropped


def make_plan(
    entries: Sequence[FileEntry], files: Iterable[FileRecord], skipped: Iterable[SkippedRecord]
) -> Plan:
    """Compare by size and modification time; content decides later, for the changed ones."""
    known = {record.path: record for record in files}
    left_out = {item.skipped.path: item for item in skipped if item.size >= 0}
    changed, still_skipped = [], []
    kept = 0
    for entry in entries:
        stamp = (entry.size, entry.mtime_ns)
        record = known.pop(entry.path, None)
        item = left_out.get(entry.path)
        if record is not None and record.settled and (record.size, record.mtime_ns) == stamp:
            kept += 1
        elif record is None and item is not None and (item.size, item.mtime_ns) == stamp:
            still_skipped.append(item)
        else:
            changed.append(entry)
    return Plan(tuple(changed), tuple(sorted(known)), tuple(still_skipped), kept)


@dataclass(frozen=True, slots=True)
class Refresh:
    """What a refresh did, in numbers of files."""

    generation: int
    parsed: int = 0
    moved: int = 0
    touched: int = 0
    dropped: int = 0
    kept: int = 0
    skipped: int = 0
    rebuilt: bool = False

    @property
    def changed(self) -> bool:
        """Whether the index differs from the one before."""
        return bool(self.parsed or self.moved or self.dropped or self.rebuilt)


def signature(options: object) -> str:
    """What an index depends on beside the files; another signature means a new index."""
    return f"{INDEX_VERSION}.{terms.VERSION} {options}"


def unchanged(snapshot: Snapshot, walk: Walk, wanted: dict[str, str]) -> Refresh | None:
    """The report of a refresh that has nothing to do; None if there is something."""
    stored = snapshot.meta()
    if any(stored.get(key) != value for key, value in wanted.items()):
        return None
    records = snapshot.skipped()
    plan = make_plan(walk.files, snapshot.files(), records)
    if not plan.empty or all_skipped(plan, walk.skipped) != records:
        return None
    return Refresh(snapshot.generation, kept=plan.kept, skipped=len(records))


def all_skipped(plan: Plan, by_walk: Sequence[Skipped]) -> list[SkippedRecord]:
    """What stays left out: as known from before, and as the walk says, by path."""
    records = [*plan.skipped, *(SkippedRecord(item) for item in by_walk)]
    return sorted(records, key=lambda record: record.skipped.path)
