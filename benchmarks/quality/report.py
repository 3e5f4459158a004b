"""Scores of questions → the figures that are promised, and the text that is kept in the tree."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from baselines import BY_CATEGORY, MEASURED, PUBLISHED, Baseline
from questions import SHORT

from satchel.evaluation.cases import Case

Scores = Mapping[str, float]

COLUMNS = {
    "ndcg": "ndcg@10",
    "files": "ndcg_files@10",
    "r@1": "recall@1",
    "r@5": "recall@5",
    "r@10": "recall@10",
    "all@5": "all_gold@5",
    "1k": "file_recall@1000t",
    "2k": "file_recall@2000t",
    "4k": "file_recall@4000t",
    "8k": "file_recall@8000t",
}
_HEADS = ("macro", *COLUMNS)
_NAME = 40  # characters of a row's name

LEGEND = """\
n       questions
macro   mean over repositories of their mean NDCG@10, the figure that semble's benchmark publishes
ndcg    NDCG@10, mean over questions; files: the same over unique files
r@k     share of the answers' files among the first k files; all@5: all of them among the first five
1k…8k   share of the answers' files shown within so many tokens (characters / 4) of results
fast    ndcg of the profile `fast`: words and structure, no vectors
"""


class Row(NamedTuple):
    """One question as both profiles answer it."""

    case: Case
    quality: Scores
    fast: Scores


def mean(values: Sequence[float]) -> float:
    """The sum is exact, so the order of questions does not matter."""
    return math.fsum(values) / len(values)


def macro(named: Iterable[tuple[str, float]]) -> float:
    """The mean over names of their means."""
    members: dict[str, list[float]] = defaultdict(list)
    for name, value in named:
        members[name].append(value)
    return mean([mean(values) for values in members.values()])


def figures(keys: Sequence[tuple[str, str, str]], scores: Sequence[Scores]) -> dict[str, float]:
    """The figures that are promised; a key is set, repository, category. What was not asked has none."""
    found: dict[str, float] = {}
    pairs = list(zip(keys, scores, strict=True))
    for name in sorted({key[0] for key in keys}):
        own = [(key, item) for key, item in pairs if key[0] == name]
        if name == SHORT:
            found[f"{name} macro ndcg@10"] = macro((key[1], item["ndcg@10"]) for key, item in own)
            for category in sorted({key[2] for key, _ in own}):
                chosen = [item["ndcg@10"] for key, item in own if key[2] == category]
                found[f"{name} {category} ndcg@10"] = mean(chosen)
            metrics = ["recall@1", "recall@5", "recall@10"]
        else:
            metrics = ["ndcg_files@10", "all_gold@5"]
        found |= {f"{name} {metric}": mean([item[metric] for _, item in own]) for metric in metrics}
    return found


def text(rows: Sequence[Row], head: str) -> str:
    """Everything, as it is kept."""
    parts = [head, LEGEND]
    for name in sorted({row.case.set for row in rows}):
        own = [row for row in rows if row.case.set == name]
        repositories = len({row.case.repo for row in own})
        parts.append(f"== {name}: {len(own)} questions, {repositories} repositories ==\n")
        parts.append(_table("", [*_ours(own), *_others(name)]))
        if name == SHORT:
            parts.append(_table("by category", list(_categories(own))))
        for field in ("language", "repo"):
            parts.append(_table(f"by {field}", [_line(key, group) for key, group in _groups(own, field)]))
    return "\n".join(parts)


def _groups(rows: Sequence[Row], field: str) -> list[tuple[str, list[Row]]]:
    names = sorted({getattr(row.case, field) for row in rows})
    return [(name, [row for row in rows if getattr(row.case, field) == name]) for name in names]


def _ours(rows: Sequence[Row]) -> Iterable[str]:
    yield _line("satchel", rows)
    swapped = [row._replace(quality=row.fast) for row in rows]
    yield _line("satchel --profile fast", swapped)


def _others(name: str) -> Iterable[str]:
    measured = (MEASURED[name],) if name in MEASURED else ()
    return map(_baseline, (*measured, *PUBLISHED.get(name, ())))


def _categories(rows: Sequence[Row]) -> Iterable[str]:
    for category, group in _groups(rows, "category"):
        yield _line(category, group)
        yield from (_baseline(item._replace(name=f"  {item.name}")) for item in BY_CATEGORY.get(category, ()))


def _table(title: str, lines: list[str]) -> str:
    heads = "".join(f"{head:>7}" for head in (*_HEADS, "fast"))
    return f"{title:<{_NAME}}{'n':>5}{heads}\n" + "".join(f"{line}\n" for line in lines)


def _line(name: str, rows: Sequence[Row]) -> str:
    cells = {"macro": macro((row.case.repo, row.quality["ndcg@10"]) for row in rows)}
    cells |= {head: mean([row.quality[metric] for row in rows]) for head, metric in COLUMNS.items()}
    fast = mean([row.fast["ndcg@10"] for row in rows])
    return f"{name:<{_NAME}}{len(rows):>5}{_cells(cells)}{fast:7.3f}"


def _baseline(item: Baseline) -> str:
    return f"{item.name:<{_NAME}}{'':>5}{_cells(item.cells)}".rstrip()


def _cells(cells: Mapping[str, float]) -> str:
    return "".join(f"{cells[head]:7.3f}" if head in cells else f"{'':7}" for head in _HEADS)
