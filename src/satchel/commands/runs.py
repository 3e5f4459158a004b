"""`satchel runs`: the evaluations that were kept, their worst questions, and the difference of two."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import msgspec
from msgspec import Meta

from satchel import tokenizers
from satchel.commands.command import Command, Group, LocalPath, Positional
from satchel.commands.eval_answer import ComparisonItem, MeanItem, comparison_item, mean_items
from satchel.errors import InvalidRequest
from satchel.plugins import late

if TYPE_CHECKING:
    from satchel.engine import Engine
    from satchel.evaluation import kept_runs, metrics, saved
    from satchel.evaluation.saved import Saved, SavedQuery
else:  # listing the commands loads this file, and few of its callers run it
    kept_runs, metrics, saved = (
        late(f"satchel.evaluation.{name}") for name in ("kept_runs", "metrics", "saved")
    )


class RunsRequest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    run: Annotated[
        str,
        Meta(description="this run: its name, or the file of a saved evaluation (default: the newest)"),
        Positional(),
        LocalPath(or_name=True),
    ] = ""
    against: Annotated[str, Meta(description="compare it with this one"), LocalPath(or_name=True)] = ""
    limit: Annotated[int, Meta(description="questions at most, the worst first")] = 50


class RunItem(msgspec.Struct, frozen=True):
    """A run that was kept. `at` is when, in UTC; `score` the mean of its first metric, `metric`."""

    name: str
    at: str
    source: str
    profile: str
    asked: int
    metric: str
    score: float


class QuestionItem(msgspec.Struct, frozen=True, omit_defaults=True):
    """A question of a run, its score, and its score in the run that it is compared with. `gold` is what
    answers it, `found` the files of the results, best first."""

    id: str
    query: str
    category: str
    score: float
    gold: tuple[str, ...]
    found: tuple[str, ...]
    other: float | None = None


class RunsResponse(msgspec.Struct, frozen=True, omit_defaults=True):
    """`runs` are all that were kept, the oldest first; the rest is about one of them, `run`."""

    runs: list[RunItem]
    run: str = ""
    against: str = ""
    metrics: dict[str, MeanItem] = msgspec.field(default_factory=dict)
    other_metrics: dict[str, MeanItem] = msgspec.field(default_factory=dict)
    questions: list[QuestionItem] = msgspec.field(default_factory=list)
    comparison: ComparisonItem | None = None


_DIGITS = 4  # of a mean, as `eval` tells it
_SHOWN_FILES = 10  # of the results of a question


def run(engine: Engine, request: RunsRequest) -> RunsResponse:
    """Show the evaluations that `satchel eval --keep NAME` kept: their figures over time, the questions that
    one of them answers worst, and what changed against another."""
    if request.limit < 1:
        raise InvalidRequest(f"the limit is {request.limit}, it must be at least 1")
    kept = kept_runs.kept_runs(engine.store.scratch)
    items = [_run_item(one, saved.load(one.file)) for one in kept]
    chosen = request.run or (f"{kept[-1].at}-{kept[-1].name}" if kept else "")
    if not chosen:
        return RunsResponse(items)
    this = _load(kept, chosen)
    other = _load(kept, request.against) if request.against else None
    compared = comparison_item(request.against, saved.compare(this, other)) if other is not None else None
    return RunsResponse(
        items,
        run=chosen,
        against=request.against,
        metrics=mean_items(saved.means_of(this)),
        other_metrics=mean_items(saved.means_of(other)) if other is not None else {},
        questions=_questions(this, other, request.limit),
        comparison=compared,
    )


def _load(kept: list[kept_runs.KeptRun], name: str) -> Saved:
    path = Path(name) if tokenizers.is_path(name) else kept_runs.find_run(kept, name).file
    return saved.load(path)


def _metric(run: Saved) -> str:
    """Return the metric that decides when one number must."""
    is_replay = run.source == "tasks"
    return metrics.PRIMARY_OF_TASKS if is_replay else metrics.PRIMARY


def _run_item(kept: kept_runs.KeptRun, run: Saved) -> RunItem:
    name = _metric(run)
    scores = [query.scores[name] for query in run.queries if name in query.scores]
    # The mean alone: intervals take a tenth of a second for each run.
    score = round(sum(scores) / len(scores), _DIGITS) if scores else 0.0
    return RunItem(kept.name, kept.at, run.source, run.profile, len(run.queries), name, score)


def _questions(this: Saved, other: Saved | None, limit: int) -> list[QuestionItem]:
    """Return the questions with the lowest scores; of equal ones those that got worse first."""
    name = _metric(this)
    before = {query.key: query.scores.get(name) for query in other.queries} if other is not None else {}
    rows = [_question(query, name, before.get(query.key)) for query in this.queries]
    rows.sort(key=lambda row: (row.score, row.score - (row.other or 0.0), row.id))
    return rows[:limit]


def _question(query: SavedQuery, metric: str, other: float | None) -> QuestionItem:
    return QuestionItem(
        query.query_id,
        query.query,
        query.category,
        query.scores.get(metric, 0.0),
        tuple(dict.fromkeys(gold.path for gold in query.gold)),
        tuple(dict.fromkeys(result.path for result in query.results))[:_SHOWN_FILES],
        other,
    )


COMMAND = Command("runs", RunsRequest, RunsResponse, run, fresh=False, group=Group.CHECK, of_one_folder=True)
