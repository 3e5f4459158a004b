"""Lines that were asked for, shown whole, as an excerpt or as a skeleton, inside a token budget."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from satchel.packing.surrounding_lines import FetchedLines
from satchel.storage.open_files import OpenFile
from satchel.types import ChunkKind, Symbol

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
class FittingTexts:
    """Which of the texts fit, by their places. If none does, the shortest needs `least` tokens."""

    places: list[int]
    used: int
    stop_reason: StopReason
    least: int = 0


def show(file: OpenFile, span: FetchedLines, mode: Mode) -> str:
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


def fit(
    texts: Sequence[str], count: Callable[[str], int], budget: int | None, max_chunks: int
) -> FittingTexts:
    """The texts that fit, in order; one that is too long is passed over, a later one may still fit."""
    chosen = _JoinedTexts(texts, count, budget)
    for place in range(len(texts)):
        if len(chosen.places) == max_chunks:
            return FittingTexts(chosen.places, chosen.settle(), StopReason.MAX_CHUNKS)
        chosen.offer(place)
    used = chosen.settle()
    if len(chosen.places) == len(texts):
        return FittingTexts(chosen.places, used, StopReason.COMPLETE)
    least = 0 if chosen.places else min(map(count, texts))
    return FittingTexts(chosen.places, used, StopReason.BUDGET, least)


class _JoinedTexts:
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


_WHITE_SPACE = re.compile(r"\s+")
_COMMENT_STARTS = ("#", "//", "--")  # a signature leaves out comments that have a line of their own
_CUT_SIGNATURE = 240  # characters; a signature this long may have been cut
_LONGEST_HEAD = 200  # lines; what is longer is no head, its brackets are unbalanced


def skeleton(lines: Sequence[str], first: int, last: int, symbols: Iterable[Symbol]) -> str:
    """The heads of the definitions that start in lines first..last; without any, the first line with text."""
    shown: set[int] = set()
    for symbol in symbols:
        if first <= symbol.start_line <= last:
            shown.update(range(symbol.start_line, min(last, _head_end(lines, symbol)) + 1))
    if not shown:
        texts = (number for number in range(first, last + 1) if lines[number - 1].strip())
        shown = {next(texts, first)}
    return "".join(lines[number - 1] for number in sorted(shown))


def _head_end(lines: Sequence[str], symbol: Symbol) -> int:
    """The last line of a head: where all of the signature is read. One that was cut goes on to where its
    brackets are closed."""
    start = symbol.start_line
    if symbol.kind is ChunkKind.SECTION:
        return start
    wanted = _squeeze(symbol.signature)
    read = ""
    for number in range(start, min(symbol.end_line, start + _LONGEST_HEAD) + 1):
        line = lines[number - 1]
        if number == start or not line.lstrip().startswith(_COMMENT_STARTS):
            read += _squeeze(line)
            if wanted in read.replace(",)", ")"):
                cut = len(symbol.signature) >= _CUT_SIGNATURE
                return _closed(lines, symbol, number) if cut else number
    return _closed(lines, symbol, start)


def _closed(lines: Sequence[str], symbol: Symbol, least: int) -> int:
    """The first line from `least` on with which every round and square bracket of the head is closed."""
    depth = 0
    for number in range(symbol.start_line, min(symbol.end_line, symbol.start_line + _LONGEST_HEAD) + 1):
        line = lines[number - 1]
        depth += sum(map(line.count, "([")) - sum(map(line.count, ")]"))
        if number >= least and depth <= 0:
            return number
    return least


def _squeeze(text: str) -> str:
    return _WHITE_SPACE.sub("", text).replace(",)", ")")
