"""What to do when a pack is not enough: what was left out, a filter that narrows, a larger budget."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from math import ceil

import msgspec

from satchel.packing.budget import MAX_CHARS, MAX_TOKENS, Size
from satchel.packing.pack import DropReason, Pack, Section

_MOST_HINTS = 4
_CHARS_PER_TOKEN = 2.5  # in dense text; a budget that is proposed must hold what it promises
_UNLIKE = 1.4  # how much more the rest may take for its length: shorter pieces, denser text
_ITEM_TOKENS, _ITEM_CHARS = 180, 600  # of a citation with its hashes, in the longest format
_ESTIMATED = 1.4  # an estimate counts more, and leaves room
_AND_GUIDANCE = 1.25  # room for what to do next is kept as well, and a larger pack names more files
_ROUND_TO = 500  # a budget is proposed in steps of this
_MANY = 6  # items below one folder; fewer are no reason to narrow
_SAME_FOLDER = 0.6  # the share of items below one folder that makes it worth naming


def hints(pack: Pack, left_out: Sequence[int], size: Size) -> tuple[str, ...]:
    """What is missing, most telling first. `left_out` are the sizes of what did not fit, in characters;
    `size` is that of the whole pack."""
    found = (*_empty_sections(pack), *_larger_budget(pack, left_out, size), *_narrower(pack, _SAME_FOLDER))
    return found[:_MOST_HINTS]


def all_hints(pack: Pack, left_out: Sequence[int]) -> tuple[str, ...]:
    """Everything that could be said of such a pack."""
    empty = msgspec.structs.replace(pack, items=())
    return (*_empty_sections(empty), *_narrower(pack, 0.0), *_larger_budget(pack, left_out, Size()))


def _empty_sections(pack: Pack) -> Iterator[str]:
    for section in Section:
        dropped = pack.counts.dropped_by_section.get(section.value, 0)
        if dropped and not pack.of_section(section):
            yield f"{section.value}: none is shown, {dropped} left out"


def _larger_budget(pack: Pack, left_out: Sequence[int], size: Size) -> Iterator[str]:
    if not left_out:
        return
    dropped = pack.counts.dropped.get(DropReason.BUDGET.value, 0)
    told = f"{dropped} more did not fit" if dropped else f"{len(left_out)} shown in part"
    budget = pack.budget
    chars = sum(left_out)
    tokens = chars / _CHARS_PER_TOKEN + len(left_out) * _ITEM_TOKENS
    if shown := sum(len(item.content) for item in pack.items):  # what the pack itself took tells more
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
    """The folder that most of the pack is in, if that is not all of it."""
    folders = Counter(item.path.rpartition("/")[0] for item in pack.items)
    folder, count = max(folders.items(), key=lambda pair: (pair[1], pair[0]), default=("", 0))
    if folder and max(share * len(pack.items), _MANY * bool(share)) <= count < len(pack.items):
        yield f"--include {folder} asks only where {count} of {len(pack.items)} items are"
