"""Is the index true to the tree? The state that every answer carries."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

import msgspec

from satchel.storage.protocol import Snapshot


class StaleReason(StrEnum):
    """In what way an index differs from its tree."""

    INDEX_MISSING = "index_missing"
    INDEX_CORRUPT = "index_corrupt"
    WATERMARK_MISSING = "watermark_missing"
    GIT_HEAD_MISMATCH = "git_head_mismatch"
    GIT_DIRTY_MISMATCH = "git_dirty_mismatch"
    FILESYSTEM_CHANGED = "filesystem_changed"


class IndexState(msgspec.Struct, frozen=True):
    """How one version of the index stands to the tree."""

    project_watermark: dict[str, Any]
    index_watermark: dict[str, Any] | None
    exists: bool
    generation: int
    stale_reasons: tuple[StaleReason, ...]
    version: str = ""  # of the snapshot that this is said of

    @classmethod
    def of(cls, project: dict[str, Any], snapshot: Snapshot) -> IndexState:
        """Compare the tree's watermark with the one that a snapshot was made at."""
        kept = decode_watermark(snapshot.meta().get("watermark"))
        return cls(project, kept, True, snapshot.generation, compare(project, kept), snapshot.version)

    @classmethod
    def missing(cls, project: dict[str, Any]) -> IndexState:
        """No index at all."""
        return cls(project, None, False, 0, (StaleReason.INDEX_MISSING,))

    @classmethod
    def corrupt(cls, project: dict[str, Any]) -> IndexState:
        """A file that is no index, or none that can be read."""
        return cls(project, None, True, 0, (StaleReason.INDEX_CORRUPT,))

    @property
    def readable(self) -> bool:
        """Whether there is an index to answer from."""
        return self.exists and StaleReason.INDEX_CORRUPT not in self.stale_reasons

    @property
    def stale(self) -> bool:
        return bool(self.stale_reasons)


def encode_watermark(watermark: Any) -> str:
    """A watermark as the index keeps it, without the time it was taken at."""
    values = msgspec.structs.asdict(watermark)
    values.pop("computed_at_unix_ms", None)
    return msgspec.json.encode(dict(sorted(values.items()))).decode()


def decode_watermark(text: str | None) -> dict[str, Any] | None:
    """A kept watermark; None if there is none or it cannot be read."""
    try:
        values = msgspec.json.decode(text) if text else None
    except msgspec.DecodeError:
        return None
    return values if isinstance(values, dict) else None


def compare(project: dict[str, Any], index: dict[str, Any] | None) -> tuple[StaleReason, ...]:
    """Why the index is stale, or nothing if it is fresh."""
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
