"""Chunks by id, shown whole, as an excerpt or as a skeleton, inside a token budget."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from satchel.lines import split_lines
from satchel.storage.records import ChunkRecord
from satchel.types import Symbol

_EXCERPT_LINES = 12
_EXCERPT_MARK = "…\n"


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
    """Which of the chunks fit, with the text of each."""

    texts: list[tuple[int, str]]
    used: int
    stop_reason: StopReason


def show(chunk: ChunkRecord, text: str, symbols: Sequence[Symbol], mode: Mode) -> str:
    """A chunk's text in a mode. Indentation is kept in all of them."""
    if mode is Mode.RAW:
        return text
    lines = split_lines(text)
    if mode is Mode.EXCERPT:
        return text if len(lines) <= _EXCERPT_LINES else "".join(lines[:_EXCERPT_LINES]) + _EXCERPT_MARK
    inside = [item for item in symbols if chunk.start_line <= item.start_line <= chunk.end_line]
    kept = [lines[item.start_line - chunk.start_line] for item in inside]
    return "".join(kept) or lines[0]


def fit(texts: Sequence[str], count: Callable[[str], int], budget: int | None, max_chunks: int) -> Shown:
    """The texts that fit, in order; one that is too long is passed over, a later one may still fit."""
    shown: list[tuple[int, str]] = []
    together = ""
    passed_over = False
    for position, text in enumerate(texts):
        if len(shown) == max_chunks:
            return Shown(shown, count(together), StopReason.MAX_CHUNKS)
        if budget is not None and count(together + text) > budget:
            passed_over = True
            continue
        shown.append((position, text))
        together += text
    return Shown(shown, count(together), StopReason.BUDGET if passed_over else StopReason.COMPLETE)
