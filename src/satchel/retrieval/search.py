"""A search: query → weighed terms → candidates → signals → ranked files → hits."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, SupportsIndex

import msgspec
import numpy as np

from satchel import ids
from satchel.errors import InvalidQuery, InvalidRequest
from satchel.retrieval import candidates, intent, issue_text, ranker
from satchel.retrieval.corpus import Corpus
from satchel.retrieval.evidence import Evidence
from satchel.retrieval.filters import Filters
from satchel.retrieval.hit_lines import HitLines, HitLineSelector, snippet_lines
from satchel.retrieval.query import parse_query
from satchel.retrieval.query_postings import look_up
from satchel.retrieval.query_terms import weigh_terms
from satchel.retrieval.repository_words import in_its_words
from satchel.retrieval.signals.signal import Context
from satchel.settings import QUALITY
from satchel.types import Hit, Reason

if TYPE_CHECKING:  # loading the types of numpy takes a tenth of a short command
    from numpy.typing import NDArray

    from satchel.retrieval.corpus import Floats

MAX_QUERY_CHARS = 100_000
MAX_RESULTS = 1000
_SNIPPET_CHARS = 480
_SCORE_DIGITS = 4
_SAME_TEXT_CHARS = 200  # shorter texts may be equal by chance
# Files that have a hit before any has a second. The lines that a fix changes are in the first ten files nine
# times in ten, more often in another definition of them than in a later file.
_FILES_FIRST = 10


class SearchOptions(msgspec.Struct, frozen=True):
    """How a search ranks and what its hits show. `weights` replace those of the profile."""

    profile: str = QUALITY
    weights: Mapping[str, float] | None = None
    whole_chunks: bool = False  # hits show whole chunks, however long
    explain: bool = False  # hits say what each signal added to their score


_USUAL = SearchOptions()


def check(text: str, k: int) -> None:
    """Raise a typed error if a query or a number of results is not valid."""
    if not isinstance(text, str):
        raise InvalidQuery(f"the query is {text!r}, it must be text", hint="ask in words")
    if not isinstance(k, SupportsIndex):
        raise InvalidRequest(f"k is {k!r}, it must be a whole number", hint="use k=10")
    if not text.strip():
        raise InvalidQuery("the query is empty", hint="ask in words, or name an identifier or a path")
    if len(text) > MAX_QUERY_CHARS:
        raise InvalidQuery(
            f"the query has {len(text):,} characters, the limit is {MAX_QUERY_CHARS:,}", hint="shorten it"
        )
    if not 1 <= k <= MAX_RESULTS:
        raise InvalidRequest(f"k is {k}, it must be from 1 to {MAX_RESULTS}", hint="use -k 10")


def search(corpus: Corpus, text: str, k: int, filters: Filters, options: SearchOptions = _USUAL) -> list[Hit]:
    """Return the best k chunks: ten files have one before any has a second. Ties break by path, then
    line."""
    check(text, k)
    # Only the chunks of a file tell whether it holds a kind of chunk, so all files are candidates then.
    count = len(corpus.files) if filters.by_kind else max(k, candidates.CANDIDATES)
    context = gather_evidence(corpus, text, filters, count, options.profile)
    if context is None:
        return []
    found = ranker.signals(context)
    weighed = ranker.weights_for(context, options.profile) if options.weights is None else options.weights
    scores = ranker.score(found, weighed, context.count)
    order = np.argsort(-scores, kind="stable").tolist()
    chosen = _choose(HitLineSelector(context, filters, options.whole_chunks), order, k)
    asked = set(context.query_terms.terms)
    return [
        _hit(hit_lines, float(scores[at]), asked, _reasons(found, weighed, at) if options.explain else ())
        for at, hit_lines in chosen
    ]


def gather_evidence(
    corpus: Corpus, text: str, filters: Filters, count: int, profile: str = QUALITY
) -> Context | None:
    """Return the query, the files that may answer it and where they hold its terms; None if no file may."""
    query = parse_query(issue_text.without_form(text, corpus.memo(_asked_by_forms)) if "\n" in text else text)
    postings = look_up(corpus, weigh_terms(query))
    spelled = in_its_words(postings, query)
    if spelled is not query:
        query, postings = spelled, look_up(corpus, weigh_terms(spelled))
    accepted = _accepted(corpus, filters)
    files = candidates.find_candidates(postings, query, accepted, count, by_meaning=profile == QUALITY)
    if not len(files):
        return None
    return Context(Evidence(postings, files), query, intent.detect_intents(query))


def _asked_by_forms(corpus: Corpus) -> frozenset[str]:
    """Return what the issue forms of the corpus say, line by line. A line without words says nothing."""
    paths = filter(issue_text.is_form_file, corpus.position_of)
    said = (line for path in paths for line in issue_text.form_lines(corpus.lines(path)))
    return frozenset(filter(None, said))


def _accepted(corpus: Corpus, filters: Filters) -> NDArray[np.bool_]:
    """Return for each file whether it passes the filters and has units."""
    if not filters.active():
        return corpus.unit_offsets >= 0
    return corpus.passing(filters.file_test()) & (corpus.unit_offsets >= 0)


def _choose(selector: HitLineSelector, order: Sequence[int], k: int) -> list[tuple[int, HitLines]]:
    """Return one chunk of each file in rank order; a file has a further one when ten others had theirs, and
    again ten files later. No text is shown twice."""
    chosen: list[tuple[int, HitLines]] = []
    further: list[tuple[int, Iterator[HitLines]]] = []
    shown: set[str] = set()
    for at in order:
        rest = selector.of_file(at)
        first = next(rest, None)
        if first is not None and _is_new(first, shown):
            chosen.append((at, first))
            further.append((at, (hit_lines for hit_lines in rest if _is_new(hit_lines, shown))))
            for number in range(len(further) - 1 - _FILES_FIRST, -1, -_FILES_FIRST):
                chosen += _next_of(*further[number], 1)
        if len(chosen) >= k:
            return chosen[:k]
    for at, rest in further:
        chosen += _next_of(at, rest, k - len(chosen))
    return chosen


def _next_of(at: int, rest: Iterator[HitLines], count: int) -> list[tuple[int, HitLines]]:
    return [(at, hit_lines) for hit_lines in islice(rest, count)]


def _is_new(hit_lines: HitLines, shown: set[str]) -> bool:
    """Return whether the text of a hit was not shown before; it is noted as shown. Blanks do not count."""
    text = " ".join("".join(hit_lines.lines).split())
    if len(text) < _SAME_TEXT_CHARS:
        return True
    known = text in shown
    shown.add(text)
    return not known


def _hit(hit_lines: HitLines, score: float, asked: set[str], reasons: tuple[Reason, ...]) -> Hit:
    """Return the hit that shows some lines."""
    chunk = hit_lines.chunk
    first, last = snippet_lines(hit_lines.lines, asked)
    locator = f"{chunk.path}:{hit_lines.first_line}:{hit_lines.last_line}"
    return Hit(
        id=ids.canonical_id(ids.doc_of(chunk.path), chunk.digest) if hit_lines.is_whole else locator,
        chunk_id=ids.long_id(chunk.digest),
        path=chunk.path,
        start_line=hit_lines.first_line,
        end_line=hit_lines.last_line,
        kind=chunk.kind,
        name=".".join(chunk.title_path) if chunk.kind != "section" else " > ".join(chunk.title_path),
        score=round(score, _SCORE_DIGITS),
        snippet="".join(hit_lines.lines[first:last])[:_SNIPPET_CHARS],
        snippet_line=hit_lines.first_line + first,
        text="".join(hit_lines.lines),
        reasons=reasons,
    )


def _reasons(found: dict[str, Floats], weighed: Mapping[str, float], at: int) -> tuple[Reason, ...]:
    """Return what each signal adds to a score, largest first, without signals that are zero."""
    reasons = [
        Reason(
            name,
            round(float(found[name][at]), _SCORE_DIGITS),
            round(weight * float(found[name][at]), _SCORE_DIGITS),
        )
        for name, weight in weighed.items()
        if name in found and found[name][at]
    ]
    return tuple(sorted(reasons, key=lambda reason: (-abs(reason.score), reason.signal)))
