"""Hints for a reader to whom a pack is not enough: what was left out, a larger budget, a narrower filter."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from itertools import islice
from math import ceil

import msgspec

from satchel.packing.budget import MAX_CHARS, MAX_TOKENS, Size
from satchel.packing.pack import DropReason, Pack
from satchel.packing.sections import Section
from satchel.tokenizers import CharsPerToken
from satchel.types import Passage

_MOST_HINTS = 4
FETCH = "get "  # starts the hint that is a call of `get`, with the locators that it takes
# Passages that one call of `get` is proposed for. After a pack of 4,000 tokens, one call for the next six of
# the order completes the changed lines of 7 in 100 fixes; for the four that promise most, of 5.6 (685 fixes).
MOST_FETCHED = (6, 3, 1)  # with less and less room
_LEAST_REST = 3  # lines of a passage that is shown in part; fewer are its closing brackets
LIKELY = 0.1  # of the best promise; a section without a passage that promises as much is not missed
_UNLIKE = 1.4  # how much more tokens the rest may take for its length: shorter passages, denser text
_ITEM_TOKENS, _ITEM_CHARS = 180, 600  # of a citation with its hashes, in the longest of the formats
_ESTIMATED = 1.4  # a tokenizer that estimates counts more, and leaves headroom
_AND_GUIDANCE = 1.25  # room for guidance is kept as well, and a larger pack names more files
_ROUND_TO = 500  # a budget is proposed in steps of this
_MANY = 6  # items below one folder; fewer are no reason to narrow
_SAME_FOLDER = 0.6  # the share of items below one folder that makes it worth naming


class LeftOutPassages(msgspec.Struct, frozen=True):
    """What is not in a pack, or not whole."""

    passages: Sequence[Passage]  # that did not fit, those first that would be shown next
    chars: Sequence[int]  # of each of them, and of each related item that did not fit
    missed: Collection[Section]  # of passages that are likely to be needed, or that a cap forbids


def hints(pack: Pack, left_out: LeftOutPassages, size: Size, fetched: int) -> tuple[str, ...]:
    """Return the hints of a pack, most useful first; `size` is that of the whole pack, `fetched` the number
    of passages that one call of `get` is proposed for."""
    found = (
        *_fetchable(pack, left_out.passages, fetched),
        *_larger_budget(pack, left_out.chars, size),
        *_empty_sections(pack, left_out.missed),
        *_narrower(pack, _SAME_FOLDER),
    )
    return found[:_MOST_HINTS]


def all_hints(pack: Pack, passages: Sequence[Passage]) -> tuple[str, ...]:
    """Return every hint that the pack may get once it is filled, to prepare for counting them."""
    empty = msgspec.structs.replace(pack, items=())
    sizes = [passage.size for passage in passages]
    told = (*_empty_sections(empty, tuple(Section)), *_narrower(pack, 0.0))
    return (*told, *_larger_budget(pack, sizes, Size()))


def _fetchable(pack: Pack, passages: Sequence[Passage], most: int) -> Iterator[str]:
    """Yield the call of `get` for the first passages that did not fit, without the lines at their ends that
    the pack shows; neighbours have one locator."""
    hidden = (_hidden_lines(pack, one) for one in passages)
    chosen = list(islice((lines for lines in hidden if lines is not None), most))
    ranges: list[tuple[str, int, int]] = []
    for path, start, end in sorted(chosen):
        if ranges and ranges[-1][0] == path and start <= ranges[-1][2] + 2:
            ranges[-1] = (path, ranges[-1][1], end)
        else:
            ranges.append((path, start, end))
    first = {path: number for number, (path, _, _) in reversed(list(enumerate(chosen)))}
    ranges.sort(key=lambda found: (first[found[0]], found[1]))
    if ranges:
        yield FETCH + shlex.join(f"{path}:{start}:{end}" for path, start, end in ranges)


def _hidden_lines(pack: Pack, passage: Passage) -> tuple[str, int, int] | None:
    """Return the path and lines of a passage, without those at its ends that are shown; None if too few are
    left to be worth a call."""
    first, last = passage.start_line, passage.end_line
    items = sorted((item.start_line, item.end_line) for item in pack.items if item.path == passage.path)
    for start, end in items:
        first = end + 1 if start <= first <= end else first
    for start, end in reversed(items):
        last = start - 1 if start <= last <= end else last
    is_whole = (first, last) == (passage.start_line, passage.end_line)
    return (passage.path, first, last) if is_whole or last - first + 1 >= _LEAST_REST else None


def _empty_sections(pack: Pack, missed: Collection[Section]) -> Iterator[str]:
    """Yield a hint for each of the missed sections that shows nothing although it had passages."""
    for section in (section for section in Section if section in missed):
        dropped = pack.counts.dropped_by_section.get(section.value, 0)
        if dropped and not pack.of_section(section):
            yield f"{section.value}: none is shown, {dropped} left out"


def _larger_budget(pack: Pack, left_out: Sequence[int], size: Size) -> Iterator[str]:
    """Yield how many passages did not fit, and the budget that would hold them if there is one."""
    if not left_out:
        return
    dropped = pack.counts.dropped.get(DropReason.BUDGET.value, 0)
    told = f"{dropped} more did not fit" if dropped else f"{len(left_out)} shown in part"
    budget = pack.budget
    chars = sum(left_out)
    tokens = chars / CharsPerToken.DENSE + len(left_out) * _ITEM_TOKENS
    if shown := sum(len(item.content) for item in pack.items):  # the pack itself tells how dense its text is
        tokens = min(tokens, _UNLIKE * chars * size.tokens / shown)
    wanted = {
        "--budget-tokens": (
            budget.max_tokens,
            tokens * (_ESTIMATED if budget.headroom_tokens else 1),
            MAX_TOKENS,
        ),
        "--max-chars": (budget.max_chars, chars * _ESTIMATED + len(left_out) * _ITEM_CHARS, MAX_CHARS),
    }
    enough = {
        flag: ceil((now + more) * _AND_GUIDANCE / _ROUND_TO) * _ROUND_TO
        for flag, (now, more, _) in wanted.items()
        if now
    }
    if all(value <= wanted[flag][2] for flag, value in enough.items()):
        flags = " ".join(f"{flag} {value}" for flag, value in enough.items())
        yield f"{told}; {flags} would hold {'them' if dropped else 'all of it'}"
    else:
        yield told


def _narrower(pack: Pack, share: float) -> Iterator[str]:
    """Yield the filter for the folder that most items are in, if not all of them are."""
    folders = Counter(item.path.rpartition("/")[0] for item in pack.items)
    folder, count = max(folders.items(), key=lambda pair: (pair[1], pair[0]), default=("", 0))
    if folder and max(share * len(pack.items), _MANY * bool(share)) <= count < len(pack.items):
        yield f"--include {folder} asks only where {count} of {len(pack.items)} items are"
