"""Plan a refresh: compare the files of a walk with the files of the last generation.

Only this module runs if nothing changed, so it imports nothing that only indexing needs.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from satchel import terms
from satchel.embedding import LEXICAL
from satchel.storage.protocol import Snapshot
from satchel.storage.records import FileRecord, SkippedRecord
from satchel.types import FileEntry, Walk

INDEX_VERSION = 17  # counts up whenever the same files would yield other rows
HISTORY_HEAD = "history_head"  # the key of the commit at which the stored history ends
CONTENT = "content"  # the key of the content id of a tree that never changes
NOTES = "notes"  # the key of the notes of its walk


class RefreshPlan(Struct, frozen=True):
    """What a refresh has to do. `changed` are new or possibly changed files, `dropped` are paths that are
    gone, and `kept` counts unchanged files. `skipped` are the files left out now, `skipped_before` those left
    out in the last generation, both within the paths that are compared."""

    changed: tuple[FileEntry, ...]
    dropped: tuple[str, ...]
    kept: int
    skipped: tuple[SkippedRecord, ...]
    skipped_before: tuple[SkippedRecord, ...]

    @property
    def empty(self) -> bool:
        """Return whether there is nothing to do."""
        return not self.changed and not self.dropped and self.skipped == self.skipped_before


def plan_all(snapshot: Snapshot, walk: Walk) -> RefreshPlan:
    """Return the plan for a walk over the whole tree."""
    return _compare(snapshot.files(), tuple(snapshot.skipped()), walk)


def plan_paths(snapshot: Snapshot, walk: Walk, paths: Iterable[str]) -> RefreshPlan:
    """Return the plan for some paths. They are reported as changed, so an equal stamp proves nothing here."""
    scope = set(paths)
    records = [record for path in sorted(scope) if (record := snapshot.file(path)) is not None]
    skipped = tuple(snapshot.skipped(sorted(scope)))
    return _compare(records, skipped, walk, by_stamp=False)


def _compare(
    files: Iterable[FileRecord],
    skipped_before: tuple[SkippedRecord, ...],
    walk: Walk,
    *,
    by_stamp: bool = True,
) -> RefreshPlan:
    """Return the plan by comparing size, times and file number. The content of changed files is compared
    later."""
    known = {record.path: record for record in files}
    left_out = {item.skipped.path: item for item in skipped_before if item.size >= 0}
    changed = []
    skipped = [SkippedRecord(item) for item in walk.skipped]
    kept = 0
    for entry in walk.files:
        record = known.pop(entry.path, None)
        if by_stamp and record is not None and record.settled and record.stamp == entry.stamp:
            kept += 1
        elif record is None and (item := left_out.get(entry.path)) is not None and item.stamp == entry.stamp:
            skipped.append(item)
        else:
            changed.append(entry)
    skipped.sort(key=lambda item: item.skipped.path)
    return RefreshPlan(tuple(changed), tuple(sorted(known)), kept, tuple(skipped), skipped_before)


class Refresh(Struct, frozen=True):
    """What a refresh did, in numbers of files."""

    generation: int
    parsed: int = 0
    moved: int = 0
    touched: int = 0
    dropped: int = 0
    kept: int = 0
    skipped: int = 0
    rebuilt: bool = False
    known: int = 0  # of those in `parsed`: their content was known to another index, which was asked instead

    @property
    def changed(self) -> bool:
        """Return whether the index differs from the one before."""
        return bool(self.parsed or self.moved or self.dropped or self.rebuilt)


def signature(options: object, model_id: str = LEXICAL) -> str:
    """Return everything that an index depends on beside its files. An index with another signature is built
    anew."""
    return f"{INDEX_VERSION}.{terms.VERSION} {model_id} {options}"


def notes_of_content(snapshot: Snapshot, wanted: dict[str, str]) -> tuple[str, ...] | None:
    """Return the notes of the walk if the index holds these values, which means that it matches a tree that
    never changes; otherwise None."""
    stored = snapshot.meta()
    if any(stored.get(key) != value for key, value in wanted.items()):
        return None
    return tuple(filter(None, stored.get(NOTES, "").split("\n")))


def unchanged(snapshot: Snapshot, plan: RefreshPlan, wanted: dict[str, str]) -> Refresh | None:
    """Return the report of a refresh that has nothing to do, None if there is something to do."""
    stored = snapshot.meta()
    if not plan.empty or any(stored.get(key) != value for key, value in wanted.items()):
        return None
    return Refresh(snapshot.generation, kept=plan.kept, skipped=len(plan.skipped))
