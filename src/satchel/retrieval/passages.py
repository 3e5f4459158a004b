"""Which pieces of the best files may enter a pack, and how well does each fit the question?

Beside its own words a passage is vouched for by its neighbours, and by what it refers to or is referred to
from: what has to be read or changed often lies next to what the question describes.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from satchel import ids
from satchel.retrieval.corpus import Corpus
from satchel.retrieval.evidence import saturated, summed
from satchel.retrieval.question import Question
from satchel.retrieval.signals.mentions import resolve
from satchel.retrieval.signals.signal import Context
from satchel.retrieval.signals.words import unit_worth
from satchel.retrieval.views import View
from satchel.storage.records import ChunkRecord, FileRecord
from satchel.types import ChunkKind, Label, Passage

if TYPE_CHECKING:
    from satchel.retrieval.evidence import Floats

IN_DETAIL = 20  # files of which every piece is looked at
_WHOLE_CHARS = 3_200  # a longer definition is offered in windows
_IN_NAME = 2.0  # a word in a name counts like two more in the text
_LONG = 0.5  # how much a long passage is held against it
_GRID = 1 << 20  # libraries differ in the last bit of an exponential
_OVERALL, _WITHIN = 0.6, 0.4  # the share of the fit among all passages, and among those of the file
_BESIDE = 0.3  # what a neighbour's words vouch for
_REFERRED = 0.2  # what the words of a passage vouch for that refers to it, or that it refers to
_TOO_COMMON = 4  # passages that define the same name; above this a reference tells nothing
_NAMED = 0.35  # it defines what the question names
_TITLE_NAME, _PROSE_NAME, _CODE_NAME = 1.0, 0.7, 0.4
_PINNED = 0.6  # the question points at its lines
_LINKED, _TRACED, _CALLED = 2.0, 1.0, 0.8  # by a link with lines, a stack frame, the function of a frame
_NOT_NAMED = 0.5  # what stands beside the definition that a question names
_MOST_HEAD_LINES = 6  # of a signature; of a longer one the first line names it
_DEFINITIONS = frozenset(ChunkKind) - {
    ChunkKind.MODULE,
    ChunkKind.SECTION,
    ChunkKind.CONFIG,
    ChunkKind.TEXT,
    ChunkKind.FILE,
}


class _Piece(NamedTuple):
    """A passage before it is weighed: its units, and the chunks that it holds or is a window of."""

    rank: int
    at: int  # its file among the candidates
    units: range
    chunks: tuple[ChunkRecord, ...]
    first: int
    last: int


def passages(
    context: Context, scores: Floats, *, files: int, count: int, in_detail: int = IN_DETAIL
) -> list[Passage]:
    """The `count` most promising passages of the best files, and the best one of each of these files; best
    file first, in the order of their lines. Of files after the first `in_detail` only one is looked at."""
    order = np.argsort(-scores, kind="stable")[:files].tolist()
    pieces = [piece for rank, at in enumerate(order[:in_detail]) for piece in _pieces(context, rank, at)]
    pieces += _best_units(context, order, in_detail)
    if not pieces:
        return []
    held, names = _held(context, pieces)
    pointed = [_pointed_at(context, piece) for piece in pieces]
    fit = np.round(_fit(context, pieces, held) + [worth for worth, _ in pointed], 6)
    certainty = np.round(np.exp(scores[order] - scores[order[0]]) * _GRID) / _GRID
    promise = fit * certainty[[piece.rank for piece in pieces]]
    best = _best_of_each_file(pieces, fit)
    chosen = {*np.argsort(-promise, kind="stable")[:count].tolist(), *best.values()}
    return [
        _passage(
            context,
            pieces[number],
            certainty=float(certainty[pieces[number].rank]),
            score=round(float(scores[pieces[number].at]), 4),
            fit=float(fit[number]),
            asked=bool(names[number]) or best[pieces[number].rank] == number,
            reasons=(*pointed[number][1], "words") if held[number] else pointed[number][1] or ("file",),
        )
        for number in sorted(chosen)
    ]


def by_chunk(corpus: Corpus, passage: Passage, symbol: str) -> Iterator[Passage]:
    """The chunks of a passage, each for itself: who names a thing wants less of what stands beside it."""
    chunks = corpus.snapshot.chunks(passage.path, passage.start_line, passage.end_line)
    if len(chunks) < 2 or not passage.whole:
        yield passage
        return
    lines = corpus.lines(passage.path)
    for chunk in chunks:
        is_asked = bool(chunk.title_path) and (not symbol or chunk.title_path[-1] == symbol)
        yield passage._replace(
            start_line=chunk.start_line,
            end_line=chunk.end_line,
            fit=round(passage.fit * (1.0 if is_asked else _NOT_NAMED), 6),
            size=sum(map(len, lines[chunk.start_line - 1 : chunk.end_line])),
            chunk_id=ids.canonical_id(ids.doc_of(chunk.path), chunk.digest),
            kind=chunk.kind,
            name=_name(chunk),
            head=(chunk.start_line, chunk.start_line),
            names=tuple(name for name in passage.names if chunk.start_line <= name[0] <= chunk.end_line),
            defines=chunk.kind in _DEFINITIONS and bool(chunk.title_path),
            named=passage.named and is_asked,
        )


def _passage(
    context: Context,
    piece: _Piece,
    *,
    certainty: float,
    score: float,
    fit: float,
    asked: bool,
    reasons: tuple[str, ...],
) -> Passage:
    record = context.records[piece.at]
    first, last = piece.chunks[0], piece.chunks[-1]
    head = _head(context, piece)
    naming = _named(piece.chunks, context.question)
    is_cut = first.start_line < piece.first or last.end_line > piece.last
    return Passage(
        path=record.path,
        start_line=piece.first,
        end_line=piece.last,
        rank=piece.rank,
        certainty=certainty,
        score=score,
        fit=fit,
        size=sum(map(len, context.corpus.lines(record.path)[piece.first - 1 : piece.last])),
        chunk_id=_id(piece),
        kind=naming.kind,
        name=_name(naming),
        language=record.language,
        tags=record.tags,
        head=head,
        names=tuple(
            (chunk.start_line, chunk.kind, _name(chunk)) for chunk in piece.chunks if chunk.title_path
        ),
        whole=not is_cut and head[0] >= piece.first,
        defines=any(chunk.kind in _DEFINITIONS and chunk.title_path for chunk in piece.chunks),
        named="defines_named" in reasons,
        asked=asked,
        only_imports=_only_imports(context, record, piece),
        reasons=reasons,
    )


def _pieces(context: Context, rank: int, at: int) -> Iterator[_Piece]:
    """A candidate, cut into passages."""
    record = context.records[at]
    start = int(context.evidence.unit_starts[at])
    end = start + record.unit_count
    chunks = context.corpus.snapshot.chunks(record.path)
    lines = context.corpus.lines(record.path)
    position = 0
    while start < end:
        first, last = _unit_lines(context, start)
        while chunks[position].end_line < first:
            position += 1
        longest = chunks[position]
        if longest.end_line > last:  # the first of several windows
            stop = start + 1
            while stop < end and _unit_lines(context, stop)[0] <= longest.end_line:
                stop += 1
            size = sum(map(len, lines[longest.start_line - 1 : longest.end_line]))
            step = stop - start if size <= _WHOLE_CHARS else 1
            for unit in range(start, stop, step):
                units = range(unit, unit + step)
                own = _unit_lines(context, units[0])[0], _unit_lines(context, units[-1])[1]
                yield _Piece(rank, at, units, (longest,), *own)
            start = stop
        else:
            inside = position
            while inside < len(chunks) and chunks[inside].start_line <= last:
                inside += 1
            yield _Piece(rank, at, range(start, start + 1), tuple(chunks[position:inside]), first, last)
            start += 1


def _best_units(context: Context, order: Sequence[int], start: int) -> Iterator[_Piece]:
    """Of each further candidate the unit with the best words."""
    evidence = context.evidence
    worth = np.round(evidence.by_unit(unit_worth(context), View.BLEND), 6) if start < len(order) else None
    for rank, at in enumerate(order[start:], start):
        assert worth is not None
        first_unit = int(evidence.unit_starts[at])
        own = worth[first_unit : first_unit + context.records[at].unit_count]
        if len(own):
            unit = first_unit + int(np.argmax(own))
            first, last = _unit_lines(context, unit)
            chunks = context.corpus.snapshot.chunks(context.records[at].path, first, last)
            yield _Piece(rank, at, range(unit, unit + 1), tuple(chunks), first, last)


def _unit_lines(context: Context, unit: int) -> tuple[int, int]:
    place = context.evidence.places[unit]
    return int(context.corpus.first_lines[place]), int(context.corpus.last_lines[place])


def _held(context: Context, pieces: Sequence[_Piece]) -> tuple[Floats, Floats]:
    """What the question's words are worth in each passage, and in its names."""
    evidence, corpus = context.evidence, context.corpus
    owner = np.full(len(evidence.places), -1, np.int64)
    for number, piece in enumerate(pieces):
        owner[piece.units.start : piece.units.stop] = number
    lengths = corpus.body_lengths[evidence.places].astype(np.float64)
    lengths += corpus.comment_lengths[evidence.places]
    inside = owner >= 0
    length = summed(owner[inside], lengths[inside], len(pieces))
    mean = max(1.0, float(length.sum()) / len(pieces))
    entries = owner[evidence.unit] >= 0
    passage, term = owner[evidence.unit[entries]], evidence.term[entries]
    body = evidence.body[entries] / (1.0 - _LONG + _LONG * length[passage] / mean)
    weights = evidence.weights[View.BLEND] * evidence.unit_rarity
    count = len(weights)
    held, names = np.zeros(len(pieces)), np.zeros(len(pieces))
    for total, frequency in (
        (held, body + _IN_NAME * evidence.name[entries]),
        (names, evidence.name[entries]),
    ):
        table = saturated(summed(passage * count + term, frequency, len(pieces) * count))
        for column in np.flatnonzero(weights).tolist():  # added in this order on every machine
            total += weights[column] * table[column::count]
    return held, names


