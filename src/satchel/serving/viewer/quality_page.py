"""The page Quality: evaluations over time, the worst questions first, two runs against each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from satchel.errors import InvalidRequest
from satchel.evaluation.metrics import BUDGETS
from satchel.serving.viewer.page import CommandRefused, Page, PageCalls, PageLinks, PageQuery

_WIDTH, _HEIGHT, _LEFT, _TOP = 560, 220, 44, 12
_BOTTOM = 190  # where the axis is
_QUESTIONS = 100


def view(calls: PageCalls, query: PageQuery, links: PageLinks) -> dict[str, Any]:
    """Return the kept runs, and the figures and questions of one of them; of a library that it has none."""
    try:
        return quality(calls, query.text("run"), query.text("against"))
    except CommandRefused as refused:
        if query.text("run") or refused.error.get("code") != InvalidRequest.code:
            raise
        return {"quality": {"runs": [], "refused": refused.error}}


def quality(calls: PageCalls, run: str = "", against: str = "") -> dict[str, Any]:
    """Return what the page shows of a run: a kept one, or the file of a saved evaluation."""
    found = calls.ask("runs", run=run, against=against, limit=_QUESTIONS)
    runs = found["runs"]
    return {
        "quality": {"questions": [], "metrics": {}, "comparison": None, "run": "", "against": "", **found},
        "timeline": _timeline(runs),
        "curves": [
            _curve(found.get(name, {}), number)
            for number, name in enumerate(("metrics", "other_metrics"), 1)
            if found.get(name)
        ],
        "budgets": [(budget, _x_of_budget(budget)) for budget in BUDGETS],
        "grid": [(value, _y(value)) for value in (0.0, 0.25, 0.5, 0.75, 1.0)],
        "table": _table(found),
    }


def _y(share: float) -> float:
    return round(_BOTTOM - (_BOTTOM - _TOP) * share, 1)


def _x_of_budget(budget: int) -> float:
    """Return the place of a budget; each is twice the one before."""
    step = (_WIDTH - _LEFT - 20) / (len(BUDGETS) - 1)
    return round(_LEFT + step * BUDGETS.index(budget), 1)


def _curve(metrics: Mapping[str, Any], number: int) -> dict[str, Any]:
    """Return recall of gold files against tokens, as points of a drawing."""
    points = [
        (_x_of_budget(budget), _y(metrics[name]["mean"]), metrics[name]["mean"], budget)
        for budget in BUDGETS
        if (name := f"file_recall@{budget}t") in metrics
    ]
    path = "".join(f"{'L' if at else 'M'}{x} {y}" for at, (x, y, _, _) in enumerate(points))
    return {"points": points, "path": path, "class": f"p{number}"}


def _timeline(runs: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the first metric of all runs, oldest first, as points of a drawing."""
    step = (_WIDTH - _LEFT - 20) / max(1, len(runs) - 1)
    points = [{"x": round(_LEFT + step * at, 1), "y": _y(one["score"]), **one} for at, one in enumerate(runs)]
    path = "".join(f"{'L' if at else 'M'}{one['x']} {one['y']}" for at, one in enumerate(points))
    return {"points": points, "path": path}


def _table(found: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return each metric with its interval, and its difference to the other run."""
    differences = {}
    if found.get("comparison"):
        differences = {one["metric"]: one for one in found["comparison"]["differences"]}
    return [
        {
            "name": name,
            **mean,
            "low": mean.get("low"),
            "high": mean.get("high"),
            "against": differences.get(name),
        }
        for name, mean in found.get("metrics", {}).items()
    ]


PAGE = Page("quality", "Quality", "quality.html", view)
