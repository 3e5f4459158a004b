"""The terms of a query in the files that may answer it, as flat arrays.

There is one entry for each term in each unit of each candidate. All sums over entries are made by `summed`,
which adds in the order of the entries: the same on every machine.
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from satchel.retrieval.query_terms import Weighting
from satchel.storage.postings import BODY, COMMENT, FOLDER, NAME, STEM

if TYPE_CHECKING:  # loading the types of numpy takes a tenth of a short command
    from satchel.retrieval.corpus import Floats, Positions
    from satchel.retrieval.query_postings import QueryPostings

K1 = 1.2  # of BM25: how fast repetition stops counting
_IDF_GRID = 1024  # libraries differ in the last bit of a logarithm


def inverse_document_frequency(document_frequency: int, count: int) -> float:
    """Return the rarity of a term: high for rare terms, never negative, rounded to the grid."""
    ratio = (count - document_frequency + 0.5) / (document_frequency + 0.5)
    return round(math.log(1.0 + ratio) * _IDF_GRID) / _IDF_GRID


def saturated(frequency: Floats) -> Floats:
    """Return what weighted frequencies are worth: repetition counts less and less."""
    return (K1 + 1.0) * frequency / (K1 + frequency)


class Evidence:
    """The entries of the candidates. `files` are positions in the corpus; `unit_positions` are the units of
    the candidates, and `unit_file` is the candidate that each belongs to. `term`, `unit`, `file` and the
    frequencies by field (`body`, `comment`, `name`, `stem`, `folder`) have one value for each entry."""

    def __init__(self, postings: QueryPostings, files: Positions) -> None:
        corpus = postings.corpus
        self.corpus = corpus
        self.postings = postings
        self.query_terms = postings.query_terms
        self.files = files
        counts = corpus.unit_counts[files]
        self.unit_starts = np.cumsum(counts) - counts
        self.unit_file = np.repeat(np.arange(len(files)), counts)
        within = np.arange(int(counts.sum())) - np.repeat(self.unit_starts, counts)
        self.unit_positions = np.repeat(corpus.unit_offsets[files], counts) + within
        self.local = np.full(len(corpus.files), -1, np.int64)  # for each file its position in `files`, or -1
        self.local[files] = np.arange(len(files))
        self.term, positions, counts_all = postings.entries(self.local >= 0)
        self.file: Positions = self.local[corpus.file_of[positions]]
        self.unit: Positions = self.unit_starts[self.file] + positions - corpus.unit_offsets[files][self.file]
        self.comment = COMMENT.read(counts_all).astype(np.float64)
        self.body = BODY.read(counts_all) + self.comment  # comments are part of the text
        self.name = NAME.read(counts_all).astype(np.float64)
        self.stem = STEM.read(counts_all).astype(np.float64)
        self.folder = FOLDER.read(counts_all).astype(np.float64)
        self.unit_rarity = np.array(postings.unit_rarity)
        self.file_rarity = np.array(postings.file_rarity)
        self.weights = {
            weighting: np.array(weights) for weighting, weights in self.query_terms.weights.items()
        }

    @cached_property
    def norm(self) -> Floats:
        """Return what the frequency of each entry is divided by, for the length of its unit."""
        return self.corpus.norms(self.unit_positions[self.unit], self.corpus.mean_length)

    def by_unit(self, worth: Floats, weighting: Weighting) -> Floats:
        """Return for each unit the weighted sum of what its entries are worth."""
        weights = (self.weights[weighting] * self.unit_rarity)[self.term] * worth
        return summed(self.unit, weights, len(self.unit_positions))

    @cached_property
    def _file_and_term(self) -> Positions:
        """Return a number for each entry that is the same for equal file and term."""
        keys: Positions = self.file * max(1, len(self.query_terms.terms)) + self.term
        return keys

    def by_file(self, frequency: Floats, weighting: Weighting) -> Floats:
        """Return for each file the weighted sum over terms. Frequencies are summed before they saturate."""
        total = summed(self._file_and_term, frequency, len(self.files) * max(1, len(self.query_terms.terms)))
        table = saturated(total).reshape(len(self.files), -1)
        weights = self.weights[weighting] * self.file_rarity
        result = np.zeros(len(self.files))
        for column in np.flatnonzero(weights).tolist():
            result += weights[column] * table[:, column]
        return result

    def best_of_file(self, scores: Floats) -> Floats:
        """Return the score of the best unit of each file."""
        best: Floats = np.maximum.reduceat(scores, self.unit_starts)
        return best

    def best_four_of_file(self, scores: Floats) -> Floats:
        """Return the sum of each file's best four units: evidence that is spread counts as well."""
        held = np.flatnonzero(scores > 0)  # most units hold nothing of the query
        left, owners = scores[held], self.unit_file[held]
        starts = runs(owners)
        total = np.zeros(len(self.files))
        # Four times the best that is left: sorting takes far longer.
        for _ in range(4 if len(held) else 0):
            best = np.zeros(len(self.files))
            best[owners[starts]] = np.maximum.reduceat(left, starts)
            total += best
            at_best = np.flatnonzero(left == best[owners])
            left[at_best[runs(owners[at_best])]] = 0.0
        return total


def runs(owners: Positions) -> Positions:
    """Return where the entries of each owner start. Those of one owner are neighbours."""
    changes = np.ones(len(owners), bool)
    np.not_equal(owners[1:], owners[:-1], out=changes[1:])
    return np.flatnonzero(changes)


def first_largest(values: Floats, count: int) -> Positions:
    """Return the positions of the largest values, largest first, of equal values the earlier first.

    A stable sort of all values gives the same and takes ten times as long where they are many.
    """
    if len(values) <= count:
        return np.argsort(-values, kind="stable")
    least = np.partition(values, len(values) - count)[len(values) - count]
    among = np.flatnonzero(values >= least)  # with all that are equal to the last one
    return among[np.argsort(-values[among], kind="stable")[:count]]


def summed(owners: Positions, values: Floats, count: int) -> Floats:
    """Return the sum of the values of each owner, added in the order given."""
    return np.bincount(owners, values, count).astype(np.float64, copy=False)


def scaled(values: Floats) -> Floats:
    """Return values divided by the largest, which becomes 1."""
    most = float(values.max()) if len(values) else 0.0
    return values / most if most > 0 else values