def _fit(context: Context, pieces: Sequence[_Piece], held: Floats) -> Floats:
    ranks = np.array([piece.rank for piece in pieces])
    best = np.zeros(int(ranks.max()) + 1)
    np.maximum.at(best, ranks, held)
    own = held / max(float(held.max()), 1e-9)
    beside = np.zeros(len(pieces))
    same = ranks[1:] == ranks[:-1]
    beside[1:] = np.where(same, own[:-1], 0.0)
    beside[:-1] = np.maximum(beside[:-1], np.where(same, own[1:], 0.0))
    to, back = np.zeros(len(pieces)), np.zeros(len(pieces))
    for source, target in _references(context, pieces):
        to[target] = max(to[target], own[source])
        back[source] = max(back[source], own[target])
    fit: Floats = _OVERALL * own + _WITHIN * held / np.maximum(best[ranks], 1e-9)
    return fit + _BESIDE * beside + _REFERRED * (to + back)


def _references(context: Context, pieces: Sequence[_Piece]) -> set[tuple[int, int]]:
    """Pairs of passages of which the first uses a name that the second defines."""
    defining: dict[str, list[int]] = defaultdict(list)
    starts: dict[int, tuple[list[int], list[int]]] = defaultdict(lambda: ([], []))
    for number, piece in enumerate(pieces):
        for chunk in piece.chunks:
            if chunk.title_path and chunk.kind in _DEFINITIONS:
                defining[chunk.title_path[-1]].append(number)
        starts[piece.at][0].append(piece.first)
        starts[piece.at][1].append(number)
    telling = {name: numbers for name, numbers in defining.items() if len(numbers) <= _TOO_COMMON}
    found = set()
    for at, (lines, numbers) in starts.items():
        if len(numbers) < 2:  # nothing else of this file is looked at
            continue
        for name, line in context.corpus.uses(context.records[at].path):
            for target in telling.get(name, ()):
                source = numbers[max(0, bisect_right(lines, line) - 1)]
                if source != target:
                    found.add((source, target))
    return found


