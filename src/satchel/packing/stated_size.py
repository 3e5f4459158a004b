"""What a pack in JSON states to take, held true while its items change."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from satchel.packing.budget import MAX_TOKENS
from satchel.packing.read_back import JsonPack
from satchel.visible_json import compact


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
