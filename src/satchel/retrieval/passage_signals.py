"""What speaks for a passage of a file? One number per signal and passage, as for files; the weights are data.

Beside its own words a passage is vouched for by what uses it: what has to be read or changed is often called
from what the query describes. How sure its file is counts as well, and how long the passage is: more lines
hold more of an answer.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from satchel.retrieval.evidence import saturated, scaled, summed
from satchel.retrieval.passage_spans import FilePassages, PassageSpan
from satchel.retrieval.query_terms import Weighting
from satchel.retrieval.signals.mentions import mentioned_candidates
from satchel.retrieval.signals.signal import Context
from satchel.types import ChunkKind

if TYPE_CHECKING:
    from satchel.retrieval.corpus import Floats, Positions

_IN_NAME = 2.0  # a word in a name counts like two more in the text
_LONG = 0.5  # how much a long passage is held against it
_TOO_COMMON = 4  # passages that define the same name; above this a reference tells nothing
_CALLED = 0.8  # the function of a stack frame, against the very line of it
_FIXED_CHARS = 80  # passages that are shorter are of no use
_TYPES = frozenset(
    {ChunkKind.CLASS, ChunkKind.STRUCT, ChunkKind.INTERFACE, ChunkKind.TRAIT, ChunkKind.ENUM, ChunkKind.IMPL}
)
_OF_FILE = ("test", "document", "data")  # signals of the file that count again


class RankedPassage(msgspec.Struct, frozen=True):
    """Lines of a candidate that may enter a pack."""

    rank: int
    at: int  # its file among the candidates
    units: range  # among those of the candidates
    span: PassageSpan
    file: FilePassages
    number: int  # of the span in its file


def compute(
    context: Context, passages: Sequence[RankedPassage], of_file: Mapping[str, Floats], scores: Floats
) -> dict[str, Floats]:
    """Every signal of some passages, those of a file side by side; given the signals and scores of files."""
    ranks = np.array([passage.rank for passage in passages])
    files = [passage.at for passage in passages]
    behind = scores[files] - float(scores.max())
    words, title, names = _words(context, passages)
    words = scaled(words)
    found = {
        "words": words,
        "words_in_file": _in_file(ranks, title),
        "names": scaled(names),
        "used": _used(context, passages, words),
        "size": np.log([float(passage.span.size + _FIXED_CHARS) for passage in passages]) / 3.0,
        "type": np.array([float(passage.span.chunks[0].kind in _TYPES) for passage in passages]),
        "file_score": behind,
        "file_score_short": behind * context.query_terms.all_title,
        "file_rank": np.log1p(ranks),
        "file_units": np.log([float(context.records[passage.at].unit_count) for passage in passages]),
        **{f"file_{name}": of_file[name][files] for name in _OF_FILE},
        **_Pointing(context).compute(passages),
    }
    return {f"passage_{name}": values for name, values in found.items()}


def _words(context: Context, passages: Sequence[RankedPassage]) -> tuple[Floats, Floats, Floats]:
    """What the query's words are worth in each passage; those of its title; those in the passage's names."""
    evidence, corpus, count = context.evidence, context.corpus, len(passages)
    owner = np.full(len(evidence.unit_positions), -1, np.int64)
    for number, passage in enumerate(passages):
        owner[passage.units.start : passage.units.stop] = number
    lengths = corpus.body_lengths[evidence.unit_positions].astype(np.float64)
    lengths += corpus.comment_lengths[evidence.unit_positions]
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
    for total, weighting, table in zip(
        totals, (Weighting.BLEND, Weighting.TITLE, Weighting.BLEND), (text, text, named), strict=True
    ):
        weights = evidence.weights[weighting] * evidence.unit_rarity
        for column in np.flatnonzero(weights).tolist():  # added in this order on every machine
            total += weights[column] * table[column::terms]
    return totals


def _in_file(ranks: Positions, values: Floats) -> Floats:
    """Against the best passage of the same file."""
    best = np.zeros(int(ranks.max()) + 1)
    np.maximum.at(best, ranks, values)
    return values / np.maximum(best[ranks], 1e-9)


def _used(context: Context, passages: Sequence[RankedPassage], own: Floats) -> Floats:
    """The best of the passages that refer to what a passage defines."""
    used = np.zeros(len(own))
    for source, target in _references(context, passages):
        used[target] = max(used[target], own[source])
    return used


def _references(context: Context, passages: Sequence[RankedPassage]) -> Iterator[tuple[int, int]]:
    """Pairs of passages of which the first uses a name that the second defines."""
    defining: dict[str, list[int]] = defaultdict(list)
    firsts: dict[int, int] = {}
    for number, passage in enumerate(passages):
        firsts.setdefault(passage.rank, number)
        for name in passage.span.defined:
            defining[name].append(number)
    telling = {name: numbers for name, numbers in defining.items() if len(numbers) <= _TOO_COMMON}
    for first in firsts.values():
        file = passages[first].file
        if len(file.spans) < 2:  # nothing else of this file is looked at
            continue
        users = file.users(context.corpus)
        for name in telling.keys() & users.keys():
            sources = (first + number for number in users[name])
            yield from (
                (source, target) for source in sources for target in telling[name] if source != target
            )


class _Pointing:
    """What the query says of lines, beyond its words: the names in it, and the positions that it links to."""

    def __init__(self, context: Context) -> None:
        query = context.query
        self.query = query
        self.named = frozenset((*query.title_names, query.symbol))
        paths = {item.path for item in query.mentions} | {item.path for item in query.frames}
        self.meant = {path: {at for at, _ in mentioned_candidates(context, path, 1)} for path in paths}
        self.files = frozenset[int]().union(*self.meant.values())

    def compute(self, passages: Sequence[RankedPassage]) -> dict[str, Floats]:
        """What is said of each passage: of most of them, nothing."""
        found = {name: np.zeros(len(passages)) for name in ("named", "linked", "traced")}
        for number, passage in enumerate(passages):
            found["named"][number] = not passage.span.names.isdisjoint(self.named)
            if passage.at in self.files:
                found["linked"][number] = self._is_linked(passage)
                found["traced"][number] = self._traced(passage)
        return found

    def _is_linked(self, passage: RankedPassage) -> bool:
        first, last = passage.span.first_line, passage.span.last_line
        return any(
            item.first_line and first <= item.last_line and item.first_line <= last
            for item in self.query.mentions
            if passage.at in self.meant[item.path]
        )

    def _traced(self, passage: RankedPassage) -> float:
        """1 where a stack frame stands, less where only its function does."""
        frames = [frame for frame in self.query.frames if passage.at in self.meant[frame.path]]
        if any(passage.span.first_line <= frame.line <= passage.span.last_line for frame in frames):
            return 1.0
        return _CALLED if any(frame.function in passage.span.names for frame in frames) else 0.0
