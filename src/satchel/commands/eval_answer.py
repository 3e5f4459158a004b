"""What `satchel eval` answers: its figures, as every surface shows them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import msgspec

from satchel.plugins import late

if TYPE_CHECKING:
    from satchel.evaluation import metrics, policies, saved, statistics, task_run
    from satchel.evaluation.cases import LeftOut
else:  # listing the commands loads this file, and few of its callers evaluate anything
    metrics, policies, saved, statistics, task_run = (
        late(f"satchel.evaluation.{name}")
        for name in ("metrics", "policies", "saved", "statistics", "task_run")
    )

_EXAMPLES = 10  # of the rows and commits that were left out; --save lists all of them


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


class PolicyItem(msgspec.Struct, frozen=True, omit_defaults=True):
    """What it cost to see every changed line of replayed fixes, in tokens: `reached` is the share of fixes
    where that took no more than `ceiling`. A fix that was not reached counts as dearer than any that was;
    `median_of_all` is not there if that is the middle one. `cheaper_than_ripgrep` and `dearer_than_ripgrep`
    are numbers of fixes."""

    policy: str
    reached: float
    ceiling: int
    median_of_reached: float | None = None
    median_of_all: float | None = None
    cheaper_than_ripgrep: int | None = None
    dearer_than_ripgrep: int | None = None


class EvalMeta(msgspec.Struct, frozen=True):
    """What differs from run to run: how long a search for ten hits took, with the index loaded; of a replayed
    fix, how long a pack of 4,000 tokens took. In a history each is the first of its tree."""

    latency_p50_ms: float
    latency_p95_ms: float


class EvalResponse(msgspec.Struct, frozen=True, omit_defaults=True):
    """`seen` rows or commits were looked at, `asked` of them became questions. `unreachable_gold` are
    answers that are not indexed: they count as not found. `policies` are there for replayed fixes."""

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
    policies: list[PolicyItem] = msgspec.field(default_factory=list)
    notes: list[str] = msgspec.field(default_factory=list)
    written: list[str] = msgspec.field(default_factory=list)


def mean_items(means: Mapping[str, statistics.Mean]) -> dict[str, MeanItem]:
    """Return means by metric as the response has them."""
    return {name: MeanItem(*mean) for name, mean in means.items()}


def counts_of_left_out(left_out: Sequence[LeftOut]) -> dict[str, int]:
    """Return how many rows or commits were left out, by reason."""
    return dict(sorted(Counter(item.reason.value for item in left_out).items()))


def examples_of_left_out(left_out: Sequence[LeftOut]) -> list[LeftOutItem]:
    """Return the first rows or commits that were left out."""
    return [LeftOutItem(item.id, item.reason.value, item.detail) for item in left_out[:_EXAMPLES]]


def gate_item(gate: statistics.MetricGate, means: Mapping[str, statistics.Mean]) -> GateItem:
    """Check a gate against the mean of its metric, rounded as it is shown."""
    value = means[gate.metric].mean if gate.metric in means else None
    ok = value is not None and value >= gate.limit
    found = _ABSENT.get(gate.metric.partition("@")[0], "not measured here") if value is None else f"{value:g}"
    message = f"{gate.metric} is {found}, the gate is {gate.limit:g}: {'holds' if ok else 'missed'}"
    return GateItem(gate.metric, gate.limit, value, ok, message)


_ABSENT = {
    "line_recall": "not there: no gold has lines",
    "definitions": "not there: it is measured with --tasks",
    "reached": "not there: it is measured with --tasks, and for ripgrep where rg is on the PATH",
}


def comparison_item(against: str, found: saved.EvaluationComparison) -> ComparisonItem:
    """Return a comparison of two runs as the response has it."""
    differences = [
        DifferenceItem(name, item.ours, item.theirs, MeanItem(*item.difference), item.verdict.value)
        for name, item in found.differences.items()
    ]
    first = metrics.PRIMARY if metrics.PRIMARY in found.differences else metrics.PRIMARY_OF_TASKS
    verdict = found.differences[first].verdict.value
    return ComparisonItem(against, verdict, found.shared, found.only_ours, found.only_theirs, differences)


def comparison_notes(found: saved.EvaluationComparison | None) -> list[str]:
    """Return a note if the runs share too few questions for a comparison."""
    if found is None or found.shared >= statistics.FEWEST_PAIRS:
        return []
    needed = statistics.FEWEST_PAIRS
    return [f"{found.shared} shared questions are too few to tell a difference ({needed} are needed)"]


def policy_item(cost: task_run.PolicyCost) -> PolicyItem:
    """Return the cost of a policy as the response has it."""
    return PolicyItem(
        cost.policy,
        round(cost.reached / cost.fixes, 4),
        policies.CEILING,
        cost.median_of_reached,
        cost.median_of_all,
        cost.cheaper_than_ripgrep,
        cost.dearer_than_ripgrep,
    )
