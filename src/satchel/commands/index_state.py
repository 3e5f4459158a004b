"""How the index stands to its tree, as answers carry it."""

from __future__ import annotations

import time
from enum import StrEnum
from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    from satchel.engine import Engine

SCHEMA_VERSION = 1


class IndexItem(msgspec.Struct, frozen=True, omit_defaults=True):
    """The index itself; its watermark is said where it is not the project's."""

    exists: bool
    generation: int = 0
    watermark: dict[str, Any] | None = None


class ReindexResult(StrEnum):
    """How an attempt to bring the index up to date ended."""

    OK = "ok"
    BUDGET_EXCEEDED = "budget_exceeded"
    FAILED = "failed"
    SKIPPED = "skipped"


class ReindexItem(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What was done about a stale index before it was asked."""

    attempted: bool
    performed: bool
    budget_ms: int
    duration_ms: int
    result: ReindexResult
    error: str = ""


class IndexStateItem(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What the project is at, what the index is at, and in what way they differ."""

    schema_version: int
    model_id: str
    profile: str
    project_watermark: dict[str, Any]
    index: IndexItem
    stale: bool
    stale_reasons: tuple[str, ...]
    reindex: ReindexItem | None = None


def index_state(engine: Engine) -> IndexStateItem:
    """Return how the snapshot that the engine answers from stands to the tree."""
    state = engine.state()
    now = {"computed_at_unix_ms": time.time_ns() // 1_000_000}
    return IndexStateItem(
        schema_version=SCHEMA_VERSION,
        model_id=engine.model_id,
        profile=engine.profile,
        project_watermark=_told(state.project_watermark) | now,
        index=IndexItem(
            state.exists,
            state.generation,
            _told(state.index_watermark) if state.stale and state.index_watermark else None,
        ),
        stale=state.stale,
        stale_reasons=tuple(reason.value for reason in state.stale_reasons),
    )


def _told(watermark: dict[str, Any]) -> dict[str, Any]:
    """Without what does not apply to its kind."""
    return {name: value for name, value in watermark.items() if value is not None}
