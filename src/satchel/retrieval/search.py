"""The straight line of a search: terms → scores → filters → the best chunks as hits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from satchel import ids
from satchel.errors import InvalidQuery, InvalidRequest
from satchel.lines import split_lines
from satchel.retrieval import bm25f
from satchel.retrieval.corpus import Corpus
from satchel.retrieval.filters import Filters
from satchel.storage.postings import BODY, COMMENT, FOLDER, NAME, STEM
from satchel.storage.records import ChunkRecord
from satchel.terms import terms
from satchel.types import Hit, Reason

if TYPE_CHECKING:  # loading the types of numpy takes a tenth of a short command
    from numpy.typing import NDArray

    from satchel.retrieval.corpus import Places

MAX_QUERY_CHARS = 100_000
MAX_RESULTS = 1000
_SNIPPET_LINES = 6
_SNIPPET_CHARS = 480
_SCORE_DIGITS = 4
_FIELDS = (("name", NAME), ("stem", STEM), ("folder", FOLDER), ("body", BODY), ("comment", COMMENT))


def check(query: str, k: int) -> list[str]:
    """The terms of a question, or a typed error that says what is wrong with it."""
    if not query.strip():
        raise InvalidQuery("the query is empty", hint="ask in words, or name an identifier or a path")
    if len(query) > MAX_QUERY_CHARS:
        raise InvalidQuery(
            f"the query has {len(query):,} characters, the limit is {MAX_QUERY_CHARS:,}", hint="shorten it"
        )
    if not 1 <= k <= MAX_RESULTS:
        raise InvalidRequest(f"k is {k}, it must be from 1 to {MAX_RESULTS}", hint="use -k 10")
    return list(dict.fromkeys(terms(query)))


def search(corpus: Corpus, query: str, k: int, filters: Filters, *, explain: bool = False) -> list[Hit]:
    """The best k chunks. Ties break by path, then line."""
    query_terms = check(query, k)
    totals, parts = bm25f.score(corpus, query_terms)
    totals = np.round(totals, _SCORE_DIGITS)
    places = _allowed(corpus, np.flatnonzero(totals > 0), filters)
    best = _best(corpus, places, totals, k, filters.chunk_type)
    return [_hit(corpus, chunk, totals[place], place, query_terms, parts, explain) for place, chunk in best]


def _allowed(corpus: Corpus, places: Places, filters: Filters) -> Places:
    if not filters.active() or not len(places):
        return places
    accepted = np.fromiter(map(filters.accepts_file, corpus.files), bool, len(corpus.files))
    allowed: Places = places[accepted[corpus.file_of[places]]]
    return allowed


def _best(
    corpus: Corpus, places: Places, totals: NDArray[np.float64], k: int, chunk_type: str
) -> list[tuple[int, ChunkRecord]]:
    """The first k in rank order, reading only as many chunk rows as that takes."""
    # files are sorted by path and numbers count lines upward inside a file: the tie-break of the ranking
    order = places[np.lexsort((corpus.numbers[places], corpus.file_of[places], -totals[places]))]
    found: list[tuple[int, ChunkRecord]] = []
    for start in range(0, len(order), max(200, k)):
        some = order[start : start + max(200, k)]
        chunks = corpus.snapshot.chunks_by_number(corpus.numbers[some].tolist())
        for place, chunk in zip(some.tolist(), chunks, strict=True):
            if not chunk_type or chunk.kind == chunk_type:
                found.append((place, chunk))
                if len(found) == k:
                    return found
    return found


def _hit(
    corpus: Corpus,
    chunk: ChunkRecord,
    total: float,
    place: int,
    query_terms: Sequence[str],
    parts: Sequence[bm25f.TermScore],
    explain: bool,
) -> Hit:
    lines = split_lines(corpus.snapshot.text(chunk.path))[chunk.start_line - 1 : chunk.end_line]
    first, last = snippet_lines(lines, set(query_terms))
    return Hit(
        id=ids.canonical_id(ids.doc_of(chunk.path), chunk.digest),
        chunk_id=ids.long_id(chunk.digest),
        path=chunk.path,
        start_line=chunk.start_line,
        end_line=chunk.end_line,
        kind=chunk.kind,
        name=".".join(chunk.title_path) if chunk.kind != "section" else " > ".join(chunk.title_path),
        score=float(total),
        snippet="".join(lines[first:last])[:_SNIPPET_CHARS],
        snippet_line=chunk.start_line + first,
        text="".join(lines),
        reasons=_reasons(place, parts) if explain else (),
    )


def snippet_lines(lines: Sequence[str], query_terms: set[str]) -> tuple[int, int]:
    """The window of lines that holds most of the question's terms, earliest first, without blank ends."""
    found = [query_terms.intersection(terms(line)) for line in lines]
    first, most = 0, -1
    for start in range(max(1, len(lines) - _SNIPPET_LINES + 1)):
        count = len(set().union(*found[start : start + _SNIPPET_LINES])) if lines[start].strip() else -1
        if count > most:
            first, most = start, count
    last = min(len(lines), first + _SNIPPET_LINES)
    while last > first + 1 and not lines[last - 1].strip():
        last -= 1
    return first, last


def _reasons(place: int, parts: Sequence[bm25f.TermScore]) -> tuple[Reason, ...]:
    reasons = []
    for part in parts:
        position = int(np.searchsorted(part.places, place))
        if position < len(part.places) and part.places[position] == place:
            packed = part.packed[position : position + 1]
            fields = tuple(name for name, field in _FIELDS if int(field.read(packed)[0]))
            reasons.append(Reason(part.term, fields, round(float(part.scores[position]), _SCORE_DIGITS)))
    return tuple(sorted(reasons, key=lambda reason: (-reason.score, reason.term)))
