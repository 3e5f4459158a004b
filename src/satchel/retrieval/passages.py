"""The passages that may enter a pack, each with the share of the answer that it promises to hold."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from satchel import ids
from satchel.retrieval import passage_signals, ranker
from satchel.retrieval.corpus import Corpus
from satchel.retrieval.passage_signals import RankedPassage
from satchel.retrieval.passage_spans import (
    PassageSpan,
    file_passages,
    is_definition,
    qualified_name,
    unit_passage,
)
from satchel.retrieval.query import Query
from satchel.retrieval.query_terms import Weighting
from satchel.retrieval.signals.signal import Context
from satchel.retrieval.signals.words import unit_worth
from satchel.storage.records import ChunkRecord
from satchel.types import ChunkKind, Passage

if TYPE_CHECKING:
    from satchel.retrieval.corpus import Floats

IN_DETAIL = 20  # files of which every passage is scored
_DIGITS = 9  # of a promise: libraries differ in the last bit of an exponential
_MOST_CHARS = 5_000  # a longer passage is one line: an image or a table in the code, which answers nothing
_NOT_NAMED = 0.5  # what a chunk promises that stands beside the definition that a query names


def score_passages(
    context: Context,
    signals: Mapping[str, Floats],
    weights: Mapping[str, float],
    *,
    files: int,
    count: int,
    in_detail: int = IN_DETAIL,
) -> list[Passage]:
    """Return the `count` most promising passages of the best files and the best passage of each of these
    files, best file first, in the order of their lines.

    Of files after the first `in_detail` only one passage is scored.
    """
    passages, found, scores = passages_of_best_files(context, signals, weights, files, in_detail)
    if not passages:
        return []
    worth = ranker.score(found, weights, len(passages))
    worth[found["passage_message"] > 0] = worth.max()  # the line of a message is in every pack
    promise = np.round(np.exp(worth - worth.max()), _DIGITS)
    readable = [number for number, passage in enumerate(passages) if _is_readable(passage.span)]
    best = _best_of_each_file(passages, promise, readable)
    query = context.query
    named = {query.symbol, *query.title_names, *query.prose_names, *query.code_names}
    chosen = {*sorted(readable, key=lambda number: -promise[number])[:count], *best.values()}
    return [
        _passage(
            context,
            passages[number],
            promise=float(promise[number]),
            score=round(float(scores[passages[number].at]), 4),
            asked=bool(found["passage_names"][number]) or best[passages[number].rank] == number,
            reasons=tuple(_reasons(passages[number], found, number, named)),
        )
        for number in sorted(chosen)
    ]


def passages_of_best_files(
    context: Context, signals: Mapping[str, Floats], weights: Mapping[str, float], files: int, in_detail: int
) -> tuple[list[RankedPassage], dict[str, Floats], Floats]:
    """Return the passages of the best files, their signals, and the scores of all candidates."""
    scores = ranker.score(signals, weights, context.count)
    order = np.argsort(-scores, kind="stable")[:files].tolist()
    passages = [
        passage for rank, at in enumerate(order[:in_detail]) for passage in _file_passages(context, rank, at)
    ]
    passages += _best_units(context, order, in_detail)
    found = passage_signals.compute(context, passages, signals, scores) if passages else {}
    return passages, found, scores


def _reasons(
    passage: RankedPassage, found: Mapping[str, Floats], number: int, named: set[str]
) -> Iterator[str]:
    """Yield the signals that speak for a passage, strongest first."""
    if not passage.span.names.isdisjoint(named):
        yield "defines_named"
    if any(found[f"passage_{name}"][number] for name in ("linked", "traced", "message")):
        yield "pointed_at"
    yield "words" if found["passage_words"][number] else "file"


def split_by_chunk(corpus: Corpus, passage: Passage, symbol: str) -> Iterator[Passage]:
    """Yield each chunk of a passage as a passage of its own. A query that names a symbol wants little of what
    stands beside it."""
    chunks = corpus.snapshot.chunks(passage.path, passage.start_line, passage.end_line)
    if len(chunks) < 2 or not passage.whole:
        yield passage
        return
    lines = corpus.lines(passage.path)
    for chunk in chunks:
        is_asked = bool(chunk.title_path) and (not symbol or chunk.title_path[-1] == symbol)
        yield msgspec.structs.replace(
            passage,
            start_line=chunk.start_line,
            end_line=chunk.end_line,
            promise=passage.promise * (1.0 if is_asked else _NOT_NAMED),
            size=sum(map(len, lines[chunk.start_line - 1 : chunk.end_line])),
            chunk_id=ids.canonical_id(ids.doc_of(chunk.path), chunk.digest),
            kind=chunk.kind,
            name=qualified_name(chunk),
            head=(chunk.start_line, chunk.start_line),
            names=tuple(name for name in passage.names if chunk.start_line <= name[0] <= chunk.end_line),
            defines=is_definition(chunk),
            named=passage.named and is_asked,
        )


def _passage(
    context: Context,
    passage: RankedPassage,
    *,
    promise: float,
    score: float,
    asked: bool,
    reasons: tuple[str, ...],
) -> Passage:
    """Return a scored passage as the packer receives it."""
    record = context.records[passage.at]
    traits = passage.file.traits(context.corpus, passage.number)
    naming = _naming(passage.span, context.query)
    return Passage(
        path=record.path,
        start_line=passage.span.first_line,
        end_line=passage.span.last_line,
        rank=passage.rank,
        promise=promise,
        score=score,
        size=passage.span.size,
        chunk_id=traits.chunk_id,
        kind=naming.kind,
        name=qualified_name(naming),
        language=record.language,
        tags=record.tags,
        head=traits.head,
        names=traits.names,
        whole=traits.whole,
        defines=traits.defines,
        named="defines_named" in reasons,
        asked=asked,
        only_imports=traits.only_imports,
        reasons=reasons,
    )


def _file_passages(context: Context, rank: int, at: int) -> Iterator[RankedPassage]:
    """Yield the passages of a candidate."""
    start = int(context.evidence.unit_starts[at])
    file = file_passages(context.corpus, int(context.evidence.files[at]))
    for number, span in enumerate(file.spans):
        yield RankedPassage(
            rank, at, range(start + span.first_unit, start + span.stop_unit), span, file, number
        )


def _best_units(context: Context, order: Sequence[int], start: int) -> Iterator[RankedPassage]:
    """Yield of each candidate from `start` on the unit with the best words."""
    evidence = context.evidence
    worth = (
        np.round(evidence.by_unit(unit_worth(context), Weighting.BLEND), 6) if start < len(order) else None
    )
    for rank, at in enumerate(order[start:], start):
        assert worth is not None
        first = int(evidence.unit_starts[at])
        own = worth[first : first + context.records[at].unit_count]
        if len(own):
            unit = int(np.argmax(own))
            file = unit_passage(context.corpus, int(evidence.files[at]), unit)
            yield RankedPassage(rank, at, range(first + unit, first + unit + 1), file.spans[0], file, 0)


def _is_readable(span: PassageSpan) -> bool:
    """Return whether a passage may enter a pack. A paragraph on one line may, however long it is."""
    return span.size <= _MOST_CHARS or span.chunks[0].kind is ChunkKind.SECTION


def _best_of_each_file(
    passages: Sequence[RankedPassage], promise: Floats, readable: Sequence[int]
) -> dict[int, int]:
    """Return for each rank the number of the most promising passage of its file."""
    best: dict[int, int] = {}
    for number in readable:
        passage = passages[number]
        if passage.rank not in best or promise[number] > promise[best[passage.rank]]:
            best[passage.rank] = number
    return best


def _naming(span: PassageSpan, query: Query) -> ChunkRecord:
    """Return the chunk that names a passage: the one that the query names, else its first definition,
    constants last, else the first chunk that has a title."""
    if len(span.chunks) == 1:
        return span.chunks[0]
    definitions = [chunk for chunk in span.chunks if is_definition(chunk)]
    definitions.sort(key=lambda chunk: chunk.kind is ChunkKind.CONST)
    wanted = {query.symbol, *query.title_names, *query.prose_names}
    asked = [chunk for chunk in definitions if chunk.title_path[-1] in wanted]
    titled = (chunk for chunk in span.chunks if chunk.title_path)
    return next(iter((*asked, *definitions, *titled)), span.chunks[0])
