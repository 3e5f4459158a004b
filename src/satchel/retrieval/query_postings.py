"""The postings of a query's terms in all files: how rare each term is, and which files hold most of them.

`Postings` looks them up in the arrays of this process. A corpus whose files lie with the workers of a cluster
is asked through its `spread`, which gives the same numbers.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Protocol

import msgspec
import numpy as np

from satchel.embedding import pooling
from satchel.embedding.word_vectors import load
from satchel.retrieval.corpus import Corpus, joined
from satchel.retrieval.evidence import (
    first_largest,
    inverse_document_frequency,
    runs,
    saturated,
    summed,
)
from satchel.retrieval.query_terms import QueryTerms, Weighting
from satchel.storage.postings import BODY, COMMENT, FOLDER, NAME, STEM

if TYPE_CHECKING:  # loading the types of numpy takes a tenth of a short command
    from numpy.typing import NDArray

    from satchel.retrieval.corpus import Floats, Positions
    from satchel.storage.postings import Counts

    Entries = tuple[Positions, Positions, Counts]
    """The number of the term, the position of the unit and the packed counts of each entry, by term."""

_ENOUGH = 400_000  # postings that are scored; common words are left to the signals
_ASIDE = {"test": 1.0, "example": 0.5}  # what the tags of a file take from its first score
_NEAR = 30  # files that are added for their meaning alone
_ALIKE = 0.4  # cosine; files that are less alike share a subject at most
_DIGITS = 9


class TermStatistics(msgspec.Struct, frozen=True):
    """Counts over all files that are asked: what the rarity of a term and the length of a unit are measured
    by. `units` and `files` are how many hold each term of a query."""

    unit_count: int
    file_count: int
    mean_length: float
    units: tuple[int, ...]
    files: tuple[int, ...]

    @property
    def unit_rarity(self) -> list[float]:
        """Return the rarity of each term among units."""
        return [_rarity(frequency, self.unit_count) for frequency in self.units]

    @property
    def file_rarity(self) -> list[float]:
        """Return the rarity of each term among files."""
        return [_rarity(frequency, self.file_count) for frequency in self.files]

    def scored_terms(self, query_terms: QueryTerms, weighting: Weighting) -> list[int]:
        """Return the numbers of the terms that first scores are made of: the rarest, until enough postings
        are scored."""
        weights = query_terms.weights[weighting]
        chosen: list[int] = []
        done = 0
        for number in sorted(range(len(weights)), key=lambda item: (self.units[item], item)):
            if not weights[number] or (done and done + self.units[number] > _ENOUGH):
                continue
            done += self.units[number]
            chosen.append(number)
        return chosen


def _rarity(frequency: int, count: int) -> float:
    return inverse_document_frequency(min(frequency, count), count)


def first_weightings(query_terms: QueryTerms) -> tuple[Weighting, ...]:
    """Return the weightings that first scores are made of."""
    return (Weighting.TITLE,) if query_terms.all_title else (Weighting.BLEND, Weighting.TITLE)


def title_vector(query_terms: QueryTerms) -> NDArray[np.int8] | None:
    """Return the vector of the title; None if its words have no vectors."""
    words = load()
    if words is None:
        return None
    weights = zip(query_terms.terms, query_terms.weights[Weighting.TITLE], strict=True)
    return pooling.query_vector(words, dict(weights))


class QueryPostings(Protocol):
    """What is known of a query's terms in all files that are asked, wherever they lie."""

    corpus: Corpus
    query_terms: QueryTerms
    unit_rarity: list[float]
    file_rarity: list[float]

    @property
    def title_vector(self) -> NDArray[np.int8] | None:
        """Return the vector of the title; None if its words or the index have no vectors."""

    def best_files(self, accepted: NDArray[np.bool_], count: int) -> Positions:
        """Return the `count` accepted files with the best first scores, best first."""

    def nearest(self) -> Positions:
        """Return the files that come nearest to the title in meaning, whatever words they use."""

    def entries(self, chosen: NDArray[np.bool_]) -> Entries:
        """Return the postings of the chosen files."""

    def similarities(self, files: Positions) -> Floats | None:
        """Return how near some of the chosen files come to the title in meaning; None without vectors."""

    def units_by_repository(self) -> list[Positions]:
        """Return for each term how many units of each repository hold it."""


