"""A saved pack in JSON → the pack as of now: values that no longer hold are changed in place, every other
field of the document stays as it was."""

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
from satchel.packing.budget import MAX_TOKENS, Size, own_size
from satchel.packing.layers import build_pack
from satchel.packing.pack import DropReason
from satchel.storage.protocol import Snapshot
from satchel.tokenizers import Tokenizer
from satchel.types import Source
from satchel.verifying.json_pack import ItemKeys, JsonPack
from satchel.verifying.refreshing import (
    KeptCitation,
    RefreshedPack,
    TreeOf,
    drop_until_fits,
    kept_citations,
    lost_lines,
    over_budget,
)
from satchel.verifying.relocation import CitedTree
from satchel.verifying.verification import CitationCheck
from satchel.visible_json import compact, indented

_IDS = ("id", "chunk_id", "snippet_id")
_INDENT = re.compile(r"\s*\{\r?\n( +)")
_COUNTED_IN = ("budget", "metadata", "coverage_summary")  # the objects of a pack that state counts
_MOST = 2**53  # no count is larger, and readers of JSON disagree about larger numbers

KeptEntry = tuple[dict[str, Any], KeptCitation]


def refresh_json(
    text: str, pack: JsonPack, checks: list[CitationCheck], tree_of: TreeOf, tokenizer: Tokenizer
) -> RefreshedPack:
    """Refresh a pack of items or of sections."""
    kept, left_out = kept_citations(checks)
    counts = _StatedCounts(pack)
    size = _StatedSize(pack, lambda data: tokenizer.count(written_like(text, data)))
    entries = [(entry, one) for entry, one in zip(pack.entries, kept, strict=True) if one is not None]
    for entry, one in entries:
        _update_entry(entry, pack.keys, one, tree_of(one.citation.ref))
    if "ref" in pack.data:
        pack.data["ref"] = pack.cited.ref

    def fits(tried: list[KeptEntry]) -> bool:
        _keep_entries(pack, [entry for entry, _ in tried])
        counts.state(_by_section(entries) - _by_section(tried))
        return size.state_and_check()

    fitting, dropped = drop_until_fits(entries, lambda pair: pair[1].changed, fits)
    fits(fitting)
    held = {(one.location, one.citation.ref) for _, one in fitting}
    left_out += [over_budget(one.citation.locator) for _, one in dropped]
    return RefreshedPack(written_like(text, pack.document), left_out + lost_lines(checks, held))


def refresh_layers(
    text: str, pack: JsonPack, checks: list[CitationCheck], index: Snapshot, created_at: datetime
) -> RefreshedPack:
    """Refresh a three-layer pack. Its ids follow from its text, so it is built again, from the files that it
    lists and those that its citations moved to."""
    listed = pack.data.get("source_files")
    paths = {entry.get("path") for entry in listed or () if isinstance(entry, dict)}
    paths |= {check.now.path for check in checks if check.now is not None}
    built = build_pack(
        index,
        [record for record in index.files() if record.path in paths],
        segment=str(pack.data.get("segment", "")),
        created_at=created_at,
        generator_version=__version__,
    )
    pack.data.clear()
    pack.data.update(msgspec.to_builtins(built))
    _, left_out = kept_citations(checks)
    return RefreshedPack(written_like(text, pack.document), left_out)


def written_like(text: str, document: Any) -> str:
    """Return the document as JSON with the indentation of the text that it was read from."""
    indent = _INDENT.match(text.removeprefix("\ufeff"))
    data = compact(document) if indent is None else indented(document, len(indent[1]))
    return data + ("\n" if text.endswith("\n") else "")


def _update_entry(entry: dict[str, Any], keys: ItemKeys, kept: KeptCitation, tree: CitedTree) -> None:
    """Write the location and the text of now into an entry, under the keys that it has."""
    cited, location = kept.citation, kept.location
    text = tree.text(location)
    source = tree.source(location.path)
    assert isinstance(source, Source)
    # The id of a chunk follows from its text and path, so it still names an unchanged text that moved inside
    # its file.
    same_chunk = location.path == cited.path and not kept.changed
    old, new = (f"{lines.path}:{lines.start_line}:{lines.end_line}" for lines in (cited, location))
    for name in _IDS:
        if name in entry and (entry[name] == old or not same_chunk):
            entry[name] = new
    values = {
        keys.path: location.path,
        keys.first: location.start_line,
        keys.last: location.end_line,
        keys.content: text,
        "content_hash": ids.hash_text(text),
        "file_hash": source.file_hash,
        "ref": cited.ref,
        "redactions": sum(map(location.holds, source.redactions)),
    }
    entry.update({name: value for name, value in values.items() if name in entry})


def _keep_entries(pack: JsonPack, entries: Iterable[dict[str, Any]]) -> None:
    """Remove all other entries from the lists of the pack; those that stay keep their list and order."""
    kept = {id(entry) for entry in entries}
    lists = pack.data["sections"] if pack.cited.format == "sections" else {"items": pack.data["items"]}
    for values in lists.values():
        values[:] = [entry for entry in values if id(entry) in kept]


def _by_section(entries: Iterable[KeptEntry]) -> Counter[str]:
    return Counter(one.citation.section for _, one in entries)


class _StatedCounts:
    """The counts that a pack states of its items and candidates, corrected while items are left out. An item
    whose text is gone is no candidate any more; an item that no longer fits counts as dropped."""

    def __init__(self, pack: JsonPack) -> None:
        self._pack = pack
        self._before = {name: deepcopy(pack.part(name)) for name in _COUNTED_IN}

    def state(self, dropped: Counter[str]) -> None:
        """Write the counts of the items that the pack has now; `dropped` counts by section those that did not
        fit."""
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


class _StatedSize:
    """The size that a pack states of itself, corrected while items are left out.

    Characters are those of the pack's compact JSON. The maker of a pack chooses which text its tokens are
    counted over, so the stated tokens change by as many as the JSON gains or loses.
    """

    def __init__(self, pack: JsonPack, tokens_of: Callable[[dict[str, Any]], int]) -> None:
        self._pack = pack
        self._tokens_of = tokens_of
        budget, metadata = pack.part("budget"), pack.part("metadata")
        self._with_chars = [part for part in (budget, metadata) if "used_chars" in part]
        flat = "max_tokens" in budget
        self._with_tokens, self._key = (budget, "used_tokens") if flat else (pack.data, "token_budget_used")
        self._has_tokens = bool(pack.cited.max_tokens) and self._key in self._with_tokens
        stated = self._with_tokens.get(self._key)
        self._beside = 0  # tokens that the maker counted beside this JSON, or did not count of it
        if self._has_tokens and type(stated) is int and 0 <= stated <= MAX_TOKENS:
            self._beside = stated - tokens_of(pack.data)

    def state_and_check(self) -> bool:
        """Write the size of the pack into it; return whether that is within the budget."""
        size = own_size(self._measure, Size())
        self._measure(size)
        max_tokens = max(self._pack.cited.max_tokens - self._pack.cited.headroom_tokens, 1)
        max_chars = self._pack.cited.max_chars
        return size.tokens <= max_tokens and (not max_chars or size.chars <= max_chars)

    def _measure(self, stated: Size) -> Size:
        """Return the size of the pack with a size written into it."""
        for part in self._with_chars:
            part["used_chars"] = stated.chars
        tokens = 0
        if self._has_tokens:
            self._with_tokens[self._key] = stated.tokens
            tokens = max(0, self._beside + self._tokens_of(self._pack.data))
        return Size(tokens, len(compact(self._pack.data)) if self._with_chars else 0)
