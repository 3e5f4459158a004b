"""Lines that a caller fetches: shown whole, as an excerpt or as a skeleton, inside a token budget."""

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
# By how many tokens two texts may differ, counted joined and apart: those next to where the texts meet.
_SEAM_TOKENS = 4
_WHITE_SPACE = re.compile(r"\s+")
_COMMENT_STARTS = ("#", "//", "--")  # a signature leaves out comments that have a line of their own
_CUT_SIGNATURE = 240  # characters; a signature this long may have been cut
_LONGEST_SIGNATURE = 200  # lines; the brackets of a longer one are unbalanced


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
    """The texts that fit, by their numbers. If none does, `least` is the number of tokens of the shortest."""

    numbers: list[int]
    used: int
    stop_reason: StopReason
    least: int = 0


def show(file: OpenFile, lines: FetchedLines, mode: Mode) -> str:
    """Return lines of a file in a mode. Every mode keeps the indentation."""
    if mode is Mode.SKELETON:
        return skeleton(file.lines, lines.first, lines.last, file.symbols)
    if mode is Mode.RAW or lines.last - lines.first < _EXCERPT_LINES:
        return file.text(lines.first, lines.last)
    return file.text(lines.first, lines.first + _EXCERPT_LINES - 1) + _EXCERPT_MARK


def headroom(budget: int | None, share: float) -> int:
    """Return the tokens of a budget that are left free; `share` is that of a tokenizer which estimates."""
    return math.ceil((budget or 0) * share)


def least_budget(tokens: int, share: float) -> int:
    """Return the smallest budget that holds so many tokens beside its headroom."""
    budget = tokens
    while budget - headroom(budget, share) < tokens:
        budget += 1
    return budget


def fit(
    texts: Sequence[str], count: Callable[[str], int], budget: int | None, max_chunks: int
) -> FittingTexts:
    """Return the texts that fit, in order. A text that is too long is passed over; a later one may still
    fit."""
    chosen = _JoinedTexts(texts, count, budget)
    for number in range(len(texts)):
        if len(chosen.numbers) == max_chunks:
            return FittingTexts(chosen.numbers, chosen.settle(), StopReason.MAX_CHUNKS)
        chosen.offer(number)
    used = chosen.settle()
    if len(chosen.numbers) == len(texts):
        return FittingTexts(chosen.numbers, used, StopReason.COMPLETE)
    least = 0 if chosen.numbers else min(map(count, texts))
    return FittingTexts(chosen.numbers, used, StopReason.BUDGET, least)


class _JoinedTexts:
    """The texts taken so far. The tokens of all texts joined count, which is not the sum of their tokens. To
    count all again for each further text takes quadratic time, so that is done only when the sum, give or
    take the seams, does not decide."""

    def __init__(self, texts: Sequence[str], count: Callable[[str], int], budget: int | None) -> None:
        self.texts, self.count, self.budget = texts, count, budget
        self.numbers: list[int] = []
        self._sum = 0
        self._doubt = 0

    def offer(self, number: int) -> None:
        """Take a text if it fits."""
        if self.budget is None or self._fits(number, self.budget):
            self.numbers.append(number)

    def settle(self) -> int:
        """Return the tokens of all taken texts. If a tokenizer joins texts over wider seams and they do not
        fit after all, the last ones are given back."""
        used = self._joined(self.numbers)
        while self.budget is not None and used > self.budget:
            self.numbers.pop()
            used = self._joined(self.numbers)
        return used

    def _fits(self, number: int, budget: int) -> bool:
        total = self._sum + self.count(self.texts[number])
        doubt = self._doubt + _SEAM_TOKENS
        if total - doubt > budget:
            return False
        if total + doubt > budget:
            total, doubt = self._joined([*self.numbers, number]), 0
            if total > budget:
                return False
        self._sum, self._doubt = total, doubt
        return True

    def _joined(self, numbers: Sequence[int]) -> int:
        return self.count("".join(self.texts[number] for number in numbers))


def skeleton(lines: Sequence[str], first: int, last: int, symbols: Iterable[Symbol]) -> str:
    """Return the signatures of the definitions that start in lines first..last; without any, the first line
    that is not blank."""
    shown: set[int] = set()
    for symbol in symbols:
        if first <= symbol.start_line <= last:
            shown.update(range(symbol.start_line, min(last, _signature_end(lines, symbol)) + 1))
    if not shown:
        texts = (number for number in range(first, last + 1) if lines[number - 1].strip())
        shown = {next(texts, first)}
    return "".join(lines[number - 1] for number in sorted(shown))


def _signature_end(lines: Sequence[str], symbol: Symbol) -> int:
    """Return the last line of the signature of a symbol in its file. A signature that was cut when it was
    indexed goes on to where its brackets are closed."""
    start = symbol.start_line
    if symbol.kind is ChunkKind.SECTION:
        return start
    wanted = _squeeze(symbol.signature)
    read = ""
    for number in range(start, min(symbol.end_line, start + _LONGEST_SIGNATURE) + 1):
        line = lines[number - 1]
        if number == start or not line.lstrip().startswith(_COMMENT_STARTS):
            read += _squeeze(line)
            if wanted in read.replace(",)", ")"):
                cut = len(symbol.signature) >= _CUT_SIGNATURE
                return _closed(lines, symbol, number) if cut else number
    return _closed(lines, symbol, start)


def _closed(lines: Sequence[str], symbol: Symbol, least: int) -> int:
    """Return the first line from `least` on with which every round and square bracket of the signature is
    closed."""
    depth = 0
    for number in range(symbol.start_line, min(symbol.end_line, symbol.start_line + _LONGEST_SIGNATURE) + 1):
        line = lines[number - 1]
        depth += sum(map(line.count, "([")) - sum(map(line.count, ")]"))
        if number >= least and depth <= 0:
            return number
    return least


def _squeeze(text: str) -> str:
    return _WHITE_SPACE.sub("", text).replace(",)", ")")
