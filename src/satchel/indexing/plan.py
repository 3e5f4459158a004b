"""What a refresh has to do: the walk of now against the manifest of the last generation.

This is all that runs when nothing changed, so it loads nothing that only indexing needs.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from satchel import terms
from satchel.embedding import LEXICAL
from satchel.storage.protocol import Snapshot
from satchel.storage.records import FileRecord, SkippedRecord
from satchel.types import FileEntry, Walk

INDEX_VERSION = 10  # counts up whenever the same files would give other rows
HISTORY_HEAD = "history_head"  # the key under which an index keeps the commit that its history ends with
CONTENT = "content"  # of a tree that never changes: which one the index is true to
NOTES = "notes"  # and what the walk had to say


class RefreshPlan(Struct, frozen=True):
    """`changed` are new or possibly changed files, `dropped` are paths that are gone, `kept` counts the
    unchanged ones. `skipped` is what stays left out, `skipped_before` what was, both within the scope."""

    changed: tuple[FileEntry, ...]
    dropped: tuple[str, ...]
    kept: int
    skipped: tuple[SkippedRecord, ...]
    skipped_before: tuple[SkippedRecord, ...]

    @property
    def empty(self) -> bool:
        return not self.changed and not self.dropped and self.skipped == self.skipped_before


def plan_all(snapshot: Snapshot, walk: Walk) -> RefreshPlan:
    """Everything, against a walk over the whole tree."""
    return _compare(snapshot.files(), tuple(snapshot.skipped()), walk)


def plan_paths(snapshot: Snapshot, walk: Walk, paths: Iterable[str]) -> RefreshPlan:
    """Only these paths, against a look at each of them. Whoever names a path has heard that it changed, so an
    equal stamp proves nothing here."""
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
    """By size, times and file number; content decides later, for the changed ones."""
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

    @property
    def changed(self) -> bool:
        """Whether the index differs from the one before."""
        return bool(self.parsed or self.moved or self.dropped or self.rebuilt)


def signature(options: object, model_id: str = LEXICAL) -> str:
    """What an index depends on beside the files; another signature means a new index."""
    return f"{INDEX_VERSION}.{terms.VERSION} {model_id} {options}"


def notes_of_content(snapshot: Snapshot, wanted: dict[str, str]) -> tuple[str, ...] | None:
    """The notes of the walk if the index has these values, and so is true to a tree that never changes."""
    stored = snapshot.meta()
    if any(stored.get(key) != value for key, value in wanted.items()):
        return None
    return tuple(filter(None, stored.get(NOTES, "").split("\n")))


def unchanged(snapshot: Snapshot, plan: RefreshPlan, wanted: dict[str, str]) -> Refresh | None:
    """The report of a refresh that has nothing to do; None if there is something."""
    stored = snapshot.meta()
    if not plan.empty or any(stored.get(key) != value for key, value in wanted.items()):
        return None
    return Refresh(snapshot.generation, kept=plan.kept, skipped=len(plan.skipped))
