"""Answers that are too long for one result: pages at item boundaries, and the cursor that asks for the next.

Nothing is kept between two calls: the same question gives the same answer as long as the index is the same,
so a page is cut out of it again. The cursor says of which root, index, tool, arguments and answer it is.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from satchel import ids, tokenizers
from satchel.commands.tool_results import result_json
from satchel.errors import CursorMismatch, InvalidCursor
from satchel.rendering.packs.quoting import fence_for
from satchel.serving.agents.answer_parts import item_count, items_between

MOST_TOKENS = 20_000  # clients refuse results of more than 25,000
_PAGE_TOKENS = 19_000  # the rest is for what stands around a page
_VERSION = 1
_DIGEST = 16  # hex digits; enough to tell two answers apart
_LEAST_CUT = 1_000  # characters; even the worst text has no more tokens than a page may have


class Place(msgspec.Struct, frozen=True):
    """Where a page starts: an item, and a character in it if the item alone is longer than a page."""

    item: int = 0
    character: int = 0


class Cursor(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """A place in one answer."""

    version: int
    root: str
    generation: int
    question: str
    answer: str
    item: int
    character: int


class Page(msgspec.Struct, frozen=True):
    """A part of an answer: its text, its items, and where the next one starts."""

    text: str
    data: Any
    note: str = ""
    following: Place | None = None


def page_of(
    answer: Any, render: Callable[[Any], str], start: Place, beside: Callable[[Any], Any] = lambda data: None
) -> Page:
    """As many items from a place on as a result may have; `beside` gives the structured content of some."""

    def fits(part: Any, text: str) -> bool:
        return _fits(text, beside(part))

    total = item_count(answer)
    if start == Place() and fits(answer, text := render(answer)):
        return Page(text, answer)
    if start.item >= max(total, 1):
        raise InvalidCursor("the cursor is beyond the end of the answer", hint="ask again without a cursor")
    stop = start.item
    if not start.character:
        stop = _last_that_fits(
            lambda end: fits(part := items_between(answer, start.item, end), render(part)), start.item, total
        )
    if stop == start.item:
        return _inside_an_item(answer, render, start, total, beside)
    part = items_between(answer, start.item, stop)
    note = f"items {start.item + 1} to {stop} of {total}"
    return Page(render(part), part, note, Place(stop) if stop < total else None)


def question_digest(tool: str, arguments: Mapping[str, Any]) -> str:
    """The same for the same question, in whatever order its arguments come."""
    asked = {name: value for name, value in arguments.items() if name != "cursor"}
    return ids.hash_text(msgspec.json.encode([tool, asked], order="deterministic").decode())[:_DIGEST]


def answer_digest(text: str) -> str:
    """The same for the same answer."""
    return ids.hash_text(text)[:_DIGEST]


def write_cursor(cursor: Cursor) -> str:
    """A cursor as callers hand it back."""
    return base64.urlsafe_b64encode(msgspec.json.encode(cursor)).decode().rstrip("=")


def read_cursor(text: str) -> Cursor:
    """A cursor as it was written; anything else is an error."""
    try:
        padded = text.encode("ascii") + b"=" * (-len(text) % 4)
        cursor = msgspec.json.decode(base64.b64decode(padded, altchars=b"-_", validate=True), type=Cursor)
    except (ValueError, msgspec.DecodeError):
        raise InvalidCursor("this is no cursor", hint="give next_cursor as it was answered") from None
    if cursor.version != _VERSION or cursor.item < 0 or cursor.character < 0:
        raise InvalidCursor("this is no cursor of this version", hint="ask again without a cursor")
    return cursor


def new_cursor(root: str, generation: int, question: str, answer: str, place: Place) -> Cursor:
    """The cursor of a place."""
    return Cursor(_VERSION, root, generation, question, answer, place.item, place.character)


def check_cursor(given: Cursor, now: Cursor) -> None:
    """A cursor is good for the answer that it was given with, and for no other."""
    names = {
        "root": "another root",
        "question": "another tool or other arguments",
        "generation": "an older index",
        "answer": "another answer",
    }
    for name, what in names.items():
        if getattr(given, name) != getattr(now, name):
            raise CursorMismatch(f"the cursor is of {what}", hint="ask again without a cursor")


def _last_that_fits(fits: Callable[[int], bool], start: int, total: int) -> int:
    """A result grows with every item, so the cut can be searched."""
    low, high = start, total
    while low < high:
        middle = (low + high + 1) // 2
        if fits(middle):
            low = middle
        else:
            high = middle - 1
    return low


def _inside_an_item(
    answer: Any, render: Callable[[Any], str], start: Place, total: int, beside: Callable[[Any], Any]
) -> Page:
    """An item that is longer than a page is cut at line ends, and each piece fenced anew."""
    part = items_between(answer, start.item, start.item + 1) if total else answer
    text = render(part)
    if start.character >= len(text):
        raise InvalidCursor("the cursor is beyond the end of the answer", hint="ask again without a cursor")
    piece = _cut(text[start.character :], beside(part))
    end = start.character + len(piece)
    is_whole = end == len(text)
    after = Place(start.item + 1) if start.item + 1 < total else None
    fence = fence_for(piece)
    quoted = f"{fence}\n{piece.rstrip(chr(10))}\n{fence}\n"
    which = f"item {start.item + 1} of {max(total, 1)}"
    note = f"characters {start.character + 1} to {end} of {len(text)} of {which}"
    return Page(quoted, part, note, after if is_whole else Place(start.item, end))


def _cut(text: str, structured: Any) -> str:
    size = min(len(text), _PAGE_TOKENS * 4)
    while size > _LEAST_CUT and not _fits(text[:size], structured):
        size = size * 3 // 4
    if size == len(text):
        return text
    line_end = text.rfind("\n", 0, size)
    return text[: line_end + 1] if line_end > 0 else text[:size]


def _fits(text: str, structured: Any) -> bool:
    """Whether a result is no longer than a page, as it is sent. It has no more tokens than bytes, so a short
    one needs no counting."""
    result = result_json(text, structured)
    if len(result) * 4 <= _PAGE_TOKENS or len(result.encode()) <= _PAGE_TOKENS:
        return True
    return tokenizers.get(tokenizers.DEFAULT_BUDGET).count(result) <= _PAGE_TOKENS
