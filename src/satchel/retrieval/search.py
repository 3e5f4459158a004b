"""The straight line of a search: query → weighed terms → candidates → signals → ranked files → hits."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from satchel import ids
from satchel.errors import InvalidQuery, InvalidRequest
from satchel.retrieval import candidates, intent, ranker
from satchel.retrieval.corpus import Corpus
from satchel.retrieval.evidence import Evidence, Postings
from satchel.retrieval.filters import Filters
from satchel.retrieval.hit_lines import HitLines, HitLineSelector, snippet_lines
from satchel.retrieval.query import parse_query
from satchel.retrieval.query_terms import weigh_terms
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


def check(query: str, k: int) -> None:
    """A typed error that says what is wrong with a question."""
    if not query.strip():
        raise InvalidQuery("the query is empty", hint="ask in words, or name an identifier or a path")
    if len(query) > MAX_QUERY_CHARS:
        raise InvalidQuery(
            f"the query has {len(query):,} characters, the limit is {MAX_QUERY_CHARS:,}", hint="shorten it"
        )
    if not 1 <= k <= MAX_RESULTS:
        raise InvalidRequest(f"k is {k}, it must be from 1 to {MAX_RESULTS}", hint="use -k 10")


def search(
    corpus: Corpus,
    query: str,
    k: int,
    filters: Filters,
    *,
    profile: str = QUALITY,
    weights: Mapping[str, float] | None = None,
    whole_chunks: bool = False,
    explain: bool = False,
) -> list[Hit]:
    """The best k chunks, one for each file before any file has a second. Ties break by path, then line.
    `weights` stand in for those of the profile."""
    check(query, k)
    # which files hold a kind of chunk is known only from their chunks, so all are looked at then
    count = len(corpus.files) if filters.by_kind else max(k, candidates.CANDIDATES)
    context = look_closely(corpus, query, filters, count, profile)
    if context is None:
        return []
    found = ranker.signals(context)
    weighed = ranker.weights(profile) if weights is None else weights
    scores = ranker.score(found, weighed, context.count)
    order = np.argsort(-scores, kind="stable").tolist()
    spans = _chosen(HitLineSelector(context, filters, whole_chunks), order, k)
    asked = set(context.query_terms.terms)
    return [
        _hit(span, float(scores[at]), asked, _reasons(found, weighed, at) if explain else ())
        for at, span in spans
    ]


def look_closely(
    corpus: Corpus, query: str, filters: Filters, count: int, profile: str = QUALITY
) -> Context | None:
    """The question and the files that may answer it; None when no file may."""
    asked = parse_query(query)
    postings = Postings(corpus, weigh_terms(asked))
    accepted = _accepted(corpus, filters)
    files = candidates.find(postings, asked, accepted, count, by_meaning=profile == QUALITY)
    if not len(files):
        return None
    return Context(Evidence(postings, files), asked, intent.detect_intents(asked))


def _accepted(corpus: Corpus, filters: Filters) -> NDArray[np.bool_]:
    if not filters.active():
        return corpus.unit_offsets >= 0
    accepted = np.fromiter(map(filters.acceptor(), corpus.files), bool, len(corpus.files))
    return accepted & (corpus.unit_offsets >= 0)


def _chosen(spans: HitLineSelector, order: Sequence[int], k: int) -> list[tuple[int, HitLines]]:
    """One chunk of each file in rank order, then further ones; a text that was shown is not shown again."""
    chosen: list[tuple[int, HitLines]] = []
    further: list[tuple[int, Iterator[HitLines]]] = []
    shown: set[str] = set()
    for at in order:
        rest = spans.of_file(at)
        first = next(rest, None)
        if first is not None and _is_new(first, shown):
            chosen.append((at, first))
            further.append((at, rest))
        if len(chosen) == k:
            return chosen
    for at, rest in further:
        new = (span for span in rest if _is_new(span, shown))
        chosen += [(at, span) for span in islice(new, k - len(chosen))]
    return chosen


def _is_new(span: HitLines, shown: set[str]) -> bool:
    text = " ".join("".join(span.lines).split())
    if len(text) < _SAME_TEXT_CHARS:
        return True
    known = text in shown
    shown.add(text)
    return not known


def _hit(span: HitLines, score: float, asked: set[str], reasons: tuple[Reason, ...]) -> Hit:
    chunk = span.chunk
    first, last = snippet_lines(span.lines, asked)
    locator = f"{chunk.path}:{span.first_line}:{span.last_line}"
    return Hit(
        id=ids.canonical_id(ids.doc_of(chunk.path), chunk.digest) if span.is_whole else locator,
        chunk_id=ids.long_id(chunk.digest),
        path=chunk.path,
        start_line=span.first_line,
        end_line=span.last_line,
        kind=chunk.kind,
        name=".".join(chunk.title_path) if chunk.kind != "section" else " > ".join(chunk.title_path),
        score=round(score, _SCORE_DIGITS),
        snippet="".join(span.lines[first:last])[:_SNIPPET_CHARS],
        snippet_line=span.first_line + first,
        text="".join(span.lines),
        reasons=reasons,
    )


def _reasons(found: dict[str, Floats], weighed: Mapping[str, float], at: int) -> tuple[Reason, ...]:
    """What each signal gave, largest first; signals that say nothing are left out."""
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
