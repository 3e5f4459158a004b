"""`satchel eval`: measure the quality of answers on a dataset or on the history of the repository."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import msgspec
from msgspec import Meta

from satchel import tokenizers
from satchel.commands.command import Command, Flag, Group, LocalPath, Positional
from satchel.errors import InvalidRequest
from satchel.plugins import late
from satchel.settings import FAST, QUALITY
from satchel.tokenizers import CharsPerToken

if TYPE_CHECKING:
    from satchel.engine import Engine
    from satchel.evaluation import cases, metrics, plot, saved, statistics
    from satchel.evaluation import run as evaluation
else:  # listing the commands loads this file, and few of its callers run it
    cases, metrics, plot, evaluation, saved, statistics = (
        late(f"satchel.evaluation.{name}")
        for name in ("cases", "metrics", "plot", "run", "saved", "statistics")
    )

MAX_HISTORY = 10_000
_EXAMPLES = 10  # of the rows and commits that were left out; --save lists all of them


class By(StrEnum):
    """What groups are made of."""

    CATEGORY = "category"
    LANGUAGE = "language"
    SET = "set"


class Profile(StrEnum):
    """How hits are ranked."""

    QUALITY = QUALITY
    FAST = FAST


class EvalRequest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    dataset: Annotated[
        str,
        Meta(description="a file of questions with known answers (JSON lines)"),
        Positional(),
        LocalPath(),
    ] = ""
    history: Annotated[
        int | None, Meta(description="take the questions from the last so many usable commits")
    ] = None
    repo: Annotated[str, Meta(description="only the dataset's rows of this repository")] = ""
    set: Annotated[str, Meta(description="only the dataset's rows of this set")] = ""
    by: Annotated[By | None, Meta(description="also by category, language or set")] = None
    tokenizer: Annotated[
        str, Meta(description="how tokens are counted (default: characters / 4)"), LocalPath(or_name=True)
    ] = ""
    profile: Annotated[Profile | None, Meta(description="rank by quality or fast")] = None
    save: Annotated[
        str, Meta(description="write every question with its results and scores here"), LocalPath()
    ] = ""
    compare: Annotated[
        str, Meta(description="compare with an evaluation that was saved here"), LocalPath()
    ] = ""
    compare_profile: Annotated[
        Profile | None, Meta(description="ask everything again with this profile, and compare with that")
    ] = None
    plot: Annotated[str, Meta(description="draw recall against tokens here (SVG)"), LocalPath()] = ""
    gates: Annotated[
        tuple[str, ...],
        Meta(description="METRIC>=VALUE that must hold, else the exit code is 1 (repeatable)"),
        Flag("--gate"),
    ] = ()


class MeanItem(msgspec.Struct, frozen=True, omit_defaults=True):
    """A mean over `n` questions, its standard error and its 95 % bootstrap interval."""

    mean: float
    n: int
    standard_error: float | None = None
    low: float | None = None
    high: float | None = None


class LeftOutItem(msgspec.Struct, frozen=True):
    """A row or a commit that was not asked, and why."""

    id: str
    reason: str
    detail: str


class GateItem(msgspec.Struct, frozen=True):
    """A gate; `value` is None where no question has the metric."""

    metric: str
    limit: float
    value: float | None
    ok: bool
    message: str


class DifferenceItem(msgspec.Struct, frozen=True):
    """This run against the other: the mean of the paired differences and what it says."""

    metric: str
    ours: float
    theirs: float
    difference: MeanItem
    verdict: str


class ComparisonItem(msgspec.Struct, frozen=True):
    """`verdict` is that of the first metric; `shared` questions were compared."""

    against: str
    verdict: str
    shared: int
    only_ours: int
    only_theirs: int
    differences: list[DifferenceItem]


class EvalMeta(msgspec.Struct, frozen=True):
    """What differs from run to run: how long a search for ten hits took, with the index loaded. In a
    history each is the first search of its tree."""

    latency_p50_ms: float
    latency_p95_ms: float


class EvalResponse(msgspec.Struct, frozen=True, omit_defaults=True):
    """`seen` rows or commits were looked at, `asked` of them became questions. `unreachable_gold` are
    answers that are not indexed: they count as not found."""

    ok: bool
    source: str
    profile: str
    tokenizer: str
    seen: int
    asked: int
    metrics: dict[str, MeanItem]
    meta: EvalMeta
    left_out: dict[str, int] = msgspec.field(default_factory=dict)
    left_out_examples: list[LeftOutItem] = msgspec.field(default_factory=list)
    unreachable_gold: list[str] = msgspec.field(default_factory=list)
    groups: dict[str, dict[str, MeanItem]] = msgspec.field(default_factory=dict)
    gates: list[GateItem] = msgspec.field(default_factory=list)
    comparison: ComparisonItem | None = None
    notes: list[str] = msgspec.field(default_factory=list)
    written: list[str] = msgspec.field(default_factory=list)


def run(engine: Engine, request: EvalRequest) -> EvalResponse:
    """Measure how good the answers are: on a file of questions, or on this repository's own history.

    With --history, a commit message is the question and the files and lines it changed are the answer,
    asked of the tree of its parent; that tree is read from git, nothing is checked out. Shows NDCG,
    recall, all-gold, MRR and recall inside token budgets with 95 % intervals; --compare says better,
    worse or no difference by a paired bootstrap; --gate makes it a check.
    """
    _check(request)
    gates = [statistics.read_gate(text) for text in request.gates]
    other = saved.load(Path(request.compare)) if request.compare else None
    done = _run_profile(engine, request, request.profile)
    this_run = _saved_run(done, request)
    if request.compare_profile is not None:
        other = _saved_run(_run_profile(engine, request, request.compare_profile), request)
    comparison = saved.compare(this_run, other) if other is not None else None
    means = statistics.summarise(done.answers)
    latency = statistics.latency(done.answers)
    gate_items = [_gate(gate, means) for gate in gates]
    groups = statistics.groups(done.answers, request.by.value) if request.by else {}
    return EvalResponse(
        ok=all(gate.ok for gate in gate_items),
        source=this_run.source,
        profile=this_run.profile,
        tokenizer=this_run.tokenizer,
        seen=done.seen,
        asked=len(done.answers),
        metrics=_means(means),
        meta=EvalMeta(latency.p50, latency.p95),
        left_out=dict(sorted(Counter(item.reason.value for item in done.left_out).items())),
        left_out_examples=[
            LeftOutItem(item.id, item.reason.value, item.detail) for item in done.left_out[:_EXAMPLES]
        ],
        unreachable_gold=done.unreachable,
        groups={name: _means(values) for name, values in groups.items()},
        gates=gate_items,
        comparison=_comparison(_other_name(request), comparison) if comparison is not None else None,
        notes=done.notes + _comparison_notes(comparison),
        written=_write(engine, request, this_run, means, other),
    )


def _check(request: EvalRequest) -> None:
    """Raise if options contradict each other or are out of range."""
    if bool(request.dataset) == (request.history is not None):
        raise InvalidRequest(
            "an evaluation takes a dataset or --history, one of them",
            hint="satchel eval questions.jsonl, or satchel eval --history 100",
        )
    if request.compare and request.compare_profile is not None:
        raise InvalidRequest(
            "--compare and --compare-profile are two comparisons", hint="ask for one at a time"
        )
    if request.history is not None:
        if not 1 <= request.history <= MAX_HISTORY:
            raise InvalidRequest(
                f"history is {request.history}, it must be from 1 to {MAX_HISTORY}", hint="use --history 100"
            )
        if request.repo or request.set:
            raise InvalidRequest("--repo and --set choose rows of a dataset", hint="leave them out")


def _saved_run(done: evaluation.Run, request: EvalRequest) -> saved.Saved:
    """Return a run in the form that is saved and compared."""
    source = "history" if request.history is not None else "dataset"
    return saved.keep(done, source, request.tokenizer or "characters / 4")


def _other_name(request: EvalRequest) -> str:
    """Return the name of the run that this one is compared with."""
    return f"profile {request.compare_profile.value}" if request.compare_profile else request.compare


def _run_profile(engine: Engine, request: EvalRequest, profile: Profile | None) -> evaluation.Run:
    """Run the evaluation with a ranking profile; None is the one of the engine."""
    if profile is None:
        return _run(engine, request)
    with evaluation.with_profile(engine, profile.value) as other:
        done = _run(other, request)
        done.notes += other.notes
        return done


def _run(engine: Engine, request: EvalRequest) -> evaluation.Run:
    """Ask all questions of the dataset or the history."""
    count = tokenizers.get(request.tokenizer).count if request.tokenizer else _estimate_tokens
    if request.history is not None:
        return evaluation.run_history(engine, request.history, count)
    rows = cases.read_dataset(Path(request.dataset))
    chosen = cases.choose(rows, repo=request.repo, set_name=request.set)
    return evaluation.run_dataset(engine, chosen, count)


def _estimate_tokens(text: str) -> float:
    return len(text) / CharsPerToken.USUAL


def _means(means: Mapping[str, statistics.Mean]) -> dict[str, MeanItem]:
    return {name: MeanItem(*mean) for name, mean in means.items()}


def _gate(gate: statistics.MetricGate, means: Mapping[str, statistics.Mean]) -> GateItem:
    """Check a gate against the mean of its metric, rounded as it is shown."""
    value = means[gate.metric].mean if gate.metric in means else None
    ok = value is not None and value >= gate.limit
    found = "not there: no gold has lines" if value is None else f"{value:g}"
    message = f"{gate.metric} is {found}, the gate is {gate.limit:g}: {'holds' if ok else 'missed'}"
    return GateItem(gate.metric, gate.limit, value, ok, message)


def _comparison(against: str, found: saved.EvaluationComparison) -> ComparisonItem:
    """Return a comparison of two runs as the response has it."""
    differences = [
        DifferenceItem(name, item.ours, item.theirs, MeanItem(*item.difference), item.verdict.value)
        for name, item in found.differences.items()
    ]
    first = found.differences[metrics.PRIMARY].verdict.value
    return ComparisonItem(against, first, found.shared, found.only_ours, found.only_theirs, differences)


def _comparison_notes(found: saved.EvaluationComparison | None) -> list[str]:
    """Return a note if the runs share too few questions for a comparison."""
    if found is None or found.shared >= statistics.FEWEST_PAIRS:
        return []
    needed = statistics.FEWEST_PAIRS
    return [f"{found.shared} shared questions are too few to tell a difference ({needed} are needed)"]


def _write(
    engine: Engine,
    request: EvalRequest,
    this_run: saved.Saved,
    means: Mapping[str, statistics.Mean],
    other: saved.Saved | None,
) -> list[str]:
    """Write the files that the request asks for; return their paths."""
    if request.save:
        text = msgspec.json.format(msgspec.json.encode(this_run), indent=1).decode() + "\n"
        saved.write_text(Path(request.save), text)
    if request.plot:
        lines = plot.recall_curves("this run" if other else "", means)
        if other is not None:
            lines += plot.recall_curves(_label(request), saved.means_of(other))
        title = f"{engine.root.name}: recall over {len(this_run.queries)} questions"
        saved.write_text(Path(request.plot), plot.recall_plot(title, lines))
    return [path for path in (request.save, request.plot) if path]


def _label(request: EvalRequest) -> str:
    """Return the label of the other run in a plot."""
    return _other_name(request) if request.compare_profile else Path(request.compare).stem


COMMAND = Command("eval", EvalRequest, EvalResponse, run, fresh=False, group=Group.CHECK)
