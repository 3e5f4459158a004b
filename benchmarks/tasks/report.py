"""Outcomes of replayed fixes → the text that is kept in the tree, and the table of it that README shows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import groupby
from statistics import median
from typing import NamedTuple

from satchel.evaluation.metrics import DEFINITIONS
from satchel.evaluation.policies import CEILING
from satchel.evaluation.saved import Saved, SavedQuery
from satchel.evaluation.statistics import means

POLICIES = {
    "pack": "one pack, as large as needed",
    "next": "a pack of 4k, its proposals, `get`",
    "search": "`search`, `get` hit by hit",
    "ripgrep": "ripgrep, windows of 20 lines",
    "files": "ripgrep, whole files",
}
OURS = ("pack", "next", "search")
_LEGEND = f"""\
How often does one pack suffice for a real fix? Fixes from the history of {{repositories}} repositories, asked
at the parent of each from its commit message alone; no model takes part. Tokens: {{tokenizer}}.
  2k … 16k  share of fixes where a pack of so many tokens shows every definition that the fix changes: all
            changed lines of it, and for an insertion the lines before and after
  next      the same after a pack of 4k and the definition that its first proposal leads to
  seen      share of fixes where all changed lines, also those outside of definitions, were seen within
            {CEILING:,} tokens
  median    tokens until then, where they were seen; "of all" counts a fix where they were not as more
  cheaper   fixes where it took fewer tokens than ripgrep with windows; dearer: where it took more
