"""What speaks for a piece of a file? One number per signal and piece, as for files; the weights are data.

Beside its own words a piece is vouched for by what uses it: what has to be read or changed is often called
from what the question describes. How sure its file is counts as well, and how long the piece is: more lines
hold more of an answer.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from satchel.retrieval.cuts import Cut, FileCuts
from satchel.retrieval.evidence import saturated, scaled, summed
from satchel.retrieval.signals.mentions import resolve
from satchel.retrieval.signals.signal import Context
from satchel.retrieval.views import View
from satchel.types import ChunkKind

if TYPE_CHECKING:
    from satchel.retrieval.corpus import Places
    from satchel.retrieval.evidence import Floats

_IN_NAME = 2.0  # a word in a name counts like two more in the text
_LONG = 0.5  # how much a long piece is held against it
_TOO_COMMON = 4  # pieces that define the same name; above this a reference tells nothing
_CALLED = 0.8  # the function of a stack frame, against the very line of it
_FIXED_CHARS = 80  # pieces that are shorter are of no use
_TYPES = frozenset(
    {ChunkKind.CLASS, ChunkKind.STRUCT, ChunkKind.INTERFACE, ChunkKind.TRAIT, ChunkKind.ENUM, ChunkKind.IMPL}
)
_OF_FILE = ("test", "document", "data")  # signals of the file that count again


class Piece(msgspec.Struct, frozen=True):
    """Lines of a candidate that may enter a pack."""

    rank: int
    at: int  # its file among the candidates
    units: range  # among those of the candidates
    cut: Cut
    file: FileCuts
    number: int  # of the cut in its file


def compute(
    context: Context, pieces: Sequence[Piece], of_file: Mapping[str, Floats], scores: Floats
) -> dict[str, Floats]:
    """Every signal of some pieces, those of a file side by side; given the signals and scores of files."""
    ranks = np.array([piece.rank for piece in pieces])
    files = [piece.at for piece in pieces]
    behind = scores[files] - float(scores.max())
    words, title, names = _words(context, pieces)
    words = scaled(words)
    found = {
        "words": words,
        "words_in_file": _in_file(ranks, title),
        "names": scaled(names),
        "used": _used(context, pieces, words),
        "size": np.log([float(piece.cut.size + _FIXED_CHARS) for piece in pieces]) / 3.0,
        "type": np.array([float(piece.cut.chunks[0].kind in _TYPES) for piece in pieces]),
        "file_score": behind,
        "file_score_short": behind * context.views.all_title,
        "file_rank": np.log1p(ranks),
        "file_units": np.log([float(context.records[piece.at].unit_count) for piece in pieces]),
        **{f"file_{name}": of_file[name][files] for name in _OF_FILE},
        **_Pointing(context).compute(pieces),
    }
    return {f"piece_{name}": values for name, values in found.items()}


def _words(context: Context, pieces: Sequence[Piece]) -> tuple[Floats, Floats, Floats]:
    """What the question's words are worth in each piece; those of its title; those in the piece's names."""
    evidence, corpus, count = context.evidence, context.corpus, len(pieces)
    owner = np.full(len(evidence.places), -1, np.int64)
    for number, piece in enumerate(pieces):
        owner[piece.units.start : piece.units.stop] = number
    lengths = corpus.body_lengths[evidence.places].astype(np.float64)
    lengths += corpus.comment_lengths[evidence.places]
    inside = owner >= 0
    length = summed(owner[inside], lengths[inside], count)
    mean = max(1.0, float(length.sum()) / count)
    entries = owner[evidence.unit] >= 0
    holder, term, name = owner[evidence.unit[entries]], evidence.term[entries], evidence.name[entries]
    body = evidence.body[entries] / (1.0 - _LONG + _LONG * length[holder] / mean)
    terms = len(evidence.unit_rarity)
    text = saturated(summed(holder * terms + term, body + _IN_NAME * name, count * terms))
    named = saturated(summed(holder * terms + term, name, count * terms))
    totals = np.zeros(count), np.zeros(count), np.zeros(count)
    for total, view, table in zip(
        totals, (View.BLEND, View.TITLE, View.BLEND), (text, text, named), strict=True
    ):
        weights = evidence.weights[view] * evidence.unit_rarity
        for column in np.flatnonzero(weights).tolist():  # added in this order on every machine
            total += weights[column] * table[column::terms]
    return totals


def _in_file(ranks: Places, values: Floats) -> Floats:
    """Against the best piece of the same file."""
    best = np.zeros(int(ranks.max()) + 1)
    np.maximum.at(best, ranks, values)
    return values / np.maximum(best[ranks], 1e-9)


def _used(context: Context, pieces: Sequence[Piece], own: Floats) -> Floats:
    """The best of the pieces that refer to what a piece defines."""
    used = np.zeros(len(own))
    for source, target in _references(context, pieces):
        used[target] = max(used[target], own[source])
    return used


def _references(context: Context, pieces: Sequence[Piece]) -> Iterator[tuple[int, int]]:
    """Pairs of pieces of which the first uses a name that the second defines."""
    defining: dict[str, list[int]] = defaultdict(list)
    firsts: dict[int, int] = {}
    for number, piece in enumerate(pieces):
        firsts.setdefault(piece.rank, number)
        for name in piece.cut.defined:
            defining[name].append(number)
    telling = {name: numbers for name, numbers in defining.items() if len(numbers) <= _TOO_COMMON}
    for first in firsts.values():
        file = pieces[first].file
        if len(file.cuts) < 2:  # nothing else of this file is looked at
            continue
        users = file.users(context.corpus)
        for name in telling.keys() & users.keys():
            sources = (first + number for number in users[name])
            yield from (
                (source, target) for source in sources for target in telling[name] if source != target
            )


class _Pointing:
    """What the question says of lines, beyond its words: the names in it, and the places that it links to."""

    def __init__(self, context: Context) -> None:
        question = context.question
        self.question = question
        self.named = frozenset((*question.title_names, question.symbol))
        paths = {item.path for item in question.mentions} | {item.path for item in question.frames}
        self.meant = {path: {at for at, _ in resolve(context, path, 1)} for path in paths}
        self.files = frozenset[int]().union(*self.meant.values())

    def compute(self, pieces: Sequence[Piece]) -> dict[str, Floats]:
        """What is said of each piece: of most of them, nothing."""
        found = {name: np.zeros(len(pieces)) for name in ("named", "linked", "traced")}
        for number, piece in enumerate(pieces):
            found["named"][number] = not piece.cut.names.isdisjoint(self.named)
            if piece.at in self.files:
                found["linked"][number] = self._is_linked(piece)
                found["traced"][number] = self._traced(piece)
        return found

    def _is_linked(self, piece: Piece) -> bool:
        first, last = piece.cut.first, piece.cut.last
        return any(
            item.first_line and first <= item.last_line and item.first_line <= last
            for item in self.question.mentions
            if piece.at in self.meant[item.path]
        )

    def _traced(self, piece: Piece) -> float:
        """1 where a stack frame stands, less where only its function does."""
        frames = [frame for frame in self.question.frames if piece.at in self.meant[frame.path]]
        if any(piece.cut.first <= frame.line <= piece.cut.last for frame in frames):
            return 1.0
        return _CALLED if any(frame.function in piece.cut.names for frame in frames) else 0.0
