"""Which lines of a file does a hit show? Those that define what was asked for, or with the best words.

Of a long chunk the lines that hold most of the query are shown, always whole lines.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain

import msgspec
import numpy as np

from satchel.retrieval.corpus import Corpus
from satchel.retrieval.evidence import Evidence
from satchel.retrieval.filters import Filters
from satchel.retrieval.intent import Intent
from satchel.retrieval.messages import pinned_lines
from satchel.retrieval.passage_spans import is_comment, is_definition, is_inner_test, is_listing
from satchel.retrieval.query import Query
from satchel.retrieval.query_terms import Weighting
from satchel.retrieval.signals.mentions import mentioned_candidates
from satchel.retrieval.signals.signal import Context
from satchel.retrieval.signals.words import unit_worth
from satchel.storage.records import ChunkRecord
from satchel.terms import encoded_tokens, terms, terms_of_tokens
from satchel.types import LineRange, Passage

_NAME_WORTH = 3.0  # a word in a chunk's name counts like three in its text
_SHOWN_CHARS = 800  # a longer chunk is shown in part: ten answers stay within 2,000 tokens
_SNIPPET_LINES = 6
_LINES_ABOVE = 3  # that are shown above the line of a message
_FURTHER = 0.5  # of the score of the file's best unit: a weaker unit adds little


class HitLines(msgspec.Struct, frozen=True):
    """The lines that a hit shows, from `first_line` on, and the chunk that they belong to."""

    chunk: ChunkRecord
    first_line: int
    lines: Sequence[str]

    @property
    def last_line(self) -> int:
        """Return the number of the last line."""
        return self.first_line + len(self.lines) - 1

    @property
    def is_whole(self) -> bool:
        """Return whether the lines are exactly the chunk."""
        return (self.first_line, self.last_line) == (self.chunk.start_line, self.chunk.end_line)


class HitLineSelector:
    """Chooses the chunks of candidates that hits show, and their lines."""

    def __init__(self, context: Context, filters: Filters, whole_chunks: bool) -> None:
        self.context = context
        self.filters = filters
        self.whole_chunks = whole_chunks
        evidence = context.evidence
        self.scores = np.round(evidence.by_unit(unit_worth(context), Weighting.BLEND), 6)
        self.worths = term_worths(evidence)
        self.pointed = pointed_lines(context)
        self.about_tests = bool(context.intents.get(Intent.TESTS))

    def of_file(self, at: int) -> Iterator[HitLines]:
        """Yield the chunks of one candidate that are worth showing, best first."""
        path = self.context.records[at].path
        lines = self.context.corpus.lines(path)
        shown = set()
        for chunk, first, last in self._chunks(at, path, lines):
            if chunk.number not in shown:
                shown.add(chunk.number)
                yield HitLines(chunk, first, lines[first - 1 : last])

    def _chunks(self, at: int, path: str, lines: Sequence[str]) -> Iterator[tuple[ChunkRecord, int, int]]:
        """Yield chunks with the lines of them to show, best first; a chunk may come more than once."""
        yield from self._quoted(path, lines)
        yield from self._defining(path, lines)
        others: list[ChunkRecord] = []
        aside: list[ChunkRecord] = []  # tests and listings, which are rarely asked for
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
                yield best, *self._shown(best, max(first, best.start_line), min(last, best.end_line), lines)
                others += [inside[number] for number in order[1:] if worth[number]]
        for chunk in (*others, *aside):
            yield chunk, *self._shown(chunk, chunk.start_line, chunk.end_line, lines)

    def _units(self, at: int) -> Iterator[tuple[int, int, bool]]:
        """Yield the lines of the file's units, best first, and whether their scores come near the best."""
        context = self.context
        start = int(context.evidence.unit_starts[at])
        scores = self.scores[start : start + context.records[at].unit_count]
        least = _FURTHER * float(scores.max(initial=0.0))
        for unit in np.argsort(-scores, kind="stable").tolist():
            position = context.evidence.unit_positions[start + unit]
            lines = int(context.corpus.first_lines[position]), int(context.corpus.last_lines[position])
            yield *lines, bool(scores[unit] >= least)

    def _defining(self, path: str, lines: Sequence[str]) -> Iterator[tuple[ChunkRecord, int, int]]:
        """Yield the definition of the name that was asked for; of a type with its first members."""
        name = self.context.query.symbol
        for item in self.context.symbols_named(name) if name else ():
            if item.path == path and item.symbol.name == name:
                for chunk in self._between(path, item.symbol.start_line, item.symbol.start_line):
                    last = chunk.end_line if self.whole_chunks else max(chunk.end_line, item.symbol.end_line)
                    yield chunk, chunk.start_line, self._last_shown(chunk.start_line, last, lines)
                return

    def _quoted(self, path: str, lines: Sequence[str]) -> Iterator[tuple[ChunkRecord, int, int]]:
        """Yield the chunks with the lines that a message of the query comes from; of a long one the lines
        around."""
        corpus = self.context.corpus
        for item in pinned_lines(corpus, self.context.query):
            if corpus.files[item.at].path == path:
                for chunk in self._between(path, item.line, item.line):
                    whole = chunk.start_line, chunk.end_line
                    fits = self.whole_chunks or self._last_shown(*whole, lines) == chunk.end_line
                    first = chunk.start_line if fits else max(chunk.start_line, item.line - _LINES_ABOVE)
                    last = self._last_shown(first, chunk.end_line, lines)
                    # One line above may be so long that the line itself is not shown.
                    yield (chunk, first, last) if last >= item.line else (chunk, item.line, item.line)

    def _last_shown(self, first: int, last: int, lines: Sequence[str]) -> int:
        return last if self.whole_chunks else last_fitting(first, last, lines, _SHOWN_CHARS)

    def _shown(self, chunk: ChunkRecord, first: int, last: int, lines: Sequence[str]) -> LineRange:
        """Return all lines of a chunk, or the best lines of a long one within `first` and `last`."""
        whole = chunk.start_line, chunk.end_line
        if self.whole_chunks or self._last_shown(*whole, lines) == chunk.end_line:
            return whole
        for line in self.pointed.get(chunk.path, ()):
            if chunk.start_line <= line <= chunk.end_line:
                return lines_around(line, whole, lines, _SHOWN_CHARS)
        return best_lines(self.worths, first, last, lines, _SHOWN_CHARS)

    def _between(self, path: str, first: int, last: int) -> list[ChunkRecord]:
        """Return the chunks of the wanted kind that share a line with the range."""
        chunks = self.context.corpus.chunks(path, first, last)
        if not self.filters.by_kind:
            return chunks
        record = self.context.corpus.files[self.context.corpus.position_of[path]]
        return [chunk for chunk in chunks if self.filters.accepts_chunk(record, chunk.kind)]

    def _worth(self, chunk: ChunkRecord, lines: Sequence[str]) -> float:
        return chunk_worth(self.worths, chunk, lines)


