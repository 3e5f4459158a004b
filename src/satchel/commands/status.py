"""`satchel status`: whether the index matches the tree, and which files were left out of it."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
from msgspec import Meta

from satchel.commands.command import Command, Group
from satchel.commands.scip_counts import ScipCounts, scip_counts
from satchel.errors import IndexCorrupt, IndexProblem
from satchel.indexing.index_state import IndexState
from satchel.storage.records import FileRecord, by_lines
from satchel.types import Skipped

if TYPE_CHECKING:
    from satchel.engine import Engine


class StatusRequest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    skipped: Annotated[bool, Meta(description="list what was left out and why")] = False


class SkippedItem(msgspec.Struct, frozen=True):
    """A file or folder that is not in the index."""

    path: str
    reason: str
    detail: str


class ByLinesItem(msgspec.Struct, frozen=True):
    """A file that is in the index without symbols: its parser would take too long."""

    path: str
    reason: str


class StatusResponse(msgspec.Struct, frozen=True, omit_defaults=True):
    root: str
    index: str
    exists: bool
    generation: int
    stale: bool
    stale_reasons: tuple[str, ...]
    files: int
    chunks: int
    skipped_counts: dict[str, int]
    project_watermark: dict[str, Any]
    index_watermark: dict[str, Any] | None = None
    skipped: list[SkippedItem] = msgspec.field(default_factory=list)
    read_by_lines: list[ByLinesItem] = msgspec.field(default_factory=list)
    scip: ScipCounts | None = None


def run(engine: Engine, request: StatusRequest) -> StatusResponse:
    """Check whether the index is fresh, what it covers and what was left out, before you trust an empty
    answer or fall back to grep.

    Changes nothing: a stale index is reported, not refreshed.
    """
    state, files, left_out, scip = _read(engine)
    if request.skipped:
        left_out = sorted([*left_out, *engine.ignored()], key=lambda item: item.path)
    return StatusResponse(
        root=engine.location,
        index=engine.store.location,
        exists=state.exists,
        generation=state.generation,
        stale=state.stale,
        stale_reasons=tuple(reason.value for reason in state.stale_reasons),
        files=len(files),
        chunks=sum(record.chunk_count for record in files),
        skipped_counts=dict(sorted(Counter(item.reason.value for item in left_out).items())),
        project_watermark=state.project_watermark,
        index_watermark=state.index_watermark,
        skipped=[
            SkippedItem(item.path, item.reason.value, item.detail) for item in left_out if request.skipped
        ],
        read_by_lines=[
            ByLinesItem(record.path, reason.value) for record in files if (reason := by_lines(record.tags))
        ],
        scip=scip,
    )


def _read(engine: Engine) -> tuple[IndexState, list[FileRecord], list[Skipped], ScipCounts | None]:
    """Return the state of the index, the files in it, what was left out of it, and its SCIP documents."""
    state = engine.state()
    if not state.readable:
        return state, [], [], None
    try:
        snapshot = engine.snapshot()
        files = list(snapshot.files())
        return state, files, [record.skipped for record in snapshot.skipped()], scip_counts(snapshot)
    # Damage shows only when the index is read.
    except IndexCorrupt:
        return IndexState.corrupt(state.project_watermark), [], [], None
    # The index was removed after `state` was read, which already says so.
    except IndexProblem:
        return state, [], [], None


COMMAND = Command("status", StatusRequest, StatusResponse, run, fresh=False, tool="status", group=Group.CHECK)
