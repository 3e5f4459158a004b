"""The page Ask: what `search` answers, with its lines, its filters as chips and the parts of each score."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

from markupsafe import Markup, escape

from satchel import languages, plugins
from satchel.retrieval.signals.signal import SignalGroup
from satchel.serving.viewer.code_lines import code_lines
from satchel.serving.viewer.page import CommandRefused, Page, PageCalls, PageLinks, PageQuery

_FILTERS = ("language", "path_prefix", "chunk_type", "file_pattern", "include_paths", "exclude_paths")
_SEVERAL = ("include_paths", "exclude_paths")
_HITS = 10
_MOST_HITS = 100
_AROUND = 3  # lines shown before and after the lines that fit
_FOLDED = 24  # lines of a hit that are shown at once
_FOLDERS = 12  # of the project, the largest
_EXPLAINED = 12  # signals that are compared one by one
# Files up to which the most central definitions, which need the whole code graph, are loaded unasked: the
# 77,744 of Linux take one to two seconds of CPU.
_QUICK_GRAPH = 100_000
_CHIPS = 6  # values of a filter that are offered
_WORD = re.compile(r"[^\W_]{3,}")
# A word is part of a name: `session` is in `SessionStore` and `get_session`, not in `obsession`.
_WORD_START = r"(?-i:(?<![A-Za-z])|(?<![A-Z])(?=[A-Z]))"
_WORD_END = r"(?-i:(?![a-z]))"


def view(calls: PageCalls, query: PageQuery, links: PageLinks) -> dict[str, Any]:
    """Return what the page shows: hits for a question, or the project at a glance without one."""
    asked = query.text("q")
    filters = _filters(query)
    if not asked:
        return {"q": "", "filters": filters, **_glance(calls, with_central=bool(query.text("central")))}
    k = min(query.number("k", _HITS), _MOST_HITS)
    try:
        found = calls.ask("search", query=asked, k=k, explain=True, **filters)
    except CommandRefused as refused:
        if refused.is_passing:
            raise
        return {"q": asked, "filters": filters, "refused": refused.error, "hits": []}
    hits = _hits(calls, found["hits"], _emphasis(asked))
    chosen = [number for number in query.many("explain") if number.isdecimal()]
    return {
        "q": asked,
        "refused": None,
        "k": k,
        "filters": filters,
        "hits": hits,
        "suggestions": found.get("suggestions", []),
        "chips": _chips(hits, filters),
        "active": _active(query, filters, links),
        "explained": _comparison(hits, chosen),
        "groups": sorted({part["group"] for hit in hits for part in hit["bar"]}),
        "more": k < _MOST_HITS and len(hits) == k,
        "here": query.all(),
    }


def _filters(query: PageQuery) -> dict[str, Any]:
    """Return the filters that the address names, as the command takes them."""
    return {
        name: value
        for name in _FILTERS
        if (value := query.many(name) if name in _SEVERAL else query.text(name))
    }


def _glance(calls: PageCalls, *, with_central: bool) -> dict[str, Any]:
    """Return what is known of the project before anything is asked. The most central definitions, which need
    the whole code graph, are a part of their own."""
    folders = calls.ask("files", depth=1, sort="bytes", limit=_FOLDERS, fast=True)
    central = calls.ask("map", budget_tokens=600)["symbols"][:12] if with_central else None
    stats = calls.ask("stats")
    return {
        "stats": stats,
        "folders": folders,
        "central": central,
        "central_is_quick": stats["files"] <= _QUICK_GRAPH,
        "hits": None,
    }


def _emphasis(asked: str) -> Callable[[str], Markup]:
    """Return what marks the words of a question in a text."""
    words = sorted({word.lower() for word in _WORD.findall(asked)}, key=len, reverse=True)[:40]
    if not words:
        return escape
    stems = "|".join(re.escape(word.removesuffix("s")) for word in words)
    pattern = re.compile(rf"{_WORD_START}(?:{stems})(?:es|s)?{_WORD_END}", re.IGNORECASE)

    def mark(text: str) -> Markup:
        done, parts = 0, []
        for match in pattern.finditer(text):
            parts += [escape(text[done : match.start()]), Markup("<mark>{}</mark>").format(match.group())]
            done = match.end()
        return Markup("").join([*parts, escape(text[done:])])

    return mark


def _hits(
    calls: PageCalls, found: Sequence[Mapping[str, Any]], emphasis: Callable[[str], Markup]
) -> list[dict[str, Any]]:
    """Return the hits with their lines: those that fit best are marked, the rest is folded."""
    texts = _texts(calls, found)
    scale = max((_extent(hit) for hit in found), default=1.0) or 1.0
    rows = []
    for rank, hit in enumerate(found, 1):
        text = texts.get(_locator(hit), hit["snippet"])
        first = _first_line(hit, text)
        last = first + hit["snippet"].rstrip("\n").count("\n")
        lines = code_lines(hit["path"], text, hit["start_line"], [(first, last)], emphasis=emphasis)
        shown = [line for line in lines if first - _AROUND <= line.number <= last + _AROUND][:_FOLDED]
        rows.append(
            {
                **hit,
                "rank": rank,
                "lines": shown,
                "folded": len(lines) - len(shown),
                "language": languages.detect(hit["path"]),
                "bar": _bar(hit.get("reasons", ()), scale),
            }
        )
    return rows


def _texts(calls: PageCalls, found: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """Return the whole text of each hit, by its locator."""
    if not found:
        return {}
    got = calls.try_to_ask("get", ids=[_locator(hit) for hit in found])
    return {chunk["asked"]: chunk["text"] for chunk in got["chunks"]} if got else {}


def _locator(hit: Mapping[str, Any]) -> str:
    return f"{hit['path']}:{hit['start_line']}:{hit['end_line']}"


def _first_line(hit: Mapping[str, Any], text: str) -> int:
    at = text.find(hit["snippet"])
    return int(hit["start_line"]) + (text.count("\n", 0, at) if at > 0 else 0)


@cache
def _groups() -> dict[str, tuple[str, ...]]:
    """Return the signals of each group, as their plug-ins name them."""
    loaded: list[SignalGroup] = [plugins.load("signal", name) for name in plugins.names("signal")]
    return {group.name: group.signals for group in loaded}


def group_of(signal: str) -> str:
    """Return the group of a signal; `other` for one that no group names."""
    return next((name for name, signals in _groups().items() if signal in signals), "other")


def _extent(hit: Mapping[str, Any]) -> float:
    return sum(abs(float(reason["score"])) for reason in hit.get("reasons", ()))


def _bar(reasons: Sequence[Mapping[str, Any]], scale: float) -> list[dict[str, Any]]:
    """Return the parts of a score by group of signals, as parts of a bar: what speaks for a hit, then what
    speaks against it."""
    sums: Counter[tuple[bool, str]] = Counter()
    for reason in reasons:
        sums[(reason["score"] < 0, group_of(reason["signal"]))] += reason["score"]
    parts, at = [], 0.0
    for (negative, group), score in sorted(sums.items(), key=lambda item: (item[0][0], -abs(item[1]))):
        width = 100 * abs(score) / scale
        parts.append(
            {
                "group": group,
                "score": score,
                "x": round(at, 2),
                "width": round(width, 2),
                "negative": negative,
            }
        )
        at += width
    return parts


def _comparison(hits: Sequence[dict[str, Any]], chosen: Sequence[str]) -> dict[str, Any] | None:
    """Return two hits side by side, signal by signal; one alone is compared with the best other hit."""
    ranks = [int(number) for number in chosen if 1 <= int(number) <= len(hits)][-2:]
    if not ranks or len(hits) < 2:
        return None
    if len(ranks) == 1 or ranks[0] == ranks[1]:
        ranks = [ranks[0], 1 if ranks[0] != 1 else 2]
    left, right = (hits[rank - 1] for rank in sorted(ranks))
    scores = [{part["signal"]: part for part in hit.get("reasons", ())} for hit in (left, right)]
    rows = []
    for signal in {*scores[0], *scores[1]}:
        one, other = (side.get(signal, {"strength": 0.0, "score": 0.0}) for side in scores)
        rows.append(
            {
                "signal": signal,
                "group": group_of(signal),
                "left": one,
                "right": other,
                "difference": one["score"] - other["score"],
            }
        )
    rows.sort(key=lambda row: (-abs(row["difference"]), row["signal"]))
    rest = rows[_EXPLAINED:]
    rows = rows[:_EXPLAINED]
    widest = max((abs(row["difference"]) for row in rows), default=1.0) or 1.0
    others = {"count": len(rest), "difference": sum(row["difference"] for row in rest)}
    return {"left": left, "right": right, "rows": rows, "widest": widest, "others": others}


def _chips(hits: Sequence[Mapping[str, Any]], filters: Mapping[str, Any]) -> list[dict[str, str]]:
    """Return the filters that these hits suggest and that are not set yet."""
    folders = Counter(hit["path"].rpartition("/")[0].partition("/")[0] for hit in hits)
    counted = {
        "language": Counter(hit["language"] for hit in hits),
        "chunk_type": Counter(hit["kind"] for hit in hits),
        "path_prefix": folders,
    }
    return [
        {"name": name, "value": value, "count": str(count)}
        for name, counts in counted.items()
        if name not in filters and len(counts) > 1
        for value, count in sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:_CHIPS]
        if value
    ]


def _active(query: PageQuery, filters: Mapping[str, Any], links: PageLinks) -> list[dict[str, str]]:
    """Return the filters that are set, each with the address of the page without it."""
    rows = []
    for name, given in filters.items():
        for value in given if isinstance(given, list) else [given]:
            values: dict[str, Any] = {**query.all(), name: [one for one in query.many(name) if one != value]}
            values.pop("project", None)
            rows.append({"name": name, "value": value, "without": links.page("", **values)})
    return rows


PAGE = Page("", "Ask", "ask.html", view)