class Postings:
    """The postings of a query's terms in a corpus. `statistics` are those of all files that are asked, if the
    corpus is only a part of them."""

    def __init__(
        self, corpus: Corpus, query_terms: QueryTerms, statistics: TermStatistics | None = None
    ) -> None:
        self.corpus = corpus
        self.query_terms = query_terms
        self.found: list[tuple[Positions, Counts]] = corpus.postings_many(query_terms.terms)
        self.owners: list[Positions] = [corpus.file_of[positions] for positions, _ in self.found]
        self.files: list[Positions] = [owners[runs(owners)] for owners in self.owners]
        self.statistics = statistics or TermStatistics(
            corpus.unit_count,
            len(corpus.files),
            corpus.mean_length,
            tuple(len(positions) for positions, _ in self.found),
            tuple(map(len, self.files)),
        )
        self.unit_rarity = self.statistics.unit_rarity
        self.file_rarity = self.statistics.file_rarity

    @cached_property
    def title_vector(self) -> NDArray[np.int8] | None:
        """Return the vector of the title; None if its words or the index have no vectors."""
        return title_vector(self.query_terms) if self.corpus.has_vectors else None

    @cached_property
    def _similarities(self) -> Floats | None:
        """Return how near each file of the corpus comes to the title in meaning; None without vectors."""
        return None if self.title_vector is None else self.corpus.similarities(self.title_vector)

    def similarities(self, files: Positions) -> Floats | None:
        """Return how near some files come to the title in meaning; None without vectors."""
        return None if self._similarities is None else self._similarities[files]

    def nearest(self) -> Positions:
        """Return the files that come nearest to the title in meaning, whatever words they use."""
        return near_files(self._similarities)

    def best_files(self, accepted: NDArray[np.bool_], count: int) -> Positions:
        """Return the `count` accepted files with the best first scores, best first."""
        return self.best_scores(accepted, count, self.highest)[0]

    def best_scores(
        self, accepted: NDArray[np.bool_], count: int, highest: tuple[float, ...]
    ) -> tuple[Positions, Floats]:
        """Return the `count` accepted files with the best first scores, and their scores. `highest` are the
        largest values of all files that are asked."""
        matched = np.flatnonzero(self._holds_any_term() & accepted)
        scores = np.round(self._first_scores(highest)[matched], _DIGITS)
        best = first_largest(scores, count)
        return matched[best], scores[best]

    def entries(self, chosen: NDArray[np.bool_]) -> Entries:
        """Return the postings of the chosen files."""
        here = [np.flatnonzero(chosen[owners]) for owners in self.owners]
        term = np.repeat(np.arange(len(here)), [len(keep) for keep in here])
        pairs = list(zip(self.found, here, strict=True))
        positions = joined([found[keep] for (found, _), keep in pairs], np.int64)
        return term, positions, joined([found[keep] for (_, found), keep in pairs], np.uint16)

    def units_by_repository(self) -> list[Positions]:
        """Return for each term how many units of each repository hold it."""
        owners, count = self.corpus.repository_of, len(self.corpus.repositories)
        return [np.bincount(owners[files], minlength=count) for files in self.owners]

    def _holds_any_term(self) -> NDArray[np.bool_]:
        """Return for each file whether it holds a term of the query."""
        matched = np.zeros(len(self.corpus.files), bool)
        for files in self.files:
            matched[files] = True
        return matched

    @cached_property
    def highest(self) -> tuple[float, ...]:
        """Return the largest value of each part of the first scores."""
        return tuple(float(values.max()) if len(values) else 0.0 for values in self._raw_scores)

    def _first_scores(self, highest: tuple[float, ...]) -> Floats:
        """Return a first score of every file: its best unit, and how much is in all of its units."""
        total = np.zeros(len(self.corpus.files))
        scaled = [
            values / most if most > 0 else values
            for values, most in zip(self._raw_scores, highest, strict=True)
        ]
        for best, spread in zip(scaled[::2], scaled[1::2], strict=True):
            total += best + spread
        return total - self.corpus.tagged(_ASIDE)

    @cached_property
    def _raw_scores(self) -> list[Floats]:
        """Return for each weighting the score of each file's best unit, and the root of the squares of
        all."""
        corpus = self.corpus
        found: list[Floats] = []
        for weighting in first_weightings(self.query_terms):
            scores = self._unit_scores(weighting)
            # Most units hold nothing; of floats it takes six times as long.
            positions = np.flatnonzero(scores > 0)
            owners, units = corpus.file_of[positions], scores[positions]
            starts = runs(owners)
            best = np.zeros(len(corpus.files))
            if len(starts):
                best[owners[starts]] = np.maximum.reduceat(units, starts)
            found += [best, np.sqrt(summed(owners, units**2, len(corpus.files)))]
        return found

    def _unit_scores(self, weighting: Weighting) -> Floats:
        """Return a score for each unit."""
        weights = self.query_terms.weights[weighting]
        scores = np.zeros(len(self.corpus.file_of))
        for number in self.statistics.scored_terms(self.query_terms, weighting):
            positions, _ = self.found[number]
            scores[positions] += weights[number] * self.unit_rarity[number] * self.impacts(number)
        return scores

    def impacts(self, number: int) -> Floats:
        """Return what a term is worth in each unit that holds it, before its weight and rarity."""
        positions, packed = self.found[number]
        frequency = BODY.read(packed) + 1.5 * COMMENT.read(packed)
        frequency /= self.corpus.norms(positions, self.statistics.mean_length)
        frequency += 3 * (NAME.read(packed) + STEM.read(packed)) + FOLDER.read(packed)
        return saturated(frequency)


def near_files(similarities: Floats | None) -> Positions:
    """Return the positions of the largest similarities that say something, largest first."""
    if similarities is None:
        return np.zeros(0, np.int64)
    near = np.flatnonzero(similarities >= _ALIKE)
    return near[first_largest(similarities[near], _NEAR)]


def look_up(corpus: Corpus, query_terms: QueryTerms) -> QueryPostings:
    """Return the postings of a query's terms: looked up here, or where the files of the corpus lie."""
    found: QueryPostings = (corpus.spread or Postings)(corpus, query_terms)
    return found
