"""Is the index true to its tree, found out at the least cost?

First a look at what the last walk rested on; then a walk; then, for a few files whose time proves
nothing, their content.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Protocol

from satchel.ids import hash_bytes
from satchel.indexing.plan import HISTORY_HEAD, Plan, Refresh, plan_all, plan_paths
from satchel.storage.protocol import Snapshot
from satchel.types import Skipped, Walk

_FEW = 20  # files that a question may read again before it is answered


class Tree(Protocol):
    """What is asked of the tree here."""

    def entries(self) -> Walk: ...
    def read_many(self, paths: Iterable[str]) -> Iterator[tuple[str, bytes | Skipped]]: ...
    def is_unchanged(self, file: Path, key: str) -> bool: ...
    def save_stat_cache(self, file: Path, key: str, walk: Walk) -> None: ...
    def head(self) -> str: ...


def notes_if_fresh(
    tree: Tree, snapshot: Snapshot, signature: str, memory: Path | None
) -> tuple[str, ...] | None:
    """The notes of the walk if the index needs no refresh, else None. `memory` is the file that keeps
    what the last walk rested on; None where there is no place for one."""
    if snapshot.meta().get("signature") != signature:
        return None
    key = f"{snapshot.version}\n{signature}"
    if memory is not None and tree.is_unchanged(memory, key):
        return ()
    walk = tree.entries()
    plan = plan_all(snapshot, walk)
    if tree.head() != snapshot.meta().get(HISTORY_HEAD, ""):  # the same files have another past
        return None
    if not plan.empty and not _only_in_doubt(tree, snapshot, plan):
        return None
    if memory is not None and not walk.notes:  # a note is told every time
        tree.save_stat_cache(memory, key, walk)
    return walk.notes


def already_indexed(
    tree: Tree, snapshot: Snapshot, walk: Walk, paths: Sequence[str], wanted: dict[str, str]
) -> Refresh | None:
    """The report of a refresh of some paths that has nothing to do, as when another process was quicker;
    None if there is something. `wanted` is what the index has to keep of them."""
    stored = snapshot.meta()
    if any(stored.get(key) != value for key, value in wanted.items()):
        return None
    plan = plan_paths(snapshot, walk, paths)
    if not plan.empty and not _only_in_doubt(tree, snapshot, plan):
        return None
    return Refresh(snapshot.generation, kept=plan.kept + len(plan.changed), skipped=len(plan.skipped))


def _only_in_doubt(tree: Tree, snapshot: Snapshot, plan: Plan) -> bool:
    """Whether nothing changed but files that were written just before they were indexed: their time
    proves nothing, so they are read again. A few are; many are left to a refresh, which settles them."""
    if plan.dropped or plan.skipped != plan.skipped_before or len(plan.changed) > _FEW:
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
