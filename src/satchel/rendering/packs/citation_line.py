"""The line that cites: `src/shop/session.py:12-48 #3f2a9c1d2e4b class SessionStore`.

    line     = [path] ":" first ["-" last] tail
    tail     = " #" hash [" @" ref] [" (" label {", " label} ", " distance " hop(s))"] [" " kind [" " symbol]]

A path or ref with anything odd in it is a JSON string, so the line is read back exactly. A line without a
path means that of the item before it. A kind of `-` stands for none where a symbol follows.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from satchel.packing.citation import SHORT_HASH, Citation
from satchel.packing.pack import Item, Role
from satchel.rendering.packs.quoting import TOKEN, quoted_line, read_token, short_ref, token
from satchel.rendering.packs.text_reading import not_ours

LOCATOR = rf"(?P<path>{TOKEN})?:(?P<first>\d{{1,9}})(?:-(?P<last>\d{{1,9}}))?"
PROOF = (
    rf"#(?P<hash>[0-9a-f]{{{SHORT_HASH},64}})(?: @(?P<ref>{TOKEN}))?"
    r"(?: \((?P<labels>\w+(?:, \w+)*), (?P<distance>\d{1,9}) hops?\))?"
)
NAMED = r"(?: (?P<kind>[\w-]+)(?: (?P<symbol>.*))?)?"
_LINE = rf"{LOCATOR} {PROOF}{NAMED}"
_NO_WORD = re.compile(r"\W+")
_NONE = "-"
_UNLABELLED = "related"


def citation_line(item: Item, pack_ref: str, *, same_path: bool = False, nameless: bool = False) -> str:
    """All that an agent needs to cite these lines, and to know what they are."""
    where = lines_of(item) if same_path else f"{token(item.path)}{lines_of(item)}"
    return f"{where} {proof(item, pack_ref)}{'' if nameless else named(item)}"


def lines_of(item: Item) -> str:
    """`:12-48`, or `:12` for one line."""
    last = f"-{item.end_line}" if item.end_line != item.start_line else ""
    return f":{item.start_line}{last}"


def proof(item: Item, pack_ref: str) -> str:
    """The hash, the ref if it is not the pack's, and how a related item belongs to the others."""
    ref = f" @{token(short_ref(item.ref))}" if item.ref != pack_ref else ""
    return f"#{item.content_hash[:SHORT_HASH]}{ref}{_related(item)}"


def named(item: Item) -> str:
    """The kind and the symbol, with a space before each."""
    kind = _NO_WORD.sub("_", item.kind)
    symbol = quoted_line(item.symbol)
    return f" {kind or _NONE} {symbol}" if symbol else f" {kind}" if kind else ""


def read_citation_line(line: str, before: str, pack_ref: str, section: str) -> Citation | None:
    """The citation of a line; None if it is no such line. `before` is the path of the item before it."""
    match = re.fullmatch(_LINE, line)
    return read_match(match.groupdict(), before, pack_ref, section) if match is not None else None


def read_match(found: Mapping[str, Any], before: str, pack_ref: str, section: str) -> Citation:
    """The citation that the named groups of a match hold."""
    first = int(found["first"])
    last = int(found["last"] or first)
    if not 1 <= first <= last:
        raise not_ours(f"there are no lines {first} to {last}")
    try:
        path = before if found["path"] is None else read_token(found["path"])
        ref = pack_ref if found["ref"] is None else read_token(found["ref"])
    except ValueError as error:
        raise not_ours(
            f"{line_start(str(found['path']))} has a path or ref that is no JSON string"
        ) from error
    labels = tuple((found["labels"] or "").split(", ")) if found["labels"] else ()
    return Citation(
        path=path,
        start_line=first,
        end_line=last,
        content_hash=found["hash"],
        ref=ref,
        section=section,
        kind="" if found.get("kind") in (None, _NONE) else found["kind"],
        symbol=found.get("symbol") or "",
        relationship=() if labels == (_UNLABELLED,) else labels,
        distance=int(found["distance"] or 0),
    )


def line_start(line: str) -> str:
    """Enough of a line to find it."""
    return repr(line if len(line) <= 60 else f"{line[:60]}…")


def _related(item: Item) -> str:
    if item.role is not Role.RELATED and not item.relationship:
        return ""
    labels = ", ".join(_NO_WORD.sub("_", label) or "_" for label in item.relationship) or _UNLABELLED
    return f" ({labels}, {item.distance} hop{'' if item.distance == 1 else 's'})"
