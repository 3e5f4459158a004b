"""The page Status: how the index stands, what was left out and why, and where secrets were replaced."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from satchel.serving.viewer.page import Page, PageCalls, PageLinks, PageQuery

_MOST_SKIPPED = 500  # rows of a page


def view(calls: PageCalls, query: PageQuery, links: PageLinks) -> dict[str, Any]:
    """Return the state of the index, its size, and what is not in it."""
    status = calls.ask("status", skipped=True)
    stats = calls.try_to_ask("stats")
    reason = query.text("reason")
    skipped = [one for one in status.get("skipped", ()) if not reason or one["reason"] == reason]
    redacted = calls.try_to_ask("files", redacted=True, fast=True, limit=_MOST_SKIPPED)
    return {
        "status": status,
        "stats": stats,
        "reason": reason,
        "skipped": skipped[:_MOST_SKIPPED],
        "skipped_total": len(skipped),
        "redacted": redacted["files"] if redacted else [],
        "languages": _shares(stats["languages"]) if stats else [],
        "kinds": _shares(stats["kinds"]) if stats else [],
    }


def _shares(counts: Mapping[str, int]) -> list[dict[str, Any]]:
    """Return counts, the largest first, each with its width in percent of the largest."""
    ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    widest = ranked[0][1] if ranked else 1
    return [{"name": name, "count": count, "width": round(100 * count / widest, 2)} for name, count in ranked]


PAGE = Page("status", "Status", "status.html", view)