def _best_of_each_file(pieces: Sequence[_Piece], fit: Floats) -> dict[int, int]:
    best: dict[int, int] = {}
    for number, piece in enumerate(pieces):
        if piece.rank not in best or fit[number] > fit[best[piece.rank]]:
            best[piece.rank] = number
    return best


def _pointed_at(context: Context, piece: _Piece) -> tuple[float, tuple[str, ...]]:
    """What the question says of these very lines, beyond its words."""
    question = context.question
    names = {chunk.title_path[-1] for chunk in piece.chunks if chunk.title_path}
    worth, reasons = 0.0, []
    named = max(
        _TITLE_NAME * bool(names.intersection((*question.title_names, question.symbol))),
        _PROSE_NAME * bool(names.intersection(question.prose_names)),
        _CODE_NAME * bool(names.intersection(question.code_names)),
    )
    if named:
        worth += _NAMED * named
        reasons.append("defines_named")
    pinned = max(
        (worth for path, worth in _pins(context, piece, names) if _means(context, path, piece.at)),
        default=0.0,
    )
    if pinned:
        worth += _PINNED * pinned
        reasons.append("pointed_at")
    return worth, tuple(reasons)


def _pins(context: Context, piece: _Piece, names: set[str]) -> Iterator[tuple[str, float]]:
    """The paths by which the question may mean these lines."""
    for mention in context.question.mentions:
        if mention.first_line and piece.first <= mention.last_line and mention.first_line <= piece.last:
            yield mention.path, _LINKED
    for frame in context.question.frames:
        if piece.first <= frame.line <= piece.last:
            yield frame.path, _TRACED
        elif frame.function in names:
            yield frame.path, _CALLED


