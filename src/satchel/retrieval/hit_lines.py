"""Which lines of a file to show: the chunk that defines what was asked for, or that with the best words.

Of a long chunk, the part that fits the query best is shown; whole lines always, so it can be cited.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec
import numpy as np

from satchel.retrieval.filters import Filters
from satchel.retrieval.intent import Intent
from satchel.retrieval.parts import best_part, fitting, held_terms, rarity_of
from satchel.retrieval.passage_spans import is_inner_test, is_listing
from satchel.retrieval.query_terms import Weighting
from satchel.retrieval.signals.signal import Context
from satchel.retrieval.signals.words import unit_worth
from satchel.storage.records import ChunkRecord

_NAMED = 3.0  # a word in a chunk's name counts like three in its text
_SHOWN_CHARS = 800  # a longer chunk is shown in part: ten answers stay within 2,000 tokens
_FURTHER = 0.5  # of the best unit of the file: a weaker one adds little


class HitLines(msgspec.Struct, frozen=True):
    """Lines to show, from `first_line` on, and the chunk that they are of."""

    chunk: ChunkRecord
    first_line: int
    lines: Sequence[str]

    @property
    def last_line(self) -> int:
        return self.first_line + len(self.lines) - 1

    @property
    def whole(self) -> bool:
        """Whether it is just the chunk."""
        return (self.first_line, self.last_line) == (self.chunk.start_line, self.chunk.end_line)


class HitLineSelector:
    """Chooses chunks of candidates."""

    def __init__(self, context: Context, filters: Filters, whole_chunks: bool) -> None:
        self.context = context
        self.filters = filters
        self.whole_chunks = whole_chunks
        evidence = context.evidence
        self.scores = np.round(evidence.by_unit(unit_worth(context), Weighting.BLEND), 6)
        self.rarity = rarity_of(evidence)
        self.about_tests = bool(context.intents.get(Intent.TESTS))

    def of_file(self, at: int) -> Iterator[HitLines]:
        """The chunks of one candidate worth showing, best first. Only what is asked for is read."""
        path = self.context.records[at].path
        lines = self.context.corpus.lines(path)
        shown = set()
        for chunk, first, last in self._chunks(at, path, lines):
            if chunk.number not in shown:
                shown.add(chunk.number)
                yield HitLines(chunk, first, lines[first - 1 : last])

    def _chunks(self, at: int, path: str, lines: Sequence[str]) -> Iterator[tuple[ChunkRecord, int, int]]:
        """Chunks with the lines of them to show."""
        yield from self._defining(path, lines)
        others: list[ChunkRecord] = []
        aside: list[ChunkRecord] = []  # tests and listings, which are rarely what is asked for
        found = False
        for first, last, worth_it in self._units(at):
            found_inside = self._between(path, first, last)
            inside = [chunk for chunk in found_inside if not is_listing(chunk)]
            aside += [chunk for chunk in found_inside if is_listing(chunk)]
            if inside and not self.about_tests and is_inner_test(inside[0]):
                aside.append(inside[0])
            elif inside and (worth_it or not found):
                worth = [self._worth(chunk, lines) for chunk in inside] if len(inside) > 1 else [1.0]
                order = sorted(range(len(inside)), key=lambda number: -worth[number])
                found = True
                best = inside[order[0]]
                yield best, *self._part(best, max(first, best.start_line), min(last, best.end_line), lines)
                others += [inside[number] for number in order[1:] if worth[number]]
        for chunk in (*others, *aside):  # small neighbours share a unit
            yield chunk, *self._part(chunk, chunk.start_line, chunk.end_line, lines)

    def _units(self, at: int) -> Iterator[tuple[int, int, bool]]:
        """The lines of the file's units, best first, and whether they come near the best."""
        context = self.context
        start = int(context.evidence.unit_starts[at])
        scores = self.scores[start : start + context.records[at].unit_count]
        least = _FURTHER * float(scores.max(initial=0.0))
        for unit in np.argsort(-scores, kind="stable").tolist():
            place = context.evidence.places[start + unit]
            lines = int(context.corpus.first_lines[place]), int(context.corpus.last_lines[place])
            yield *lines, bool(scores[unit] >= least)

    def _defining(self, path: str, lines: Sequence[str]) -> Iterator[tuple[ChunkRecord, int, int]]:
        """The definition of the name that was asked for, from its start; of a type with its first members."""
        name = self.context.query.symbol
        for item in self.context.symbols_named(name) if name else ():
            if item.path == path and item.symbol.name == name:
                for chunk in self._between(path, item.symbol.start_line, item.symbol.start_line):
                    last = chunk.end_line if self.whole_chunks else max(chunk.end_line, item.symbol.end_line)
                    yield chunk, chunk.start_line, self._fitting(chunk.start_line, last, lines)
                return

    def _fitting(self, first: int, last: int, lines: Sequence[str]) -> int:
        return last if self.whole_chunks else fitting(first, last, lines, _SHOWN_CHARS)

    def _part(self, chunk: ChunkRecord, first: int, last: int, lines: Sequence[str]) -> tuple[int, int]:
        """The chunk, or of a long one the lines within `first` and `last` that hold most of the query."""
        whole = chunk.start_line, chunk.end_line
        if self.whole_chunks or self._fitting(*whole, lines) == chunk.end_line:
            return whole
        return best_part(self.rarity, first, last, lines, _SHOWN_CHARS)

    def _between(self, path: str, first: int, last: int) -> list[ChunkRecord]:
        chunks = self.context.corpus.chunks(path, first, last)
        if not self.filters.by_kind:
            return chunks
        record = self.context.corpus.files[self.context.corpus.position_of[path]]
        return [chunk for chunk in chunks if self.filters.accepts_chunk(record, chunk.kind)]

    def _worth(self, chunk: ChunkRecord, lines: Sequence[str]) -> float:
        words = held_terms("".join(lines[chunk.start_line - 1 : chunk.end_line]))
        names = held_terms(" ".join(chunk.title_path))
        found = sum(self.rarity[term] for term in sorted(words.intersection(self.rarity)))
        named = sum(self.rarity[term] for term in sorted(names.intersection(self.rarity)))
        return round(found + _NAMED * named, 6)