Ripgrep searches the source files alone, for the identifiers of the message and then for its other words,
the rarest first.
"""
_SHARE_HEAD = "| a pack of | 2,000 tokens | 4,000 | 8,000 | 16,000 | 4,000 and its first proposal |"
_TABLE_HEAD = (
    "| read by | all changed lines seen | tokens until then, median | cheaper than ripgrep | dearer |"
)


class Outcome(NamedTuple):
    """One replayed fix."""

    repository: str
    query: SavedQuery

    def tokens(self, policy: str) -> float:
        """Return what a policy cost, infinity if not everything was seen."""
        found = (self.query.tokens or {}).get(policy)
        return float("inf") if found is None else found


def report(runs: Mapping[str, Saved]) -> str:
    """Return the text of all figures: totals, by language, by repository, and fix by fix."""
    outcomes = [Outcome(name, query) for name, run in runs.items() for query in run.queries]
    tokenizer = next(iter(runs.values())).tokenizer
    parts = [
        _LEGEND.format(repositories=len(runs), tokenizer=tokenizer),
        *_totals(outcomes),
        "",
        *_share_rows(outcomes),
        "",
        *_policy_rows(outcomes),
        "",
        *_table("language", outcomes, lambda item: item.query.language),
        "",
        *_table("repository", outcomes, lambda item: item.repository),
        "",
        "commits that were no task: " + _left_out(runs.values()),
        "",
        *_fixes(outcomes),
    ]
    return "\n".join(parts) + "\n"


def readme_tables(text: str) -> list[list[str]]:
    """Return the rows of the Markdown tables in a kept text."""
    rows = groupby(text.split("\n"), key=lambda line: line.startswith("|"))
    return [list(lines) for is_table, lines in rows if is_table]


def with_tables(document: str, tables: Sequence[Sequence[str]]) -> str:
    """Return a document in which each table stands in place of the one with the same heads."""
    lines = document.split("\n")
    for rows in tables:
        first = lines.index(rows[0])
        later = range(first, len(lines))
        last = next((at for at in later if not lines[at].startswith("|")), len(lines))
        lines[first:last] = rows
    return "\n".join(lines)


def _totals(outcomes: Sequence[Outcome]) -> list[str]:
    """Return the shares over all fixes with their intervals."""
    scores = {name: [item.query.scores[name] for item in outcomes] for name in DEFINITIONS}
    rows = [f"{len(outcomes)} fixes: every changed definition in the pack"]
    for name, mean in means(scores).items():
        rows.append(
            f"  {name:<20} {_share(mean.mean)}   95 % {_share(mean.low or 0)} … {_share(mean.high or 0)}"
        )
    return rows


def _share_rows(outcomes: Sequence[Outcome]) -> list[str]:
    """Return how often packs show every changed definition as a Markdown table."""
    seen = [sum(int(item.query.scores[name]) for item in outcomes) for name in DEFINITIONS]
    cells = " | ".join(_percent(count, len(outcomes)) for count in seen)
    return [_SHARE_HEAD, "|---|---:|---:|---:|---:|---:|", f"| every changed definition is in it | {cells} |"]


def _policy_rows(outcomes: Sequence[Outcome]) -> list[str]:
    """Return the policies as a Markdown table."""
    rows = [_TABLE_HEAD, "|---|---:|---:|---:|---:|"]
    for policy, name in POLICIES.items():
        spent = [item.tokens(policy) for item in outcomes]
        reached = [tokens for tokens in spent if tokens <= CEILING]
        cells = [_percent(len(reached), len(spent)), f"{_tokens(reached)} (of all: {_tokens(spent)})"]
        cells += [str(count) if policy != "ripgrep" else "" for count in _against(outcomes, policy)]
        rows.append(f"| {name} | {' | '.join(cells)} |")
    return rows


def _against(outcomes: Sequence[Outcome], policy: str) -> tuple[int, int]:
    """Return how many fixes took a policy fewer and more tokens than ripgrep with windows."""
    pairs = [(item.tokens(policy), item.tokens("ripgrep")) for item in outcomes]
    return sum(one < other for one, other in pairs), sum(one > other for one, other in pairs)


def _table(head: str, outcomes: Sequence[Outcome], group: Callable[[Outcome], str]) -> list[str]:
    """Return one row for each group: shares by budget, then seen and median of each policy."""
    budgets = " ".join(f"{name:>5}" for name in ("2k", "4k", "8k", "16k", "next"))
    rows = [
        f"{'':<20} {'':>5} {'':>29}   seen, median tokens where seen",
        f"{head:<20} {'fixes':>5} {budgets}   {' '.join(f'{policy:>12}' for policy in POLICIES)}"
        f"   cheaper/dearer: {' '.join(f'{policy:>7}' for policy in OURS)}",
    ]
    for name, members in _grouped(outcomes, group):
        shares = " ".join(f"{_share(_mean(members, metric)):>5}" for metric in DEFINITIONS)
        costs = " ".join(f"{_seen(members, policy):>12}" for policy in POLICIES)
        against = " ".join(f"{'/'.join(map(str, _against(members, policy))):>7}" for policy in OURS)
        rows.append(f"{name:<20} {len(members):>5} {shares}   {costs}   {'':>15} {against}")
    return rows


def _grouped(outcomes: Iterable[Outcome], group: Callable[[Outcome], str]) -> list[tuple[str, list[Outcome]]]:
    return [(name, list(members)) for name, members in groupby(sorted(outcomes, key=group), key=group)]


def _seen(members: Sequence[Outcome], policy: str) -> str:
    spent = [item.tokens(policy) for item in members]
    reached = [tokens for tokens in spent if tokens <= CEILING]
    return f"{_share(len(reached) / len(spent))} {_tokens(reached):>7}"


def _fixes(outcomes: Sequence[Outcome]) -> list[str]:
    """Return one line for each fix: which packs suffice, and what each policy cost."""
    rows = ["fix by fix: 1 where 2k, 4k, 8k, 16k and next show every changed definition; tokens by policy"]
    for item in outcomes:
        flags = "".join(str(int(item.query.scores[name])) for name in DEFINITIONS)
        costs = " ".join(f"{_tokens([item.tokens(policy)]):>7}" for policy in POLICIES)
        rows.append(f"{item.repository:<20} {item.query.query_id} {item.query.language:<11} {flags} {costs}")
    return rows


def _left_out(runs: Iterable[Saved]) -> str:
    reasons = sorted(item.reason for run in runs for item in run.left_out)
    return ", ".join(f"{reason} {len(list(found))}" for reason, found in groupby(reasons))


def _mean(members: Sequence[Outcome], metric: str) -> float:
    return sum(item.query.scores[metric] for item in members) / len(members)


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.0f} %"


def _share(value: float) -> str:
    return f"{value:.2f}".replace("0.", ".", 1) if value < 1 else f"{value:.2f}"


def _tokens(spent: Sequence[float]) -> str:
    """Return the median of costs; one that is not finite is more than the ceiling."""
    middle = median(spent) if spent else float("inf")
    return f"{middle:,.0f}" if middle <= CEILING else "–"
