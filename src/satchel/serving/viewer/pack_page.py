"""The page Pack: a pack beside its budget, what was left out and when it enters, and whether it still holds.

A pack comes from a question, from a change, or from a saved file; all three become the same `PackView`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec
from msgspec.structs import replace

from satchel import tokenizers
from satchel.commands.pack import CONTEXT
from satchel.errors import SatchelError
from satchel.packing.sections import CAPS, PackMode, Section
from satchel.rendering.packs import PACK_FORMATS
from satchel.serving.viewer.code_lines import CodeLine, code_lines
from satchel.serving.viewer.page import CommandRefused, Page, PageCalls, PageLinks, PageQuery
from satchel.types import Counted
from satchel.verifying.json_pack import read_json
from satchel.verifying.saved_pack import CitedPack
from satchel.wording import counted

# The formats that a pack is copied in, and how buttons call them.
COPIED = (("context", "context"), ("markdown", "markdown"), ("xml", "xml"), ("sections", "json"))
_BUDGET = 4_000
_SLIDER = (500, 32_000)  # tokens
_LARGER = (1.25, 1.5, 2, 3, 4)  # times the budget, to see what enters when
_FILES = 8  # files that have a part of their own in the bar
_OPENED = "opened"


class PackItem(msgspec.Struct, frozen=True, kw_only=True):
    """A cited piece of a pack, as the page shows it. `state` is what `verify` says of it."""

    number: int
    section: str
    path: str
    start_line: int
    end_line: int
    ref: str
    kind: str
    symbol: str
    score: float
    reasons: Sequence[str]
    content_hash: str
    tokens: int
    lines: Sequence[CodeLine]
    mark: str = ""
    state: str = ""
    detail: str = ""
    redactions: int = 0


class PackView(msgspec.Struct, frozen=True, kw_only=True):
    """A pack as the page shows it."""

    query: str
    ref: str
    tokenizer: str
    budget: int
    used: int
    items: Sequence[PackItem]
    hints: Sequence[str]
    next_queries: Sequence[Mapping[str, str]]
    dropped: Mapping[str, int]
    coverage: Mapping[str, Mapping[str, int]]
    is_review: bool = False

    @property
    def sections(self) -> list[tuple[str, list[PackItem]]]:
        """Return the items by section, in the order of sections."""
        names = list(dict.fromkeys(item.section for item in self.items))
        return [(name, [item for item in self.items if item.section == name]) for name in names]

    @property
    def overhead(self) -> int:
        """Return the tokens of the pack beside the lines that it cites."""
        return max(0, self.used - sum(item.tokens for item in self.items))


def view(calls: PageCalls, query: PageQuery, links: PageLinks) -> dict[str, Any]:
    """Return what the page shows for a question or a change."""
    form = _form(query)
    if not is_asked(query):
        return {"form": form, "pack": None, "refused": None}
    try:
        pack = make_pack(calls, query)
    except CommandRefused as refused:
        if refused.is_passing:
            raise
        return {"form": form, "pack": None, "refused": refused.error}
    asked = {name: given for name, given in query.all().items() if name not in ("project", "left", "format")}
    shown = {
        "form": form,
        "asked": asked,
        "pack": pack,
        "copied": COPIED,
        "bar": budget_bar(pack),
        "files": file_parts(pack),
    }
    if query.text("left"):
        shown["entering"] = entering(calls, query, pack)
    return shown


def is_asked(query: PageQuery) -> bool:
    """Return whether the address names a question or a change."""
    return bool(query.text("q") or _change(query))


def make_pack(calls: PageCalls, query: PageQuery, budget: int = 0) -> PackView:
    """Return the pack that the address asks for, with the state of its citations."""
    asked = _asked(query, budget)
    if _change(query):
        return _review(calls, asked, with_states=not budget)
    data = calls.ask("build_context_pack", budget_counts=Counted.TEXT.value, **asked)
    states = {} if budget else _states(calls, msgspec.json.encode(data).decode())
    return _of_data(data, states)


def _review(calls: PageCalls, asked: Mapping[str, Any], *, with_states: bool) -> PackView:
    """Return the pack of a change as agents get it: as data it would hold half as many items."""
    answer = calls.ask("pack", format=CONTEXT, **asked)
    text = answer["document"]
    pack = _of_cited(read_saved(text), _states(calls, text) if with_states else {})
    return replace(pack, used=answer.get("used_tokens", pack.used), is_review=True)


def document(calls: PageCalls, query: PageQuery, name: str) -> str:
    """Return the pack that the address asks for in a format, as `satchel pack` prints it."""
    answer = calls.ask("pack", format=name, **_asked(query, 0))
    return str(answer["document"])


def _asked(query: PageQuery, budget: int) -> dict[str, Any]:
    """Return the fields of the request that the address gives."""
    change = _change(query)
    fields: dict[str, Any] = {
        "query": query.text("q"),
        "budget_tokens": budget or query.number("budget", _BUDGET),
    }
    if change:
        return {**fields, **change}
    caps = {name.value: query.number(name.value, -1) for name in Section if query.text(name.value)}
    fields |= {"section_caps": caps, "mode": query.text("mode", PackMode.FULL.value)}
    named = {name: query.text(name) for name in ("ref", "language", "path_prefix") if query.text(name)}
    return {**fields, **named}


def _change(query: PageQuery) -> dict[str, Any]:
    if query.text("diff"):
        return {"diff": query.text("diff")}
    return {name: True for name in ("staged", "changed") if query.text(name)}


def _form(query: PageQuery) -> dict[str, Any]:
    """Return the values of the form: the question, the budget and the caps of sections."""
    mode = PackMode(query.text("mode")) if query.text("mode") in set(PackMode) else PackMode.FULL
    return {
        "q": query.text("q"),
        "diff": query.text("diff"),
        "ref": query.text("ref"),
        "mode": mode.value,
        "modes": [one.value for one in PackMode],
        "budget": query.number("budget", _BUDGET),
        "least": _SLIDER[0],
        "most": max(_SLIDER[1], query.number("budget", _BUDGET)),
        "caps": [(name.value, query.number(name.value, CAPS[mode][name])) for name in Section],
        "is_review": bool(_change(query)),
    }


def _of_data(data: Mapping[str, Any], states: Mapping[int, Mapping[str, Any]]) -> PackView:
    """Return the pack that `build_context_pack` answers with, or the format `sections`."""
    snippets = [(name, one) for name, own in data["sections"].items() for one in own]
    tokenizer = data["metadata"]["tokenizer"]
    return PackView(
        query=data["query"],
        ref=data["ref"],
        tokenizer=tokenizer,
        budget=data["budget_tokens"],
        used=data["token_budget_used"],
        items=[
            _item(number, section, one, states.get(number, {}), tokenizer)
            for number, (section, one) in enumerate(snippets)
        ],
        hints=data["missing_context_hints"],
        next_queries=data["suggested_next_queries"],
        dropped=data["metadata"]["dropped"],
        coverage=data["coverage_summary"],
        is_review=data["mode"] == "review",
    )


def _item(
    number: int, section: str, one: Mapping[str, Any], state: Mapping[str, Any], tokenizer: str
) -> PackItem:
    reasons = list(one["selection_reason"])
    mark = "removed" if one.get("is_removed", "removed" in reasons) else "added"
    changed = one.get("changed_lines", [])
    return PackItem(
        number=number,
        section=section,
        path=one["path"],
        start_line=one["line_start"],
        end_line=one["line_end"],
        ref=one["ref"],
        kind=one.get("kind", ""),
        symbol=one.get("symbol", ""),
        score=one.get("score", 0.0),
        reasons=reasons,
        content_hash=one["content_hash"],
        tokens=_count(tokenizer, one["content"]),
        lines=code_lines(one["path"], one["content"], one["line_start"], changed, mark),
        mark=mark if changed else "",
        state=state.get("state", ""),
        detail=state.get("detail", ""),
        redactions=one.get("redactions", 0),
    )


def _count(tokenizer: str, text: str) -> int:
    try:
        return tokenizers.get(tokenizer).count(text)
    except SatchelError:  # a saved pack may name a tokenizer that is not here
        return tokenizers.get(tokenizers.DEFAULT).count(text)


def _states(calls: PageCalls, text: str) -> dict[int, Mapping[str, Any]]:
    """Return what `verify` says of each citation of a pack, by its place."""
    checked = calls.try_to_ask("verify", text=text)
    return dict(enumerate(checked["items"])) if checked else {}


def saved_view(calls: PageCalls, text: str, *, refresh: bool = False) -> dict[str, Any]:
    """Return what the page shows of a saved pack: its citations as they were, and what became of each."""
    checked = calls.ask("verify", text=text, refresh=refresh)
    if refresh and checked.get("refreshed"):
        return saved_view(calls, checked["refreshed"])
    pack = _of_cited(read_saved(text), dict(enumerate(checked["items"])))
    counts = {name: count for name, count in checked["counts"].items() if count}
    return {"pack": pack, "bar": budget_bar(pack), "files": file_parts(pack), "saved": counts, "text": text}


def read_saved(text: str) -> CitedPack:
    """Return the citations of a saved pack in any format; raise CommandRefused if it is none."""
    found = read_json(text)
    if found is not None:
        return found.cited
    for name in PACK_FORMATS.names():
        cited = PACK_FORMATS.get(name).read(text)
        if cited is not None:
            return cited
    raise CommandRefused({"message": "this is a pack in no known format", "hint": "write one: satchel pack"})


def _of_cited(cited: CitedPack, states: Mapping[int, Mapping[str, Any]]) -> PackView:
    tokenizer = cited.tokenizer or tokenizers.DEFAULT
    items = []
    for number, one in enumerate(cited.citations):
        snippet = {
            "path": one.path,
            "line_start": one.start_line,
            "line_end": one.end_line,
            "ref": one.ref,
            "kind": one.kind,
            "symbol": one.symbol,
            "score": one.score,
            "selection_reason": one.reasons,
            "content_hash": one.content_hash,
            "content": one.shown or "",
            "changed_lines": one.changed,
            "is_removed": "removed" in one.relationship,
        }
        items.append(_item(number, one.section or "items", snippet, states.get(number, {}), tokenizer))
    return PackView(
        query=cited.query.strip(),
        ref=cited.ref,
        tokenizer=tokenizer,
        budget=cited.max_tokens,
        used=sum(item.tokens for item in items),
        items=items,
        hints=cited.hints,
        next_queries=[{"query": one.query, "reason": one.reason} for one in cited.next_queries],
        dropped=cited.counts.dropped if cited.counts else {},
        coverage={},
    )


def budget_bar(pack: PackView) -> list[dict[str, Any]]:
    """Return the parts of the budget bar: one for each item in the order of the pack, then what is beside
    them. Positions are in percent of the budget."""
    whole = max(pack.budget, pack.used, 1)
    parts, at = [], 0.0
    for item in pack.items:
        width = 100 * item.tokens / whole
        parts.append({"item": item, "section": item.section, "x": round(at, 3), "width": round(width, 3)})
        at += width
    parts.append(
        {"item": None, "section": "rest", "x": round(at, 3), "width": round(100 * pack.overhead / whole, 3)}
    )
    return parts


def file_parts(pack: PackView) -> list[dict[str, Any]]:
    """Return how many tokens of the pack each file takes, the largest first."""
    sizes: Counter[str] = Counter()
    for item in pack.items:
        sizes[item.path] += item.tokens
    ranked = sorted(sizes.items(), key=lambda pair: (-pair[1], pair[0]))
    rows: list[dict[str, Any]] = [{"path": path, "tokens": tokens} for path, tokens in ranked[:_FILES]]
    rest = ranked[_FILES:]
    if rest:
        rows.append(
            {
                "path": counted(len(rest), "more file"),
                "tokens": sum(tokens for _, tokens in rest),
                "is_rest": True,
            }
        )
    widest = max((row["tokens"] for row in rows), default=1)
    return [{**row, "width": round(100 * row["tokens"] / widest, 2)} for row in rows]


def entering(calls: PageCalls, query: PageQuery, pack: PackView) -> list[dict[str, Any]]:
    """Return what larger budgets would add, each with the least of some budgets that has it. A larger pack
    holds whatever a smaller one holds, so what is new in it was left out."""
    known = {(item.path, line) for item in pack.items for line in range(item.start_line, item.end_line + 1)}
    rows = []
    for times in _LARGER:
        budget = round(pack.budget * times)
        larger = make_pack(calls, query, budget)
        new = [item for item in larger.items if not _is_known(item, known)]
        rows += [{"item": item, "budget": budget} for item in new]
        known |= set(_lines_of(new))
    return rows


def _lines_of(items: Iterable[PackItem]) -> Iterable[tuple[str, int]]:
    return ((item.path, line) for item in items for line in range(item.start_line, item.end_line + 1))


def _is_known(item: PackItem, known: set[tuple[str, int]]) -> bool:
    return all(line in known for line in _lines_of([item]))


PAGE = Page("pack", "Pack", "pack.html", view)
