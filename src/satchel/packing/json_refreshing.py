"""A pack in JSON as of now: what no longer holds is changed in place, every other field stays as it was."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from datetime import datetime
from typing import Any

import msgspec

from satchel import ids
from satchel._version import __version__
from satchel.packing.layers import build_pack
from satchel.packing.read_back import JsonPack, Keys
from satchel.packing.refreshing import Count, Kept, Refreshed, TreeOf, hold_budget, kept, lost_lines
from satchel.packing.relocation import CitedTree
from satchel.packing.stated_counts import StatedCounts
from satchel.packing.stated_size import StatedSize
from satchel.packing.verification import Verdict
from satchel.storage.protocol import Snapshot
from satchel.types import Source
from satchel.visible_json import compact, indented

_IDS = ("id", "chunk_id", "snippet_id")
_INDENT = re.compile(r"\s*\{\r?\n( +)")


def refresh_json(
    text: str, pack: JsonPack, verdicts: list[Verdict], tree_of: TreeOf, count: Count
) -> Refreshed:
    """A pack of items or of sections."""
    found, left_out = kept(verdicts)
    counts = StatedCounts(pack)
    size = StatedSize(pack, lambda data: count(written_like(text, data)))
    pairs = [(entry, one) for entry, one in zip(pack.entries, found, strict=True) if one is not None]
    for entry, one in pairs:
        _edit(entry, pack.keys, one, tree_of(one.citation.ref))

    if "ref" in pack.data:
        pack.data["ref"] = pack.cited.ref

    def fits(parts: list[tuple[dict[str, Any], Kept]]) -> bool:
        _put(pack, [entry for entry, _ in parts])
        counts.state(_sections(pairs) - _sections(parts))
        return size.fits()

    pairs_left, dropped = hold_budget(pairs, lambda pair: pair[1].changed, fits)
    fits(pairs_left)
    over = [f"{one.citation.locator}: it does not fit the budget any more" for _, one in dropped]
    held = {(one.place, one.citation.ref) for _, one in pairs_left}
    return Refreshed(written_like(text, pack.document), left_out + over + lost_lines(verdicts, held))


def refresh_layers(
    text: str, pack: JsonPack, verdicts: list[Verdict], index: Snapshot, created_at: datetime
) -> Refreshed:
    """A three-layer pack: its ids follow from its text, so it is built again from the files that it had."""
    listed = pack.data.get("source_files")
    paths = {entry.get("path") for entry in listed or () if isinstance(entry, dict)}
    paths |= {one.now.path for one in verdicts if one.now is not None}
    built = build_pack(
        index,
        [record for record in index.files() if record.path in paths],
        segment=str(pack.data.get("segment", "")),
        created_at=created_at,
        generator_version=__version__,
    )
    pack.data.clear()
    pack.data.update(msgspec.to_builtins(built))
    _, left_out = kept(verdicts)
    return Refreshed(written_like(text, pack.document), left_out)


def written_like(text: str, document: Any) -> str:
    """The document with the indentation of the text that it was read from."""
    indent = _INDENT.match(text.removeprefix("\ufeff"))
    data = compact(document) if indent is None else indented(document, len(indent[1]))
    return data + ("\n" if text.endswith("\n") else "")


def _edit(entry: dict[str, Any], keys: Keys, one: Kept, tree: CitedTree) -> None:
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


def _sections(parts: Iterable[tuple[dict[str, Any], Kept]]) -> Counter[str]:
    return Counter(one.citation.section for _, one in parts)
