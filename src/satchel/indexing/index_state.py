"""Compare an index with its tree: the state that every answer states, and whether a refresh is needed.

The check takes the cheapest proof that suffices: first the stamps of the last walk, then a look at the files
that have others, then a walk; and the content of a few files whose modification time proves nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Any, Protocol

import msgspec

from satchel.ids import hash_bytes
from satchel.indexing.plan import HISTORY_HEAD, Refresh, RefreshPlan, plan_all, plan_paths
from satchel.storage.protocol import Snapshot
from satchel.types import Skipped, Walk

_MOST_REREAD = 20  # files that are read again before an answer; more are left to a refresh


class StaleReason(StrEnum):
    """In what way an index differs from its tree."""

    INDEX_MISSING = "index_missing"
    INDEX_CORRUPT = "index_corrupt"
    WATERMARK_MISSING = "watermark_missing"
    GIT_HEAD_MISMATCH = "git_head_mismatch"
    GIT_DIRTY_MISMATCH = "git_dirty_mismatch"
    FILESYSTEM_CHANGED = "filesystem_changed"


class IndexState(msgspec.Struct, frozen=True):
    """How an index compares with its tree."""

    project_watermark: dict[str, Any]
    index_watermark: dict[str, Any] | None
    exists: bool
    generation: int
    stale_reasons: tuple[StaleReason, ...]
    version: str = ""  # the version of the snapshot that this state describes

    @classmethod
    def of(cls, project: dict[str, Any], snapshot: Snapshot) -> IndexState:
        """Return the state of a snapshot by comparing its watermark with that of the tree."""
        kept = decode_watermark(snapshot.meta().get("watermark"))
        return cls(project, kept, True, snapshot.generation, compare(project, kept), snapshot.version)

    @classmethod
    def missing(cls, project: dict[str, Any]) -> IndexState:
        """Return the state of a tree without an index."""
        return cls(project, None, False, 0, (StaleReason.INDEX_MISSING,))

    @classmethod
    def corrupt(cls, project: dict[str, Any]) -> IndexState:
        """Return the state of an index that cannot be read."""
        return cls(project, None, True, 0, (StaleReason.INDEX_CORRUPT,))

    @property
    def readable(self) -> bool:
        """Return whether there is an index to answer from."""
        return self.exists and StaleReason.INDEX_CORRUPT not in self.stale_reasons

    @property
    def stale(self) -> bool:
        """Return whether the index differs from the tree."""
        return bool(self.stale_reasons)


def encode_watermark(watermark: Any) -> str:
    """Return a watermark as an index stores it, without the time at which it was computed."""
    values = msgspec.structs.asdict(watermark)
    values.pop("computed_at_unix_ms", None)
    return msgspec.json.encode(dict(sorted(values.items()))).decode()


def decode_watermark(text: str | None) -> dict[str, Any] | None:
    """Return a stored watermark, None if there is none or it cannot be read."""
    try:
        values = msgspec.json.decode(text) if text else None
    except msgspec.DecodeError:
        return None
    return values if isinstance(values, dict) else None


def compare(project: dict[str, Any], index: dict[str, Any] | None) -> tuple[StaleReason, ...]:
    """Return why an index is stale; the tuple is empty if it is fresh."""
    if index is None:
        return (StaleReason.WATERMARK_MISSING,)
    if project == index:
        return ()
    if project.get("kind") != index.get("kind"):
        return (StaleReason.FILESYSTEM_CHANGED,)
    reasons = []
    if project.get("git_head") != index.get("git_head"):
        reasons.append(StaleReason.GIT_HEAD_MISMATCH)
    if project.get("git_dirty") != index.get("git_dirty"):
        reasons.append(StaleReason.GIT_DIRTY_MISMATCH)
    return tuple(reasons) or (StaleReason.FILESYSTEM_CHANGED,)


class ChangesSinceWalk(Protocol):
    """What changed in a tree since the last walk; `walking` makes it."""

    @property
    def paths(self) -> Sequence[str]: ...
    def look(self) -> tuple[Walk, Any] | None: ...
    @property
    def unchanged_watermark(self) -> dict[str, Any] | None: ...
    @property
    def watermark(self) -> dict[str, Any]: ...
    def save(self, file: Path, key: str, mark: dict[str, Any]) -> None: ...


class _Tree(Protocol):
    """The methods of a tree that are used here."""

    def entries(self) -> Walk: ...
    def read_many(self, paths: Iterable[str]) -> Iterator[tuple[str, bytes | Skipped]]: ...
    def changes_since(
        self, file: Path, key: str, only: Sequence[str] | None = None
    ) -> ChangesSinceWalk | None: ...
    def save_stat_cache(self, file: Path, key: str, walk: Walk) -> None: ...
    def head(self) -> str: ...


class FreshIndex(msgspec.Struct, frozen=True):
    """An index that needs no refresh: the notes of the walk that says so, and the watermark of its tree where
    it is known without looking once more."""

    notes: tuple[str, ...] = ()
    watermark: dict[str, Any] | None = None


class Look(msgspec.Struct, frozen=True):
    """The files of a tree: all of them, or those at the paths that may have changed."""

    walk: Walk
    meta: dict[str, str]  # what an index has to note of the moment before
    generation: int | None  # of the index before; None if there was no index
    changes: ChangesSinceWalk | None = None  # None: all files were looked at


def changes_since_walk(
    tree: _Tree,
    snapshot: Snapshot,
    signature: str,
    cache_file: Path | None,
    only: Sequence[str] | None = None,
) -> ChangesSinceWalk | None:
    """Return what changed since the last walk that found what the index holds; None if nothing is known of
    it. If nothing else can have changed, `only` some files are looked at."""
    if cache_file is None or snapshot.meta().get("signature") != signature:
        return None
    return tree.changes_since(cache_file, _key(snapshot, signature), only)


def remember_look(
    tree: _Tree, snapshot: Snapshot, signature: str, look: Look, cache_file: Path, mark: dict[str, Any] | None
) -> None:
    """Save the stamps of a look that found what the index holds. The `mark` is that of the tree; None if the
    look itself knows it."""
    # Notes are not saved, so a walk with notes is repeated and its notes are shown every time.
    if look.walk.notes or snapshot.meta().get("signature") != signature:
        return
    if look.changes is None:
        tree.save_stat_cache(cache_file, _key(snapshot, signature), look.walk)
    else:
        look.changes.save(cache_file, _key(snapshot, signature), mark or look.changes.watermark)


def _key(snapshot: Snapshot, signature: str) -> str:
    """Return what the stamps of a walk belong to."""
    return f"{snapshot.version}\n{signature}"


def find_fresh(
    tree: _Tree,
    snapshot: Snapshot,
    signature: str,
    cache_file: Path | None,
    look_at: Callable[[ChangesSinceWalk | None], Look],
) -> FreshIndex | None:
    """Return what is known of the tree if the index needs no refresh, otherwise None. `cache_file` keeps the
    stamps of the last walk; None if there is no folder for it. `look_at` is called if they do not suffice:
    with what changed since, if it is known."""
    if snapshot.meta().get("signature") != signature:
        return None
    changes = changes_since_walk(tree, snapshot, signature, cache_file)
    if changes is not None and changes.unchanged_watermark is not None:
        return FreshIndex(watermark=changes.unchanged_watermark)
    look = look_at(changes)
    if look.changes is None:
        plan = plan_all(snapshot, look.walk)
        if tree.head() != snapshot.meta().get(HISTORY_HEAD, ""):  # the same files with another history
            return None
    else:
        plan = plan_paths(snapshot, look.walk, look.changes.paths)
    if not plan.empty and not _only_unsettled(tree, snapshot, plan):
        return None
    if cache_file is not None:
        remember_look(tree, snapshot, signature, look, cache_file, None)
    return FreshIndex(look.walk.notes, look.changes.watermark if look.changes is not None else None)


def already_indexed(
    tree: _Tree, snapshot: Snapshot, walk: Walk, paths: Sequence[str], wanted: dict[str, str]
) -> Refresh | None:
    """Return the report of a refresh of some paths that has nothing to do, for example because another
    process was quicker; None if there is something to do. `wanted` are values that the index has to hold."""
    stored = snapshot.meta()
    if any(stored.get(key) != value for key, value in wanted.items()):
        return None
    plan = plan_paths(snapshot, walk, paths)
    if not plan.empty and not _only_unsettled(tree, snapshot, plan):
        return None
    return Refresh(snapshot.generation, kept=plan.kept + len(plan.changed), skipped=len(plan.skipped))


def _only_unsettled(tree: _Tree, snapshot: Snapshot, plan: RefreshPlan) -> bool:
    """Return whether the only changes are files that were written just before they were indexed and still
    have the same content. Their time proves nothing, so they are read again. If there are many, they are left
    to a refresh."""
    if plan.dropped or plan.skipped != plan.skipped_before or len(plan.changed) > _MOST_REREAD:
        return False
    hashes = {}
    for entry in plan.changed:
        record = snapshot.file(entry.path)
        if record is None or record.stamp != entry.stamp:
            return False
        hashes[entry.path] = record.file_hash
    return all(
        isinstance(data, bytes) and hash_bytes(data) == hashes[path] for path, data in tree.read_many(hashes)
    )
