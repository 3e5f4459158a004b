"""How does the index stand to its tree, how fresh must it be, and what is done if it is not?"""

from __future__ import annotations

import time
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import msgspec

from satchel.cancellation import CancelToken
from satchel.errors import ConfigError, IndexBusy, IndexMissing, IndexProblem, IndexStale, Timeout

if TYPE_CHECKING:
    from satchel.engine import Engine
    from satchel.indexing.index_state import IndexState

SCHEMA_VERSION = 1
DEFAULT_REINDEX_MS = 15_000


class IndexItem(msgspec.Struct, frozen=True, omit_defaults=True):
    """The index itself: where it is (below the root, as a path of the project), when it was last written, and
    the watermark of the files that it was built from."""

    exists: bool
    path: str = ""
    mtime_ms: int = 0
    built_at_unix_ms: int = 0
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
        project_watermark=_without_empty(state.project_watermark) | now,
        index=_index_item(engine, state),
        stale=state.stale,
        stale_reasons=tuple(reason.value for reason in state.stale_reasons),
    )


def short_state(state: IndexStateItem) -> IndexStateItem:
    """Return the state as an answer with a budget has it in its data: without what depends on where the index
    is and how often it was written, and with the watermark of the index only if it is not the project's."""
    watermark = state.index.watermark if state.stale else None
    return msgspec.structs.replace(state, index=IndexItem(state.index.exists, watermark=watermark))


def _index_item(engine: Engine, state: IndexState) -> IndexItem:
    if not state.exists:
        return IndexItem(exists=False)
    file, written = engine.store.file, engine.store.last_written()
    written_ms = round(written * 1000) if written else 0
    return IndexItem(
        exists=True,
        path=_project_path(file, engine.root) if file is not None else "",
        mtime_ms=written_ms,
        built_at_unix_ms=written_ms,
        generation=state.generation,
        watermark=_without_empty(state.index_watermark) if state.index_watermark else None,
    )


def _project_path(file: Path, root: Path) -> str:
    """Return a file below the root as a path of the project, any other as it is."""
    return file.relative_to(root).as_posix() if file.is_relative_to(root) else str(file)


def _without_empty(watermark: dict[str, Any]) -> dict[str, Any]:
    """Return a watermark without the fields that its kind does not have."""
    return {name: value for name, value in watermark.items() if value is not None}


class StalePolicy(StrEnum):
    """What to do about a stale index: refresh it first, say so, or refuse."""

    AUTO = "auto"
    WARN = "warn"
    FAIL = "fail"


class Freshener(Protocol):
    """Brings an index up to date before it is asked, as one surface wants it."""

    warning: str
    """What the caller should know of an index that could not be brought up to date."""

    def freshen(self, engine: Engine, budget_ms: int) -> ReindexItem | None:
        """Refresh within so many milliseconds; None if there was nothing to do, or nothing to say of it."""

    def rebuild(self, engine: Engine, problem: IndexProblem, budget_ms: int) -> ReindexItem:
        """Set an index aside that cannot be read and build a new one within so many milliseconds."""

    def busy_with(self) -> tuple[int, int] | None:
        """Return files done and files to do, while an index is being built elsewhere."""

    def known_state(self) -> IndexState | None:
        """Return how the index stood to the tree after `freshen`; None if nobody watches the tree."""


class BoundedFreshener:
    """Refreshes the engine of the caller and gives up when the time is over: the index stays as it was. A
    refresh that fails is told by the item, not raised."""

    warning = ""

    def freshen(self, engine: Engine, budget_ms: int) -> ReindexItem | None:
        before = engine.last_refresh
        done = _bounded(engine, budget_ms, engine.ensure_fresh)
        return None if done.performed and engine.last_refresh is before else done

    def rebuild(self, engine: Engine, problem: IndexProblem, budget_ms: int) -> ReindexItem:
        """Build the index anew. When the time is over there is none: the old one could not be read."""
        return _bounded(engine, budget_ms, lambda token: engine.rebuild(problem, token))

    def busy_with(self) -> tuple[int, int] | None:
        return None

    def known_state(self) -> IndexState | None:
        return None


class PatientFreshener(BoundedFreshener):
    """Refreshes the engine of the caller however long it takes, as somebody at a terminal expects. While
    another process writes the index, the last complete one has to do."""

    def __init__(self) -> None:
        self.warning = ""

    def freshen(self, engine: Engine, budget_ms: int) -> ReindexItem | None:
        try:
            engine.ensure_fresh()
        except IndexBusy as error:
            if not engine.store.exists():
                raise
            self.warning = f"{error.message}; this answer is from the last complete index"
        return None

    def rebuild(self, engine: Engine, problem: IndexProblem, budget_ms: int) -> ReindexItem:
        started = time.monotonic()
        engine.rebuild(problem)
        return _item(ReindexResult.OK, budget_ms, started)


class NoFreshener(BoundedFreshener):
    """Leaves the index as it is, also one that cannot be read, and says if it is stale."""

    def freshen(self, engine: Engine, budget_ms: int) -> ReindexItem | None:
        state = engine.state()
        if state.exists and state.readable:
            self.warning = check_freshness(StalePolicy.WARN, state, None, None)
        return None

    def rebuild(self, engine: Engine, problem: IndexProblem, budget_ms: int) -> ReindexItem:
        raise problem


def _bounded(engine: Engine, budget_ms: int, work: Callable[[CancelToken], object]) -> ReindexItem:
    """Do the work within so many milliseconds, and return what came of it."""
    started = time.monotonic()
    try:
        work(engine.token.limited_to(budget_ms / 1000))
    except Timeout:
        engine.token.check()  # raises if it is the whole call whose time is over
        return _item(ReindexResult.BUDGET_EXCEEDED, budget_ms, started)
    except (IndexProblem, ConfigError) as problem:
        return _item(ReindexResult.FAILED, budget_ms, started, problem.message)
    return _item(ReindexResult.OK, budget_ms, started)


def _item(result: ReindexResult, budget_ms: int, started: float, error: str = "") -> ReindexItem:
    return ReindexItem(
        attempted=True,
        performed=result is ReindexResult.OK,
        budget_ms=budget_ms,
        duration_ms=round((time.monotonic() - started) * 1000),
        result=result,
        error=error,
    )


def check_freshness(
    policy: StalePolicy, state: IndexState, reindex: ReindexItem | None, busy: tuple[int, int] | None
) -> str:
    """Return what to say of an index that is asked although it is stale; raise if it cannot be asked."""
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