def chunk_worth(worths: Mapping[str, float], chunk: ChunkRecord, lines: Sequence[str]) -> float:
    """Return what the query terms in a chunk and in its name are worth together."""
    held = asked_in(lines[chunk.start_line - 1 : chunk.end_line], frozenset(worths))
    names = terms_in(" ".join(chunk.title_path))
    found = sum(worths[term] for term in sorted(frozenset().union(*held)))
    named = sum(worths[term] for term in sorted(names.intersection(worths)))
    return round(found + _NAME_WORTH * named, 6)


def pointed_lines(context: Context) -> dict[str, tuple[int, ...]]:
    """Return the lines of candidates that messages, links and stack frames of the query lead to, by path: the
    lines of messages first, then links, then the deepest frame."""
    query = context.query
    named = [(item.path, item.first_line) for item in query.mentions]
    named += [(frame.path, frame.line) for frame in reversed(query.frames)]
    found: dict[str, dict[int, None]] = {}
    for item in pinned_lines(context.corpus, query):
        found.setdefault(context.corpus.files[item.at].path, {})[item.line] = None
    for path, line in named:
        for at, _ in mentioned_candidates(context, path, 1) if line else ():
            found.setdefault(context.records[at].path, {})[line] = None
    return {path: tuple(lines) for path, lines in found.items()}


