"""Where the words of a question stand in the files that may answer it, as flat arrays.

One entry for each term in each unit of each candidate. All sums over entries are made by `summed`,
which adds in the order of the entries: the same on every machine.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from satchel.retrieval.corpus import Corpus
from satchel.retrieval.views import View, Views
from satchel.storage.postings import BODY, COMMENT, FOLDER, NAME, STEM

if TYPE_CHECKING:  # loading the types of numpy takes a tenth of a short command
    from numpy.typing import NDArray

    from satchel.retrieval.corpus import Places
    from satchel.storage.postings import Counts

    Floats = NDArray[np.float64]

K1 = 1.2  # how fast repetition stops counting
_IDF_GRID = 1024  # libraries differ in the last bit of a logarithm


def inverse_document_frequency(document_frequency: int, count: int) -> float:
    """High for rare terms, never negative, rounded to the grid."""
    ratio = (count - document_frequency + 0.5) / (document_frequency + 0.5)
    return round(math.log(1.0 + ratio) * _IDF_GRID) / _IDF_GRID


def saturated(frequency: Floats) -> Floats:
    """What a weighted frequency is worth: repetition counts less and less."""
    return (K1 + 1.0) * frequency / (K1 + frequency)


class Postings:
    """The postings of a question's terms in the whole corpus."""

    def __init__(self, corpus: Corpus, views: Views) -> None:
        self.corpus = corpus
        self.views = views
        self.found: list[tuple[Places, Counts]] = [corpus.postings(term) for term in views.terms]
        self.unit_rarity = [self._rarity(len(places), corpus.unit_count) for places, _ in self.found]
        self.file_rarity = [
            self._rarity(self._file_count(places), len(corpus.files)) for places, _ in self.found
        ]

    @staticmethod
    def _rarity(frequency: int, count: int) -> float:
        return inverse_document_frequency(min(frequency, count), count)

    def _file_count(self, places: Places) -> int:
        """Units of a file are neighbours, so each change of owner is another file."""
        owners = self.corpus.file_of[places]
        return int(np.count_nonzero(np.diff(owners))) + 1 if len(owners) else 0


class Evidence:
    """The entries of the candidates; `files` are positions in the corpus, `unit_file` ones in `files`."""

    def __init__(self, postings: Postings, files: Places) -> None:
        corpus = postings.corpus
        self.corpus = corpus
        self.postings = postings
        self.views = postings.views
        self.files = files
        counts = np.fromiter((corpus.files[at].unit_count for at in files.tolist()), np.int64, len(files))
        self.unit_starts = np.cumsum(counts) - counts
        self.unit_file = np.repeat(np.arange(len(files)), counts)
        within = np.arange(int(counts.sum())) - np.repeat(self.unit_starts, counts)
        self.places = np.repeat(corpus.first_place[files], counts) + within
        local = np.full(len(corpus.file_of), -1, np.int64)
        local[self.places] = np.arange(len(self.places))
        units, packed, term_of = [], [], []
        for number, (places, counts_here) in enumerate(postings.found):
            at = local[places]
            keep = at >= 0
            units.append(at[keep])
            packed.append(counts_here[keep])
            term_of.append(np.full(len(units[-1]), number, np.int64))
        self.unit = np.concatenate(units) if units else np.zeros(0, np.int64)
        self.term = np.concatenate(term_of) if term_of else np.zeros(0, np.int64)
        counts_all = np.concatenate(packed) if packed else np.zeros(0, np.uint16)
        self.file = self.unit_file[self.unit]
        self.comment = COMMENT.read(counts_all).astype(np.float64)
        self.body = BODY.read(counts_all) + self.comment  # comments are part of the text, and a little more
        self.name = NAME.read(counts_all).astype(np.float64)
        self.stem = STEM.read(counts_all).astype(np.float64)
        self.folder = FOLDER.read(counts_all).astype(np.float64)
        self.unit_rarity = np.array(postings.unit_rarity)
        self.file_rarity = np.array(postings.file_rarity)
        self.weights = {view: np.array(weights) for view, weights in self.views.weights.items()}

    def norm(self, strength: float) -> Floats:
        """What an entry's frequency is divided by: long units are held against it."""
        corpus = self.corpus
        lengths = corpus.body_lengths[self.places].astype(np.float64) + corpus.comment_lengths[self.places]
        mean = corpus.mean_body_length + corpus.mean_comment_length
        norms: Floats = 1.0 - strength + strength * lengths / mean
        return norms[self.unit]

    def by_unit(self, worth: Floats, view: View) -> Floats:
        """The weighted sum of what entries are worth, for each unit."""
        weights = (self.weights[view] * self.unit_rarity)[self.term] * worth
        return summed(self.unit, weights, len(self.places))

    def by_file(self, frequency: Floats, view: View) -> Floats:
        """The same for each file, its units taken together: frequencies are summed before they saturate."""
        keys = self.file * max(1, len(self.views.terms)) + self.term
        total = summed(keys, frequency, len(self.files) * max(1, len(self.views.terms)))
        table = saturated(total).reshape(len(self.files), -1)
        weights = self.weights[view] * self.file_rarity
        result = np.zeros(len(self.files))
        for column in np.flatnonzero(weights).tolist():
            result += weights[column] * table[:, column]
        return result

    def best_of_file(self, scores: Floats) -> Floats:
        """The best unit of each file."""
        best: Floats = np.maximum.reduceat(scores, self.unit_starts)
        return best

    def best_four_of_file(self, scores: Floats) -> Floats:
        """The sum of each file's best four units: evidence that is spread counts, too."""
        order = np.lexsort((-scores, self.unit_file))
        rank = np.arange(len(order)) - self.unit_starts[self.unit_file[order]]
        top = order[rank < 4]
        return summed(self.unit_file[top], scores[top], len(self.files))


def summed(owners: NDArray[np.int64], values: Floats, count: int) -> Floats:
    """The sum of the values of each owner, added in the order given."""
    return np.bincount(owners, values, count).astype(np.float64, copy=False)


def scaled(values: Floats) -> Floats:
    """Divided by the largest, which becomes 1."""
    most = float(values.max()) if len(values) else 0.0
    return values / most if most > 0 else values
