"""Which pieces of the best files may enter a pack, and how much of the answer does each promise to hold?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from satchel import ids
from satchel.retrieval import piece_signals, ranker
from satchel.retrieval.corpus import Corpus
from satchel.retrieval.cuts import Cut, cut_file, cut_unit, is_definition, qualified
from satchel.retrieval.piece_signals import Piece
from satchel.retrieval.question import Question
from satchel.retrieval.signals.signal import Context
from satchel.retrieval.signals.words import unit_worth
from satchel.retrieval.views import View
from satchel.storage.records import ChunkRecord
from satchel.types import ChunkKind, Passage

if TYPE_CHECKING:
    from satchel.retrieval.evidence import Floats

PASSAGES = "passages"  # the file of their weights
IN_DETAIL = 20  # files of which every piece is looked at
_DIGITS = 9  # of a promise: libraries differ in the last bit of an exponential
_MOST_PIECE_CHARS = (
    5_000  # a longer piece is one line: an image or a table in the code, which answers nothing
)
_NOT_NAMED = 0.5  # what stands beside the definition that a question names


def passages(
    context: Context,
    signals: Mapping[str, Floats],
    weights: Mapping[str, float],
    *,
    files: int,
    count: int,
    in_detail: int = IN_DETAIL,
) -> list[Passage]:
    """The `count` most promising passages of the best files, and the best one of each of these files; best
    file first, in the order of their lines. Of files after the first `in_detail` only one is looked at."""
    pieces, found, scores = best_pieces(context, signals, weights, files, in_detail)
    if not pieces:
        return []
    worth = ranker.score(found, weights, len(pieces))
    promise = np.round(np.exp(worth - worth.max()), _DIGITS)
    readable = [number for number, piece in enumerate(pieces) if _is_readable(piece.cut)]
    best = _best_of_each_file(pieces, promise, readable)
    question = context.question
    named = {question.symbol, *question.title_names, *question.prose_names, *question.code_names}
    chosen = {*sorted(readable, key=lambda number: -promise[number])[:count], *best.values()}
    return [
        _passage(
            context,
            pieces[number],
            promise=float(promise[number]),
            score=round(float(scores[pieces[number].at]), 4),
            asked=bool(found["piece_names"][number]) or best[pieces[number].rank] == number,
            reasons=tuple(_reasons(pieces[number], found, number, named)),
        )
        for number in sorted(chosen)
    ]


def best_pieces(
    context: Context, signals: Mapping[str, Floats], weights: Mapping[str, float], files: int, in_detail: int
) -> tuple[list[Piece], dict[str, Floats], Floats]:
    """The pieces of the best files, their signals, and the scores of all candidates."""
    scores = ranker.score(signals, weights, context.count)
    order = np.argsort(-scores, kind="stable")[:files].tolist()
    pieces = [piece for rank, at in enumerate(order[:in_detail]) for piece in _pieces(context, rank, at)]
    pieces += _best_units(context, order, in_detail)
    found = piece_signals.compute(context, pieces, signals, scores) if pieces else {}
    return pieces, found, scores


def _reasons(piece: Piece, found: Mapping[str, Floats], number: int, named: set[str]) -> Iterator[str]:
    """What speaks for a piece, strongest first."""
    if not piece.cut.names.isdisjoint(named):
        yield "defines_named"
    if found["piece_linked"][number] or found["piece_traced"][number]:
        yield "pointed_at"
    yield "words" if found["piece_words"][number] else "file"


def by_chunk(corpus: Corpus, passage: Passage, symbol: str) -> Iterator[Passage]:
    """The chunks of a passage, each for itself: who names a thing wants less of what stands beside it."""
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
            name=qualified(chunk),
            head=(chunk.start_line, chunk.start_line),
            names=tuple(name for name in passage.names if chunk.start_line <= name[0] <= chunk.end_line),
            defines=is_definition(chunk),
            named=passage.named and is_asked,
        )


def _passage(
    context: Context,
    piece: Piece,
    *,
    promise: float,
    score: float,
    asked: bool,
    reasons: tuple[str, ...],
) -> Passage:
    record = context.records[piece.at]
    traits = piece.file.traits(context.corpus, piece.number)
    naming = _naming(piece.cut, context.question)
    return Passage(
        path=record.path,
        start_line=piece.cut.first,
        end_line=piece.cut.last,
        rank=piece.rank,
        promise=promise,
        score=score,
        size=piece.cut.size,
        chunk_id=traits.chunk_id,
        kind=naming.kind,
        name=qualified(naming),
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


def _pieces(context: Context, rank: int, at: int) -> Iterator[Piece]:
    """A candidate, cut into passages."""
    start = int(context.evidence.unit_starts[at])
    file = cut_file(context.corpus, int(context.evidence.files[at]))
    for number, cut in enumerate(file.cuts):
        yield Piece(rank, at, range(start + cut.start, start + cut.stop), cut, file, number)


def _best_units(context: Context, order: Sequence[int], start: int) -> Iterator[Piece]:
    """Of each further candidate the unit with the best words."""
    evidence = context.evidence
    worth = np.round(evidence.by_unit(unit_worth(context), View.BLEND), 6) if start < len(order) else None
    for rank, at in enumerate(order[start:], start):
        assert worth is not None
        first = int(evidence.unit_starts[at])
        own = worth[first : first + context.records[at].unit_count]
        if len(own):
            unit = int(np.argmax(own))
            file = cut_unit(context.corpus, int(evidence.files[at]), unit)
            yield Piece(rank, at, range(first + unit, first + unit + 1), file.cuts[0], file, 0)


def _is_readable(cut: Cut) -> bool:
    """Whether a piece may enter a pack. A paragraph on one line may, however long it is."""
    return cut.size <= _MOST_PIECE_CHARS or cut.chunks[0].kind is ChunkKind.SECTION


def _best_of_each_file(pieces: Sequence[Piece], promise: Floats, readable: Sequence[int]) -> dict[int, int]:
    best: dict[int, int] = {}
    for number in readable:
        piece = pieces[number]
        if piece.rank not in best or promise[number] > promise[best[piece.rank]]:
            best[piece.rank] = number
    return best


def _naming(cut: Cut, question: Question) -> ChunkRecord:
    """The chunk that names a passage: the one that the question names, else its first definition, rather than
    a constant, else the first that has a title."""
    if len(cut.chunks) == 1:
        return cut.chunks[0]
    definitions = [chunk for chunk in cut.chunks if is_definition(chunk)]
    definitions.sort(key=lambda chunk: chunk.kind is ChunkKind.CONST)
    wanted = {question.symbol, *question.title_names, *question.prose_names}
    asked = [chunk for chunk in definitions if chunk.title_path[-1] in wanted]
    titled = (chunk for chunk in cut.chunks if chunk.title_path)
    return next(iter((*asked, *definitions, *titled)), cut.chunks[0])
