"""The signals of a passage: one number for each signal and passage, as for files. The weights are data.

Beside the words of a passage, the words of code that uses it speak for it: the code that has to be read or
changed is often called from the code that the query describes. The score of the file counts as well, and the
length of the passage: more lines hold more of an answer.

The words of a report are looked for in code alone. Comments tell in the words of users what code is for, so a
short query may find it by them; of two passages of a file, the one that a fix changes has the words of the
report in its code (the changed lines are a tenth likelier so, on 257 reports of 23 repositories, each left
out once).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from satchel.embedding import pooling
from satchel.retrieval.evidence import saturated, scaled, summed
from satchel.retrieval.messages import pinned_lines
from satchel.retrieval.passage_spans import FilePassages, PassageSpan, is_inner_test
from satchel.retrieval.query import chain_member
from satchel.retrieval.query_terms import Weighting
from satchel.retrieval.references import TYPE_KINDS
from satchel.retrieval.signals.meaning import above_median
from satchel.retrieval.signals.mentions import mentioned_candidates
from satchel.retrieval.signals.signal import Context

if TYPE_CHECKING:
    from satchel.retrieval.corpus import Floats, Positions

_IN_NAME = 2.0  # a word in a name counts like two more in the text
_LONG = 0.5  # how much the length of a passage lowers its frequencies, from 0 to 1
_TOO_COMMON = 4  # passages that define the same name; with more a reference tells nothing
_CALLED = 0.8  # what the function of a stack frame counts against the line of the frame
_MESSAGE_LINES = 3  # that a pack must show
_FIXED_CHARS = 80  # added to each length: shorter passages are of no use
_OF_FILE = ("test", "document", "data")  # signals of the file that count again
_POINTING = ("named", "named_below", "linked", "traced", "message")  # by title, text, link, frame, message


class RankedPassage(msgspec.Struct, frozen=True):
    """A passage of a ranked file, which may enter a pack."""

    rank: int  # of its file, from 0
    at: int  # the number of its file among the candidates
    units: range  # the numbers of its units among those of all candidates
    span: PassageSpan
    file: FilePassages
    number: int  # of the span in its file


def compute(
    context: Context, passages: Sequence[RankedPassage], of_file: Mapping[str, Floats], scores: Floats
) -> dict[str, Floats]:
    """Return every signal of some passages, given the signals and scores of their files."""
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
        "meaning": _meaning(context, passages),
        "size": np.log([float(passage.span.size + _FIXED_CHARS) for passage in passages]) / 3.0,
        "type": np.array([float(passage.span.chunks[0].kind in TYPE_KINDS) for passage in passages]),
        "inner_test": np.array([float(is_inner_test(passage.span.chunks[0])) for passage in passages]),
        "file_score": behind,
        "file_score_short": behind * context.query_terms.all_title,
        "file_rank": np.log1p(ranks),
        "file_units": np.log([float(context.records[passage.at].unit_count) for passage in passages]),
        **{f"file_{name}": of_file[name][files] for name in _OF_FILE},
        **_Pointing(context).compute(passages),
    }
    return {f"passage_{name}": values for name, values in found.items()}


def _words(context: Context, passages: Sequence[RankedPassage]) -> tuple[Floats, Floats, Floats]:
    """Return what the words of the query are worth in each passage, then those of its title, then those in
    the names of the passage."""
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
    body = evidence.body[entries] - (0.0 if context.query_terms.all_title else evidence.comment[entries])
    body = body / (1.0 - _LONG + _LONG * length[holder] / mean)
    terms = len(evidence.unit_rarity)
    text = saturated(summed(holder * terms + term, body + _IN_NAME * name, count * terms))
    named = saturated(summed(holder * terms + term, name, count * terms))
    totals = np.zeros(count), np.zeros(count), np.zeros(count)
    for total, weighting, table in zip(
        totals, (Weighting.BLEND, Weighting.TITLE, Weighting.BLEND), (text, text, named), strict=True
    ):
        weights = evidence.weights[weighting] * evidence.unit_rarity
        # Columns are added in this order on every machine.
        for column in np.flatnonzero(weights).tolist():
            total += weights[column] * table[column::terms]
    return totals


def _in_file(ranks: Positions, values: Floats) -> Floats:
    """Return values divided by the best of the same file."""
    best = np.zeros(int(ranks.max()) + 1)
    np.maximum.at(best, ranks, values)
    return values / np.maximum(best[ranks], 1e-9)


def _meaning(context: Context, passages: Sequence[RankedPassage]) -> Floats:
    """Return how near the best unit of each passage comes to a short query in meaning. In packs of 2,000
    tokens for reports it costs 1 in 60 of the lines."""
    asked = context.evidence.postings.title_vector if context.query_terms.all_title else None
    if asked is None:
        return np.zeros(len(passages))
    near: dict[int, Floats] = {}
    for at in dict.fromkeys(passage.at for passage in passages):
        vectors = np.frombuffer(context.outlines[at].vectors, np.int8).reshape(-1, len(asked))
        near[at] = pooling.similarities(vectors, asked)
    first = context.evidence.unit_starts
    return above_median(
        np.array(
            [
                near[one.at][one.units.start - first[one.at] : one.units.stop - first[one.at]].max()
                for one in passages
            ]
        )
    )


def _used(context: Context, passages: Sequence[RankedPassage], own: Floats) -> Floats:
    """Return for each passage the words of the best passage that refers to what it defines."""
    used = np.zeros(len(own))
    for source, target in _references(context, passages):
        used[target] = max(used[target], own[source])
    return used


def _references(context: Context, passages: Sequence[RankedPassage]) -> Iterator[tuple[int, int]]:
    """Yield pairs of passages of which the first uses a name that the second defines."""
    defining: dict[str, list[int]] = defaultdict(list)
    firsts: dict[int, int] = {}
    for number, passage in enumerate(passages):
        firsts.setdefault(passage.rank, number)
        for name in passage.span.defined:
            defining[name].append(number)
    telling = {name: numbers for name, numbers in defining.items() if len(numbers) <= _TOO_COMMON}
    for first in firsts.values():
        file = passages[first].file
        if len(file.spans) < 2:  # only one unit of this file is scored
            continue
        users = file.users(context.corpus)
        for name in telling.keys() & users.keys():
            sources = (first + number for number in users[name])
            yield from (
                (source, target) for source in sources for target in telling[name] if source != target
            )


class _Pointing:
    """The lines that the query points at beyond its words: by names, links and stack frames."""

    def __init__(self, context: Context) -> None:
        query = context.query
        self.query = query
        self.named = frozenset((*query.title_names, query.symbol))
        members = (chain_member(chain) for chain in query.dotted)
        self.named_below = frozenset((*query.prose_names, *members)) - self.named
        paths = {item.path for item in query.mentions} | {item.path for item in query.frames}
        self.targets = {path: {at for at, _ in mentioned_candidates(context, path, 1)} for path in paths}
        self.files = frozenset[int]().union(*self.targets.values())
        self.messages: dict[int, list[int]] = defaultdict(list)
        for item in pinned_lines(context.corpus, query)[:_MESSAGE_LINES]:
            self.messages[int(context.local[item.at])].append(item.line)

    def compute(self, passages: Sequence[RankedPassage]) -> dict[str, Floats]:
        """Return the signals of what the query points at; they are zero for most passages."""
        found = {name: np.zeros(len(passages)) for name in _POINTING}
        for number, passage in enumerate(passages):
            found["named"][number] = not passage.span.names.isdisjoint(self.named)
            found["named_below"][number] = not passage.span.names.isdisjoint(self.named_below)
            found["message"][number] = any(
                passage.span.first_line <= line <= passage.span.last_line
                for line in self.messages.get(passage.at, ())
            )
            if passage.at in self.files:
                found["linked"][number] = self._is_linked(passage)
                found["traced"][number] = self._traced(passage)
        return found

    def _is_linked(self, passage: RankedPassage) -> bool:
        """Return whether a link in the query names lines of a passage, or its file is all that the query
        names."""
        first, last = passage.span.first_line, passage.span.last_line
        return any(
            item.path == self.query.title.strip()
            or (item.first_line and first <= item.last_line and item.first_line <= last)
            for item in self.query.mentions
            if passage.at in self.targets[item.path]
        )

    def _traced(self, passage: RankedPassage) -> float:
        """Return 1 for a passage with the line of a stack frame, less if it only has the function."""
        frames = [frame for frame in self.query.frames if passage.at in self.targets[frame.path]]
        if any(passage.span.first_line <= frame.line <= passage.span.last_line for frame in frames):
            return 1.0
        return _CALLED if any(frame.function in passage.span.names for frame in frames) else 0.0
