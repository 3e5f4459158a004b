"""Metrics of one question: how well a list of results answers it. Each is between 0 and 1, more is better.

    ndcg@10          gain of the first 10 results; several chunks of one file use up several ranks
    ndcg_files@10    the same over unique files
    recall@k         gold files among the first k files / gold files
    all_gold@k       1 if all gold files are among the first k files
    mrr              1 / rank of the first gold file
    file_recall@Bt   gold files with a line in the first B tokens of results / gold files
    line_recall@Bt   gold lines in the first B tokens of results / gold lines (where gold has lines)

Of a replayed fix (`satchel.evaluation.task_run`), where a definition is seen once its changed lines are:

    definitions@Bt       1 if a pack of B tokens shows every definition that the fix changes
    definitions@next     1 if a pack of 4,000 tokens and the first of its proposals do
    reached@POLICY       1 if all changed lines were seen within 30,000 tokens

Tokens: results are taken in order while they fit whole; lines that are already there cost nothing.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Sequence
from typing import NamedTuple

from satchel.evaluation.cases import Gold
from satchel.lines import split_lines

CUTOFFS = (1, 5, 10)
BUDGETS = (500, 1000, 2000, 4000, 8000)
# What decides when one number must: of questions, and of replayed fixes.
PRIMARY, PRIMARY_OF_TASKS = "ndcg@10", "definitions@8000t"
_TOP = 10
_GAINS = tuple(1 / math.log2(rank + 1) for rank in range(1, _TOP + 1))
_DIGITS = 6  # a score is a whole number of millionths, so that sums of scores are exact
_SLACK = 1e-9  # costs are sums of floats

RANKING = (
    "ndcg@10",
    "ndcg_files@10",
    *(f"recall@{k}" for k in CUTOFFS),
    *(f"all_gold@{k}" for k in CUTOFFS),
    "mrr",
)
FILES_IN_TOKENS = tuple(f"file_recall@{budget}t" for budget in BUDGETS)
LINES_IN_TOKENS = tuple(f"line_recall@{budget}t" for budget in BUDGETS)
PACK_BUDGETS = (2000, 4000, 8000, 16000)  # of packs that a replayed fix is made from
POLICIES = ("pack", "next", "search", "ripgrep", "files")
DEFINITIONS = (*(f"definitions@{budget}t" for budget in PACK_BUDGETS), "definitions@next")
REACHED = tuple(f"reached@{policy}" for policy in POLICIES)
OF_SEARCHES = (*RANKING, *FILES_IN_TOKENS, *LINES_IN_TOKENS)
METRICS = (*OF_SEARCHES, *DEFINITIONS, *REACHED)

CountTokens = Callable[[str], float]


class Result(NamedTuple):
    """A hit as it is scored; `text` holds its lines."""

    path: str
    start_line: int
    end_line: int
    text: str


def scores(gold: Sequence[Gold], results: Sequence[Result], count: CountTokens) -> dict[str, float]:
    """Return every metric of one question by name; line metrics only where the gold has lines."""
    found = _ranking(gold, results) | _in_tokens(gold, results, count)
    return {name: round(found[name], _DIGITS) for name in OF_SEARCHES if name in found}


def _ranking(gold: Sequence[Gold], results: Sequence[Result]) -> dict[str, float]:
    """Return the metrics that depend on ranks."""
    targets = _targets(gold)
    gold_files = _gold_files(gold)
    first_of_file: dict[str, Result] = {}
    for result in results:
        first_of_file.setdefault(result.path, result)
    files = list(first_of_file.values())
    ranks = sorted(filter(None, (_first_rank(files, file) for file in gold_files)))
    found = {
        "ndcg@10": _ndcg(targets, results),
        "ndcg_files@10": _ndcg(targets, files),
        "mrr": 1 / ranks[0] if ranks else 0.0,
    }
    for k in CUTOFFS:
        shown = sum(rank <= k for rank in ranks)
        found[f"recall@{k}"] = shown / len(gold_files)
        found[f"all_gold@{k}"] = float(shown == len(gold_files))
    return found


def _gold_files(gold: Sequence[Gold]) -> list[Gold]:
    """Return one entry for each gold file, without lines."""
    return list({item.name: item._replace(start_line=0, end_line=0) for item in gold}.values())


def _targets(gold: Sequence[Gold]) -> list[Gold]:
    """Return the entries that earn a gain: each entry that has a tier, each other file once."""
    chosen = [item for item in gold if item.tier]
    return chosen + _gold_files([item for item in gold if not item.tier])


def _first_rank(results: Sequence[Result], target: Gold) -> int:
    """Return the rank of the first result that hits the target, 0 if none does."""
    for rank, result in enumerate(results, 1):
        if target.is_at(result.path) and (
            not target.start_line
            or (result.start_line <= target.end_line and result.end_line >= target.start_line)
        ):
            return rank
    return 0


def _ndcg(targets: Sequence[Gold], results: Sequence[Result]) -> float:
    """Return the nDCG with binary gain. Two targets at one rank count once, so no result is counted twice."""
    ranks = {_first_rank(results[:_TOP], target) for target in targets} - {0}
    return math.fsum(_GAINS[rank - 1] for rank in ranks) / math.fsum(_GAINS[: len(targets)])


def _in_tokens(gold: Sequence[Gold], results: Sequence[Result], count: CountTokens) -> dict[str, float]:
    """Return the metrics that depend on token budgets."""
    gold_files = _gold_files(gold)
    gold_lines = {(item.path, line) for item in gold for line in _lines_of(item)}
    costs = _running_costs(results, count)
    found = {}
    for budget in BUDGETS:
        pack = results[: bisect_right(costs, budget + _SLACK)]
        paths = {result.path for result in pack}
        shown = sum(any(file.is_at(path) for path in paths) for file in gold_files)
        found[f"file_recall@{budget}t"] = shown / len(gold_files)
        if gold_lines:
            lines = {(result.path, line) for result in pack for line in _lines_of(result)}
            found[f"line_recall@{budget}t"] = len(gold_lines & lines) / len(gold_lines)
    return found


def _lines_of(item: Gold | Result) -> range:
    return range(item.start_line, item.end_line + 1) if item.start_line else range(0)


def _running_costs(results: Sequence[Result], count: CountTokens) -> list[float]:
    """Return the tokens of the results up to each of them, without lines that were shown before.

    The costs never fall, so the results that fit a budget are those before the first that is over it."""
    shown: dict[str, set[int]] = {}
    total = 0.0
    totals = []
    for result in results:
        known = shown.setdefault(result.path, set())
        lines = zip(_lines_of(result), split_lines(result.text), strict=False)  # a cut text has fewer
        total += count("".join(text for line, text in lines if line not in known))
        known.update(_lines_of(result))
        totals.append(total)
    return totals
