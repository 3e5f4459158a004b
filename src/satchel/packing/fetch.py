"""Lines that were asked for, shown whole, as an excerpt or as a skeleton, inside a token budget."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from satchel.packing.skeleton import skeleton
from satchel.packing.widening import Span
from satchel.storage.open_files import OpenFile

_EXCERPT_LINES = 12
_EXCERPT_MARK = "…\n"
_SEAM_TOKENS = 4  # what two texts may differ by, joined and apart: the tokens next to where they meet


class Mode(StrEnum):
    """How much of a chunk is shown."""

    RAW = "raw"
    EXCERPT = "excerpt"
    SKELETON = "skeleton"


class StopReason(StrEnum):
    """Why no further chunk was added."""

    COMPLETE = "complete"
    BUDGET = "budget"
    MAX_CHUNKS = "max_chunks"


@dataclass(frozen=True, slots=True)
class Shown:
    """Which of the texts fit, by their places. If none does, the shortest needs `least` tokens."""

    places: list[int]
    used: int
    stop_reason: StopReason
    least: int = 0


def show(file: OpenFile, span: Span, mode: Mode) -> str:
    """Lines of a file in a mode. Indentation is kept in all of them."""
    if mode is Mode.SKELETON:
        return skeleton(file.lines, span.first, span.last, file.symbols)
    if mode is Mode.RAW or span.last - span.first < _EXCERPT_LINES:
        return file.text(span.first, span.last)
    return file.text(span.first, span.first + _EXCERPT_LINES - 1) + _EXCERPT_MARK


def headroom(budget: int | None, share: float) -> int:
    """The tokens of a budget that are left free because a tokenizer estimates."""
    return math.ceil((budget or 0) * share)


def least_budget(tokens: int, share: float) -> int:
    """The smallest budget that holds so many tokens beside its headroom."""
    budget = tokens
    while budget - headroom(budget, share) < tokens:
        budget += 1
    return budget


def fit(texts: Sequence[str], count: Callable[[str], int], budget: int | None, max_chunks: int) -> Shown:
    """The texts that fit, in order; one that is too long is passed over, a later one may still fit."""
    chosen = _Together(texts, count, budget)
    for place in range(len(texts)):
        if len(chosen.places) == max_chunks:
            return Shown(chosen.places, chosen.settle(), StopReason.MAX_CHUNKS)
        chosen.offer(place)
    used = chosen.settle()
    if len(chosen.places) == len(texts):
        return Shown(chosen.places, used, StopReason.COMPLETE)
    least = 0 if chosen.places else min(map(count, texts))
    return Shown(chosen.places, used, StopReason.BUDGET, least)


class _Together:
    """The texts taken so far. What counts is the tokens of all of them joined, which is not their sum; but
    to count all again for each further text takes quadratic time, so it is done only when in doubt."""

    def __init__(self, texts: Sequence[str], count: Callable[[str], int], budget: int | None) -> None:
        self.texts, self.count, self.budget = texts, count, budget
        self.places: list[int] = []
        self._sum = 0
        self._doubt = 0

    def offer(self, place: int) -> None:
        """Take a text if it fits."""
        if self.budget is None or self._fits(place, self.budget):
            self.places.append(place)

    def settle(self) -> int:
        """The tokens of all that was taken; for a tokenizer with wider seams the last ones are given back."""
        used = self._joined(self.places)
        while self.budget is not None and used > self.budget:
            self.places.pop()
            used = self._joined(self.places)
        return used

    def _fits(self, place: int, budget: int) -> bool:
        total = self._sum + self.count(self.texts[place])
        doubt = self._doubt + _SEAM_TOKENS
        if total - doubt > budget:
            return False
        if total + doubt > budget:
            total, doubt = self._joined([*self.places, place]), 0
            if total > budget:
                return False
        self._sum, self._doubt = total, doubt
        return True

    def _joined(self, places: Sequence[int]) -> int:
        return self.count("".join(self.texts[place] for place in places))
