"""A pack in JSON as of now: what no longer holds is changed in place, every other field stays as it was."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable
from copy import deepcopy
from datetime import datetime
from typing import Any

import msgspec

from satchel import ids
from satchel._version import __version__
from satchel.packing.budget import MAX_TOKENS
from satchel.packing.layers import build_pack
from satchel.packing.pack import DropReason
from satchel.storage.protocol import Snapshot
from satchel.types import Source
from satchel.verifying.json_pack import ItemKeys, JsonPack
from satchel.verifying.refreshing import (
    Count,
    KeptCitation,
    RefreshedPack,
    TreeOf,
    hold_budget,
    kept,
    lost_lines,
)
from satchel.verifying.relocation import CitedTree
from satchel.verifying.verification import CitationCheck
from satchel.visible_json import compact, indented

_IDS = ("id", "chunk_id", "snippet_id")
_INDENT = re.compile(r"\s*\{\r?\n( +)")


def refresh_json(
    text: str, pack: JsonPack, checks: list[CitationCheck], tree_of: TreeOf, count: Count
) -> RefreshedPack:
    """A pack of items or of sections."""
    found, left_out = kept(checks)
    counts = StatedCounts(pack)
    size = StatedSize(pack, lambda data: count(written_like(text, data)))
    pairs = [(entry, one) for entry, one in zip(pack.entries, found, strict=True) if one is not None]
    for entry, one in pairs:
        _edit(entry, pack.keys, one, tree_of(one.citation.ref))

    if "ref" in pack.data:
        pack.data["ref"] = pack.cited.ref

    def fits(parts: list[tuple[dict[str, Any], KeptCitation]]) -> bool:
        _put(pack, [entry for entry, _ in parts])
        counts.state(_sections(pairs) - _sections(parts))
        return size.fits()

    pairs_left, dropped = hold_budget(pairs, lambda pair: pair[1].changed, fits)
    fits(pairs_left)
    over = [f"{one.citation.locator}: it does not fit the budget any more" for _, one in dropped]
    held = {(one.place, one.citation.ref) for _, one in pairs_left}
    return RefreshedPack(written_like(text, pack.document), left_out + over + lost_lines(checks, held))


def refresh_layers(
    text: str, pack: JsonPack, checks: list[CitationCheck], index: Snapshot, created_at: datetime
) -> RefreshedPack:
    """A three-layer pack: its ids follow from its text, so it is built again from the files that it had."""
    listed = pack.data.get("source_files")
    paths = {entry.get("path") for entry in listed or () if isinstance(entry, dict)}
    paths |= {one.now.path for one in checks if one.now is not None}
    built = build_pack(
        index,
        [record for record in index.files() if record.path in paths],
        segment=str(pack.data.get("segment", "")),
        created_at=created_at,
        generator_version=__version__,
    )
    pack.data.clear()
    pack.data.update(msgspec.to_builtins(built))
    _, left_out = kept(checks)
    return RefreshedPack(written_like(text, pack.document), left_out)


def written_like(text: str, document: Any) -> str:
    """The document with the indentation of the text that it was read from."""
    indent = _INDENT.match(text.removeprefix("\ufeff"))
    data = compact(document) if indent is None else indented(document, len(indent[1]))
    return data + ("\n" if text.endswith("\n") else "")


def _edit(entry: dict[str, Any], keys: ItemKeys, one: KeptCitation, tree: CitedTree) -> None:
    place = one.place
    text = tree.text(place)
    source = tree.source(place.path)
    assert isinstance(source, Source)
    cited = one.citation
    same_chunk = place.path == cited.path and not one.changed  # then an id of the chunk still names it
    old, new = (f"{where.path}:{where.start_line}:{where.end_line}" for where in (cited, place))
    for name in _IDS:
        if name in entry and (entry[name] == old or not same_chunk):
            entry[name] = new
    values = {
        keys.path: place.path,
        keys.first: place.start_line,
        keys.last: place.end_line,
        keys.content: text,
        "content_hash": ids.hash_text(text),
        "file_hash": source.file_hash,
        "ref": cited.ref,
        "redactions": sum(place.start_line <= line <= place.end_line for line in source.redactions),
    }
    entry.update({name: value for name, value in values.items() if name in entry})


def _put(pack: JsonPack, entries: Iterable[dict[str, Any]]) -> None:
    """Only these entries, in their order, each in the list it was in."""
    kept_ids = {id(entry) for entry in entries}
    lists = pack.data["sections"] if pack.cited.format == "sections" else {"items": pack.data["items"]}
    for values in lists.values():
        values[:] = [entry for entry in values if id(entry) in kept_ids]


def _sections(parts: Iterable[tuple[dict[str, Any], KeptCitation]]) -> Counter[str]:
    return Counter(one.citation.section for _, one in parts)


_STATED_IN = ("budget", "metadata", "coverage_summary")
_MOST = 2**53  # a larger number is none that counts anything, and JSON readers disagree about it


class StatedCounts:
    """Counts of a pack that was read: a piece that is gone is no candidate any more, one that does not fit
    any more is dropped."""

    def __init__(self, pack: JsonPack) -> None:
        self._pack = pack
        self._before = {name: deepcopy(pack.part(name)) for name in _STATED_IN}

    def state(self, dropped: Counter[str]) -> None:
        """Count the items that the pack has now, besides those of each section that did not fit."""
        if dropped.total():
            self._state_budget(dropped.total())
        if self._pack.cited.format == "sections":
            self._state_metadata(dropped.total())
            self._state_coverage(dropped)

    def _state_budget(self, dropped: int) -> None:
        budget = self._pack.part("budget")
        if "dropped_items" in budget:
            total = _count(self._before["budget"]["dropped_items"]) + dropped
            budget.update(dropped_items=total, truncated=True)

    def _state_metadata(self, dropped: int) -> None:
        metadata = self._pack.part("metadata")
        if "selected" not in metadata:
            return
        stated = self._before["metadata"].get("dropped")
        reasons = {name: _count(value) for name, value in stated.items()} if isinstance(stated, dict) else {}
        if dropped:
            reasons[DropReason.BUDGET.value] = reasons.get(DropReason.BUDGET.value, 0) + dropped
        selected = sum(map(len, self._pack.data["sections"].values()))
        candidates = selected + _count(metadata.get("duplicates")) + sum(reasons.values())
        metadata.update(candidates=candidates, selected=selected, dropped=dict(sorted(reasons.items())))

    def _state_coverage(self, dropped: Counter[str]) -> None:
        for name, stated in self._pack.part("coverage_summary").items():
            if isinstance(stated, dict):
                before = _count(self._before["coverage_summary"][name].get("dropped"))
                selected = len(self._pack.data["sections"].get(name, ()))
                stated.update(selected=selected, dropped=before + dropped[name])


def _count(value: Any) -> int:
    return value if type(value) is int and 0 <= value < _MOST else 0


class _Stated(msgspec.Struct, frozen=True):
    """Where a pack states what it takes in one unit, how much it may take, and how that is counted."""

    part: dict[str, Any]
    key: str
    most: int  # 0: no limit
    measure: Callable[[], int]


class StatedSize:
    """Characters are those of the pack's compact JSON. What tokens are counted over is its maker's choice, so
    the stated count is corrected by what the text gained or lost."""

    def __init__(self, pack: JsonPack, tokens_of: Callable[[dict[str, Any]], int]) -> None:
        self._stated = [*_chars(pack), *_tokens(pack, tokens_of)]

    def fits(self) -> bool:
        """Whether the pack is within its budget, in each unit; states what it takes."""
        for one in self._stated:
            one.part[one.key] = 0
        while over := [(one, size) for one in self._stated if (size := one.measure()) > one.part[one.key]]:
            for one, size in over:  # only ever up: a number is part of the text that it counts
                one.part[one.key] = size
        return all(not one.most or one.part[one.key] <= one.most for one in self._stated)


def _chars(pack: JsonPack) -> list[_Stated]:
    parts = [part for part in (pack.part("budget"), pack.part("metadata")) if "used_chars" in part]
    return [
        _Stated(part, "used_chars", pack.cited.max_chars, lambda: len(compact(pack.data))) for part in parts
    ]


def _tokens(pack: JsonPack, tokens_of: Callable[[dict[str, Any]], int]) -> list[_Stated]:
    flat = pack.part("budget")
    part, key = (flat, "used_tokens") if "max_tokens" in flat else (pack.data, "token_budget_used")
    if not pack.cited.max_tokens or key not in part:
        return []
    before = tokens_of(pack.data)
    stated = part[key]
    believed = type(stated) is int and 0 <= stated <= MAX_TOKENS
    beside = stated - before if believed else 0
    most = pack.cited.max_tokens - pack.cited.headroom_tokens
    return [_Stated(part, key, max(most, 1), lambda: max(0, beside + tokens_of(pack.data)))]