def _means(context: Context, path: str, at: int) -> bool:
    return any(found == at for found, _ in resolve(context, path, 1))


def _head(context: Context, piece: _Piece) -> tuple[int, int]:
    """The signature of the first definition that starts here, or of the innermost that this is a part of."""
    path = piece.chunks[0].path
    known = context.corpus.definitions(path)
    at = bisect_left(known, (piece.chunks[0].start_line, 0))
    if at < len(known) and known[at][0] <= piece.last:
        start = known[at][0]
    else:
        around = (first for first, last in reversed(known[:at]) if last >= piece.first)
        start = next(around, piece.first)
    lines = context.corpus.lines(path)
    end, depth = start, _depth(lines[start - 1])
    while depth > 0 and end < min(len(lines), start + _MOST_HEAD_LINES - 1):
        depth += _depth(lines[end])
        end += 1
    return (start, end) if depth <= 0 else (start, start)


def _depth(line: str) -> int:
    return line.count("(") - line.count(")")


def _id(piece: _Piece) -> str:
    chunk = piece.chunks[0]
    if len(piece.chunks) == 1:
        return ids.canonical_id(ids.doc_of(chunk.path), chunk.digest)
    return f"{chunk.path}:{piece.first}:{piece.last}"


def _named(chunks: Sequence[ChunkRecord], question: Question) -> ChunkRecord:
    """The chunk that names a passage: the one that the question names, else its first definition, else the
    first that has a title."""
    definitions = [chunk for chunk in chunks if chunk.title_path and chunk.kind in _DEFINITIONS]
    wanted = {question.symbol, *question.title_names, *question.prose_names}
    asked = [chunk for chunk in definitions if chunk.title_path[-1] in wanted]
    titled = (chunk for chunk in chunks if chunk.title_path)
    return next(iter((*asked, *definitions, *titled)), chunks[0])


def _name(chunk: ChunkRecord) -> str:
    return (" > " if chunk.kind is ChunkKind.SECTION else ".").join(chunk.title_path)


def _only_imports(context: Context, record: FileRecord, piece: _Piece) -> bool:
    """Module code of which every line that says something imports, as far as it is on one line."""
    if any(chunk.kind is not ChunkKind.MODULE for chunk in piece.chunks):
        return False
    uses = context.corpus.references(record.path)
    imports = {use.line for use in uses if use.label is Label.IMPORTS}
    lines = context.corpus.lines(record.path)[piece.first - 1 : piece.last]
    said = [number for number, line in enumerate(lines, piece.first) if re.search(r"\w", line)]
    return bool(said) and sum(number in imports for number in said) * 2 > len(said)
