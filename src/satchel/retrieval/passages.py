"""Which pieces of the best files may enter a pack, and how well does each fit the question?

Beside its own words a passage is vouched for by its neighbours, and by what it refers to or is referred to
from: what has to be read or changed often lies next to what the question describes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from satchel import ids
from satchel.retrieval.corpus import Corpus
from satchel.retrieval.cuts import Cut, FileCuts, cut_file, cut_unit, is_definition, qualified
from satchel.retrieval.evidence import saturated, summed
from satchel.retrieval.question import Question
from satchel.retrieval.signals.mentions import resolve
from satchel.retrieval.signals.signal import Context
from satchel.retrieval.signals.words import unit_worth
from satchel.retrieval.views import View
from satchel.storage.records import ChunkRecord
from satchel.types import Passage

if TYPE_CHECKING:
    from satchel.retrieval.evidence import Floats

IN_DETAIL = 20  # files of which every piece is looked at
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


class _Piece(NamedTuple):
    """A passage before it is weighed."""

    rank: int
    at: int  # its file among the candidates
    units: range  # among those of the candidates
    cut: Cut
    file: FileCuts
    number: int  # of the cut in its file


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
    pointed = _Pointing(context).all_at(pieces)
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
            name=qualified(chunk),
            head=(chunk.start_line, chunk.start_line),
            names=tuple(name for name in passage.names if chunk.start_line <= name[0] <= chunk.end_line),
            defines=is_definition(chunk),
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
    traits = piece.file.traits(context.corpus, piece.number)
    naming = _naming(piece.cut, context.question)
    return Passage(
        path=record.path,
        start_line=piece.cut.first,
        end_line=piece.cut.last,
        rank=piece.rank,
        certainty=certainty,
        score=score,
        fit=fit,
        size=traits.size,
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


def _pieces(context: Context, rank: int, at: int) -> Iterator[_Piece]:
    """A candidate, cut into passages."""
    start = int(context.evidence.unit_starts[at])
    file = cut_file(context.corpus, int(context.evidence.files[at]))
    for number, cut in enumerate(file.cuts):
        yield _Piece(rank, at, range(start + cut.start, start + cut.stop), cut, file, number)


def _best_units(context: Context, order: Sequence[int], start: int) -> Iterator[_Piece]:
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
            yield _Piece(rank, at, range(first + unit, first + unit + 1), file.cuts[0], file, 0)


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
    firsts: dict[int, int] = {}
    for number, piece in enumerate(pieces):
        firsts.setdefault(piece.rank, number)
        for name in piece.cut.defined:
            defining[name].append(number)
    telling = {name: numbers for name, numbers in defining.items() if len(numbers) <= _TOO_COMMON}
    found: set[tuple[int, int]] = set()
    for first in firsts.values():
        file = pieces[first].file
        if len(file.cuts) < 2:  # nothing else of this file is looked at
            continue
        users = file.users(context.corpus)
        for name in telling.keys() & users.keys():
            sources = (first + number for number in users[name])
            found.update(
                (source, target) for source in sources for target in telling[name] if source != target
            )
    return found


def _best_of_each_file(pieces: Sequence[_Piece], fit: Floats) -> dict[int, int]:
    best: dict[int, int] = {}
    for number, piece in enumerate(pieces):
        if piece.rank not in best or fit[number] > fit[best[piece.rank]]:
            best[piece.rank] = number
    return best


class _Pointing:
    """What the question says of lines, beyond its words: the names in it, and the places that it links to."""

    def __init__(self, context: Context) -> None:
        question = context.question
        self.question = question
        self.title = frozenset((*question.title_names, question.symbol))
        self.prose = frozenset(question.prose_names)
        self.code = frozenset(question.code_names)
        self.names = self.title | self.prose | self.code
        paths = {item.path for item in question.mentions} | {item.path for item in question.frames}
        self.meant = {path: {at for at, _ in resolve(context, path, 1)} for path in paths}
        self.files = frozenset[int]().union(*self.meant.values())

    def all_at(self, pieces: Iterable[_Piece]) -> list[tuple[float, tuple[str, ...]]]:
        """What is said of each piece: of most of them, nothing."""
        return [
            (0.0, ())
            if piece.at not in self.files and self.names.isdisjoint(piece.cut.names)
            else self._at(piece)
            for piece in pieces
        ]

    def _at(self, piece: _Piece) -> tuple[float, tuple[str, ...]]:
        names = piece.cut.names
        worth, reasons = 0.0, []
        named = max(
            _TITLE_NAME * (not names.isdisjoint(self.title)),
            _PROSE_NAME * (not names.isdisjoint(self.prose)),
            _CODE_NAME * (not names.isdisjoint(self.code)),
        )
        if named:
            worth += _NAMED * named
            reasons.append("defines_named")
        pinned = max(
            (worth for path, worth in self._pins(piece) if piece.at in self.meant[path]), default=0.0
        )
        if pinned:
            worth += _PINNED * pinned
            reasons.append("pointed_at")
        return worth, tuple(reasons)

    def _pins(self, piece: _Piece) -> Iterator[tuple[str, float]]:
        """The paths by which the question may mean these lines."""
        first, last = piece.cut.first, piece.cut.last
        for mention in self.question.mentions:
            if mention.first_line and first <= mention.last_line and mention.first_line <= last:
                yield mention.path, _LINKED
        for frame in self.question.frames:
            if first <= frame.line <= last:
                yield frame.path, _TRACED
            elif frame.function in piece.cut.names:
                yield frame.path, _CALLED


def _naming(cut: Cut, question: Question) -> ChunkRecord:
    """The chunk that names a passage: the one that the question names, else its first definition, else the
    first that has a title."""
    if len(cut.chunks) == 1:
        return cut.chunks[0]
    definitions = [chunk for chunk in cut.chunks if is_definition(chunk)]
    wanted = {question.symbol, *question.title_names, *question.prose_names}
    asked = [chunk for chunk in definitions if chunk.title_path[-1] in wanted]
    titled = (chunk for chunk in cut.chunks if chunk.title_path)
    return next(iter((*asked, *definitions, *titled)), cut.chunks[0])
