"""What a refresh has to do: the walk of now against the manifest of the last generation."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from satchel.storage.records import FileRecord, SkippedRecord
from satchel.types import FileEntry


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
