"""Pages of answers that are too long for one tool result, and the cursor that asks for the next page.

No state is kept between two calls: the same query gives the same answer as long as the index is the same, so
each page is cut out of the whole answer again. A cursor names the root, index, tool, arguments and answer
that it belongs to.
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

MAX_RESULT_TOKENS = 20_000  # clients refuse results of more than 25,000
_PAGE_TOKENS = MAX_RESULT_TOKENS - 1_000  # the rest is for the lines around a page
_VERSION = 1
_DIGEST_LENGTH = 16  # hex digits; enough to tell two answers apart
_MIN_CUT_CHARS = 1_000  # even the worst text of this length has no more tokens than a page may have


class PageStart(msgspec.Struct, frozen=True):
    """Where a page starts: at an item, and at a character inside it if the item is longer than a page."""

    item: int = 0
    character: int = 0


class Cursor(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """The start of a page, and the digests that tie it to one answer of one index."""

    version: int
    root: str
    generation: int
    query: str
    answer: str
    item: int
    character: int


class ResultPage(msgspec.Struct, frozen=True):
    """A part of an answer: its text, its items, and where the next page starts."""

    text: str
    data: Any
    note: str = ""
    next_start: PageStart | None = None


def take_page(
    answer: Any,
    render: Callable[[Any], str],
    start: PageStart,
    structured_content: Callable[[Any], Any] = lambda data: None,
) -> ResultPage:
    """Return as many items from `start` on as one result may have.

    `structured_content` returns what is sent beside the text of some items; it counts as well.
    """

    def fits(part: Any, text: str) -> bool:
        return _fits_page(text, structured_content(part))

    total = item_count(answer)
    if start == PageStart() and fits(answer, text := render(answer)):
        return ResultPage(text, answer)
    if start.item >= max(total, 1):
        raise InvalidCursor("the cursor is beyond the end of the answer", hint="ask again without a cursor")
    stop = start.item
    if not start.character:
        stop = _last_that_fits(
            lambda end: fits(part := slice_items(answer, start.item, end), render(part)), start.item, total
        )
    if stop == start.item:
        return _page_inside_item(answer, render, start, total, structured_content)
    part = slice_items(answer, start.item, stop)
    note = f"items {start.item + 1} to {stop} of {total}"
    return ResultPage(render(part), part, note, PageStart(stop) if stop < total else None)


def item_count(answer: Any) -> int:
    """Return how many items an answer has: the entries of its lists, and of the lists in its parts.

    The items are found by the types of the fields, so that a new command needs nothing here.
    """
    if not isinstance(answer, msgspec.Struct):
        return 0
    values = [getattr(answer, name) for name in answer.__struct_fields__]
    return sum(len(value) if isinstance(value, list) else item_count(value) for value in values)


def slice_items(answer: Any, start: int, stop: int) -> Any:
    """Return the same answer with the items from `start` up to `stop` alone."""
    changed: dict[str, Any] = {}
    position = 0
    for name in answer.__struct_fields__:
        value = getattr(answer, name)
        if isinstance(value, list):
            changed[name] = value[max(0, start - position) : max(0, stop - position)]
            position += len(value)
        elif count := item_count(value):
            changed[name] = slice_items(value, start - position, stop - position)
            position += count
    return msgspec.structs.replace(answer, **changed)


def query_digest(tool: str, arguments: Mapping[str, Any]) -> str:
    """Return a digest of a tool call, the same for every order of its arguments."""
    query = {name: value for name, value in arguments.items() if name != "cursor"}
    return ids.hash_text(msgspec.json.encode([tool, query], order="deterministic").decode())[:_DIGEST_LENGTH]


def answer_digest(text: str) -> str:
    """Return a digest of the text of an answer."""
    return ids.hash_text(text)[:_DIGEST_LENGTH]


def encode_cursor(cursor: Cursor) -> str:
    """Return a cursor as the text that callers hand back."""
    return base64.urlsafe_b64encode(msgspec.json.encode(cursor)).decode().rstrip("=")


def decode_cursor(text: str) -> Cursor:
    """Parse the text of a cursor."""
    try:
        padded = text.encode("ascii") + b"=" * (-len(text) % 4)
        cursor = msgspec.json.decode(base64.b64decode(padded, altchars=b"-_", validate=True), type=Cursor)
    except (ValueError, msgspec.DecodeError):
        raise InvalidCursor("this is no cursor", hint="give next_cursor as it was answered") from None
    if cursor.version != _VERSION or cursor.item < 0 or cursor.character < 0:
        raise InvalidCursor("this is no cursor of this version", hint="ask again without a cursor")
    return cursor


def make_cursor(root: str, generation: int, query: str, answer: str, start: PageStart) -> Cursor:
    """Return the cursor of a page of one answer; `query` and `answer` are digests."""
    return Cursor(_VERSION, root, generation, query, answer, start.item, start.character)


def check_cursor(given: Cursor, now: Cursor) -> None:
    """Raise unless the given cursor belongs to the answer that `now` is of."""
    reasons = {
        "root": "another root",
        "query": "another tool or other arguments",
        "generation": "an older index",
        "answer": "another answer",
    }
    for name, reason in reasons.items():
        if getattr(given, name) != getattr(now, name):
            raise CursorMismatch(f"the cursor is of {reason}", hint="ask again without a cursor")


def _last_that_fits(fits: Callable[[int], bool], start: int, total: int) -> int:
    """Return the largest end that fits, by binary search: a result grows with every item."""
    low, high = start, total
    while low < high:
        middle = (low + high + 1) // 2
        if fits(middle):
            low = middle
        else:
            high = middle - 1
    return low


def _page_inside_item(
    answer: Any,
    render: Callable[[Any], str],
    start: PageStart,
    total: int,
    structured_content: Callable[[Any], Any],
) -> ResultPage:
    """Return a part of an item that is longer than a page, cut at a line end and fenced anew."""
    part = slice_items(answer, start.item, start.item + 1) if total else answer
    text = render(part)
    if start.character >= len(text):
        raise InvalidCursor("the cursor is beyond the end of the answer", hint="ask again without a cursor")
    piece = _cut(text[start.character :], structured_content(part))
    end = start.character + len(piece)
    is_whole = end == len(text)
    next_item = PageStart(start.item + 1) if start.item + 1 < total else None
    fence = fence_for(piece)
    quoted = f"{fence}\n{piece.rstrip(chr(10))}\n{fence}\n"
    which = f"item {start.item + 1} of {max(total, 1)}"
    note = f"characters {start.character + 1} to {end} of {len(text)} of {which}"
    return ResultPage(quoted, part, note, next_item if is_whole else PageStart(start.item, end))


def _cut(text: str, structured: Any) -> str:
    """Return the beginning of a text that fits a page, up to a line end if there is one."""
    size = min(len(text), _PAGE_TOKENS * 4)
    while size > _MIN_CUT_CHARS and not _fits_page(text[:size], structured):
        size = size * 3 // 4
    if size == len(text):
        return text
    line_end = text.rfind("\n", 0, size)
    return text[: line_end + 1] if line_end > 0 else text[:size]


def _fits_page(text: str, structured: Any) -> bool:
    """Return whether a result is no longer than a page, as it is sent.

    A text never has more tokens than bytes, so a short one is accepted without counting tokens.
    """
    result = result_json(text, structured)
    if len(result) * 4 <= _PAGE_TOKENS or len(result.encode()) <= _PAGE_TOKENS:
        return True
    return tokenizers.get(tokenizers.DEFAULT_BUDGET).count(result) <= _PAGE_TOKENS
