"""How does the index stand to its tree, how fresh must it be, and what is done if it is not?"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Protocol

import msgspec

from satchel.errors import ConfigError, IndexMissing, IndexProblem, IndexStale

if TYPE_CHECKING:
    from satchel.engine import Engine
    from satchel.indexing.freshness import IndexState

DEFAULT_REINDEX_MS = 15_000
SCHEMA_VERSION = 1


class StalePolicy(StrEnum):
    """What to do about a stale index: refresh it first, say so, or refuse."""

    AUTO = "auto"
    WARN = "warn"
    FAIL = "fail"


class Freshener(Protocol):
    """Who brings an index up to date."""

    def freshen(self, engine: Engine, budget_ms: int) -> ReindexItem | None:
        """Refresh within so many milliseconds; None if there was nothing to do. Never raises for an index
        that cannot be refreshed: the item says so."""

    def busy_with(self) -> tuple[int, int] | None:
        """Files done and files to do, while an index is being built elsewhere."""

    def known_state(self) -> IndexState | None:
        """How the index stood to the tree after `freshen`; None if nobody watches the tree."""


class Bounded:
    """Refreshes the caller's own engine, and gives up when the time is over: the index stays as it was."""

    def freshen(self, engine: Engine, budget_ms: int) -> ReindexItem | None:
        before = engine.last_refresh
        done = _bounded(engine, budget_ms, engine.ensure_fresh)
        return None if done.performed and engine.last_refresh is before else done

    def busy_with(self) -> tuple[int, int] | None:
        return None

    def known_state(self) -> IndexState | None:
        return None


def rebuilt(engine: Engine, problem: IndexProblem, budget_ms: int) -> ReindexItem:
    """Set an index aside that cannot be read, and build a new one within so many milliseconds. Out of time,
    there is no index: the old one was none."""
    return _bounded(engine, budget_ms, lambda: engine.rebuild(problem))


def _bounded(engine: Engine, budget_ms: int, work: Callable[[], object]) -> ReindexItem:
    started = time.monotonic()
    result, error = ReindexResult.OK, ""
    try:
        with _deadline(engine, started + budget_ms / 1000):
            work()
    except _OutOfTime:
        result = ReindexResult.BUDGET_EXCEEDED
    except (IndexProblem, ConfigError) as problem:
        result, error = ReindexResult.FAILED, problem.message
    return ReindexItem(
        attempted=True,
        performed=result is ReindexResult.OK,
        budget_ms=budget_ms,
        duration_ms=round((time.monotonic() - started) * 1000),
        result=result,
        error=error,
    )


class _OutOfTime(Exception):
    """The budget for a refresh is used up."""


@contextmanager
def _deadline(engine: Engine, end: float) -> Iterator[None]:
    """Whoever hears of the progress may end it: the transaction is rolled back."""
    heard = engine.progress

    def progress(done: int, total: int) -> None:
        if time.monotonic() > end and done < total:
            raise _OutOfTime
        if heard is not None:
            heard(done, total)

    engine.progress = progress
    try:
        yield
    finally:
        engine.progress = heard


def check(
    policy: StalePolicy, state: IndexState, reindex: ReindexItem | None, busy: tuple[int, int] | None
) -> str:
    """What to say of an index that is asked although it is stale; an error if it cannot be asked."""
    if not state.exists:
        raise IndexMissing(
            _why_missing(reindex, busy),
            hint="run the action `index`, or ask again with a larger max_reindex_ms",
            details={"files_done": busy[0], "files_to_do": busy[1]} if busy else {},
        )
    if not state.stale:
        return ""
    reasons = ", ".join(reason.value for reason in state.stale_reasons)
    if policy is StalePolicy.FAIL:
        raise IndexStale(
            f"the index is stale: {reasons}",
            hint="run the action `index`, or ask with stale_policy auto",
            details={"stale_reasons": [reason.value for reason in state.stale_reasons]},
        )
    return f"the index is stale ({reasons}): this answer is from generation {state.generation}"


def _why_missing(reindex: ReindexItem | None, busy: tuple[int, int] | None) -> str:
    if busy:
        return f"the index is being built: {busy[0]} of {busy[1]} files are done"
    if reindex is None or not reindex.attempted:
        return "there is no index yet"
    if reindex.result is ReindexResult.BUDGET_EXCEEDED:
        return f"there is no index yet, and {reindex.budget_ms} ms are not enough to build it"
    return f"there is no index yet, and it could not be built: {reindex.error}"


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
