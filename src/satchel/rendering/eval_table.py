"""An evaluation as tables for a terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from satchel.rendering.style import Style
from satchel.rendering.visible import one_line

if TYPE_CHECKING:
    from satchel.commands.eval_answer import (
        ComparisonItem,
        DifferenceItem,
        EvalResponse,
        MeanItem,
        PolicyItem,
    )

_GROUP_COLUMNS = ("ndcg@10", "ndcg_files@10", "recall@10", "all_gold@5", "mrr", "file_recall@2000t")
_TASK_COLUMNS = ("definitions@4000t", "definitions@8000t", "reached@next", "reached@search")
_TASKS = "tasks"  # the source of an evaluation that replays fixes
_POLICIES = {
    "pack": "one pack",
    "next": "pack, next, get",
    "search": "search, get",
    "ripgrep": "ripgrep, windows",
    "files": "ripgrep, whole files",
}


def render_eval(response: EvalResponse, style: Style) -> str:
    """Return an evaluation as text: its questions, metrics, comparison and gates."""
    rows = [*_heading(response), "", *_metrics(response.metrics, style)]
    if response.policies:
        rows += ["", *_policies(response.policies, style)]
    if response.groups:
        rows += ["", *_groups(response.groups, style)]
    if response.comparison is not None:
        rows += ["", *_comparison(response.comparison, style)]
    rows += ["", _latency(response)]
    for gate in response.gates:
        rows.append(gate.message if gate.ok else style.error(gate.message))
    rows += [f"note: {one_line(note)}" for note in response.notes]
    rows += [f"written: {style.path(one_line(path))}" for path in response.written]
    return "\n".join(rows) + "\n"


def _heading(response: EvalResponse) -> list[str]:
    what = "rows" if response.source == "dataset" else "commits"
    asked = "fixes replayed" if response.source == _TASKS else "questions"
    how = f"profile {response.profile}, tokens: {one_line(response.tokenizer)}"
    rows = [f"{response.asked} {asked} from {response.seen} {what} ({how})"]
    if response.left_out:
        counts = ", ".join(f"{reason} {count}" for reason, count in response.left_out.items())
        rows.append(f"  left out: {counts}")
    if response.unreachable_gold:
        first = one_line(response.unreachable_gold[0])
        rows.append(f"  gold files that are not indexed: {len(response.unreachable_gold)}, such as {first}")
    return rows


def _latency(response: EvalResponse) -> str:
    """Return the latency of searches. In an evaluation by history each question is asked of another tree, so
    its search is always the first one there."""
    searches = {
        "history": "first search of each tree, 10 hits",
        _TASKS: "first pack of each tree, 4,000 tokens",
    }
    search = searches.get(response.source, "search, 10 hits")
    meta = response.meta
    return f"{search}: p50 {meta.latency_p50_ms:g} ms, p95 {meta.latency_p95_ms:g} ms"


def _metrics(means: Mapping[str, MeanItem], style: Style) -> list[str]:
    rows = [style.dim(f"{'metric':<20} {'mean':>7} {'error':>7}   {'95 % interval':<16} {'n':>5}")]
    for name, item in means.items():
        error = f"{item.standard_error:7.4f}" if item.standard_error is not None else f"{'–':>7}"
        rows.append(f"{name:<20} {item.mean:7.4f} {error}   {_interval(item):<16} {item.n:>5}")
    return rows


def _policies(found: Sequence[PolicyItem], style: Style) -> list[str]:
    """Return what was read until every changed line was seen, policy by policy."""
    rows = [
        f"tokens until every changed line was seen, {found[0].ceiling:,} at most:",
        style.dim(f"{'policy':<22} {'reached':>7} {'median of these':>16} {'of all':>8}   against ripgrep"),
    ]
    for item in found:
        cells = f"{item.reached:7.4f} {_tokens(item.median_of_reached):>16} {_tokens(item.median_of_all):>8}"
        against = ""
        if item.cheaper_than_ripgrep is not None:
            against = f"   cheaper {item.cheaper_than_ripgrep}, dearer {item.dearer_than_ripgrep}"
        rows.append(f"{_POLICIES[item.policy]:<22} {cells}{against}")
    return rows


def _tokens(count: float | None) -> str:
    return "–" if count is None else f"{count:,.0f}"


def _interval(item: MeanItem) -> str:
    return "–" if item.low is None or item.high is None else f"{item.low:.4f} … {item.high:.4f}"


def _groups(groups: Mapping[str, Mapping[str, MeanItem]], style: Style) -> list[str]:
    names = {name: one_line(name) or "(none)" for name in groups}
    width = max(map(len, names.values()))
    known = next(iter(groups.values()))
    columns = [column for column in (*_GROUP_COLUMNS, *_TASK_COLUMNS) if column in known]
    heads = " ".join(f"{column:>{max(7, len(column))}}" for column in columns)
    rows = [style.dim(f"{'':<{width}} {'n':>5} {heads}")]
    for name, means in groups.items():
        cells = " ".join(f"{means[column].mean:{max(7, len(column))}.4f}" for column in columns)
        rows.append(f"{names[name]:<{width}} {means[columns[0]].n:>5} {cells}")
    return rows


def _comparison(found: ComparisonItem, style: Style) -> list[str]:
    alone = f", {found.only_ours} only here, {found.only_theirs} only there"
    rows = [
        f"against {one_line(found.against)}: {style.name(found.verdict)}"
        f" ({found.shared} questions compared{alone if found.only_ours or found.only_theirs else ''})",
        style.dim(f"{'metric':<20} {'here':>7} {'there':>7} {'change':>8}   95 % interval"),
    ]
    return rows + [_difference(item, style) for item in found.differences]


def _difference(item: DifferenceItem, style: Style) -> str:
    change = item.difference
    interval = "–" if change.low is None or change.high is None else f"{change.low:+.4f} … {change.high:+.4f}"
    verdict = item.verdict if item.verdict != "worse" else style.error(item.verdict)
    numbers = f"{item.ours:7.4f} {item.theirs:7.4f} {change.mean:+8.4f}"
    return f"{item.metric:<20} {numbers}   {interval:<18} {verdict}"