def lines_around(line: int, within: LineRange, lines: Sequence[str], chars: int) -> LineRange:
    """Return a line with as many lines above and below it, inside a range, as fit into `chars`."""
    first = last = line
    size = len(lines[line - 1])
    while True:
        above = len(lines[first - 2]) if first > within[0] else 0
        below = len(lines[last]) if last < within[1] else 0
        if above and size + above <= chars:
            first, size = first - 1, size + above
            below = below if size + below <= chars else 0
        elif not below or size + below > chars:
            return first, last
        if below:
            last, size = last + 1, size + below


def best_definition(
    corpus: Corpus, worths: Mapping[str, float], pointed: Sequence[int], passage: Passage
) -> LineRange:
    """Return the lines of the definition in a passage that the query points at, or that is worth most to it;
    the lines of the passage if it is one definition or none, or a window of a longer one."""
    own = passage.start_line, passage.end_line
    if not passage.whole or len(passage.names) < 2:
        return own
    lines = corpus.lines(passage.path)
    chunks = [chunk for chunk in corpus.chunks(passage.path, *own) if is_definition(chunk)]
    if len(chunks) < 2:
        return own
    best = max(
        chunks,
        key=lambda chunk: (
            any(chunk.start_line <= line <= chunk.end_line for line in pointed),
            chunk_worth(worths, chunk, lines),
            -chunk.start_line,
        ),
    )
    return max(own[0], best.start_line), min(own[1], best.end_line)


def terms_of_names(query: Query) -> frozenset[str]:
    """Return the terms of the names of several words in the title and prose of a query."""
    return frozenset(term for term in terms(f"{query.title}\n{query.prose}") if term.startswith("="))


def line_with_name(
    corpus: Corpus, worths: Mapping[str, float], names: frozenset[str], passage: Passage, line: int
) -> int:
    """Return the line of a passage that holds the names of the query which are worth most, of equal ones the
    first that is no comment; `line` if that holds such a name itself, or none does. Where nothing in the
    passage has a title, any word of the query counts."""
    asked = names.intersection(worths) if passage.names else frozenset(worths)
    lines = corpus.lines(passage.path)
    if not asked or (passage.names and asked_in(lines[line - 1 : line], asked)[0]):
        return line
    found = asked_in(lines[passage.start_line - 1 : passage.end_line], asked)
    worth = {
        number: (
            round(sum(worths[term] for term in sorted(held)), 6),
            not (corpus.is_code(passage.path) and is_comment(lines[number - 1])),
        )
        for number, held in enumerate(found, passage.start_line)
        if held
    }
    return max(worth, key=worth.__getitem__, default=line)


# The lines of some hundred files that are asked for again and again.
@lru_cache(maxsize=10_000)
def terms_in(text: str) -> frozenset[str]:
    """Return the terms that a text holds."""
    return frozenset(terms(text))


_NOTHING: frozenset[str] = frozenset()
_BETWEEN = b"\0"  # lines; a line that holds it itself is looked at alone


def asked_in(lines: Sequence[str], asked: frozenset[str]) -> list[frozenset[str]]:
    """Return which of some terms each line holds. Splitting a line into terms for the first time takes ten
    times as long as seeing that it has the letters of none of them."""
    letters = _letters_of(asked)
    text = "\0".join(lines)
    joined = text.encode() if text.isascii() else b""
    if not joined or joined.count(_BETWEEN) >= len(lines):
        return [_asked_of(line, asked) for line in lines]
    # All lines in one search: one for each line takes twice as long.
    joined = joined.lower().replace(b"_", b"")
    found = [_NOTHING] * len(lines)
    number = start = 0
    while match := letters.search(joined, start):
        number += joined.count(_BETWEEN, start, match.start())
        found[number] = _asked_of(lines[number], asked)
        behind = joined.find(_BETWEEN, match.start())
        if behind < 0:
            break
        number, start = number + 1, behind + 1
    return found


# The lines of some hundred files that are asked for again and again.
@lru_cache(maxsize=10_000)
def _asked_of(line: str, asked: frozenset[str]) -> frozenset[str]:
    """Return which of some terms a line holds. Most of its tokens have the letters of none, and are not
    split into terms."""
    may_hold = _letters_of(asked).search
    telling = [
        token
        for token in encoded_tokens(line)
        if not token.isascii() or may_hold(token.lower().replace(b"_", b""))
    ]
    return asked.intersection(chain.from_iterable(terms_of_tokens(telling))) if telling else _NOTHING


@lru_cache(maxsize=64)
def _letters_of(asked: frozenset[str]) -> re.Pattern[bytes]:
    """Return the expression of the letters that a token of ASCII with one of some terms has, in lower case
    and without `_`. A term is the beginning of a word, except for a final `y`, as `query` in `queries`."""
    plain = (term.removeprefix("=") for term in asked if term.isascii())
    parts = {term[:-1] if term[-1:] == "y" else term for term in plain}
    return re.compile("|".join(map(re.escape, sorted(parts))).encode() if parts else b"$.")


def term_worths(evidence: Evidence) -> Mapping[str, float]:
    """Return what each term of the query is worth where it is found."""
    weights = zip(
        evidence.query_terms.terms,
        evidence.postings.unit_rarity,
        evidence.query_terms.weights[Weighting.BLEND],
        strict=True,
    )
    return {term: rarity * weight for term, rarity, weight in weights if weight}


def last_fitting(first: int, last: int, lines: Sequence[str], chars: int) -> int:
    """Return the last line up to which the lines from `first` on fit into `chars`, at least `first`."""
    size = 0
    for number in range(first, last + 1):
        size += len(lines[number - 1])
        if size > chars and number > first:
            return number - 1
    return last


def best_lines(
    worths: Mapping[str, float], first: int, last: int, lines: Sequence[str], chars: int
) -> LineRange:
    """Return the lines within `first` and `last`, up to `chars` characters, that hold most of the query. Of
    equal ranges the earliest is taken."""
    found = zip(range(first, last + 1), asked_in(lines[first - 1 : last], frozenset(worths)), strict=True)
    held_at = {number: terms for number, terms in found if terms}
    telling, held = list(held_at), list(held_at.values())
    best, most = first, -1.0
    for at, start in enumerate(telling):
        until = bisect_right(telling, last_fitting(start, last, lines, chars))
        worth = round(sum(worths[term] for term in sorted(frozenset().union(*held[at:until]))), 6)
        if worth > most:
            best, most = start, worth
    return best, last_fitting(best, last, lines, chars)


def snippet_lines(lines: Sequence[str], query_terms: set[str]) -> tuple[int, int]:
    """Return the bounds of the first window of lines that holds most query terms, without blank ends."""
    found = asked_in(lines, frozenset(query_terms))
    first, most = 0, -1
    for start in range(max(1, len(lines) - _SNIPPET_LINES + 1)):
        count = len(frozenset().union(*found[start : start + _SNIPPET_LINES])) if lines[start].strip() else -1
        if count > most:
            first, most = start, count
    last = min(len(lines), first + _SNIPPET_LINES)
    while last > first + 1 and not lines[last - 1].strip():
        last -= 1
    return first, last
